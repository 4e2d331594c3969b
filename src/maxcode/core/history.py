"""All states of a run so far.  Searches, observations and reports read them.

States are in (batch, slot) order, never in order of completion.  Indexes keep the cost of a selection constant as a run
grows.  Only the loop and the record call ``extend``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ParamSpec, Protocol, TypeVar, cast, final

from maxcode.code.source import fingerprint
from maxcode.core.types import Machine, Outcome, Problem, Program, Spent, State, StateId

_MARKS = 256
_ID = attrgetter("id")
P = ParamSpec("P")


class Summary(Protocol):
    """What a search adds up over all states of a run (``Reached.summary``)."""

    def add(self, state: State) -> None:
        """Adds the next state."""
        ...

    def replace(self, before: State, after: State) -> bool:
        """Puts ``after``, which has the same id, in the place of ``before``; False if all must be added up anew."""
        ...


S = TypeVar("S", bound=Summary)


def leads(state: State, other: State | None) -> bool:
    """Whether ``state`` is better than ``other``: confirmed, significantly faster than the original, and with the
    higher lower end of the interval."""
    if not is_confirmed(state):
        return False
    return other is None or lower_end(state) > lower_end(other)


def is_confirmed(state: State) -> bool:
    """Whether the state's program is correct and confirmed to be faster than the original."""
    timing = state.step.evaluation.timing if state.step else None
    return state.outcome is Outcome.CORRECT and timing is not None and timing.confirmed and timing.significant


def lower_end(state: State) -> float:
    """The lower end of the speed-up's interval; 0 if nothing was timed."""
    timing = state.step.evaluation.timing if state.step else None
    return timing.speedup.low if timing else 0.0


def _place(states: Sequence[State], state: State) -> int:
    """The place of the state with the same id in states in order."""
    return bisect_left(states, state.id, key=_ID)


def _put(states: list[State], state: State) -> None:
    states[_place(states, state)] = state


