"""Evidence from paired times: bets on who wins each pair.  Pure functions, no clock.

Original and candidate run in random order *inside* each pair.  So for two equally fast programs each of the two times
is the candidate's equally often, whatever the two times are and whatever came before.  Who bets on that with stakes
that follow from the two times and from earlier pairs alone, gets no richer on average: the wealth is an e-process, and
reaches 1/alpha with probability at most alpha, at any stopping time (Ville).  Testing by betting: Waudby-Smith and
Ramdas 2024 (means), Shekhar and Ramdas 2023 (two samples).  The stakes are ours; no stake can break the promise.

The best bet on "the candidate won" is the likelihood ratio of this and "it lost", given the two times.  Two bets share
the wealth:

- by size: a large gap says more than a small one.  If gaps are normal with mean m and deviation s, the best stake on a
  gap of size x is tanh(m x / s^2).  A size is counted in medians of all sizes so far, and at most as ``MOST_SIZE``,
  because outliers say little: shared machines have many;
- by times: the same with a smaller m, and with what the logarithms of the recent times say, of both sides together, the
  candidate's shifted by a supposed gain: their density, estimated with Cauchy's kernel.  A time that is too short for
  the original is likely to be the candidate's.

Nobody bets on a loss, so a candidate that wins at most half of the pairs of any size gives no wealth either.
``benchmarks/race_noise.py`` compares with bets by size alone.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from functools import lru_cache

MOST_SIZE = 1.25  # medians
MOST_STAKE = 0.95  # of what there is
_BY_SIZE, _BY_TIMES = 2.5, 0.5  # the means of both bets, in medians of sizes, like the two below
_GAIN = 0.4  # which the bet by times supposes
_WIDTH = 0.5  # of the kernel
_RECENT, _LEAST = 12, 4  # pairs that give the density
_RARE = 1e-6  # the density where no time has been
_SHARE = 1 / 3  # of the bet by size
_BLOCK = 32  # pairs of which the wealth is remembered


def level_of(original: float, candidate: float) -> float:
    """The mean of the logarithms of both times."""
    return (math.log(original) + math.log(candidate)) / 2


def wealth(gaps: Sequence[float], least: float = 0.0, levels: Sequence[float] = ()) -> float:
    """What 1 has become by bets on ``gap > least``, in the order of the gaps: log(original / candidate), one a pair.

    ``least`` is not negative.  A gap between 0 and ``least`` is a loss, so nothing is gained where gaps of both signs
    come equally often.  ``levels``: ``level_of`` each pair; without them the bets know the gaps alone.
    """
    return _together(_purses(tuple(gaps), tuple(levels) or (0.0,) * len(gaps), least))


def most_wealth(gaps: Sequence[float], least: float, more: int, levels: Sequence[float] = ()) -> float:
    """At most what it can become by so many more pairs."""
    by_size, by_times = _purses(tuple(gaps), tuple(levels) or (0.0,) * len(gaps), least)
    return _together((by_size * (1 + _stake(_BY_SIZE * MOST_SIZE)) ** more, by_times * (1 + MOST_STAKE) ** more))


def _together(purses: tuple[float, float]) -> float:
    return _SHARE * purses[0] + (1 - _SHARE) * purses[1]


def _purses(gaps: tuple[float, ...], levels: tuple[float, ...], least: float) -> tuple[float, float]:
    """What both bets have made of 1."""
    known = max(0, len(gaps) - 1) // _BLOCK * _BLOCK
    by_size, by_times = _known_purses(gaps[:known], levels[:known], least) if known else (1.0, 1.0)
    sizes = sorted(map(abs, gaps[:known]))
    for at in range(known, len(gaps)):
        insort(sizes, abs(gaps[at]))
        middle = (sizes[len(sizes) // 2] + sizes[(len(sizes) - 1) // 2]) / 2
        size = min(abs(gaps[at]) / middle, MOST_SIZE) if middle else 1.0
        first = max(0, at - _RECENT)
        odds = _odds(gaps[first : at + 1], levels[first : at + 1], middle) if at >= _LEAST else 0.0
        won = 1 if gaps[at] > least else -1
        by_size *= 1 + won * _stake(_BY_SIZE * size)
        by_times *= 1 + won * max(0.0, _stake(_BY_TIMES * size + odds / 2))
    return by_size, by_times


_known_purses = lru_cache(maxsize=2048)(_purses)


def _odds(gaps: Sequence[float], levels: Sequence[float], middle: float) -> float:
    """The logarithm of how much likelier it is that the last pair is won than that it is lost, by its two times and
    those of the pairs before it."""
    gain, width = _GAIN * middle, _WIDTH * middle
    if not width:
        return 0.0
    *earlier, (gap, level) = zip(gaps, levels, strict=True)
    long, short = level + abs(gap) / 2, level - abs(gap) / 2
    times = [one for gap, level in earlier for one in (level + gap / 2, level - gap / 2 + gain)]

    def density(at: float) -> float:
        return sum([1 / (1 + (z := (at - one) / width) * z) for one in times]) / len(times) + _RARE

    return math.log(density(long) * density(short + gain) / (density(short) * density(long + gain)))


def _stake(likely: float) -> float:
    return MOST_STAKE * math.tanh(likely)
