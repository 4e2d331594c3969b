"""From the scores of a group of answers to one prompt to their advantages: pure functions; None stays None.

A score is None if the machine failed; such an answer is not part of the group, and has no advantage.  All advantages
are centred (their sum over a group is 0), so a trainer that subtracts the group's mean changes nothing.

``plain`` is GRPO's own (also in arXiv 2602.12049): the distance from the group's mean in standard deviations.
``leave_one_out`` subtracts the mean of the others and divides by nothing.  ``max_at_k`` is MaxCode's objective, the
maximum, used in training: the amount that each answer adds to the best of k from the group, averaged over all choices
that hold it (the estimator of pass@k policy optimisation, leave-one-out minus one).  Copies of the best add nothing, so
a kernel that the policy writes often earns no more credit.  This keeps the policy exploring, and it is why ``max_at_k``
does not collapse as ``plain`` does.  Its cost is validity: a slow kernel and a broken one add equally little.  ``mix``
adds the plain distance from the mean, which separates them; the factors are ours.

``entropic`` is the right-tail objective of TTT-Discover (arXiv 2601.16175), the logarithm of the mean of exp(beta R):
an answer counts by exp(beta R) as a share of the group's mean of that, less 1.  As there, beta is set for each group,
so that these shares are ln 2 away from equal ones (KL divergence).  Its published code leaves the answer itself out of
that mean, which pays a lone best without a bound; here it stays in, so that the advantages are centred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, final

from maxcode.core.types import Evaluation, Interval
from maxcode.errors import InputError, unknown
from maxcode.train.rewards import TrainingReward, rate

Scores = Sequence[float | None]
Advantages = list[float | None]
Kind = Literal["plain", "leave_one_out", "max_at_k", "entropic"]

_EPSILON = 1e-4  # added to a standard deviation, as GRPO does
_AWAY = math.log(2)  # nats between the shares of ``entropic`` and equal ones
_STEEPEST, _HALVINGS = 1e6, 80  # the largest beta over the range of the scores, and the steps of the search for it
_SAME = 1e-9  # scores closer than this are equal


@final
@dataclass(frozen=True, slots=True)
class Advantage:
    """The kind of advantage for a group's scores.

    ``k`` and ``scale`` belong to ``max_at_k``; ``mix`` is the share of the distance from the mean that is added to it.
    ``shrink``: whether scores that the measurement cannot separate are brought together first (``shrunk``).
    """

    kind: Kind = "max_at_k"
    k: int = 4
    scale: float = 20.0
    mix: float = 2.0
    shrink: bool = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("advantage", self.kind, KINDS)
        if self.k < 2:
            raise InputError(
                f"max@k with k = {self.k} is the plain mean; give k = 2 or more, or kind = 'leave_one_out'"
            )

    def __call__(self, scores: Scores) -> Advantages:
        """The advantages of one group."""
        if self.kind != "max_at_k":
            return KINDS[self.kind](scores)
        known = [score for score in scores if score is not None]
        mean = _mean(known)
        added = iter(centred(max_at_k(known, self.k)))
        return [None if one is None else self.scale * next(added) + self.mix * (one - mean) for one in scores]


def plain(scores: Scores) -> Advantages:
    """The distance from the mean, in standard deviations of the group."""
    known = [score for score in scores if score is not None]
    mean = _mean(known)
    spread = math.sqrt(sum((one - mean) ** 2 for one in known) / max(1, len(known) - 1)) + _EPSILON
    return [None if one is None else (one - mean) / spread for one in scores]


def leave_one_out(scores: Scores) -> Advantages:
    """The distance from the mean of the others; 0 for a single score."""
    known = [score for score in scores if score is not None]
    mean, others = _mean(known), len(known) - 1
    return [None if one is None else (one - mean) * len(known) / others if others else 0.0 for one in scores]


def entropic(scores: Scores) -> Advantages:
    """The share of exp(beta score) over an equal share, less 1.  If the best are so many that no beta takes the shares
    ln 2 away, they have all of it."""
    known = [score for score in scores if score is not None]
    best = max(known, default=0.0)
    beta = _beta(known)
    powers = [None if one is None else math.exp(beta * (one - best)) for one in scores]
    mean = _mean([one for one in powers if one is not None])
    return [None if one is None else one / mean - 1 for one in powers]


def _beta(scores: Sequence[float]) -> float:
    width = max(scores, default=0.0) - min(scores, default=0.0)
    low, high = 0.0, _STEEPEST / width if width > _SAME else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _away(scores, middle) < _AWAY else (low, middle)
    return high


def _away(scores: Sequence[float], beta: float) -> float:
    """The KL divergence, in nats, of shares by exp(beta score) from equal ones."""
    powers = [math.exp(beta * (one - max(scores))) for one in scores]
    shares = [one / sum(powers) for one in powers]
    return sum(one * math.log(one * len(shares)) for one in shares if one > 0)


def max_at_k(scores: Sequence[float], k: int) -> list[float]:
    """The amount that each score adds to the maximum of k: the mean over all k-subsets S that hold it of max(S) minus
    max(S without it).  With fewer than k scores, k is their number; a single score adds 0.

    In closed form: the maximum of k-1 others is the j-th smallest of m others in C(j, k-2) of C(m, k-1) subsets.
    """
    found = []
    for at, one in enumerate(scores):
        others = sorted(score for place, score in enumerate(scores) if place != at)
        drawn = min(k - 1, len(others))
        subsets = math.comb(len(others), drawn) if drawn else 1
        gains = ((one - other) * math.comb(j, drawn - 1) for j, other in enumerate(others) if other < one and drawn)
        found.append(sum(gains) / subsets)
    return found


KINDS: Mapping[str, Callable[[Scores], Advantages]] = {
    "plain": plain,
    "leave_one_out": leave_one_out,
    "max_at_k": lambda scores: Advantage()(scores),
    "entropic": entropic,
}


def centred(values: Sequence[float]) -> list[float]:
    """The values minus their mean."""
    mean = _mean(values)
    return [value - mean for value in values]


def best_of(values: Sequence[float], k: int) -> float:
    """The expected best of k values, chosen without replacement, unbiased; of all if there are fewer."""
    ordered = sorted(values)
    k = min(k, len(ordered))
    if k == 0:
        return 0.0
    whole = math.comb(len(ordered), k)
    return sum(value * math.comb(at, k - 1) / whole for at, value in enumerate(ordered))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ---------------------------------------------------------------------------------------- differences inside the noise


def half_width(reward: TrainingReward, evaluation: Evaluation | None) -> float:
    """Half the width of a reward's interval, from the ends of the measured rate; 0 if nothing was timed."""
    found = rate(evaluation)
    if evaluation is None or found is None:
        return 0.0
    ends = [reward(_rated(evaluation, end)) for end in (found.low, found.high)]
    low, high = (end if end is not None else 0.0 for end in ends)
    return abs(high - low) / 2


