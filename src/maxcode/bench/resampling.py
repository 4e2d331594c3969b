"""The two-level bootstrap of a bench: resamples problems, and seeds within each; all columns share the resamples.

A column is one figure of one method.  Because columns share the resamples, their differences are paired.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import TypeAlias

from maxcode.bench.figures import Figure
from maxcode.bench.rows import BenchRow
from maxcode.core.stats import all_resamples, cluster_draws, percentiles, random_resamples
from maxcode.core.types import Interval

MOST_RESAMPLES = 64  # of the seeds of one problem

Block = Mapping[str, BenchRow]  # one problem and seed: method -> row
Point = tuple[float, ...]  # a number for every column
Columns: TypeAlias = "list[array[float]]"  # arrays are not subscriptable in Python 3.11


def blocks_of(rows: Sequence[BenchRow]) -> dict[str, dict[int, dict[str, BenchRow]]]:
    """The rows by problem, seed and method; problems and seeds in order."""
    found: dict[str, dict[int, dict[str, BenchRow]]] = {}
    for row in rows:
        found.setdefault(row.cell.problem, {}).setdefault(row.cell.seed, {})[row.cell.method] = row
    return {problem: dict(sorted(seeds.items())) for problem, seeds in sorted(found.items())}


def complete(rows: Sequence[BenchRow], methods: Sequence[str]) -> dict[str, list[Block]]:
    """By problem, the blocks that hold a row of every method, by seed."""
    kept: dict[str, list[Block]] = {
        problem: [block for block in seeds.values() if len(block) == len(methods)]
        for problem, seeds in blocks_of(rows).items()
    }
    return {problem: seeds for problem, seeds in kept.items() if seeds}


def drawn_averages(
    by_problem: Sequence[Sequence[Point]], figures: Sequence[Figure], draws: int, seed: int
) -> tuple[Columns, Columns]:
    """For every column (whose figures are ``figures``): its values by problem, and the averages of its resamples.

    ``by_problem``: for every problem, the points of its seeds.
    """
    columns = _columns(_merged(points, figures) for points in by_problem)
    ways = _ways([len(points) for points in by_problem], random.Random(seed))
    pool = _columns(
        _merged([points[at] for at in way], figures)
        for points, ways_of_it in zip(by_problem, ways, strict=True)
        for way in ways_of_it
    )
    drawn = [array("d") for _ in pool]
    for chosen in cluster_draws(len(by_problem), len(ways[0]), draws, seed):
        take = itemgetter(*chosen, chosen[0])  # one more, so that the result is a tuple for one problem too
        for figure, column, averages in zip(figures, pool, drawn, strict=True):
            averages.append(figure.average(take(column)[:-1]))
    return columns, drawn


def interval_of(figure: Figure, values: Sequence[float], drawn: Sequence[float]) -> Interval:
    """The displayed figure, with the middle 95 % of its resamples."""
    found = percentiles(figure.average(values), drawn)
    return Interval(figure.shown(found.value), figure.shown(found.low), figure.shown(found.high), found.confidence)


def _merged(points: Sequence[Point], figures: Sequence[Figure]) -> Point:
    """One problem: the mean over its seeds, in the form that is averaged over problems."""
    means = map(fmean, zip(*points, strict=True))
    return tuple(figure.on_problem(value) for figure, value in zip(figures, means, strict=True))


def _columns(points: Iterable[Point]) -> Columns:
    found: Columns = []
    for point in points:
        found = found or [array("d") for _ in point]
        for column, value in zip(found, point, strict=True):
            column.append(value)
    return found


def _ways(sizes: Sequence[int], generator: random.Random) -> list[list[tuple[int, ...]]]:
    """Resamples of each problem's seeds, the same number for each: all if they are few, else random ones."""
    if len(set(sizes)) == 1 and sizes[0] ** sizes[0] <= MOST_RESAMPLES:
        return [all_resamples(sizes[0])] * len(sizes)
    return [random_resamples(size, MOST_RESAMPLES, generator) for size in sizes]
