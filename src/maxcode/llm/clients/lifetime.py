"""Clients that nobody has to close: one per event loop, made at first use, closed when the loop ends.

A run makes its own event loop, and an HTTP client's connections belong to the loop that opened them.  An event loop
closes its open asynchronous generators before it ends (``asyncio.run`` and ``anyio.run`` both do), so a client that
lives inside one needs no ``close`` that a policy, a critic and a run would have to pass on to one another.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar, final

from anyio.lowlevel import RunVar

from maxcode.llm.clients.faults import is_loopback

if TYPE_CHECKING:
    import httpx2

KEPT_OPEN = 100  # as in the SDKs

T = TypeVar("T")


def transport(base_url: str) -> httpx2.AsyncClient | None:
    """The HTTP client for an SDK: for a server on this machine one that no proxy setting leads astray, else None, the
    SDK's own."""
    import httpx2

    if not is_loopback(base_url):
        return None
    return httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=KEPT_OPEN))


@final
class PerLoop(Generic[T]):
    """``make()`` once per event loop; ``close(made)`` before that loop ends."""

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._kept: RunVar[tuple[T, AsyncGenerator[T, None]] | None] = RunVar("kept", None)

    async def get(self) -> T:
        """This loop's own."""
        kept = self._kept.get()
        if kept is None:
            life = self._live()
            kept = (await anext(life), life)  # does not suspend before its yield: concurrent first calls share one
            self._kept.set(kept)
        return kept[0]

    async def _live(self) -> AsyncGenerator[T, None]:
        made = self._make()
        try:
            yield made
        finally:
            self._kept.set(None)  # a loop that is kept somewhere would keep the client too
            await self._close(made)
