"""Chooses the new incumbent after a batch, for every harness: challengers in slot order, after the incumbent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeVar

from maxcode.core.ahead import started
from maxcode.core.types import Evaluation, State, StateId

Ready = TypeVar("Ready")  # a program that is ready to be raced


async def last_standing(
    challengers: Sequence[State],
    incumbent: State | None,
    prepared: Callable[[State], Awaitable[Ready | Evaluation]],
    wins: Callable[[tuple[State, Ready], tuple[State, Ready], dict[StateId, Evaluation]], Awaitable[bool]],
    ahead: bool,
) -> tuple[tuple[State, Ready] | None, dict[StateId, Evaluation]]:
    """The new incumbent with its ready program, and the evaluations of those that failed (``wins`` adds to them).

    None if the incumbent stays, or no program is left.  ``prepared`` builds and verifies a state's program again, the
    incumbent's too, or returns the evaluation of its failure.  ``wins`` is True if its first program beats its second.
    ``ahead``: later programs are prepared while earlier ones race.
    """
    found: dict[StateId, Evaluation] = {}
    leader: tuple[State, Ready] | None = None
    states = (incumbent, *challengers) if incumbent is not None else challengers
    async with AsyncExitStack() as stack:
        coming = [await stack.enter_async_context(started(partial(prepared, state), now=ahead)) for state in states]
        for state, result in zip(states, coming, strict=True):
            ready = await result()
            if isinstance(ready, Evaluation):
                found[state.id] = ready
            elif leader is None or await wins((state, ready), leader, found):
                leader = (state, ready)
    return (leader if leader is not None and leader[0] is not incumbent else None), found
