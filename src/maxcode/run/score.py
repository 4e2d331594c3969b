"""The figures of a result for loops that maximise one."""

from __future__ import annotations

from maxcode.core.types import Outcome
from maxcode.run.candidate_result import CandidateResult


def score_of(result: CandidateResult) -> float:
    """The proved part of a speed-up: 0 for a program that is not correct; else the end of the interval nearer to 1, and
    1 if no difference is confirmed, or the speed-up is not trusted."""
    if result.outcome is not Outcome.CORRECT:
        return 0.0
    found = result.speedup
    if found is None:
        return 1.0
    if found.confirmed:
        return max(1.0, found.low) if result.trusted else 1.0
    return min(1.0, found.high) if found.slower else 1.0


def metrics_of(result: CandidateResult) -> dict[str, float]:
    """The figures of a result as numbers: ``score``, ``correct``, ``trusted`` (0 or 1), and ``speedup``, ``low`` and
    ``high`` if it was timed."""
    found = result.speedup
    timed = {"speedup": found.value, "low": found.low, "high": found.high} if found is not None else {}
    is_correct = result.outcome is Outcome.CORRECT
    return {"score": score_of(result), **timed, "correct": float(is_correct), "trusted": float(result.trusted)}


def metric_line(result: CandidateResult) -> str:
    """The figures on one line, ``METRIC score=1.70 speedup=1.83 ...``, for loops that read the output of a command."""
    return "METRIC " + " ".join(f"{name}={value:.6g}" for name, value in metrics_of(result).items())
