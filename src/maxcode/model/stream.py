"""Server-sent events, read as bytes.

The SDKs build a validated object for every token that arrives.  At 32 concurrent streams that is CPU time taken from
the programs that are being timed on the same machine; here an event stays bytes until its reader decodes what it needs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import final

import anyio

DRAIN_S = 0.1


@final
class Events:
    """Cuts a stream of bytes into the ``data`` of its events, one line each, as all the providers send them.  A last
    line without an end is torn and never comes out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data that became complete with ``chunk``, in order."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]


async def read_events(chunks: AsyncIterator[bytes], see: Callable[[bytes], bool]) -> None:
    """Give each event's data to ``see`` until it says that the answer has ended, or the stream does.

    What is left then is read too, briefly: only a connection that was read to its end is used again.
    """
    events = Events()
    async for chunk in chunks:
        if any(see(data) for data in events.feed(chunk)):
            with anyio.move_on_after(DRAIN_S):
                async for _ in chunks:
                    pass
            return
