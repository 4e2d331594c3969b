"""Evaluates a value model on problems that it was not trained on: how much it saves, and how reliable it is.

    regret@k    a run is replayed with the model: of every batch only the share k of the candidates that it ranks first
                is measured, and children of unmeasured candidates are left out.  The best speed-up found is compared
                with that of the whole run: 1 - best / best of all.  Runs whose batches all have one candidate are left
                out, because they offer no choice
    siblings@k  the same among the candidates sampled from one state: the choice of ``Reranked``, without later steps
    choice      the node to expand: of the expanded states of one run and depth, the target of the one ranked first
                against the best target of them; searches that expand only one state have no such choice
    spearman    rank correlation of expected class and target, within a problem, mean over problems
    calibration mean label for every rounded expected class, and the mean distance of the two

Candidates with equal ranks are measured in random order, and figures are means over ``REPEATS`` such orders.  So a
model that cannot rank has the figures of chance, not those of one lucky order.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import TypeVar, final

from maxcode.core.stats import mean_ranks
from maxcode.train.to_go.pairs import Pair

T = TypeVar("T")
LEAST = 5  # with fewer states of a problem, ranks say nothing
SHARES = tuple(part / 10 for part in range(1, 11))
EQUAL = 0.05  # a regret that counts as equal to the full run
REPEATS = 20
SIBLINGS = 4  # with fewer candidates of one state, there is no choice
Curve = dict[float, tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A held-out pair, its class, and a model's expected class before and after its execution."""

    pair: Pair
    label: int
    before: float
    after: float


@final
@dataclass(frozen=True, slots=True)
class ModelFigures:
    """All figures of one model on one set of held-out pairs; None if there were too few.

    ``regret``, ``siblings``  by the requested share: (share of candidates that was measured, mean regret)
    ``spearman_open``         leaves out states from which nothing was tried, whose target is their own speed-up
    ``bins``                  (rounded expected class, mean label, states)
    """

    states: int
    spearman_after: float | None
    spearman_open: float | None
    spearman_before: float | None
    choice: float | None
    regret: Curve
    siblings: Curve
    calibration: float
    bins: tuple[tuple[int, float, int], ...]


def figures(told: Sequence[ScoredPair]) -> ModelFigures:
    """The figures of a model."""
    bins = _bins(told)
    off = sum(count * abs(label - expected) for _, label, count, expected in bins) / max(1, len(told))
    return ModelFigures(
        len(told),
        _spearman(told, lambda one: one.after),
        _spearman([one for one in told if one.pair.below], lambda one: one.after),
        _spearman(told, lambda one: one.before),
        choice(told),
        {share: replayed(told, share) for share in SHARES},
        {share: among_siblings(told, share) for share in SHARES},
        off,
        tuple((at, label, count) for at, label, count, _ in bins),
    )


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The rank correlation of two sequences, with mean ranks for equal values; None if either is constant."""
    a, b = mean_ranks(one), mean_ranks(other)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)


def _spearman(told: Iterable[ScoredPair], of: Callable[[ScoredPair], float]) -> float | None:
    """The rank correlation within every problem; a model with the same value for all states has 0."""
    found = []
    for states in _grouped(told, lambda one: one.pair.problem):
        targets = [one.pair.target for one in states]
        if len(states) >= LEAST and len(set(targets)) > 1:
            found.append(spearman([of(one) for one in states], targets) or 0.0)
    return statistics.fmean(found) if found else None


def choice(told: Iterable[ScoredPair]) -> float | None:
    """The mean share of the best target that is lost by expanding the state ranked first (the mean of equal ones)."""
    missed = []
    opened = (one for one in told if one.pair.below)
    for states in _grouped(opened, lambda one: (one.pair.run, one.pair.situation.depth)):
        best = max(one.pair.target for one in states)
        if len(states) < 2 or best <= 0:
            continue
        top = max(one.after for one in states)
        chosen = statistics.fmean(one.pair.target for one in states if one.after == top)
        missed.append(1 - chosen / best)
    return statistics.fmean(missed) if missed else None


def replayed(told: Iterable[ScoredPair], share: float) -> tuple[float, float]:
    """(measured share of the candidates, mean regret) over runs, if ``share`` of every batch is measured."""
    runs = _grouped(told, lambda one: one.pair.run)
    chosen_in = [states for states in runs if len({one.pair.at[0] for one in states}) < len(states)]
    return _regret(chosen_in, lambda states, repeat: _kept(states, share, repeat))


def among_siblings(told: Iterable[ScoredPair], share: float) -> tuple[float, float]:
    """The same over the candidates sampled from one state, of which ``share`` is measured."""
    groups = _grouped(told, lambda one: (one.pair.run, one.pair.parent))
    large = [states for states in groups if len(states) >= SIBLINGS]
    return _regret(large, lambda states, repeat: _first(states, share, repeat))


def _regret(
    groups: Sequence[Sequence[ScoredPair]], keep: Callable[[Sequence[ScoredPair], int], Sequence[ScoredPair]]
) -> tuple[float, float]:
    measured, regrets = [], []
    for states in groups:
        best = max(1.0, *(one.pair.reward for one in states))
        tied = len({one.before for one in states}) < len(states)
        for repeat in range(REPEATS if tied else 1):
            kept = keep(states, repeat)
            found = max(1.0, *(one.pair.reward for one in kept))
            weight = 1 if tied else REPEATS
            measured += [len(kept) / len(states)] * weight
            regrets += [1 - found / best] * weight
    return (statistics.fmean(measured), statistics.fmean(regrets)) if measured else (math.nan, math.nan)


def _kept(states: Sequence[ScoredPair], share: float, repeat: int) -> list[ScoredPair]:
    kept: list[ScoredPair] = []
    there = {(0, 0)}
    for batch in _grouped(states, lambda one: one.pair.at[0]):
        chosen = _first([one for one in batch if one.pair.parent in there], share, repeat)
        kept += chosen
        there |= {one.pair.at for one in chosen}
    return kept


def _first(states: Sequence[ScoredPair], share: float, repeat: int) -> list[ScoredPair]:
    """The ``share`` of the states that is ranked first, rounded up; equal ones in random order."""
    count = math.ceil(share * len(states) - 1e-9)
    return sorted(states, key=lambda one: (-one.before, _lot(one, repeat)))[:count]


def _lot(one: ScoredPair, repeat: int) -> bytes:
    """A random order from the name of the run, not its path: the place of its folder must not change a figure."""
    return hashlib.sha256(f"{repeat}/{PurePath(one.pair.run).name}/{one.pair.at}".encode()).digest()


def needed(regret: Curve, equal: float = EQUAL) -> float:
    """The smallest share of candidates to measure with a mean regret of at most ``equal``, interpolated between the
    tested shares."""
    points = sorted(regret.values())
    at = 1.0
    for (share, missed), (more, less) in reversed(list(pairwise(points))):
        if missed > equal:
            return more if less >= missed else share + (more - share) * (missed - equal) / (missed - less)
        at = share
    return at


def _bins(told: Iterable[ScoredPair]) -> list[tuple[int, float, int, float]]:
    found = []
    for states in _grouped(sorted(told, key=lambda one: one.after), lambda one: round(one.after)):
        label, expected = (statistics.fmean(x) for x in zip(*((one.label, one.after) for one in states), strict=True))
        found.append((round(states[0].after), label, len(states), expected))
    return found


def _grouped(items: Iterable[T], key: Callable[[T], object]) -> list[list[T]]:
    groups: dict[object, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.values())
