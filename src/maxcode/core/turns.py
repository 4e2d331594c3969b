"""Taking turns: of those who ask for the same thing at the same time, one makes it, and the others wait for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar, final

import anyio

Made = TypeVar("Made")


@final
class Turns:
    """A lock for each key that somebody holds or waits for."""

    def __init__(self) -> None:
        self._locks: dict[str, anyio.Lock] = {}

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Holds the lock of this key."""
        lock = self._locks.setdefault(key, anyio.Lock())
        async with lock:
            try:
                yield
            finally:
                if not lock.statistics().tasks_waiting:
                    self._locks.pop(key, None)


@final
class Once(Generic[Made]):
    """Something that is made when it is first asked for; if that fails, by the next who asks."""

    def __init__(self, make: Callable[[], Awaitable[Made]]) -> None:
        self._make = make
        self._made: list[Made] = []
        self._lock = anyio.Lock()

    @property
    def is_made(self) -> bool:
        return bool(self._made)

    async def get(self) -> Made:
        """What was made, always the same."""
        async with self._lock:
            if not self._made:
                self._made.append(await self._make())
        return self._made[0]
