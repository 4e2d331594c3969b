"""Work beside other work: started before its result is needed, or to end it in time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

Found = TypeVar("Found")
_LATE_S = 0.01  # work ends when its seconds are spent by every clock
_LONG_S = 3600.0  # the longest sleep: there may be no bound


async def cancel_after(left: Callable[[], float], scope: anyio.CancelScope) -> None:
    """Cancels the scope when no seconds are ``left``; they may run more slowly than the clock."""
    while (seconds := left()) > 0:
        await anyio.sleep(min(seconds, _LONG_S) + _LATE_S)
    scope.cancel()


@asynccontextmanager
async def started(
    work: Callable[[], Awaitable[Found]], now: bool = True
) -> AsyncIterator[Callable[[], Awaitable[Found]]]:
    """Starts ``work``; the function that it gives waits for the end, and returns or raises what ``work`` did.

    ``now``: False: it starts when its result is asked for, because nothing may overlap with it.
    The end of the block cancels work that is not finished.  An error of work whose result nobody asked for is dropped:
    whoever needs the result does the work again, and meets the error there.
    """
    wanted, done = anyio.Event(), anyio.Event()
    if now:
        wanted.set()
    found: list[Found] = []
    failed: list[Exception] = []

    async def run() -> None:
        await wanted.wait()
        try:
            found.append(await work())
        except Exception as error:
            failed.append(error)
        done.set()

    async def result() -> Found:
        wanted.set()
        await done.wait()
        if failed:
            raise failed[0]
        return found[0]

    error_of_block: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(run)
        try:
            yield result
        except Exception as error:  # else the task group would wrap it in an ExceptionGroup
            error_of_block = error
        group.cancel_scope.cancel()
    if error_of_block is not None:
        raise error_of_block
