"""What the clients of all providers share: their SDK, one client of it per event loop, and its errors as maxcode's.

The SDK makes the request and holds the connections.  It is asked once per call: its own retries begin no answer again
that broke off half-way, and its time limits bound the silence between two bytes, not the call.  ``Retrying`` does both.
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
    """An answer that arrived in part, or as an error in the endpoint's own words."""


def imported(sdk: str) -> Any:
    """The SDK's package; InputError with the cure where it is not installed."""
    try:
        return import_module(sdk)
    except ImportError as error:
        raise InputError(f"this language model needs the package {sdk}: pip install 'maxcode[llm]'") from error


@final
class Connection(Generic[T]):
    """An endpoint through its SDK.

    The connections of an SDK's client belong to the event loop that opened them, and every run has a loop of its own.
    So each loop has one client, made at first use.  It lives inside an asynchronous generator, and a loop closes those
    before it ends: nobody has to close a model.
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
        """This loop's client.  What fails inside is raised as TransientFault if it may pass, else as ProviderError."""
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
            kept = (await anext(life), life)  # does not suspend before its yield: concurrent first calls share one
            self._kept.set(kept)
        return kept[0]

    async def _live(self) -> AsyncGenerator[T, None]:
        url = self._endpoint.base_url
        limits = self._sdk.Timeout(None, connect=CONNECT_S)  # a stream may be silent for long while a model thinks
        settings = {"api_key": self._key, "base_url": url, "max_retries": 0, "timeout": limits}
        if is_loopback(url):
            settings["http_client"] = _past_proxies()
        try:
            async with self._make(**settings) as client:
                yield client
        finally:
            self._kept.set(None)  # a loop that is kept somewhere would keep the client too


def _past_proxies() -> httpx2.AsyncClient:
    """For a server on this machine: no proxy setting leads astray.  Anthropic's default client reads those anyway."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=KEPT_OPEN))


def mended(text: str) -> str:
    """The text with pairs of surrogates joined and halves replaced: endpoints that cut an answer by UTF-16 units send
    one half of a letter in each of two events, or a half alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
