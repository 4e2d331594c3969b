"""The charts of the pages: the best so far, the samples of a timing, the steps of a training, and methods compared.

Ratios are drawn on a logarithmic axis: twice as fast is as far from 1 as twice as slow.  A chart is drawn once for wide
pages and once for narrow ones.  Screen readers skip it, and read the caption and the table instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

from maxcode.core.types import Interval
from maxcode.run.report.html import Html, element
from maxcode.run.report.plot import Axis, Mark, Point, Series, Size, plot

EQUAL = Interval(1.0, 1.0, 1.0)
SMALLEST = 1 / 1024  # smaller ratios are drawn here


class Dot(NamedTuple):
    """A measured ratio at a place on the x axis; a browser shows ``label`` under the pointer."""

    x: int
    ratio: Interval
    label: str


class BestStep(NamedTuple):
    """From ``x`` on, the best is ``ratio``."""

    x: int
    ratio: Interval


SIZES = (Size("wide", 960, 380, 12), Size("narrow", 380, 300, 6))
SMALL = (Size("small", 380, 170, 6, 4),)  # one size for all pages, because there may be hundreds of charts


@final
@dataclass(frozen=True, slots=True)
class Axes:
    """``ys``: the ends of the y axis in powers of two; ``xs``: those of the x axis; ``unit`` follows the ratios."""

    ys: Point
    xs: Point
    x_title: str
    unit: str = "x"


def curve(
    steps: Sequence[BestStep], dots: Sequence[Dot], leaders: Sequence[Dot], failed: Sequence[int], last: int
) -> Html:
    """The best so far with its interval, every timed candidate, the leaders, and where candidates failed.

    The x axis counts candidates 1..``last`` in (batch, slot) order.
    """
    floor, ceiling = _range([EQUAL, *(dot.ratio for dot in (*dots, *leaders))])
    steps = [BestStep(0, EQUAL), *steps]
    shown = [
        Series("band", [_band(steps, last)]),
        Series("original", [[(0, 0.0), (last, 0.0)]]),
        Series("bars", _bars(dots)),
        Series("best", [_stairs(steps, last)]),
        Series("leadbars", _bars(leaders)),
        Series("failed", dots=[Mark(x, floor) for x in failed], radius=2.5),
        Series("timed", dots=_marks(dots)),
        Series("leader", dots=_marks(leaders), radius=5),
    ]
    return _drawings(shown, Axes((floor, ceiling), (0, last), "candidates, in order"))


def samples(ratios: Sequence[float], interval: Interval, sizes: Sequence[Size] = SIZES) -> Html:
    """The paired ratios of a timing in the order they were measured, with the interval of their median.

    The axis is as narrow as the ratios are; it contains 1 only if they are close to it.
    """
    last = len(ratios)
    dots = [Dot(x, Interval(ratio, ratio, ratio), f"pair {x}: {ratio:.3f}x") for x, ratio in enumerate(ratios, start=1)]
    steps = [BestStep(1, interval)]
    ends = _range([interval, *(dot.ratio for dot in dots)])
    shown = [
        Series("band", [_band(steps, last)]),
        Series("original", [[(1, 0.0), (last, 0.0)]] if ends[0] <= 0 <= ends[1] else ()),
        Series("best", [_stairs(steps, last)]),
        Series("leader", dots=_marks(dots), radius=4),
    ]
    return _drawings(shown, Axes(ends, (1, last), "pairs of runs, in order"), sizes)


class Rates(NamedTuple):
    """One step of training: the mean of its answers, the expected best of some, the best so far."""

    mean: float
    best_of: float
    best: float


def rates(steps: Sequence[Rates], unit: str) -> Html:
    """Steps of training: dots for means, filled dots for the best of some, a line for the best so far."""
    shown = [Rates(*(max(value, _SLOWEST) for value in one)) for one in steps]
    values = [value for one in shown for value in one]
    ends = _range([Interval(value, value, value) for value in values])
    numbered = list(enumerate(shown, start=1))
    lines = [
        Series("best", [[(x, _log(one.best)) for x, one in numbered]]),
        Series("timed", dots=[_mark(x, one.mean, unit) for x, one in numbered]),
        Series("leader", dots=[_mark(x, one.best_of, unit) for x, one in numbered]),
    ]
    return _drawings(lines, Axes(ends, (1, len(shown)), "steps", unit))


Course: TypeAlias = tuple[int, Sequence[tuple[float, Interval]]]


def courses(found: Sequence[Course], x_title: str) -> Html:
    """Several methods, each a line through its points with the band of their intervals.

    Each course has the number of its colour: ``m0`` and ``b0`` of the style sheet, and so on.  The x axis starts at 0.
    """
    ends = _range([EQUAL, *(ratio for _, points in found for _, ratio in points)])
    last = max(points[-1][0] for _, points in found)
    bands = [Series(f"course b{at}", [_area(points)]) for at, points in found]
    lines = [Series(f"course m{at}", [[(x, _log(ratio.value)) for x, ratio in points]]) for at, points in found]
    equal = Series("original", [[(0, 0.0), (last, 0.0)]])
    return _drawings([*bands, equal, *lines], Axes(ends, (0, last), x_title))


def _area(points: Sequence[tuple[float, Interval]]) -> list[Point]:
    upper = [(x, _log(ratio.high)) for x, ratio in points]
    return upper + [(x, _log(ratio.low)) for x, ratio in reversed(points)]


_SLOWEST = 0.05  # smaller rates are drawn here


def _mark(x: int, value: float, unit: str) -> Mark:
    return Mark(x, _log(value), f"step {x}: {value:.3g}{unit}")


def _log(ratio: float) -> float:
    return math.log2(max(ratio, SMALLEST))


def _range(ratios: Iterable[Interval]) -> Point:
    """The ends of the y axis in powers of two: all intervals and some space, at least a tenth up and down."""
    ends = [(_log(ratio.low), _log(ratio.high)) for ratio in ratios]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    room = max(0.08 * (high - low), (_log(1.21) - (high - low)) / 2)
    return low - room, high + room


def _stairs(steps: Sequence[BestStep], last: int) -> list[Point]:
    return _walk([(step.x, step.ratio.value) for step in steps], last)


def _band(steps: Sequence[BestStep], last: int) -> list[Point]:
    """Along the upper ends of the intervals and back along the lower ones."""
    upper = _walk([(step.x, step.ratio.high) for step in steps], last)
    lower = _walk([(step.x, step.ratio.low) for step in steps], last)
    return upper + lower[::-1]


def _walk(corners: Sequence[tuple[int, float]], last: int) -> list[Point]:
    found: list[Point] = []
    for x, ratio in corners:
        found += [(x, found[-1][1])] if found else []
        found.append((x, _log(ratio)))
    return [*found, (last, found[-1][1])] if found else []


def _bars(dots: Iterable[Dot]) -> list[list[Point]]:
    return [[(dot.x, _log(dot.ratio.low)), (dot.x, _log(dot.ratio.high))] for dot in dots]


def _marks(dots: Iterable[Dot]) -> list[Mark]:
    return [Mark(dot.x, _log(dot.ratio.value), dot.label) for dot in dots]


def _drawings(shown: Sequence[Series], axes: Axes, sizes: Sequence[Size] = SIZES) -> Html:
    drawn = (element("div", _draw(size, shown, axes), class_=f"chart {size.name}") for size in sizes)
    return element("div", *drawn, aria_hidden="true")


def _draw(size: Size, shown: Sequence[Series], axes: Axes) -> Html:
    low, high = axes.ys
    ratios = [(_log(tick), f"{tick:g}{axes.unit}") for tick in ratio_ticks(2**low, 2**high, size.y_labels)]
    counts = [(tick, f"{tick:g}") for tick in _x_ticks(axes.xs, size.x_labels)]
    return plot(size, Axis(axes.xs, counts, axes.x_title), Axis(axes.ys, ratios), shown)


def ratio_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round ratios between ``low`` and ``high``, 1 among them when it lies there, at most about ``most``."""
    if high / low > 5:
        return _powers(low, high, most)
    least = min(-3, math.floor(math.log10(high)) - 2)
    for step in (head * 10.0**decade for decade in range(least, 9) for head in (1, 2, 2.5, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [round(step * k, 1 - least) for k in range(max(1, first), last + 1)]
    return []


def _powers(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for heads in ((1, 2, 5), (1, 3), (1,)):
        found = [head * 10.0**decade for decade in decades for head in heads]
        found = [tick for tick in found if low <= tick <= high]
        if len(found) <= most + 1:
            break
    return found


def _x_ticks(xs: Point, most: int) -> Sequence[float]:
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
