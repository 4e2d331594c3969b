"""All states so far: the read-only view that searches, observations and reports look at.

Kept in (batch, slot) order, never in order of completion, and indexed so that selecting stays flat in cost as a run
grows.  Only the loop and the record call ``extend``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.code.source import fingerprint
from maxcode.core.types import Machine, Outcome, Problem, Program, Spent, State, StateId

_MARKS = 256


def leads(state: State, other: State | None) -> bool:
    """Whether ``state`` is a better answer than ``other``: confirmed, faster than the original beyond doubt, and with
    the higher lower end of the interval."""
    if not is_confirmed(state):
        return False
    return other is None or lower_end(state) > lower_end(other)


def is_confirmed(state: State) -> bool:
    """Whether the state's program is correct and confirmed to be faster than the original."""
    timing = state.step.evaluation.timing if state.step else None
    return state.outcome is Outcome.CORRECT and timing is not None and timing.confirmed and timing.significant


def lower_end(state: State) -> float:
    """The lower end of the speed-up's interval; 0 where nothing was timed."""
    timing = state.step.evaluation.timing if state.step else None
    return timing.speedup.low if timing else 0.0


@final
class Reached:
    """States in (batch, slot) order, roots first, with their indexes."""

    def __init__(self, root: State) -> None:
        self._states: list[State] = []
        self._by_id: dict[StateId, State] = {}
        self._children: dict[StateId, list[State]] = {}
        self._duplicates: dict[str, StateId] = {}
        self._marked = 0  # how many states are in `_duplicates`
        self._marks: dict[str, str] = {}  # of programs seen lately, by digest: each is looked at several times
        self._best: State | None = None
        self.root = root
        self.extend([root])

    def extend(self, states: Iterable[State]) -> None:
        """Add a finished batch, already in slot order (for the loop and the record alone)."""
        for state in states:
            self._states.append(state)
            self._by_id[state.id] = state
            if state.parent is not None:
                self._children.setdefault(state.parent.id, []).append(state)
            if leads(state, self._best):
                self._best = state

    def replace(self, state: State) -> None:
        """Put ``state`` in the place of the one with its id, whose evaluation did not hold (for the loop alone).

        States below it keep the path that they were reached on, as it was known then.
        """
        before = self._by_id[state.id]
        self._by_id[state.id] = state
        self._states[self._states.index(before)] = state
        if state.parent is not None:
            siblings = self._children[state.parent.id]
            siblings[siblings.index(before)] = state
        self._best = None
        for one in self._states:
            if leads(one, self._best):
                self._best = one

    def __iter__(self) -> Iterator[State]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, at: StateId) -> State:
        return self._by_id[at]

    def __contains__(self, state: State) -> bool:
        return state.id in self._by_id

    @property
    def candidates(self) -> int:
        """How many states are candidates, roots apart."""
        return len(self._states) - 1

    @property
    def best(self) -> State | None:
        """The confirmed state with the highest lower end of its interval; None while nothing beat the original."""
        return self._best

    def children(self, state: State) -> Sequence[State]:
        """The states reached from ``state`` in one step, in order."""
        return self._children.get(state.id, [])

    def duplicate(self, program: Program) -> State | None:
        """The first state whose program differs from this one in comments and layout at most."""
        for state in self._states[self._marked :]:
            if state.step is None or state.step.action.program is not None:
                self._duplicates.setdefault(self._mark(state.program), state.id)
        self._marked = len(self._states)
        at = self._duplicates.get(self._mark(program))
        return self._by_id[at] if at is not None else None

    def _mark(self, program: Program) -> str:
        digest = program.digest
        if digest not in self._marks:
            if len(self._marks) >= _MARKS:
                self._marks.clear()
            self._marks[digest] = fingerprint(program.files, self.root.problem.language)
        return self._marks[digest]

    def newest(self) -> Iterator[State]:
        """All states, the latest first."""
        return reversed(self._states)

    def last_batch(self) -> Sequence[State]:
        """The states of the latest batch, in slot order; the roots before the first."""
        newest = self._states[-1].id[0]
        found: list[State] = []
        for state in reversed(self._states):
            if state.id[0] != newest:
                break
            found.append(state)
        return found[::-1]


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The end of a run.  ``best`` is the maximum, because the objective is; None when nothing beat the original."""

    problem: Problem
    reached: Reached
    spent: Spent
    machine: Machine | None
    ended: str = ""  # which cap ended the run; empty where the budget of candidates or the search did
    stopped: bool = False  # whether the user asked to stop while the last batch was under way

    @property
    def best(self) -> State | None:
        return self.reached.best
