"""Which of several equal prompts a provider's cache should keep.

Samples of one prompt cost a tenth if the provider reads the prompt from its cache.  Writing it costs a quarter more, so
a prompt that is asked once must not be written.  So the first request is plain, the second one writes, and the later
ones wait until the second has begun to answer, and then read.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import final

import anyio
import msgspec

from maxcode.llm.clients import Message

_MOST = 1000  # prompts that are remembered


@final
class RepeatedPrompts:
    """The prompts of one model that were asked before."""

    def __init__(self) -> None:
        self._seen: dict[bytes, anyio.Event | None] = {}

    @asynccontextmanager
    async def turn(self, messages: tuple[Message, ...]) -> AsyncIterator[tuple[bool, Callable[[], None]]]:
        """Waits for the turn of a request.  Gives whether its prompt should be cached, and what to call as soon as the
        answer begins."""
        key = hashlib.blake2b(msgspec.json.encode(messages), digest_size=16).digest()
        if key not in self._seen:
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen[key] = None
            try:
                yield False, lambda: None
            except BaseException:  # it had no answer, so the next attempt is the first again
                if self._seen.get(key) is None:
                    self._seen.pop(key, None)
                raise
            return
        written = self._seen[key]
        if written is not None:
            await written.wait()
            yield True, lambda: None
            return
        begun = self._seen[key] = anyio.Event()
        try:
            yield True, begun.set
        finally:
            begun.set()
