"""Where a search goes on from if nobody sees a further gain at a state: from another branch.  Ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State, StateId

ENDED = "no further gain is seen from any program that was reached"


def onward(selected: Sequence[State], reached: Reached) -> list[State]:
    """The selected states, each closed one replaced by the open correct state with the highest reward, of equals the
    first; the closed ones are left out if no state is open.  Pure."""
    if not any(reached.is_closed(state) for state in selected):
        return list(selected)
    instead = reached.summary(_Correct).best_open(reached)
    found = (state if not reached.is_closed(state) else _at(instead, state) for state in selected)
    return [state for state in found if state is not None]


@final
@dataclass(slots=True)
class _Correct:
    """The correct states, the highest reward first.  A closed state stays closed, so it is dropped when it is met."""

    _heap: list[tuple[float, StateId]] = field(default_factory=list)

    def add(self, state: State) -> None:
        if state.outcome is Outcome.CORRECT:
            heappush(self._heap, (-state.reward, state.id))

    def replace(self, before: State, after: State) -> bool:
        reopened = _is_at_limit(before) and not _is_at_limit(after)
        return (before.outcome, before.reward) == (after.outcome, after.reward) and not reopened

    def best_open(self, reached: Reached) -> State | None:
        while self._heap and reached.is_closed(reached[self._heap[0][1]]):
            heappop(self._heap)
        return reached[self._heap[0][1]] if self._heap else None


def _is_at_limit(state: State) -> bool:
    return state.step is not None and state.step.is_at_limit


def _at(instead: State | None, closed: State) -> State | None:
    """The other state with the techniques that were permitted for the closed one."""
    return None if instead is None else replace(instead, problem=closed.problem)
