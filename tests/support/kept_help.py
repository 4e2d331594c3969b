"""Admissions as another command makes them, with what earlier ones have kept."""

from __future__ import annotations

import anyio

from maxcode.core.phases import RUN, recording
from maxcode.core.types import Problem
from maxcode.evaluate.rounds.stages import P, S, Stages


def admitted_by(stages: Stages[S, P], problem: Problem) -> tuple[S, int]:
    """The admitted problem, and how many single runs of the original that took."""
    with recording() as recorder:
        staged = anyio.run(stages.of, problem)
    return staged, sum(one.count for one in recorder.profile().phases if one.activity == RUN)
