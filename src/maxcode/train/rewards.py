"""Rewards of an evaluation for a policy in training: three ladders, pure functions.

``Paper`` has the rungs of arXiv 2602.12049 as published (except the map from GFLOPS to a reward, which is ours).
``Shaped`` is the default here: the same order with smaller steps, because one -100 among rewards of a few tens makes
all differences between correct kernels tiny.  ``Gated`` counts components in order of importance, each only if all
before it hold, as ChipSeek (2507.04736) and StepCoder (2402.01391) do.

If the machine failed, the evaluation is ``None``, and so is its reward: never a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, final

from maxcode.core.reward import credit
from maxcode.core.types import Evaluation, Interval, Outcome

USUAL_PEAK = 64.0  # GFLOPS, used if the roofline is not known


class TrainingReward(Protocol):
    """The reward of an evaluation; None (the machine failed) stays None.  Pure."""

    def __call__(self, evaluation: Evaluation | None) -> float | None: ...


def rate(evaluation: Evaluation | None) -> Interval | None:
    """The rate of a correct program, with its interval: GFLOPS if the problem gives the work of a call, else the
    speed-up over the original.  None for every other outcome, and if nothing could be timed."""
    if evaluation is None or evaluation.outcome is not Outcome.CORRECT or evaluation.timing is None:
        return None
    timing = evaluation.timing
    found = timing.gflops if timing.gflops is not None else timing.speedup
    share = credit(timing)
    return (
        found
        if share == 1
        else replace(found, value=found.value * share, low=found.low * share, high=found.high * share)
    )


def is_scored(evaluation: Evaluation | None) -> bool:
    """Whether the machine did not fail: there is an evaluation, the program could run here and did not end its node,
    and a correct one was timed without disturbance."""
    if evaluation is None or evaluation.outcome in (Outcome.UNVERIFIED, Outcome.QUARANTINED):
        return False
    timing = evaluation.timing
    return evaluation.outcome is not Outcome.CORRECT or (timing is not None and timing.verdict != "noisy")


def share_of_peak(evaluation: Evaluation) -> float:
    """log(1 + rate) as a share of log(1 + roofline): 0 to about 1; a factor of two adds about the same at any rate."""
    found = rate(evaluation)
    assert found is not None
    assert evaluation.timing is not None
    return math.log2(1 + found.value) / math.log2(1 + (evaluation.timing.roofline or USUAL_PEAK))


_PUBLISHED: Mapping[Outcome, float] = {
    Outcome.UNPARSED: -100.0,
    Outcome.REJECTED: -100.0,
    Outcome.UNBUILT: -40.0,
    Outcome.TIMEOUT: -30.0,
    Outcome.CRASHED: -20.0,
    Outcome.WRONG: -10.0,
}
_SHAPED: Mapping[Outcome, float] = {
    Outcome.UNPARSED: -0.30,
    Outcome.REJECTED: -0.25,
    Outcome.UNBUILT: -0.20,
    Outcome.TIMEOUT: -0.15,
    Outcome.CRASHED: -0.10,
    Outcome.WRONG: -0.05,
}


@final
@dataclass(frozen=True, slots=True)
class Paper:
    """The published ladder: -100 format or forbidden, -40 compile, -30 time-out, -20 run time, -10 wrong; positive in
    GFLOPS.  The positive part was not published: ``scale`` times the GFLOPS is ours."""

    scale: float = 1.0

    def __call__(self, evaluation: Evaluation | None) -> float | None:
        return _ladder(evaluation, _PUBLISHED, lambda found: self.scale * _value(found))


@final
@dataclass(frozen=True, slots=True)
class Shaped:
    """The same order in small steps below 0, and ``share_of_peak`` above.  Ours, as are all its numbers."""

    def __call__(self, evaluation: Evaluation | None) -> float | None:
        return _ladder(evaluation, _SHAPED, share_of_peak)


@final
@dataclass(frozen=True, slots=True)
class Gated:
    """0.1 for a program that may run, 0.1 more if it builds, 0.1 if it ends by itself, 0.2 if it is correct, and up to
    ``speed`` for ``share_of_peak``; every part counts only if all before it hold.  The weights are ours."""

    speed: float = 0.5

    def __call__(self, evaluation: Evaluation | None) -> float | None:
        return _ladder(evaluation, _GATES, lambda found: 0.5 + self.speed * share_of_peak(found))


_GATES: Mapping[Outcome, float] = {
    Outcome.UNPARSED: 0.0,
    Outcome.REJECTED: 0.0,
    Outcome.UNBUILT: 0.1,
    Outcome.TIMEOUT: 0.2,
    Outcome.CRASHED: 0.2,
    Outcome.WRONG: 0.3,
}
REWARDS: Mapping[str, Callable[[], TrainingReward]] = {"shaped": Shaped, "paper": Paper, "gated": Gated}


def _ladder(
    evaluation: Evaluation | None, rungs: Mapping[Outcome, float], correct: Callable[[Evaluation], float]
) -> float | None:
    if evaluation is None or not is_scored(evaluation):
        return None
    return correct(evaluation) if evaluation.outcome is Outcome.CORRECT else rungs[evaluation.outcome]


def _value(evaluation: Evaluation) -> float:
    found = rate(evaluation)
    assert found is not None
    return found.value
