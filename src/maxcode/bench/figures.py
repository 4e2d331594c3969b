"""The figures of the table; a new one is a new entry here.

Each is made in the same four steps: a number for a row, its mean over the seeds of a problem, the average over
problems, and what of that is shown.  Speed-ups go through logarithms, so that 2x and 0.5x cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, final

from maxcode.bench.rows import Row


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """A row and its rank among the methods on the same problem and seed: 1 is best, ties share the mean rank."""

    row: Row
    rank: float


def _same(value: float) -> float:
    return value


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """``of``: the number for a row; ``on_problem``: what of its mean over seeds is averaged; ``average``: over
    problems; ``shown``: rises with the average.  ``unit``: speed-up, rank, or share (0..1)."""

    name: str
    title: str
    unit: Literal["x", "rank", "share"]
    of: Callable[[Standing], float]
    on_problem: Callable[[float], float] = _same
    average: Callable[[Sequence[float]], float] = fmean
    shown: Callable[[float], float] = _same


def _log_gain(at: Standing) -> float:
    return math.log(at.row.best.value)


def _rank(at: Standing) -> float:
    return at.rank


def _correctness(at: Standing) -> float:
    return at.row.correct / max(1, at.row.candidates)


def _fast1(at: Standing) -> float:
    return at.row.faster / max(1, at.row.candidates)


GEOMETRIC = Figure("geometric", "geometric mean", "x", _log_gain, shown=math.exp)
FIGURES = (
    Figure("median", "median speed-up", "x", _log_gain, on_problem=math.exp, average=median),
    GEOMETRIC,
    Figure("rank", "average rank", "rank", _rank),
    Figure("correctness", "Correctness", "share", _correctness),
    Figure("fast1", "Fast1", "share", _fast1),
)
