"""What certificates of earlier formats are judged by: the words of version 0.1, and evidence from signs alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from maxcode.core.stats import RaceRule, median_interval, wins_over

_CHANCES = (0.70, 0.80, 0.90, 0.97)  # of a win, on which formats 1 and 2 bet


def shown_by_signs(ratios: Sequence[float], rule: RaceRule, sittings: Sequence[int] = ()) -> bool:
    """Whether pairs prove the candidate faster by who wins each alone, as in formats 1 and 2."""
    wins, losses = (count := wins_over(ratios, rule.margin)), len(ratios) - count
    evidence = sum((2 * p) ** wins * (2 * (1 - p)) ** losses for p in _CHANCES) / len(_CHANCES)
    return evidence >= 1 / rule.alpha and median_interval(ratios).low > 1


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
