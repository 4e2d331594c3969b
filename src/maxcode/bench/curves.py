"""Best so far against depth and budget, one curve per method: the paper's scaling figure, with intervals.

At every x: the geometric mean over problems of the best so far (recomputed by ``trace.py``), averaged over the seeds of
each problem, on the problems and seeds that every method finished.  A run that ended before x keeps its last value.
The interval is the table's bootstrap, with the same resamples for all points of a curve.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import final

from maxcode.bench.figures import GEOMETRIC
from maxcode.bench.resampling import Block, complete, drawn_averages, interval_of
from maxcode.bench.rows import BenchRow
from maxcode.bench.trace import Axis, best_at
from maxcode.core.types import Interval

DRAWS, LEAST_DRAWS = 2000, 500  # fewer for many problems, whose averages vary less between resamples
MOST_POINTS = 48


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One method's best so far along an axis: (x, geometric mean with interval), x ascending from 0.  ``seconds`` are
    wall seconds of work, ``tokens`` those in and out."""

    method: str
    axis: Axis
    points: tuple[tuple[float, Interval], ...]

    def at(self, x: float) -> Interval:
        """The value at ``x``: that of the last point at or before it."""
        return self.points[max(0, bisect_right(self.points, x, key=itemgetter(0)) - 1)][1]


def curves(rows: Sequence[BenchRow], axis: Axis, seed: int = 0) -> tuple[Curve, ...]:
    """A curve for every method of the rows, in order of first appearance; a method is left out if one of its runs does
    not know the axis.  The order of the rows within a method does not matter."""
    methods = tuple(dict.fromkeys(row.cell.method for row in rows))
    blocks = complete(rows, methods)
    found = (_curve(method, axis, blocks, seed) for method in methods)
    return tuple(curve for curve in found if curve is not None)


def _curve(method: str, axis: Axis, blocks: Mapping[str, Sequence[Block]], seed: int) -> Curve | None:
    runs = [[block[method].trace.along(axis) for block in seeds] for seeds in blocks.values()]
    if not runs or not all(steps for seeds in runs for steps in seeds):
        return None
    places = _places(max(steps[-1][0] for seeds in runs for steps in seeds), axis)
    by_problem = [[tuple(math.log(best_at(steps, x)) for x in places) for steps in seeds] for seeds in runs]
    figures = [GEOMETRIC] * len(places)
    draws = max(LEAST_DRAWS, min(DRAWS, DRAWS * 200 // len(runs)))
    columns, drawn = drawn_averages(by_problem, figures, draws, seed)
    intervals = map(interval_of, figures, columns, drawn)
    return Curve(method, axis, tuple(zip(places, intervals, strict=True)))


def _places(end: float, axis: Axis) -> list[float]:
    """The x of the points of a curve: every whole number if these are few, else evenly spaced."""
    whole = axis in ("candidates", "depth")
    count = min(int(end), MOST_POINTS) if whole else MOST_POINTS
    places = [end * number / max(1, count) for number in range(count + 1)]
    return sorted({float(round(x)) for x in places} if whole else set(places))
