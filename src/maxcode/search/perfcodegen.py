"""PerfCodeGen (arXiv 2412.03578): base samples, then correctness, then performance, without training.

Base: independent samples.  Correctness: failed ones are refined with the failing test.  Performance: correct ones are
asked to reduce their run time, then again with their slowest unit test quoted.  If an answer fails, the last correct
program continues instead.  The fastest correct program is the result.

Departures: base samples are asked to make the given program faster, since the problem comes with one, where the paper
generates from a description; ``repairs`` limits the rounds of correctness, where the paper gives no number; the paper's
variant that reflects before a repair is left out; each phase is sampled for all base samples at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State

Phase = Literal["base", "correctness", "faster", "slowest"]


@final
@dataclass(frozen=True, slots=True)
class PerfCodeGen:
    """``base`` samples (20 in the paper), at most ``repairs`` rounds for those that fail, two for those that work.

    It ends when no phase has a question left: at most ``base * (3 + repairs)`` candidates.  A state that is closed gets
    no question as long as another one has one.
    """

    base: int = 20
    repairs: int = 1

    def select(self, reached: Reached) -> list[State]:
        samples = reached.children(reached.root)[: self.base]
        if len(samples) < self.base and not (samples and reached.is_closed(reached.root)):
            return [reached.root] * (self.base - len(samples))
        chains = [self._mended(sample, reached) for sample in samples]
        broken = [state for state, rounds in chains if _fails(state) and rounds < self.repairs]
        correct = [state for state, _ in chains if not _fails(state)]
        fresh = [state for state in correct if not reached.children(state)]
        for asked in (broken, fresh, second := _second(correct, reached)):
            if still_open := [state for state in asked if not reached.is_closed(state)]:
                return still_open
        return [*broken, *fresh, *second]

    def _mended(self, sample: State, reached: Reached) -> tuple[State, int]:
        """The last state of a sample's repairs, and the number of repairs."""
        rounds = 0
        while _fails(sample) and rounds < self.repairs and (children := reached.children(sample)):
            sample, rounds = children[0], rounds + 1
        return sample, rounds


def phase(state: State, reached: Reached) -> Phase:
    """The instruction for a proposal from ``state``.  "faster" is the first question of the performance phase.
    "slowest" is the second; it goes to the answer of the first, or to the program itself if that answer failed."""
    if state.parent is None:
        return "base"
    if _fails(state):
        return "correctness"
    was_asked = state.parent.parent is not None and not _fails(state.parent)
    return "slowest" if was_asked or reached.children(state) else "faster"


def _second(correct: Sequence[State], reached: Reached) -> list[State]:
    """The states that get the second question: of each correct program whose first one has an answer."""
    asked: list[State] = []
    for state in correct:
        if answers := reached.children(state):
            heir, due = (state, 2) if _fails(answers[0]) else (answers[0], 1)
            asked += [heir] if len(reached.children(heir)) < due else []
    return asked


def _fails(state: State) -> bool:
    return state.outcome is not Outcome.CORRECT
