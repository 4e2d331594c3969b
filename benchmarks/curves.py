"""The curves of a bench as one static SVG for a page: the geometric mean of the best so far against the budget.

    python benchmarks/curves.py runs/bench/bench.json benchmarks/bench.svg [--axis candidates] [--methods best-of-n ...]

Without intervals, which ten lines would hide one another with: the bench's own table and page have them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pygal import XY
from pygal.style import CleanStyle

from sizing.figure import static

_TICKS = (1, 2, 5, 10, 20, 50, 100)
_COLORS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#cc8800", "#33aacc", "#555555", "#882255")


def drawn(curves: Sequence[Mapping[str, Any]], axis: str) -> bytes:
    """Curves of one axis, the speed-up on a logarithmic scale; METHOD+PLUGIN is METHOD in dashes."""
    kinds = list(dict.fromkeys(_kind(curve) for curve in curves))
    colors = tuple(_COLORS[kinds.index(_kind(curve)) % len(_COLORS)] for curve in curves)
    chart = XY(
        style=CleanStyle(colors=colors),
        width=820,
        height=520,
        js=[],
        no_prefix=True,
        x_title=axis,
        y_title="geometric mean of the speed-up",
        legend_at_bottom=True,
        legend_at_bottom_columns=4,
        show_dots=False,
    )
    most = 1.0
    for curve in curves:
        stroke = {"width": 2, **({"dasharray": "7, 4"} if _kind(curve) != curve["method"] else {})}
        points = [(x, math.log10(ratio["value"])) for x, ratio in curve["points"]]
        chart.add(curve["method"], points, stroke_style=stroke)
        most = max(most, *(ratio["value"] for _, ratio in curve["points"]))
    last = next((tick for tick in _TICKS if tick >= most), _TICKS[-1])
    chart.y_labels = [{"value": math.log10(tick), "label": f"{tick}x"} for tick in _TICKS if tick <= last]
    return static(chart)


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
    chosen.figure.write_bytes(drawn([one for one in curves if one["method"] in wanted], chosen.axis))


if __name__ == "__main__":
    main()
