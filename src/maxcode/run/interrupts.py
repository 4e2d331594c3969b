"""Ctrl-C, wherever the work runs: in the main thread, or in another because this one runs an event loop already.

Only the main thread receives signals.  ``outside_loop`` starts the second thread and passes each Ctrl-C on to it.
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
    """Carries each Ctrl-C to the work in another thread; one that comes while nobody listens waits for a listener."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a second signal may interrupt ``send`` in the same thread
        self._listener: Callable[[], object] | None = None
        self._waiting = 0

    def send(self, number: int = 0, frame: FrameType | None = None) -> None:
        """A handler of signals."""
        with self._lock:
            if self._listener is None:
                self._waiting += 1
            else:
                self._listener()

    @contextmanager
    def heard_by(self, listener: Callable[[], object]) -> Iterator[None]:
        """``listener`` is called at each Ctrl-C, in the thread that receives it."""
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
    """What ``work`` returns or raises.  Where this thread runs an event loop (a notebook, ``asyncio.run``), the work
    gets a thread of its own, and the loop stands still until it is done."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    relay = Relay()

    def heard() -> T:
        _relay.set(relay)  # the thread has a context of its own, so that no loop seems to run in it
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
    """``act`` is called in the running event loop at each Ctrl-C, in place of what it does else."""
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
    """``anyio.run``, which Ctrl-C ends with KeyboardInterrupt in a thread of ``outside_loop`` too."""
    if _relay.get() is None:
        return anyio.run(call, *args)
    return anyio.run(_until_interrupted, partial(call, *args))


async def _until_interrupted(call: Callable[[], Awaitable[T]]) -> T:
    with anyio.CancelScope() as scope, on_interrupt(scope.cancel):
        return await call()
    raise KeyboardInterrupt
