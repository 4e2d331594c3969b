"""The charts, drawn by pygal as static SVG: once for wide pages, once for narrow ones.

Nothing but numbers and fixed words goes in, so nothing untrusted can come out.  Ratios are drawn on a logarithmic
axis: twice as fast is as far from 1 as twice as slow.  Scripts, styles, comments and tooltips for scripts are taken
out of what pygal makes; the page's own style sheet colours it, light or dark.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from pygal import XY
from pygal.style import Style

from maxcode.core.types import Interval
from maxcode.run.report.html import Html, element, raw

# pygal leaves behind an import hook of the old protocol (for its maps): Python 3.11 warns at every import it fails
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]

EQUAL = Interval(1.0, 1.0, 1.0)
SMALLEST = 1 / 1024  # a ratio below is drawn there


class Dot(NamedTuple):
    """A measured ratio at a place on the x axis; ``label`` is shown when it is pointed at (fixed words only)."""

    x: int
    ratio: Interval
    label: str


class BestStep(NamedTuple):
    """From ``x`` on, the best is ``ratio``."""

    x: int
    ratio: Interval


@final
@dataclass(frozen=True, slots=True)
class Size:
    """A drawing's size in its own units, and about how many labels its axes take."""

    name: str
    width: int
    height: int
    x_labels: int
    y_labels: int = 7


SIZES = (Size("wide", 960, 380, 12), Size("narrow", 380, 300, 6))
SMALL = (Size("small", 380, 170, 6, 4),)  # one for all pages, where there may be hundreds


@final
@dataclass(frozen=True, slots=True)
class Series:
    """Points to draw under a class name of the style sheet; None breaks a line."""

    name: str
    points: Sequence[tuple[float, float] | dict[str, object] | None]
    line: bool = False
    fill: bool = False
    dots: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Axes:
    """``ys``: the ends of the y axis in powers of two; ``xs``: those of the x axis; ``unit`` follows the ratios."""

    ys: tuple[float, float]
    xs: tuple[float, float]
    x_title: str
    unit: str = "x"


def curve(
    steps: Sequence[BestStep], dots: Sequence[Dot], leaders: Sequence[Dot], failed: Sequence[int], last: int
) -> Html:
    """The best so far with its interval, every timed candidate, the leaders, and where candidates failed.

    The x axis counts candidates 1..``last`` in (batch, slot) order.  Each drawing says nothing to a screen reader:
    the caption and the table beside it do.
    """
    floor, ceiling = _range([EQUAL, *(dot.ratio for dot in (*dots, *leaders))])
    steps = [BestStep(0, EQUAL), *steps]
    shown = [
        Series("band", _band(steps, last), line=True, fill=True),
        Series("original", [(0, 0.0), (last, 0.0)], line=True),
        Series("bars", _bars(dots), line=True),
        Series("best", _stairs(steps, last), line=True),
        Series("leadbars", _bars(leaders), line=True),
        Series("failed", [(x, floor) for x in failed], dots=2.5),
        Series("timed", _dots(dots), dots=3),
        Series("leader", _dots(leaders), dots=5),
    ]
    return _drawings(shown, Axes((floor, ceiling), (0, last), "candidates, in order"))


def samples(ratios: Sequence[float], interval: Interval, sizes: Sequence[Size] = SIZES) -> Html:
    """The paired ratios of a timing in the order they were measured, with the interval of their median.

    The axis is as narrow as the ratios are: 1 is there only when they come near it.
    """
    last = len(ratios)
    dots = [Dot(x, Interval(ratio, ratio, ratio), f"pair {x}: {ratio:.3f}x") for x, ratio in enumerate(ratios, start=1)]
    steps = [BestStep(1, interval)]
    ends = _range([interval, *(dot.ratio for dot in dots)])
    shown = [
        Series("band", _band(steps, last), line=True, fill=True),
        Series("original", [(1, 0.0), (last, 0.0)] if ends[0] <= 0 <= ends[1] else [], line=True),
        Series("best", _stairs(steps, last), line=True),
        Series("leader", _dots(dots), dots=4),
    ]
    return _drawings(shown, Axes(ends, (1, last), "pairs of runs, in order"), sizes)


class Rates(NamedTuple):
    """What one step of training was worth: the mean of its answers, the expected best of some, the best so far."""

    mean: float
    best_of: float
    best: float


