"""Work that starts before its result is needed, so that it overlaps with other work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

Found = TypeVar("Found")


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
