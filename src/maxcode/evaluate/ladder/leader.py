"""Who leads after a batch, whatever the harness: challengers in slot order against the leader, the incumbent first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from maxcode.core.types import Evaluation, State, StateId

Ready = TypeVar("Ready")  # a program that is ready to be raced


async def last_standing(
    challengers: Sequence[State],
    incumbent: State | None,
    prepared: Callable[[State], Awaitable[Ready | Evaluation]],
    wins: Callable[[tuple[State, Ready], tuple[State, Ready], dict[StateId, Evaluation]], Awaitable[bool]],
) -> tuple[tuple[State, Ready] | None, dict[StateId, Evaluation]]:
    """The new leader, None where the incumbent keeps the lead or nobody stands; and what was found of those that do not
    hold, which ``wins`` adds to.

    ``prepared`` makes a state's program ready anew, the incumbent's too, or says why it does not hold; ``wins`` says
    whether its first takes the lead from its second.
    """
    found: dict[StateId, Evaluation] = {}
    leader: tuple[State, Ready] | None = None
    for state in (incumbent, *challengers) if incumbent is not None else challengers:
        ready = await prepared(state)
        if isinstance(ready, Evaluation):
            found[state.id] = ready
        elif leader is None or await wins((state, ready), leader, found):
            leader = (state, ready)
    return (leader if leader is not None and leader[0] is not incumbent else None), found
