"""Server-sent events, read as bytes.

The SDKs build a validated object for every token that arrives.  At 32 concurrent streams that is CPU time taken from
the programs that are being timed on the same machine; here an event stays bytes until its reader decodes what it needs.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import final

import anyio

DRAIN_S = 0.1
# An escaped backslash, a whole pair, or (the group) one half.
_ESCAPES = re.compile(rb"\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(\\u[dD][89a-fA-F]\w\w)")


@final
class Events:
    """Cuts a stream of bytes into the ``data`` of its events, one line each, as all the providers send them.  A last
    line without an end is torn and never comes out; an event without data, a sign of life, does not either."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data that became complete with ``chunk``, in order."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [_mended(data) for line in lines if line.startswith(b"data:") and (data := line[5:].strip())]


def _mended(data: bytes) -> bytes:
    """The data with U+FFFD for each half of a surrogate pair, which no reader of JSON takes: endpoints that cut an
    answer by UTF-16 units write one half into each of two events."""
    if rb"\ud" not in data and rb"\uD" not in data:
        return data
    return _ESCAPES.sub(lambda found: found[0] if found[1] is None else rb"\ufffd", data)


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