def rates(steps: Sequence[Rates], unit: str) -> Html:
    """Steps of training on a logarithmic axis: dots for means, filled dots for the best of some, a line for the best
    so far.  ``unit`` is a fixed word."""
    shown = [Rates(*(max(value, _SLOWEST) for value in one)) for one in steps]
    values = [value for one in shown for value in one]
    ends = _range([Interval(value, value, value) for value in values])
    lines = [
        Series("best", [(x, _log(one.best)) for x, one in enumerate(shown, start=1)], line=True),
        Series("timed", _dots([_dot(x, one.mean, unit) for x, one in enumerate(shown, start=1)]), dots=3),
        Series("leader", _dots([_dot(x, one.best_of, unit) for x, one in enumerate(shown, start=1)]), dots=3),
    ]
    return _drawings(lines, Axes(ends, (1, len(shown)), "steps", unit))


def courses(found: Mapping[int, Sequence[tuple[float, Interval]]], x_title: str) -> Html:
    """How several things came along beside one another: for each a line through its points with the band of their
    intervals, under its colour's number: ``m0`` and ``b0`` of the style sheet, and so on.  x begins at 0; ``x_title``
    is fixed words."""
    ends = _range([EQUAL, *(ratio for points in found.values() for _, ratio in points)])
    last = max(points[-1][0] for points in found.values())
    bands = [Series(f"course b{at}", _area(points), line=True, fill=True) for at, points in found.items()]
    lines = [
        Series(f"course m{at}", [(x, _log(ratio.value)) for x, ratio in points], line=True)
        for at, points in found.items()
    ]
    equal = Series("original", [(0, 0.0), (last, 0.0)], line=True)
    return _drawings([*bands, equal, *lines], Axes(ends, (0, last), x_title))


def _area(points: Sequence[tuple[float, Interval]]) -> list[tuple[float, float]]:
    upper = [(x, _log(ratio.high)) for x, ratio in points]
    return upper + [(x, _log(ratio.low)) for x, ratio in reversed(points)]


_SLOWEST = 0.05  # a rate below is drawn there


def _dot(x: int, value: float, unit: str) -> Dot:
    return Dot(x, Interval(value, value, value), f"step {x}: {value:.3g}{unit}")


def _log(ratio: float) -> float:
    return math.log2(max(ratio, SMALLEST))


def _range(ratios: Iterable[Interval]) -> tuple[float, float]:
    """The ends of the y axis in powers of two: all intervals and some room; never less than a tenth up and down."""
    ends = [(_log(ratio.low), _log(ratio.high)) for ratio in ratios]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    room = max(0.08 * (high - low), (_log(1.21) - (high - low)) / 2)
    return low - room, high + room


def _stairs(steps: Sequence[BestStep], last: int) -> list[tuple[float, float]]:
    return _walk([(step.x, step.ratio.value) for step in steps], last)


def _band(steps: Sequence[BestStep], last: int) -> list[tuple[float, float]]:
    """Along the upper ends of the intervals and back along the lower ones."""
    upper = _walk([(step.x, step.ratio.high) for step in steps], last)
    lower = _walk([(step.x, step.ratio.low) for step in steps], last)
    return upper + lower[::-1]


def _walk(corners: Sequence[tuple[int, float]], last: int) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for x, ratio in corners:
        found += [(x, found[-1][1])] if found else []
        found.append((x, _log(ratio)))
    return [*found, (last, found[-1][1])] if found else []


def _bars(dots: Iterable[Dot]) -> list[tuple[float, float] | dict[str, object] | None]:
    found: list[tuple[float, float] | dict[str, object] | None] = []
    for dot in dots:
        found += [(dot.x, _log(dot.ratio.low)), (dot.x, _log(dot.ratio.high)), None]
    return found


def _dots(dots: Iterable[Dot]) -> list[tuple[float, float] | dict[str, object] | None]:
    return [{"value": (dot.x, _log(dot.ratio.value)), "tooltip": dot.label} for dot in dots]


def _drawings(shown: Sequence[Series], axes: Axes, sizes: Sequence[Size] = SIZES) -> Html:
    drawn = (element("div", raw(_draw(size, shown, axes)), class_=f"chart {size.name}") for size in sizes)
    return element("div", *drawn, aria_hidden="true")


