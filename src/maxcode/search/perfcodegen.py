"""PerfCodeGen (arXiv 2412.03578): base samples, then correctness, then performance, without training.

Base: independent samples.  Correctness: failed ones are refined with the failing test.  Performance: correct ones are
asked to reduce their run time, then again with their slowest unit test quoted; where an answer fails, the last correct
program goes on instead, and the fastest correct one is the result.

Departures: base samples are asked to make the given program faster, since the problem comes with one, where the paper
generates from a description; ``repairs`` rounds of correctness, where the number is not known; the paper's variant
that reflects before it mends is left out; a phase is drawn for all samples at once.
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
    """``base`` samples (the paper's 20), at most ``repairs`` rounds for those that fail, two for those that work.

    It ends when no phase has anything left to ask: at most ``base * (3 + repairs)`` candidates.
    """

    base: int = 20
    repairs: int = 1

    def select(self, reached: Reached) -> list[State]:
        samples = reached.children(reached.root)[: self.base]
        if len(samples) < self.base:
            return [reached.root] * (self.base - len(samples))
        chains = [self._mended(sample, reached) for sample in samples]
        if broken := [state for state, rounds in chains if _fails(state) and rounds < self.repairs]:
            return broken
        correct = [state for state, _ in chains if not _fails(state)]
        if fresh := [state for state in correct if not reached.children(state)]:
            return fresh
        return [state for state in _second(correct, reached) if state is not None]

    def _mended(self, sample: State, reached: Reached) -> tuple[State, int]:
        """The end of a sample's repairs, and how many there were."""
        rounds = 0
        while _fails(sample) and rounds < self.repairs and (children := reached.children(sample)):
            sample, rounds = children[0], rounds + 1
        return sample, rounds


def phase(state: State, reached: Reached) -> Phase:
    """What a proposal from ``state`` is asked for: "faster" is the first question of the performance phase, "slowest"
    the second, put to what the first one gave, or to the program itself where that failed."""
    if state.parent is None:
        return "base"
    if _fails(state):
        return "correctness"
    was_asked = state.parent.parent is not None and not _fails(state.parent)
    return "slowest" if was_asked or reached.children(state) else "faster"


def _second(correct: Sequence[State], reached: Reached) -> list[State | None]:
    """For each correct program whom to ask the second time; None where that was done."""
    asked: list[State | None] = []
    for state in correct:
        first = reached.children(state)[0]
        heir, due = (state, 2) if _fails(first) else (first, 1)
        asked.append(heir if len(reached.children(heir)) < due else None)
    return asked


def _fails(state: State) -> bool:
    return state.outcome is not Outcome.CORRECT
