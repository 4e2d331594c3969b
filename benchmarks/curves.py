"""The curves of a bench as one static SVG for a page: the geometric mean of the best so far against the budget.

    python benchmarks/curves.py runs/bench/bench.json benchmarks/bench.svg [--axis candidates] [--methods best-of-n ...]

It draws no intervals, because those of ten lines would cover one another; the bench's own table and page have them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from figure import COLORS, standalone
from maxcode.run.report.charts import amount_ticks
from maxcode.run.report.plot import Axis, Series, Size

_TICKS = (1, 2, 5, 10, 20, 50, 100)
_Y_TITLE = "geometric mean of the speed-up"


def drawn(curves: Sequence[Mapping[str, Any]], axis: str) -> str:
    """Curves of one axis, the speed-up on a logarithmic scale; METHOD+PLUGIN is METHOD in dashes."""
    kinds = list(dict.fromkeys(_kind(curve) for curve in curves))
    most = max((ratio["value"] for curve in curves for _, ratio in curve["points"]), default=1.0)
    last = max(x for curve in curves for x, _ in curve["points"])
    ticks = [tick for tick in _TICKS if tick <= most]
    y = Axis((0.0, math.log10(most)), [(math.log10(tick), f"{tick}x") for tick in ticks], _Y_TITLE)
    x = Axis((0.0, last), [(at, f"{at:g}") for at in amount_ticks(last, 14)], axis)
    return standalone(Size("", 820, 460, 14), x, y, [(curve["method"], _series(curve, kinds)) for curve in curves])


def _series(curve: Mapping[str, Any], kinds: Sequence[str]) -> Series:
    dashed = " dashed" if _kind(curve) != curve["method"] else ""
    points = [(x, math.log10(ratio["value"])) for x, ratio in curve["points"]]
    return Series(f"c{kinds.index(_kind(curve)) % len(COLORS)}{dashed}", [points])


def _kind(curve: Mapping[str, Any]) -> str:
    return str(curve["method"]).partition("+")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path)
    parser.add_argument("figure", type=Path)
    parser.add_argument("--axis", default="candidates")
    parser.add_argument("--methods", nargs="+", help="default: all")
    chosen = parser.parse_args()
    curves = [one for one in json.loads(chosen.bench.read_text())["curves"] if one["axis"] == chosen.axis]
    wanted = chosen.methods or [one["method"] for one in curves]
    if not curves or not {one["method"] for one in curves}.issuperset(wanted):
        parser.error(f"{chosen.bench} has no curves of these methods against {chosen.axis}")
    chosen.figure.write_text(drawn([one for one in curves if one["method"] in wanted], chosen.axis))


if __name__ == "__main__":
    main()
