"""The table, the means and the figure of benchmarks/polybench.py."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from figure import standalone
from maxcode.core.stats import bootstrap, geometric_mean, sign_flip_p
from maxcode.run.report.plot import Axis, Mark, Series, Size
from trust.rows import Row, table

GCC, POLICY = "gcc", "policy"
_WEAKEST = 5
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)


def report(rows: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """The table of rows at one size and number of cores, means over its kernels, and the weakest of them."""
    known = [row for row in rows if "gains" in row]
    yield table([line(row, names) for row in sorted(known, key=_gain)])
    yield from (f"{row['kernel']}: {row['why']}" for row in rows if "why" in row)
    for name in names:
        yield mean(f"{name} over {GCC}", [row["gains"][name]["value"] for row in known if name in row["gains"]])
    for name in (GCC, *names):
        yield mean(f"{POLICY} over {name}", [row["over"][name]["value"] for row in known if name in row["over"]])
    weakest = sorted(known, key=_gain)[:_WEAKEST]
    yield "weakest: " + ", ".join(f"{row['kernel']} {_gain(row):.2f}x" for row in weakest)


def _gain(row: Row) -> float:
    return float(row["gains"][POLICY]["value"])


def line(row: Row, names: Sequence[str]) -> dict[str, object]:
    """A row of the table."""
    gains = row["gains"]
    cells = {name: shown(gains[name]) if name in gains else _absent(row["without"].get(name, "-")) for name in names}
    best = max((gains[name]["value"] for name in names if name in gains), default=1.0)
    return {
        "kernel": row["kernel"],
        "ms": row["ms"],
        **cells,
        POLICY: shown(gains[POLICY]) if row["won"] else "nothing",
        "over the best": f"{_gain(row) / max(1.0, best):.2f}",
        "won": f"{row['won']}/{row['seeds']}",
        "of bound": f"{row['bound'][POLICY]:.0%}" if row["bound"] else "-",
    }


def shown(gain: Mapping[str, float]) -> str:
    return f"{gain['value']:.2f} [{gain['low']:.2f}, {gain['high']:.2f}]"


def _absent(why: str) -> str:
    return why if why == "not installed" else why.partition(":")[0].partition(" at ")[0]


def mean(words: str, ratios: Sequence[float]) -> str:
    """A geometric mean over kernels with its interval, how often it is a gain, and the p of the sign-flip test."""
    if not ratios:
        return f"{words}: no kernel"
    p = sign_flip_p([math.log(one) for one in ratios])
    better = sum(one > 1 for one in ratios)
    return f"{words}: {bootstrap(ratios, geometric_mean)}, better on {better} of {len(ratios)}, p = {p:.2g}"


def chart(rows: Sequence[Row], names: Sequence[str]) -> str:
    """A line of dots a kernel, the best gain of the policy on top; the gain over gcc on a logarithmic scale."""
    known = sorted((row for row in rows if "gains" in row), key=_gain)
    there = [name for name in (*names, POLICY) if any(name in row["gains"] for row in known)]
    values = [math.log10(row["gains"][name]["value"]) for row in known for name in there if name in row["gains"]]
    ends = min(0.0, *values), max(0.0, *values)
    x = Axis(ends, [(math.log10(t), f"{t:g}x") for t in _TICKS if ends[0] <= math.log10(t) <= ends[1]], f"over {GCC}")
    y = Axis((0, max(1, len(known) - 1)), [(at, row["kernel"]) for at, row in enumerate(known)])
    series = [(name, Series(f"c{at}", dots=list(dots(known, name)), radius=4)) for at, name in enumerate(there)]
    return str(standalone(Size("", 820, 80 + 20 * len(known), 8), x, y, series))


def dots(rows: Sequence[Row], name: str) -> Iterator[Mark]:
    for at, row in enumerate(rows):
        if (gain := row["gains"].get(name)) is not None:
            yield Mark(math.log10(gain["value"]), at, f"{row['kernel']}, {name}: {shown(gain)}")
