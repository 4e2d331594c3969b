"""A plot as SVG: lines, areas and dots over an x and a y axis, without a script, a style or an address.

Each series has a class name, and the style sheet of the page gives it colours, light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

from maxcode.run.report.html import Html, element, join

Point: TypeAlias = tuple[float, float]

_MARGIN = 8.0
_INSET = 0.02  # share of the plot between its frame and the ends of an axis, so that no dot is cut
_LINE = 24.0  # height of a row of labels
_LETTER = 6.8  # about the width of a letter of 12 px


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """The ``ends`` of an axis, the labels at some places of it, and what it counts.

    The values are those drawn: on a logarithmic axis they are logarithms.
    """

    ends: Point
    labels: Sequence[tuple[float, str]]
    title: str = ""


class Mark(NamedTuple):
    """A place of a dot; a browser shows ``label`` under the pointer."""

    x: float
    y: float
    label: str = ""


@final
@dataclass(frozen=True, slots=True)
class Series:
    """The marks of one class name: ``lines``, each through its points, and ``dots`` of one ``radius``.

    If the style sheet fills a line, it is an area.
    """

    name: str
    lines: Sequence[Sequence[Point]] = ()
    dots: Sequence[Mark] = ()
    radius: float = 3.0


@final
@dataclass(frozen=True, slots=True)
class Size:
    """A plot's width and height in its own units, and the approximate number of labels on its axes."""

    name: str
    width: int
    height: int
    x_labels: int
    y_labels: int = 7


def plot(size: Size, x: Axis, y: Axis, shown: Sequence[Series]) -> Html:
    """The plot as an ``svg`` element; later series are drawn over earlier ones, empty ones are left out."""
    place = _Place.of(size, x, y)
    drawn = (place.series(one) for one in shown if one.dots or any(one.lines))
    parts = (place.y_axis(y), place.x_axis(x), *drawn)
    return element("svg", *parts, viewBox=f"0 0 {size.width} {size.height}", focusable="false")


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """Maps values to places in a plot with these frame sides."""

    left: float
    right: float
    top: float
    bottom: float
    xs: Point
    ys: Point

    @classmethod
    def of(cls, size: Size, x: Axis, y: Axis) -> _Place:
        left = _MARGIN + 8 + _LETTER * max((len(label) for _, label in y.labels), default=0)
        top = _MARGIN + (_LINE if y.title else 0)
        bottom = size.height - _LINE * (2 if x.title else 1)
        return cls(left, size.width - _MARGIN, top, bottom, x.ends, y.ends)

    def x(self, value: float) -> str:
        return f"{self.left + _share(value, self.xs) * (self.right - self.left):.1f}"

    def y(self, value: float) -> str:
        return f"{self.bottom - _share(value, self.ys) * (self.bottom - self.top):.1f}"

    def series(self, shown: Series) -> Html:
        path = " ".join(self._line(line) for line in shown.lines if line)
        drawn = [element("path", d=path)] if path else []
        return element(
            "g", *drawn, *(self._dot(dot, shown.radius) for dot in shown.dots), class_=f"series {shown.name}"
        )

    def _line(self, points: Sequence[Point]) -> str:
        first, *rest = (f"{self.x(x)} {self.y(y)}" for x, y in points)
        return f"M{first} L{' '.join(rest)}" if rest else f"M{first}"

    def _dot(self, dot: Mark, radius: float) -> Html:
        told = [element("title", dot.label)] if dot.label else []
        return element("circle", *told, cx=self.x(dot.x), cy=self.y(dot.y), r=f"{radius:g}")

    def y_axis(self, axis: Axis) -> Html:
        """A line across the plot at each label."""
        title = [element("text", axis.title, x=f"{_MARGIN:g}", y=f"{_MARGIN + 10:g}")] if axis.title else []
        lines = (element("path", d=f"M{self.left:.1f} {self.y(at)} H{self.right:.1f}") for at, _ in axis.labels)
        left = f"{self.left - 5:.1f}"
        labels = (element("text", told, x=left, y=f"{float(self.y(at)) + 4:.1f}") for at, told in axis.labels)
        return join([*title, element("g", *lines, *labels, class_="axis y")])

    def x_axis(self, axis: Axis) -> Html:
        """A line upwards from the beginning of the axis."""
        line = element("path", d=f"M{self.x(axis.ends[0])} {self.top:.1f} V{self.bottom:.1f}")
        under = f"{self.bottom + 16:.1f}"
        labels = (element("text", told, x=self.x(at), y=under) for at, told in axis.labels)
        middle = f"{(self.left + self.right) / 2:.1f}"
        title = [element("text", axis.title, x=middle, y=f"{self.bottom + _LINE + 15:.1f}")] if axis.title else []
        return element("g", line, *labels, *title, class_="axis x")


def _share(value: float, ends: Point) -> float:
    """The position of a value along an axis, 0..1; the middle for an axis without length."""
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return _INSET + (1 - 2 * _INSET) * share
