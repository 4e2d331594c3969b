"""Work beside other work: started before its result is needed, ended in time, or left alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from threading import Thread
from typing import TypeVar, TypeVarTuple, Unpack

import anyio

Found = TypeVar("Found")
Args = TypeVarTuple("Args")
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


async def computed(work: Callable[[Unpack[Args]], Found], *args: *Args) -> Found:
    """What ``work`` returns or raises, computed in a thread of its own.

    After a cancellation nobody waits for it, nor does the end of the process: it must only compute.  A thread of
    ``anyio.to_thread`` would hold a Ctrl-C up until it is done.
    """
    loop, done = asyncio.get_running_loop(), anyio.Event()
    found: list[Found] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            found.append(work(*args))
        except Exception as error:
            failed.append(error)
        with suppress(RuntimeError):  # the loop is closed: the work was left alone
            loop.call_soon_threadsafe(done.set)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    await done.wait()
    if failed:
        raise failed[0]
    return found[0]
