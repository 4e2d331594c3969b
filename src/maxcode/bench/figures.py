"""The figures of the table, by benchmark; a new figure is a new entry here.

Each figure takes four steps: a number for a row, its mean over the seeds of a problem, the average over problems, and
the displayed value.  Speed-ups are averaged as logarithms, so that 2x and 0.5x cancel, unless the paper uses a plain
mean.  ``SUITES`` lists the differences between our figures and those of the papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Literal, final

from maxcode.bench.rows import BenchRow
from maxcode.bench.trace import powers_of_two
from maxcode.errors import unknown

OPTIMIZED = 1.10  # PIE: a program that is at least this much faster counts as optimised
FAST_AT = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)  # KernelBench's usual p


@final
@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row and its rank among the methods on the same problem and seed: 1 is best, ties share the mean rank."""

    row: BenchRow
    rank: float


def _same(value: float) -> float:
    return value


@final
@dataclass(frozen=True, slots=True)
class Column:
    """The name and the reading of a figure.  ``unit``: speed-up, rank, or share (0..1); ``suite``: its benchmark."""

    name: str
    title: str
    unit: Literal["x", "rank", "share"]
    suite: str = "maxcode"


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """How a figure is computed.

    ``of``          the number for a row
    ``on_problem``  maps its mean over the seeds of a problem
    ``average``     averages over problems
    ``shown``       the displayed value, which rises with the average
    ``of_all``      True: every planned run counts, an unfinished one as a failure; False: only the problems and seeds
                    that all methods finished
    """

    column: Column
    of: Callable[[RankedRow], float]
    on_problem: Callable[[float], float] = _same
    average: Callable[[Sequence[float]], float] = fmean
    shown: Callable[[float], float] = _same
    of_all: bool = False


# ------------------------------------------------------------------------------------------------------------ MaxCode


def _log_gain(at: RankedRow) -> float:
    return math.log(at.row.best.value)


GEOMETRIC = Figure(Column("geometric", "geometric mean", "x"), _log_gain, shown=math.exp)
MAXCODE = (
    Figure(Column("median", "median speed-up", "x"), _log_gain, on_problem=math.exp, average=median),
    GEOMETRIC,
    Figure(Column("rank", "average rank", "rank"), lambda at: at.rank),
    Figure(Column("correctness", "Correctness", "share"), lambda at: at.row.correct / max(1, at.row.candidates)),
    Figure(Column("fast1", "Fast1", "share"), lambda at: at.row.faster / max(1, at.row.candidates)),
)


# ---------------------------------------------------------------------------------------------------------------- PIE


def _best_of(samples: int, at: RankedRow) -> float:
    """The best of this many samples, or of all if there are fewer."""
    return next((best for k, best in reversed(at.row.best_of) if k <= samples), 1.0)


def _pie(most: int) -> tuple[Figure, ...]:
    whole = (
        Figure(Column("opt", "%Opt", "share", "pie"), lambda at: float(at.row.best.value >= OPTIMIZED)),
        # the gain is 1 if nothing was confirmed: clamped, as in the paper
        Figure(Column("speedup", "mean speed-up", "x", "pie"), lambda at: at.row.best.value),
        Figure(Column("correct", "Correct", "share", "pie"), lambda at: float(at.row.correct > 0)),
        Figure(Column("pie_correct", "Correct by PIE's checker", "share", "pie"), lambda at: float(at.row.by_pie > 0)),
    )
    sampled = (Figure(Column(f"best@{k}", f"Best@{k}", "x", "pie"), partial(_best_of, k)) for k in powers_of_two(most))
    return (*whole, *sampled)


# -------------------------------------------------------------------------------------------------------- KernelBench


def _fast(p: float, at: RankedRow) -> float:
    """Whether the run's answer is correct and more than ``p`` times as fast."""
    row = at.row
    answer = row.best.value if row.best.value > 1 else min(1.0, row.fastest)
    return float(row.correct > 0 and (answer > p or p == 0))


def _kernelbench(most: int) -> tuple[Figure, ...]:
    fast = tuple(
        Figure(Column(f"fast_{p:g}", f"fast_{p:g}", "share", "kernelbench"), partial(_fast, p), of_all=True)
        for p in FAST_AT
    )
    by_rule = Column("kernelbench_correct", "Correct by KernelBench's rule", "share", "kernelbench")
    return (*fast, Figure(by_rule, lambda at: float(at.row.by_kernelbench > 0), of_all=True))


@final
@dataclass(frozen=True, slots=True)
class Suite:
    """The figures of one paper: ``figures`` for this many candidates per run, and their differences to the paper's."""

    figures: Callable[[int], tuple[Figure, ...]]
    departs: str


SUITES = {
    "maxcode": Suite(
        lambda most: MAXCODE,
        "a run's speed-up is that of its best, measured again on fresh pairs after it was selected; the papers take "
        "the highest of all measured values, which is too high by chance",
    ),
    "pie": Suite(
        _pie,
        "PIE's figures are of measured time here, of simulated time there; a sample that was not confirmed counts by "
        "its race, and for no more than the run's confirmed best",
    ),
    "kernelbench": Suite(
        _kernelbench,
        "fast_p counts every planned run, those not finished as failures; a run's answer is its confirmed best, and "
        "below 1 its fastest correct candidate, by its race alone",
    ),
}


def figures(suites: Iterable[str], most: int) -> tuple[Figure, ...]:
    """The figures of these suites for runs of at most ``most`` candidates, in the order of ``SUITES``; raises
    InputError for an unknown suite."""
    wanted = set(suites)
    for name in sorted(wanted - SUITES.keys()):
        raise unknown("kind of figures", name, SUITES)
    return tuple(figure for name, suite in SUITES.items() if name in wanted for figure in suite.figures(most))