def _draw(size: Size, shown: Sequence[Series], axes: Axes) -> str:
    ys, unit = axes.ys, axes.unit
    ticks = ratio_ticks(2 ** ys[0], 2 ** ys[1], size.y_labels)
    chart = XY(
        style=Style(label_font_size=12, major_label_font_size=12, title_font_size=12),
        width=size.width, height=size.height, margin=8, spacing=6, show_legend=False, x_title=axes.x_title,
        js=[], css=[], classes=["plotted"], no_prefix=True, disable_xml_declaration=True,
        range=ys, xrange=axes.xs, allow_interruptions=True, truncate_label=-1,
        y_labels=[{"value": _log(tick), "label": f"{tick:g}{unit}"} for tick in ticks],
        x_labels=_x_ticks(axes.xs, size.x_labels), x_value_formatter=lambda x: f"{x:g}",
        value_formatter=lambda y: f"{2**y:.3g}{unit}",
    )  # fmt: skip
    for part in shown:
        chart.add(
            part.name, part.points, stroke=part.line, fill=part.fill, show_dots=part.dots > 0, dots_size=part.dots
        )
    names = [part.name for part in shown]
    chart.add_xml_filter(lambda root: _clean(root, names))
    return str(chart.render())


_UNWANTED = {"script", "style", "desc", "defs"}
_SERIES = re.compile(r"^series serie-(\d+) .*")
_LONG_NUMBER = re.compile(r"(\d+\.\d)\d+")


def _clean(root: Any, names: Sequence[str]) -> Any:
    """Only what is drawn: no script, no style, no comment, no address; series under their own names."""
    for node in list(root.iter()):
        for child in list(node):
            if not isinstance(child.tag, str) or child.tag in _UNWANTED or _is_for_scripts(child) or _is_empty(child):
                node.remove(child)
            elif child.tag == "title" and node.get("class") == "guides":
                node.remove(child)  # it repeats the label beside it
    for node in root.iter():
        for key, value in list(node.attrib.items()):
            node.set(key, _LONG_NUMBER.sub(r"\1", value))
            if not value:
                del node.attrib[key]
        if match := _SERIES.match(node.get("class", "")):
            node.set("class", f"series {names[int(match[1])]}")
    root.remove(root.find("title"))
    root.attrib.pop("id", None)
    root.set("focusable", "false")
    return root


def _is_for_scripts(node: Any) -> bool:
    return "tooltip-overlay" in node.get("class", "")


def _is_empty(node: Any) -> bool:
    return node.tag == "g" and len(node) == 0


def ratio_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round ratios between ``low`` and ``high``, 1 among them when it lies there, at most about ``most``."""
    if high / low > 5:
        return _powers(low, high, most)
    for step in (head * 10.0**decade for decade in range(-3, 9) for head in (1, 2, 2.5, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [round(step * k, 4) for k in range(max(1, first), last + 1)]
    return []


def _powers(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for heads in ((1, 2, 5), (1, 3), (1,)):
        found = [head * 10.0**decade for decade in decades for head in heads]
        found = [tick for tick in found if low <= tick <= high]
        if len(found) <= most + 1:
            break
    return found


def _x_ticks(xs: tuple[float, float], most: int) -> Sequence[float]:
    first, last = xs
    whole = first == int(first) and last == int(last) and last - first >= 1
    return count_ticks(int(first), int(last), most) if whole else amount_ticks(last, most)


def amount_ticks(last: float, most: int) -> list[float]:
    """Round amounts from 0 to at most ``last``."""
    if last <= 0:
        return [0.0]
    scale = 10.0 ** (math.floor(math.log10(last)) - 1)
    step = next(scale * s for s in (1, 2, 5, 10, 20, 50, 100) if last / (scale * s) < most)
    return [float(f"{step * k:.6g}") for k in range(math.floor(last / step * (1 + 1e-9)) + 1)]


def count_ticks(first: int, last: int, most: int) -> list[int]:
    """Round numbers from ``first`` to ``last``, both ends among them where they fit."""
    step = next(s * 10**e for e in range(9) for s in (1, 2, 5) if (last - first) / (s * 10**e) < most)
    inner = [x for x in range(0, last + 1, step) if first < x <= last - step / 2]
    return [first, *inner, last] if last > first else [first]
