"""Rows -> the table: the figures of the papers (``figures.py``), their costs, and paired contrasts.

Figures come from problems and seeds that *every* method finished, so that all methods are judged on the same ones.  A
problem's figure is the mean over its seeds (of the logarithm, for speed-ups), a method's the median or mean over
problems; ranks are given per problem and seed.  The paper has one seed, and no intervals.  Ours come from a two-level
bootstrap, which resamples problems and seeds within each; all methods share the resamples.  The interval answers: what
if other problems of this kind, and other seeds, were chosen?  Simulated (two equal methods, two seeds, problems that
differ by a factor of 1.5 and seeds by 1.2, 250 tables each): the interval of the geometric mean holds the truth in 80,
89, 94, 94 % of tables with 3, 6, 10, 20 problems, that of the median in 80, 93, 94, 98 %.  With 6, 10, 20 problems and
150 to 200 tables each, speed-ups clamped at 1: %Opt holds it in 90, 97, 95 %, the mean speed-up in 84, 91, 93 %,
fast_1.5 in 87, 94, 95 %.

Contrasts use one gap per problem, because a method may suit one problem and not the next: p comes from flipping the
signs of the gaps, the ratio's interval from Student's t.  Simulated (equal methods, one seed that varies by 1.1, a
method times 1.35 or its inverse by the problem, or 4x faster on one problem in six, or with heavy tails; 400 to 2,000
tables each): one pair has p < 0.05 in 0 % of tables with 3 problems, 3 % with 6, 4 to 6 % with 8 to 20, and the ratio's
interval holds 1 in 94 to 99 %.  After Holm any pair of three methods differs in 0 % with 6 problems and in 4 to 6 %
with 8, any of ten methods in 4 and 5 % with 12 and 20 (300 and 60 tables).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import final

from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.figures import GEOMETRIC, Column, Figure, RankedRow, figures
from maxcode.bench.resampling import Block, Point, complete, drawn_averages, interval_of
from maxcode.bench.rows import BenchRow, Cost
from maxcode.bench.table_notes import Noted, notes_on
from maxcode.core.budget import Budget
from maxcode.core.stats import holm, mean_interval, mean_ranks, sign_flip_p
from maxcode.core.types import Interval

DRAWS = 2000
FLIPS = 10_000
DRAWS_PER_PAIR = 100  # so that Holm's smallest p can fall below 0.05 for any number of pairs


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """One method.  ``figures`` by name, in the order of the table's columns; ``candidates`` and ``cost`` are sums over
    the compared cells."""

    method: str
    figures: dict[str, Interval]
    candidates: int
    cost: Cost

    @property
    def flat(self) -> tuple[str, ...]:
        """The figures whose interval has no width: all resamples gave the same value.  The rows are then few or equal;
        the figure is not certain."""
        return tuple(name for name, interval in self.figures.items() if interval.low == interval.high)


@final
@dataclass(frozen=True, slots=True)
class Contrast:
    """``first`` against ``second`` on the same problems.

    ``ratio``     of their geometric means, with Student's interval over problems
    ``p``         from flipping the signs of their gaps; ``adjusted``: p by Holm over all pairs
    ``wins``, ``ties``, ``losses``  number of problems on which ``first`` was better, equal, worse
    """

    first: str
    second: str
    ratio: Interval
    p: float
    adjusted: float
    wins: int
    ties: int
    losses: int

    @property
    def is_significant(self) -> bool:
        """Whether they differ at 5 %, adjusted for all pairs of the table."""
        return self.adjusted < 0.05


@final
@dataclass(frozen=True, slots=True)
class MethodTable:
    """The table.  ``columns`` are the figures; ``cells`` were compared; ``left_out`` were finished by some methods
    only."""

    methods: tuple[Summary, ...]
    contrasts: tuple[Contrast, ...]
    problems: int
    cells: int
    left_out: int
    notes: tuple[str, ...]
    columns: tuple[Column, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class TableRequest:
    """The settings of a table.

    ``suites``    whose figures it holds
    ``plan``      the cells of the bench, for figures that count unfinished ones
    ``pairs``     the methods to compare; empty: every pair
    ``budget``    of every run; ``own``: the candidates of methods that have a budget of their own
    ``unusable``  problems that count as never finished
    ``together``  the number of pairs of this and other tables that are adjusted together, if larger
    """

    suites: tuple[str, ...] = ("maxcode",)
    plan: tuple[BenchRun, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    budget: Budget | None = None
    seed: int = 0
    unusable: tuple[str, ...] = ()
    together: int = 0
    own: Mapping[str, int] = field(default_factory=dict)

    @property
    def wanted(self) -> tuple[BenchRun, ...]:
        """The plan, with the cells of unusable problems."""
        columns = dict.fromkeys((cell.method, cell.seed) for cell in self.plan)
        never = (BenchRun(problem, method, seed) for problem in self.unusable for method, seed in columns)
        return (*self.plan, *never)


def table(rows: Sequence[BenchRow], asked: TableRequest = TableRequest()) -> MethodTable:
    """The table of all methods that have a row, in order of first appearance.  The order of the rows within a method
    does not matter."""
    methods = tuple(dict.fromkeys(row.cell.method for row in rows))
    chosen = figures(asked.suites, max((row.candidates for row in rows), default=0))
    shown = tuple(figure.column for figure in chosen)
    blocks = complete(rows, methods)
    compared = [row for seeds in blocks.values() for block in seeds for row in block.values()]
    left_out = len(rows) - len(compared)
    if not blocks:
        return MethodTable((), (), 0, 0, left_out, notes_on(Noted(compared, methods, left_out)), shown)
    drawn = _drawn({False: blocks, True: _planned(rows, asked.wanted, methods)}, methods, (*chosen, GEOMETRIC), asked)
    summaries = tuple(_summary(name, compared, chosen, drawn) for name in methods)
    wanted = [(a, b) for a, b in asked.pairs or combinations(methods, 2) if a in methods and b in methods]
    contrasts = _contrasts(wanted, drawn, asked.seed)
    flat = tuple((one.method, name) for one in summaries for name in one.flat)
    pairs = max(len(contrasts), asked.together)
    noted = Noted(compared, methods, left_out, pairs, flat, asked.suites, asked.budget, asked.unusable, asked.own)
    return MethodTable(summaries, contrasts, len(blocks), len(compared), left_out, notes_on(noted), shown)


def _planned(rows: Sequence[BenchRow], plan: Sequence[BenchRun], methods: Sequence[str]) -> dict[str, list[Block]]:
    """Blocks of every planned problem and seed; an unfinished run counts as a run without candidates."""
    done = {row.cell for row in rows}
    wanted = dict.fromkeys(BenchRun(cell.problem, method, cell.seed) for cell in (*plan, *done) for method in methods)
    failed = [BenchRow(cell, Interval(1.0, 1.0, 1.0), 0, 0, 0, Cost()) for cell in wanted if cell not in done]
    return complete([*rows, *failed], methods)


Key = tuple[str, str]  # method, figure
Drawn = dict[Key, tuple[Sequence[float], Sequence[float]]]  # values by problem, averages of the resamples


def _drawn(
    blocks: Mapping[bool, Mapping[str, Sequence[Block]]],
    methods: Sequence[str],
    chosen: Sequence[Figure],
    asked: TableRequest,
) -> Drawn:
    """``blocks``: True: those of figures that count every planned run; False: those of the others."""
    draws = max(DRAWS, DRAWS_PER_PAIR * math.comb(len(methods), 2))
    found: Drawn = {}
    for of_all, here in blocks.items():
        mine = [figure for figure in dict.fromkeys(chosen) if figure.of_all == of_all]
        if not mine:
            continue
        by_problem = [[_point(block, methods, mine) for block in seeds] for seeds in here.values()]
        keys = [(method, figure.column.name) for method in methods for figure in mine]
        columns, drawn = drawn_averages(by_problem, mine * len(methods), draws, asked.seed)
        found |= dict(zip(keys, zip(columns, drawn, strict=True), strict=True))
    return found


def _point(block: Block, methods: Sequence[str], chosen: Sequence[Figure]) -> Point:
    ranks = mean_ranks([block[name].best.value for name in methods])
    standings = [RankedRow(block[name], rank) for name, rank in zip(methods, ranks, strict=True)]
    return tuple(figure.of(standing) for standing in standings for figure in chosen)


def _summary(method: str, compared: Sequence[BenchRow], chosen: Sequence[Figure], drawn: Drawn) -> Summary:
    mine = [row for row in compared if row.cell.method == method]
    return Summary(
        method=method,
        figures={one.column.name: interval_of(one, *drawn[method, one.column.name]) for one in chosen},
        candidates=sum(row.candidates for row in mine),
        cost=sum((row.cost for row in mine), Cost()),
    )


def _contrasts(pairs: Sequence[tuple[str, str]], drawn: Drawn, seed: int) -> tuple[Contrast, ...]:
    mean = GEOMETRIC.column.name
    flips = max(FLIPS, DRAWS_PER_PAIR * len(pairs))
    found = []
    for a, b in pairs:
        (values, draws), (others, other_draws) = drawn[a, mean], drawn[b, mean]
        gaps = [x - y for x, y in zip(values, others, strict=True)]
        apart = [x - y for x, y in zip(draws, other_draws, strict=True)]
        wins, losses = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
        p = sign_flip_p(gaps, flips, seed)
        found.append(Contrast(a, b, _ratio(gaps, apart), p, p, wins, len(gaps) - wins - losses, losses))
    return _adjusted(found)


def _ratio(gaps: Sequence[float], drawn: Sequence[float]) -> Interval:
    """The ratio; with one problem, whose spread is unknown, its interval is the bootstrap over seeds."""
    if len(gaps) == 1:
        return interval_of(GEOMETRIC, gaps, drawn)
    found = mean_interval(gaps)
    return Interval(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.confidence)


def adjusted_together(tables: Sequence[MethodTable]) -> tuple[MethodTable, ...]:
    """The tables, with all their contrasts adjusted together by Holm."""
    left = iter(_adjusted([one for found in tables for one in found.contrasts]))
    return tuple(replace(found, contrasts=tuple(islice(left, len(found.contrasts)))) for found in tables)


def _adjusted(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    adjusted = holm([one.p for one in contrasts])
    return tuple(replace(one, adjusted=p) for one, p in zip(contrasts, adjusted, strict=True))
