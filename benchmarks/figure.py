"""Plots for the documents: SVG with its own colours and legend, without a script."""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.run.report.html import element, join, raw
from maxcode.run.report.plot import Axis, Series, Size, plot

COLORS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#cc8800", "#33aacc", "#555555", "#882255")
_COLUMN, _ROW = 200, 22  # of the legend
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333; }
path { fill: none; stroke: #ddd; }
.axis.x text { text-anchor: middle; }
.axis.y text { text-anchor: end; }
.series path { stroke-width: 2; stroke-linejoin: round; }
"""


def standalone(size: Size, x: Axis, y: Axis, shown: Sequence[tuple[str, Series]]) -> str:
    """A plot and the names of its series below it.

    The class name of a series is ``cN``, N the number of its colour, and ``cN dashed`` for a line in dashes.
    """
    columns = size.width // _COLUMN
    height = size.height + _ROW * -(-len(shown) // columns) + 8
    plotted = element(
        "svg", plot(size, x, y, [one for _, one in shown]), width=f"{size.width}", height=f"{size.height}"
    )
    keys = (
        _key(name, one, 16 + _COLUMN * (at % columns), size.height + 14 + _ROW * (at // columns))
        for at, (name, one) in enumerate(shown)
    )
    back = element("rect", width="100%", height="100%", fill="#fff")
    box = f"0 0 {size.width} {height}"
    style = element("style", raw(_STYLE + _colors()))
    return element("svg", style, back, plotted, join(keys), xmlns="http://www.w3.org/2000/svg", viewBox=box) + "\n"


def _key(name: str, shown: Series, x: int, y: int) -> str:
    line = element("path", d=f"M{x} {y} h24")
    return element("g", line, element("text", name, x=f"{x + 32}", y=f"{y + 4}"), class_=f"series {shown.name}")


def _colors() -> str:
    lines = (
        f".c{at} path {{ stroke: {color}; }} .c{at} circle {{ fill: {color}; }}" for at, color in enumerate(COLORS)
    )
    return "\n".join([*lines, ".dashed path { stroke-dasharray: 7 4; }", ""])
