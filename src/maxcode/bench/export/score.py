"""KernelBench's score (arXiv 2502.10517): the share of a level's problems solved correctly and faster than p."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Score:
    """One problem: whether the answer is correct, and its speed-up over the baseline (None if there is none)."""

    correct: bool
    speedup: float | None


def fast_p(scores: Iterable[Score], p: float, problems: int) -> float:
    """The share of a level's ``problems`` that are correct and faster than ``p`` times the baseline, strictly.

    Problems that were not tried count as failures.  So does a correct answer without a speed-up, except for p = 0,
    which asks only for correctness.  Raises ValueError if there are more scores than problems.
    """
    listed = list(scores)
    if problems < max(1, len(listed)):
        raise ValueError(f"{len(listed)} scores for a level of {problems} problems")
    return sum(one.correct and (p == 0 if one.speedup is None else one.speedup > p) for one in listed) / problems


def geometric_mean(scores: Iterable[Score]) -> float | None:
    """The geometric mean of the speed-ups of the correct answers; None if there is none."""
    logs = [math.log(one.speedup) for one in scores if one.correct and one.speedup is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None
