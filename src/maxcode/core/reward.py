"""Max-reward arithmetic (MaxCode, arXiv 2601.05475, section 2; Veviurko et al. 2024).

Discount: rewards are listed r_0, r_1, ... in the order they are received.  A reward k steps ahead is multiplied by
gamma**k, so the first one counts in full.  The objective is the *maximum* of the discounted rewards, not their sum.
Under a maximum the right action depends on the best reward so far, so the state includes the scalar u.
"""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.core.types import Evaluation, Outcome, Step, Timing


def speedup(evaluation: Evaluation) -> float:
    """The paper's r = f(e): the measured speed-up over the original, 0 for anything not correct or not timed.

    If a program waits instead of working, or its gain does not show in seconds, only the gain that shows counts.
    """
    if evaluation.outcome is not Outcome.CORRECT or evaluation.timing is None:
        return 0.0
    return evaluation.timing.speedup.value * credit(evaluation.timing)


def credit(timing: Timing) -> float:
    """The share (0..1] of a speed-up that counts: below 1 if another clock contradicts the one that decides."""
    by_time = timing.seconds if timing.verdict == "not_in_cpu_time" else timing
    other = by_time.elapsed if by_time is not None and by_time.waits else None
    if other is None and timing.verdict == "not_in_cpu_time" and timing.seconds is not None:
        other = timing.seconds.speedup
    return min(1.0, other.value / timing.speedup.value) if other is not None else 1.0


def max_return(rewards: Sequence[float], gamma: float = 1.0) -> float:
    """max over k >= 0 of gamma**k * r_k; 0 when there are none (rewards are non-negative)."""
    return max((gamma**k * reward for k, reward in enumerate(rewards)), default=0.0)


def bank(u: float, reward: float, gamma: float = 1.0) -> float:
    """The next u: max(u, r) / gamma.

    So max(u, G_t) = gamma * max(bank(u, r_t), G_{t+1}) with G_t = max(r_t, gamma * G_{t+1}).
    """
    return max(u, reward) / gamma


def banked(steps: Sequence[Step], gamma: float = 1.0, start: float = 1.0) -> float:
    """u at the end of a path, from ``start`` (the speed-up of the original, 1) and the rewards of the steps."""
    u = start
    for step in steps:
        u = bank(u, step.reward, gamma)
    return u


def reward_to_go(rewards: Sequence[float], gamma: float = 1.0) -> list[float]:
    """G_t for every t: the best discounted reward from t on.  ``reward_to_go(r)[0] == max_return(r)``."""
    best: list[float] = []
    ahead = 0.0
    for reward in reversed(rewards):
        ahead = max(reward, gamma * ahead)
        best.append(ahead)
    return best[::-1]
