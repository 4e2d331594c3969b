"""Taking turns: of those who ask for the same thing at the same time, one makes it, and the others wait for that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import final

import anyio


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
