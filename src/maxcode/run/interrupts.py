"""Ctrl-C for work in the main thread, or in a second thread if the main thread already runs an event loop.

Only the main thread receives signals.  ``outside_loop`` starts the second thread and passes each Ctrl-C to it.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import FrameType
from typing import Any, TypeVar, final

import anyio

T = TypeVar("T")
_TURN_S = 0.1


@final
class Relay:
    """Passes each Ctrl-C to the work in another thread; without a listener, it is kept for the next one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a second signal may interrupt ``send`` in the same thread
        self._listener: Callable[[], object] | None = None
        self._waiting = 0

    def send(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Handles a signal."""
        with self._lock:
            if self._listener is None:
                self._waiting += 1
            else:
                self._listener()

    @contextmanager
    def heard_by(self, listener: Callable[[], object]) -> Iterator[None]:
        """Calls ``listener`` at each Ctrl-C, in the thread that receives it."""
        with self._lock:
            before, self._listener = self._listener, listener
            waiting, self._waiting = self._waiting, 0
        for _ in range(waiting):
            listener()
        try:
            yield
        finally:
            with self._lock:
                self._listener = before


_relay: ContextVar[Relay | None] = ContextVar("relay", default=None)


def outside_loop(work: Callable[[], T]) -> T:
    """Returns or raises what ``work`` does.  If this thread runs an event loop (a notebook, ``asyncio.run``), the work
    runs in a second thread, and the loop is blocked until it is done."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    relay = Relay()

    def heard() -> T:
        _relay.set(relay)  # the thread has its own context, so that it sees no running loop
        return work()

    with ThreadPoolExecutor(1) as pool, _signals_to(relay):
        future = pool.submit(heard)
        while wait([future], timeout=_TURN_S).not_done:  # this thread handles a signal only while it is awake
            pass
        return future.result()


@contextmanager
def _signals_to(relay: Relay) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, relay.send)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def on_interrupt(act: Callable[[], object]) -> Iterator[None]:
    """Calls ``act`` in the running event loop at each Ctrl-C, instead of the usual handler."""
    loop, relay = asyncio.get_running_loop(), _relay.get()
    if relay is not None:
        with relay.heard_by(partial(loop.call_soon_threadsafe, act)):
            yield
    elif threading.current_thread() is threading.main_thread():
        loop.add_signal_handler(signal.SIGINT, act)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
    else:
        yield


def run_async(call: Callable[..., Awaitable[T]], *args: Any) -> T:
    """``anyio.run``; Ctrl-C ends it with KeyboardInterrupt, also in a thread of ``outside_loop``."""
    if _relay.get() is None:
        return anyio.run(call, *args)
    return anyio.run(_until_interrupted, partial(call, *args))


async def _until_interrupted(call: Callable[[], Awaitable[T]]) -> T:
    with anyio.CancelScope() as scope, on_interrupt(scope.cancel):
        return await call()
    raise KeyboardInterrupt
