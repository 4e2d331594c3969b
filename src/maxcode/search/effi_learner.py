"""Effi-Learner (arXiv 2405.15189, once called SOAP): one path, one proposal at a time; only a better program is stored.

The loop runs the stored program under a profiler, shows the profile and asks for a faster program.  The new program
replaces the stored one only if it executes and costs less.  A failure becomes feedback on the stored one.

Departures: cost is the reward (the speed-up of CPU time), not memory x time, which is not measured here; "executes"
means the outcome CORRECT, on every test; the first stored program is the original, since the problem comes with one, so
the first proposal sees a profile already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State


@final
@dataclass(frozen=True, slots=True)
class EffiLearner:
    """``rounds`` proposals, each from the stored program: 5 in its own repository, 2 in MaxCode."""

    rounds: int = 5

    def select(self, reached: Reached) -> list[State]:
        if len(reached) > self.rounds:  # the root is not a proposal
            return []
        return [_stored(next(reached.newest()), reached)]


def _stored(state: State, reached: Reached) -> State:
    """The state itself if it is correct and better than the stored one before it, else that one.

    States are looked up by id, because an incumbent that is not confirmed is replaced after other states came from it.
    """
    while state.parent is not None:
        now, before = reached[state.id], reached[state.parent.id]
        if now.outcome is Outcome.CORRECT and now.reward > before.reward:
            return now
        state = before
    return state
