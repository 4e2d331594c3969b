"""Shared by the clients of all providers: the SDK, one client per event loop, and the translation of its errors.

The SDK makes the request and holds the connections.  Its retries are off, because they do not repeat an answer that
stopped half-way, and its time limits bound the silence between two bytes, not the call.  ``Retrying`` does both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from anyio.lowlevel import RunVar

from maxcode.errors import InputError
from maxcode.llm.clients.faults import Endpoint, TransientFault, fault, is_loopback, without_key

if TYPE_CHECKING:
    import httpx2

CONNECT_S = 15.0
KEPT_OPEN = 100  # connections, as in the SDKs
SHOWN_OF_AN_ANSWER = 200

T = TypeVar("T")


@final
class Broken(Exception):
    """An answer that is incomplete, or is an error message of the endpoint."""


def imported(sdk: str) -> Any:
    """The package of the SDK; InputError with the command to install it if it is missing."""
    try:
        return import_module(sdk)
    except ImportError as error:
        raise InputError(f"this language model needs the package {sdk}: pip install 'maxcode[llm]'") from error


@final
class Connection(Generic[T]):
    """An endpoint through its SDK.

    The connections of an SDK's client belong to the event loop that opened them, and every run has its own loop.  So
    each loop has one client, made at first use.  The client lives inside an asynchronous generator.  A loop closes its
    generators before it ends, so nobody has to close a model.
    """

    def __init__(
        self, sdk: Any, make: Callable[..., AbstractAsyncContextManager[T]], endpoint: Endpoint, key: str
    ) -> None:
        self._sdk = sdk
        self._make = make
        self._endpoint = endpoint
        self._key = key
        self._kept: RunVar[tuple[T, AsyncGenerator[T, None]] | None] = RunVar("client", None)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[T]:
        """The client of this loop.  Errors inside become TransientFault if they may pass, else ProviderError."""
        import httpx2

        try:
            yield await self._client()
        except self._sdk.APIStatusError as error:
            raise fault(self._endpoint, error, self._key) from error
        except (self._sdk.APIConnectionError, httpx2.HTTPError) as error:
            raise self._transient("connection failed", repr(error.__cause__ or error)) from error
        except Broken as error:
            raise self._transient("the answer stopped half-way", str(error)) from error
        except (ValueError, LookupError, AttributeError, TypeError) as error:  # SDKs do not check what they receive
            told = error.doc if isinstance(error, JSONDecodeError) else repr(error)
            raise self._transient("the endpoint sent what is not an answer", told) from error

    def _transient(self, what: str, words: str) -> TransientFault:
        return TransientFault(f"{what}: {without_key(words, self._key)[:SHOWN_OF_AN_ANSWER]}")

    async def _client(self) -> T:
        kept = self._kept.get()
        if kept is None:
            life = self._live()
            kept = (await anext(life), life)  # does not suspend before its yield, so concurrent first calls share it
            self._kept.set(kept)
        return kept[0]

    async def _live(self) -> AsyncGenerator[T, None]:
        url = self._endpoint.base_url
        limits = self._sdk.Timeout(None, connect=CONNECT_S)  # a stream may be silent for a long time: a model thinks
        settings = {"api_key": self._key, "base_url": url, "max_retries": 0, "timeout": limits}
        if is_loopback(url):
            settings["http_client"] = _past_proxies()
        try:
            async with self._make(**settings) as client:
                yield client
        finally:
            self._kept.set(None)  # otherwise a reference to the loop keeps the client alive


def _past_proxies() -> httpx2.AsyncClient:
    """A client for a server on this machine, without proxies.  Anthropic's default client would use proxy settings."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=KEPT_OPEN))


def mended(text: str) -> str:
    """The text with pairs of surrogates joined and single halves replaced.  Endpoints that split an answer by UTF-16
    units send one half of a character in each of two events, or only one half."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
