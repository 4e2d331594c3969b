"""Compares calls and candidates per second: the bare OpenAI client, maxcode, and OpenEvolve if it is installed.

Every figure comes from its own process, against one endpoint with a pause of 50 ms.  Repetitions go round-robin, so
that noise affects all equally; ratios are to the client of the same round.  The first round measures only memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from peers.endpoint import endpoint
from peers.watch import Watched, watched

HERE = Path(__file__).parent
DELAY_MS = 50
LONG = 8  # parallel calls of the long runs
STEADY = 10  # the first tenth of a run is left out of its rate: pools and caches fill
CALLS_EACH, CALLS_AT_MOST = 60, 960  # of one of `parallel` lanes, and in all


@dataclass(frozen=True)
class Plan:
    """``parallel``: the p at which all are compared; ``sizes``: candidates of maxcode at p = 8; ``peer``: the
    interpreter of an environment with OpenEvolve, if any; ``width``: batch size of best-of-n, 0: the default."""

    parallel: Sequence[int]
    sizes: Sequence[int]
    rounds: int
    peer: str | None = None
    width: int = 0


@dataclass(frozen=True, order=True)
class Setup:
    """One measured configuration."""

    parallel: int
    what: str
    count: int


@dataclass(frozen=True)
class Measured:
    """Rate per second, CPU milliseconds of each, and the rate of the last tenth over that of the first."""

    rate: float
    cpu_ms: float
    last_over_first: float


Found = dict[Setup, list[Measured]]


def setups(plan: Plan) -> list[Setup]:
    """The configurations of a round, in order."""
    names = ("client", "maxcode", *(("openevolve",) if plan.peer else ()))
    found = [Setup(p, name, min(CALLS_AT_MOST, CALLS_EACH * p)) for p in plan.parallel for name in names]
    if plan.sizes and LONG not in plan.parallel:
        found.append(Setup(LONG, "client", CALLS_EACH * LONG))
    return found + [Setup(LONG, "maxcode", size) for size in plan.sizes]


def run(setup: Setup, plan: Plan, url: str, *, memory: bool = False) -> Watched:
    """One measurement."""
    options = ["--url", url, "--parallel", str(setup.parallel), "--count", str(setup.count)]
    if setup.what == "openevolve":
        return watched([str(plan.peer), str(HERE / "openevolve_run.py"), "throughput", *options], {}, memory=memory)
    worker = [sys.executable, str(HERE / "throughput.py"), setup.what, *options, "--width", str(plan.width)]
    return watched(worker, {}, memory=memory)


def read(printed: str) -> Measured:
    """The last line that a worker printed."""
    told = json.loads(printed.strip().splitlines()[-1])
    stamps, tenth = told["stamps"], max(1, len(told["stamps"]) // STEADY)
    steady = stamps[tenth:]
    first, last = stamps[tenth] - stamps[0], stamps[-1] - stamps[-1 - tenth]
    rate = (len(steady) - 1) / (steady[-1] - steady[0])
    return Measured(rate, told["cpu_s"] / len(stamps) * 1e3, first / last)


def measure(plan: Plan) -> list[dict[str, object]]:
    """One row for every setup."""
    found: Found = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fixed.py"
        program.write_text("print({draw})\n")
        with endpoint(delay_ms=DELAY_MS, fixed=program) as url:
            peaks = {setup: run(setup, plan, url, memory=True).peak_mb for setup in setups(plan)}
            for number in range(plan.rounds):
                for setup in setups(plan):
                    found[setup].append(read(run(setup, plan, url).stdout))
                print(f"round {number + 1} of {plan.rounds}", file=sys.stderr, flush=True)
    return [row(setup, found, peaks[setup]) for setup in setups(plan)]


def row(setup: Setup, found: Found, peak_mb: float) -> dict[str, object]:
    """The figures of one setup: medians over rounds with their extremes."""
    mine = found[setup]
    bare = next(runs for one, runs in found.items() if (one.what, one.parallel) == ("client", setup.parallel))
    ratios = [one.rate / other.rate for one, other in zip(mine, bare, strict=True)]
    return {
        "p": setup.parallel,
        "what": setup.what,
        "count": setup.count,
        "per_second": spread([one.rate for one in mine]),
        "of_client": spread(ratios),
        "cpu_ms_each": spread([one.cpu_ms for one in mine]),
        "last_over_first": spread([one.last_over_first for one in mine]),
        "peak_mb": round(peak_mb),
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and extremes."""
    return {"median": round(median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}


def shown(rows: Sequence[dict[str, object]]) -> str:
    """The rows as a table: median [min, max]."""
    heads = ("per_second", "of_client", "cpu_ms_each", "last_over_first")
    lines = [f"{'p':>3} {'what':10} {'count':>6} " + " ".join(f"{head:>22}" for head in heads) + f" {'peak MB':>8}"]
    for one in rows:
        cells = " ".join(f"{_cell(one[head]):>22}" for head in heads)
        lines.append(f"{one['p']:3} {one['what']:10} {one['count']:6} {cells} {one['peak_mb']:8}")
    return "\n".join(lines)


def _cell(value: object) -> str:
    assert isinstance(value, dict)
    digits = 0 if value["max"] >= 1000 else 1 if value["max"] >= 10 else 2
    return f"{value['median']:.{digits}f} [{value['min']:.{digits}f}, {value['max']:.{digits}f}]"
