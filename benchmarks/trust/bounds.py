"""Bounds on a rate from a count of rare events."""

from __future__ import annotations

import math

_HALVINGS = 60


def upper_bound(events: int, trials: int, confidence: float = 0.95) -> float:
    """The one-sided Clopper-Pearson upper bound of a rate: with a higher rate, so few events would have a probability
    below 1 - ``confidence``.  1 without trials."""
    if events >= trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(events, trials, middle) > 1 - confidence else (low, middle)
    return high


def lower_bound(events: int, trials: int, confidence: float = 0.95) -> float:
    """The lower bound, one-sided."""
    return 1 - upper_bound(trials - events, trials, confidence)


def _at_most(events: int, trials: int, rate: float) -> float:
    """P(at most ``events`` of ``trials``) at this rate."""
    if rate in (0.0, 1.0):
        return float(rate == 0.0 or events >= trials)
    logs = math.log(rate), math.log1p(-rate)
    return sum(math.exp(_log_choose(trials, k) + k * logs[0] + (trials - k) * logs[1]) for k in range(events + 1))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
