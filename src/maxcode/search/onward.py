"""Where a search goes on from if nobody sees a further gain at a state: from another branch.  Ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State

ENDED = "no further gain is seen from any program that was reached"


def onward(selected: Sequence[State], reached: Reached) -> list[State]:
    """The selected states, each closed one replaced by the open correct state with the highest reward, of equals the
    first; the closed ones are left out if no state is open.  Pure."""
    if not any(reached.is_closed(state) for state in selected):
        return list(selected)
    instead = max(
        (state for state in reached if state.outcome is Outcome.CORRECT and not reached.is_closed(state)),
        key=lambda state: state.reward,
        default=None,
    )
    found = (state if not reached.is_closed(state) else _at(instead, state) for state in selected)
    return [state for state in found if state is not None]


def _at(instead: State | None, closed: State) -> State | None:
    """The other state with the techniques that were permitted for the closed one."""
    return None if instead is None else replace(instead, problem=closed.problem)
