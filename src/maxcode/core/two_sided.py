"""Judges two versions of a program from paired ratios: faster, slower, no change, or undecided.

A ratio is time of base over time of head, above 1 = head is faster.  All three words come from the same bets
(``bets.py``), so each holds at any stopping time:

- *faster*: the bets show that head is faster, and the median that it is so by more than ``guard``; *slower* likewise,
  and the bets show a ``slower_guard`` that is above the usual one too;
- *no change*: they show that the ratio is below 1 + ``margin``, and that it is above 1 / (1 + ``margin``).  Both must
  hold, so the smaller of the two e-values counts.

Each word is false with probability at most ``alpha``.  For the first two the order of runs inside a pair must be
random; for the third, and for the interval, a change must also multiply all times of head by the same number.

Many rows are judged together by e-BH (Wang and Ramdas 2022): whatever the dependence between rows, the expected share
of false rows among the flagged ones is at most ``alpha``; if no row differs, any row is flagged with at most that
probability.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

from maxcode.core.bets import wealth
from maxcode.core.types import Interval

GUARD = 0.01  # the placement of code alone can give half a per cent
_USUAL, _HALVINGS = math.log1p(GUARD), 20

Word = Literal["faster", "slower", "no change", "undecided"]


@final
@dataclass(frozen=True, slots=True)
class TwoSidedRule:
    """``margin``: the largest change that counts as none, as a share.  ``guard``: a pair counts as faster only beyond
    this share, and as slower only beyond ``slower_guard``.  ``most``: the pairs after which an open race ends.
    At the usual ``alpha`` nine pairs are the least that prove anything if all ratios are alike."""

    alpha: float = 0.01
    margin: float = 0.02
    guard: float = GUARD
    slower_guard: float = GUARD
    most: int = 60

    @property
    def least(self) -> int:
        """The fewest pairs that can prove anything about one row."""
        return self.least_among(1)

    def least_among(self, rows: int) -> int:
        """The fewest pairs that can flag one row that changes among so many that do not (``judge_rows``), if its ratios
        are alike."""
        enough = (1 if rows == 1 else len(_CHANGED) * rows) / self.alpha
        return next(pairs for pairs in range(1, 1000) if wealth([1.0] * pairs) >= enough)


@final
@dataclass(frozen=True, slots=True)
class Evidence:
    """E-values against "not faster", against "not slower" and against "changed by the margin or more"."""

    faster: float
    slower: float
    same: float


def evidence(ratios: Sequence[float], rule: TwoSidedRule) -> Evidence:
    """The evidence of the pairs so far."""
    gaps, margin = [math.log(ratio) for ratio in ratios], math.log1p(rule.margin)
    faster = _over(gaps, math.log1p(rule.guard))
    slower = _over([-gap for gap in gaps], math.log1p(rule.slower_guard))
    below = wealth([margin - gap for gap in gaps])
    above = wealth([gap + margin for gap in gaps])
    return Evidence(faster, slower, min(below, above))


def _over(gaps: Sequence[float], least: float) -> float:
    """The evidence against "equal" if ``least`` is the usual guard, which the median must exceed; against "at most
    ``least``" if the user asked for more, and changes multiply all times by the same number."""
    if statistics.median(gaps) <= least:
        return 0.0
    return wealth(gaps, least) if least <= _USUAL else wealth([gap - least for gap in gaps])


def judge(ratios: Sequence[float], rule: TwoSidedRule) -> Word:
    """The word on the pairs so far; "undecided" = continue."""
    found, enough = evidence(ratios, rule), 1 / rule.alpha
    if found.faster >= enough:
        return "faster"
    if found.slower >= enough:
        return "slower"
    return "no change" if found.same >= enough else "undecided"


def judge_rows(rows: Mapping[str, Sequence[float]], rule: TwoSidedRule) -> dict[str, Word]:
    """The words on the rows of a suite, together: the share of false "faster" and "slower" among all of these is at
    most ``alpha``, and so is that of false "no change" among those."""
    found = {name: evidence(ratios, rule) for name, ratios in rows.items()}
    words: dict[str, Word] = dict.fromkeys(rows, "undecided")
    unchanged = list(found)
    for at in e_bh([found[name].same for name in unchanged], rule.alpha):
        words[unchanged[at]] = "no change"
    sides: list[tuple[str, Word]] = [(name, word) for name in found for word in _CHANGED]
    for at in e_bh(
        [found[name].faster if word == "faster" else found[name].slower for name, word in sides], rule.alpha
    ):
        name, word = sides[at]
        words[name] = word
    return words


_CHANGED: tuple[Word, Word] = ("faster", "slower")


def e_bh(e_values: Sequence[float], level: float) -> list[int]:
    """The positions whose null is rejected: the k largest e-values, for the largest k with k-th >= n / (level k)."""
    order = sorted(range(len(e_values)), key=e_values.__getitem__, reverse=True)
    passing = [k for k, at in enumerate(order, 1) if e_values[at] >= len(order) / (level * k)]
    return sorted(order[: max(passing, default=0)])


def interval_at_any_time(ratios: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median ratio, with an interval that holds the true ratio with this confidence whenever one looks.

    It is every value that the bets do not reject.  With too few pairs for ``confidence`` the result is the extremes
    with their own confidence.  ValueError without ratios.
    """
    if not ratios:
        raise ValueError("no ratios to take a median of")
    gaps = [math.log(ratio) for ratio in ratios]
    middle, enough = statistics.median(gaps), 2 / (1 - confidence)
    low = _rejected_below(gaps, middle, enough)
    high = -_rejected_below([-gap for gap in gaps], -middle, enough)
    reached = max(0.0, 1 - 2 / wealth([1.0] * len(gaps)))
    return Interval(math.exp(middle), math.exp(low), math.exp(high), round(min(confidence, reached), 6))


def _rejected_below(gaps: Sequence[float], middle: float, enough: float) -> float:
    """The largest gap below the middle that the bets reject; the least of all gaps if that is not rejected."""
    low, high = min(gaps), middle
    if wealth([gap - low for gap in gaps]) < enough:
        return low
    for _ in range(_HALVINGS):
        between = (low + high) / 2
        low, high = (between, high) if wealth([gap - between for gap in gaps]) >= enough else (low, between)
    return low