def _rated(evaluation: Evaluation, value: float) -> Evaluation:
    """The evaluation with another rate (``rewards.rate``)."""
    assert evaluation.timing is not None
    at = Interval(value, value, value)
    timed = replace(evaluation.timing, elapsed=None, seconds=None)  # the rate counts as it is: no clock cuts it again
    found = replace(timed, gflops=at) if timed.gflops is not None else replace(timed, speedup=at)
    return replace(evaluation, timing=found)


def shrunk(scores: Scores, half_widths: Sequence[float]) -> Advantages:
    """Replaces each score by a weighted mean of all: another score counts exp(-d^2 / 2w^2), with d the distance and w^2
    the sum of both squared half-widths.  Differences well outside the intervals stay, those inside shrink; a score
    without noise stays unchanged.  Ours."""
    found: Advantages = []
    for one, width in zip(scores, half_widths, strict=True):
        weights = [_weight(one, other, width, wide) for other, wide in zip(scores, half_widths, strict=True)]
        if one is None or not width:
            found.append(one)
            continue
        pairs = [(weight, other) for weight, other in zip(weights, scores, strict=True) if other is not None]
        found.append(sum(weight * other for weight, other in pairs) / sum(weight for weight, _ in pairs))
    return found


def _weight(one: float | None, other: float | None, width: float, wide: float) -> float:
    if one is None or other is None or not wide:
        return 0.0
    return math.exp(-((one - other) ** 2) / 2 / (width**2 + wide**2))


def grouped(
    values: Sequence[float | None], groups: Sequence[int], change: Callable[[Scores], Advantages]
) -> Advantages:
    """Applies ``change`` to every run of equal ``groups``, in order."""
    found: Advantages = []
    for _, rows in groupby(range(len(values)), key=lambda row: groups[row]):
        found += change([values[row] for row in rows])
    return found
