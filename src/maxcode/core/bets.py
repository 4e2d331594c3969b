"""Evidence from paired ratios: bets on their signs, with stakes that grow with their sizes.  Pure functions, no clock.

Original and candidate run in random order *inside* each pair.  So for two equally fast programs, whatever the noise is
and whatever the sizes of log(original / candidate) are, the signs are fair coins.  Who bets on them, with stakes that
follow from the sizes alone, gets no richer on average: the wealth is an e-process, and reaches 1/alpha with probability
at most alpha, at any stopping time (Ville).

A large gap says more than a small one.  If gaps are normal with mean m and deviation s, the best stake on a gap of size
x is tanh(m x / s^2).  So the stakes are those, for three values of m: weak, like the noise, and far above it.  A size
is counted in medians of all sizes so far, and at most as ``MOST_SIZE``, because outliers say little: shared machines
have many.  ``benchmarks/confirmations.py --races`` compares with signs alone.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence

MOST_SIZE = 1.25  # medians
MOST_STAKE = 0.95  # of what there is
_MEANS = (0.5, 1.0, 2.5)


def wealth(gaps: Sequence[float], least: float = 0.0) -> float:
    """What 1 has become by bets on ``gap > least``, in the order of the gaps: log(original / candidate), one a pair.

    ``least`` is not negative.  A gap between 0 and ``least`` is a loss, so nothing is gained where gaps of both signs
    come equally often.
    """
    return sum(_purses(gaps, least)) / len(_MEANS)


def most_wealth(gaps: Sequence[float], least: float, more: int) -> float:
    """At most what it can become by so many more pairs."""
    return sum(
        purse * (1 + _stake(mean, MOST_SIZE)) ** more for purse, mean in zip(_purses(gaps, least), _MEANS, strict=True)
    ) / len(_MEANS)


def _purses(gaps: Sequence[float], least: float) -> list[float]:
    """What the bets of each mean have made of 1."""
    purses, sizes = [1.0] * len(_MEANS), list[float]()
    for gap in gaps:
        insort(sizes, abs(gap))
        middle = (sizes[len(sizes) // 2] + sizes[(len(sizes) - 1) // 2]) / 2
        size = min(abs(gap) / middle, MOST_SIZE) if middle else 1.0
        won = 1 if gap > least else -1
        purses = [purse * (1 + won * _stake(mean, size)) for purse, mean in zip(purses, _MEANS, strict=True)]
    return purses


def _stake(mean: float, size: float) -> float:
    return MOST_STAKE * math.tanh(mean * size)
