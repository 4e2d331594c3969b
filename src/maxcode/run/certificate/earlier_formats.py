"""What certificates of earlier formats are judged by: the words of version 0.1, and evidence from less."""

from __future__ import annotations

import math
import re
import statistics
from bisect import insort
from collections.abc import Sequence
from typing import Any

from maxcode.core.stats import RaceRule, median_interval, wins_over

BY_SIZES = 3  # the format whose evidence is the sizes of the gaps
_CHANCES = (0.70, 0.80, 0.90, 0.97)  # of a win, on which formats 1 and 2 bet
_MEANS, _MOST_SIZE, _MOST_STAKE = (0.5, 1.0, 2.5), 1.25, 0.95  # of the gaps, on which format 3 bet


def shown_by_signs(ratios: Sequence[float], rule: RaceRule) -> bool:
    """Whether pairs prove the candidate faster by who wins each alone, as in formats 1 and 2."""
    wins, losses = (count := wins_over(ratios, rule.margin)), len(ratios) - count
    evidence = sum((2 * p) ** wins * (2 * (1 - p)) ** losses for p in _CHANCES) / len(_CHANCES)
    return evidence >= 1 / rule.alpha and median_interval(ratios).low > 1


def shown_by_sizes(ratios: Sequence[float], rule: RaceRule) -> bool:
    """Whether pairs prove the candidate faster by who wins each and by how much, as in format 3."""
    gaps, least = [math.log(ratio) for ratio in ratios], math.log1p(rule.margin)
    is_proven = statistics.median(gaps) > least and wealth_by_sizes(gaps, least) >= 1 / rule.alpha
    return is_proven and median_interval(ratios).low > 1


def wealth_by_sizes(gaps: Sequence[float], least: float = 0.0) -> float:
    """What 1 has become by bets on ``gap > least`` (``core/bets.py``) whose stakes follow from the sizes alone."""
    purses, sizes = [1.0] * len(_MEANS), list[float]()
    for gap in gaps:
        insort(sizes, abs(gap))
        middle = (sizes[len(sizes) // 2] + sizes[(len(sizes) - 1) // 2]) / 2
        size = min(abs(gap) / middle, _MOST_SIZE) if middle else 1.0
        won = _MOST_STAKE if gap > least else -_MOST_STAKE
        purses = [purse * (1 + won * math.tanh(mean * size)) for purse, mean in zip(purses, _MEANS, strict=True)]
    return sum(purses) / len(_MEANS)


_WORDS_OF_0_1 = (
    (re.compile(r"(\d+) input(s?) that nobody was shown"), r"\1 newly generated input\2"),
    (re.compile(r"its harsher verification"), "its re-check"),
    (re.compile(r"further inputs \(asked for by "), "extra inputs (triggered by: "),
    (re.compile(r"further inputs"), "extra inputs"),
)


def reworded(said: Any) -> Any:
    """A conclusion in the words of this version; version 0.1 used other words."""
    if isinstance(said, tuple):
        return tuple(map(reworded, said))
    for pattern, words in _WORDS_OF_0_1 if isinstance(said, str) else ():
        said = pattern.sub(words, said)
    return said