@final
class Reached:
    """States in (batch, slot) order, roots first, with their indexes."""

    def __init__(self, root: State) -> None:
        self._states: list[State] = []
        self._by_id: dict[StateId, State] = {}
        self._children: dict[StateId, list[State]] = {}
        self._duplicates: dict[str, StateId] = {}
        self._marked = 0  # how many states are in `_duplicates`
        self._marks: dict[str, str] = {}  # digest -> fingerprint of recent programs: each is needed several times
        self._best: State | None = None
        self._passes: dict[StateId, int] = {}
        self._open_requests: dict[StateId, list[int]] = {}  # the numbers of those whose slots were dropped
        self._closed: set[StateId] = set()
        self._summaries: dict[Hashable, tuple[Summary, int]] = {}  # each with how many states are in it
        self.root = root
        self.extend([root])

    def extend(self, states: Iterable[State]) -> None:
        """Adds a finished batch, already in slot order (only the loop and the record call this)."""
        for state in states:
            self._states.append(state)
            self._by_id[state.id] = state
            if state.parent is not None:
                self._children.setdefault(state.parent.id, []).append(state)
            if leads(state, self._best):
                self._best = state

    def replace(self, state: State) -> None:
        """Replaces the state with the same id, whose evaluation did not hold, or which gets its critique (only the
        loop calls this).

        Its descendants keep the old path.
        """
        before = self._by_id[state.id]
        self._by_id[state.id] = state
        _put(self._states, state)
        if state.parent is not None:
            _put(self._children[state.parent.id], state)
        self._replace_best(before, state)
        for key, (summary, count) in list(self._summaries.items()):
            if _place(self._states, state) < count and not summary.replace(before, state):
                del self._summaries[key]

    def _replace_best(self, before: State, after: State) -> None:
        """Keeps ``best`` the first of those with the highest lower end; only a best that falls needs all states."""
        best = self._best
        if best is None or before != best:
            equal = best is not None and is_confirmed(after) and lower_end(after) == lower_end(best)
            if leads(after, best) or (equal and best is not None and after.id < best.id):
                self._best = after
            return
        self._best = after
        if is_confirmed(after) and lower_end(after) >= lower_end(before):
            return
        self._best = None
        for state in self._states:
            if leads(state, self._best):
                self._best = state

    def summary(self, kind: Callable[P, S], *args: P.args, **kwargs: P.kwargs) -> S:
        """The summary ``kind(*args, **kwargs)`` of all states, in order.

        It is kept, and only new states are added to it; so the cost of a batch does not grow with the run.
        """
        key = (kind, args, tuple(sorted(kwargs.items())))
        found, count = self._summaries.get(key, (None, 0))
        if found is None:
            found = kind(*args, **kwargs)
        for at in range(count, len(self._states)):
            found.add(self._states[at])
        self._summaries[key] = found, len(self._states)
        return cast(S, found)

    def passed(self, parents: Sequence[State], passes: Iterable[int]) -> None:
        """Notes the slots of a finished batch in which the policy saw no further gain (only the loop calls this).

        ``parents``: the states of the batch by slot.  A state is closed if at least half of the answers of a batch at
        it said so.
        """
        counts = Counter(parents[slot].id for slot in passes)
        for at, count in counts.items():
            self._passes[at] = self._passes.get(at, 0) + count
            if 2 * count >= sum(parent.id == at for parent in parents):
                self._closed.add(at)

    def requests(self, parents: Sequence[State]) -> list[int]:
        """By slot of the next batch: the number of the request for its state.  First come the numbers of slots that
        were dropped, so that an answer to them is used; then further ones."""
        given = Counter[StateId]()
        found: list[int] = []
        for parent in parents:
            first, count = self._open_requests.get(parent.id, []), given[parent.id]
            later = len(self.children(parent)) + self.passes(parent) + count
            found.append(first[count] if count < len(first) else later)
            given[parent.id] += 1
        return found

    def dropped(self, parents: Sequence[State], numbers: Sequence[int], slots: Collection[int]) -> None:
        """Notes the slots of a finished batch that have no state (only the loop calls this).  ``numbers``: what
        ``requests`` gave for the batch."""
        for slot, (parent, number) in enumerate(zip(parents, numbers, strict=True)):
            still_open = {*self._open_requests.get(parent.id, ())} - {number}
            self._open_requests[parent.id] = sorted(still_open | {number} if slot in slots else still_open)

    def passes(self, state: State) -> int:
        """The number of answers at ``state`` that saw no further gain."""
        return self._passes.get(state.id, 0)

    def is_closed(self, state: State) -> bool:
        """Whether no further gain is seen from ``state``, by the policy or by the critic."""
        now = self._by_id.get(state.id, state)
        return state.id in self._closed or (now.step is not None and now.step.is_at_limit)

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
        """The number of candidates: all states but the root."""
        return len(self._states) - 1

    @property
    def best(self) -> State | None:
        """The confirmed state with the highest lower end of its interval; None if nothing beat the original."""
        return self._best

    def children(self, state: State) -> Sequence[State]:
        """The states one step below ``state``, in order."""
        return self._children.get(state.id, [])

    def duplicate(self, program: Program) -> State | None:
        """The first state whose program equals this one apart from comments and layout; None if there is none."""
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
        batch: list[State] = []
        for state in reversed(self._states):
            if state.id[0] != newest:
                break
            batch.append(state)
        return batch[::-1]


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run.  ``best`` is the best state reached; None if nothing beat the original."""

    problem: Problem
    reached: Reached
    spent: Spent
    machine: Machine | None
    ended: str = ""  # the cap that ended the run, or that no gain is seen; empty if its budget or the search ended it
    stopped: bool = False  # whether the user asked to stop during the last batch
    undone: str = ""  # what was left out because the time of the command ended, in words

    @property
    def best(self) -> State | None:
        return self.reached.best
