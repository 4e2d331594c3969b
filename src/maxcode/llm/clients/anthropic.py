"""Anthropic's API through the official SDK, with extended thinking where a request asks for it.

Answers are streamed; a stream without its ``message_stop`` is a half answer, a transient fault.  Thinking blocks are
not part of the text.  A draw is not sent, as the API takes no seed: another draw is simply another sample.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import msgspec

from maxcode.core.types import Usage
from maxcode.errors import InputError
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.llm.clients.faults import (
    Endpoint,
    Refusal,
    TransientFault,
    broken_off,
    fault,
    no_answer,
    unconnected,
    without_key,
)
from maxcode.llm.clients.lifetime import PerLoop, transport
from maxcode.llm.clients.openai import CONNECT_S, Switch
from maxcode.llm.clients.prices import Price
from maxcode.llm.clients.stream import read_events

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.resources.messages import AsyncMessagesWithStreamingResponse

OFFICIAL = "https://api.anthropic.com"
# The last version of the API that takes a temperature; later ones refuse a request that holds any.
SAMPLING_VERSION = "2023-06-01"
LEAST_THINKING = 1024

Thinking = Literal["auto", "budget", "adaptive"]


@final
@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """What a Claude model takes.  ``thinking``: a "budget" of tokens (models up to 4.5), or "adaptive", where the model
    sets its own (4.6 and later); "auto" goes by the model's name.  ``temperature``: "auto" sends it to models up to
    4.6, as later ones refuse it."""

    thinking: Thinking = "auto"
    temperature: Switch = "auto"


@final
class AnthropicModel:
    """A Claude model.

    With thinking on, no temperature is sent, as the API demands, and ``thinking_tokens`` come on top of ``max_tokens``,
    since the API counts both together; a budget below the API's least of 1,024 is raised to it.
    Raises TransientFault for what may pass, ProviderError for what cannot.
    """

    def __init__(
        self, endpoint: Endpoint, key: str, manner: ClaudeSettings | None = None, price: Price | None = None
    ) -> None:
        require_sdk()
        self._endpoint = endpoint
        self._key = key
        self._manner = manner or ClaudeSettings()
        self._price = price
        self._clients = PerLoop(self._connect, _close)

    def _connect(self) -> AsyncAnthropic:
        import anthropic

        return anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._endpoint.base_url,
            max_retries=0,
            timeout=anthropic.Timeout(None, connect=CONNECT_S),
            http_client=transport(self._endpoint.base_url),
        )

    async def complete(self, request: ModelRequest) -> Completion:
        import anthropic
        import httpx2

        client = await self._clients.get()
        began = time.perf_counter()
        try:
            answer = await _ask(client.messages.with_streaming_response, self._body(request), self._key)
        except anthropic.APIStatusError as error:
            raise fault(self._endpoint, self._refusal(error)) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise unconnected(error, self._key) from error
        return answer.completion(time.perf_counter() - began, self._price)

    def _refusal(self, error: Any) -> Refusal:
        return Refusal(error.status_code, without_key(str(error.message), self._key), "", error.response.headers)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        system = "\n\n".join(message.text for message in request.messages if message.role == "system")
        turns = [{"role": said.role, "content": said.text} for said in request.messages if said.role != "system"]
        body: dict[str, Any] = {"model": self._endpoint.model, "messages": turns, "stream": True}
        body["max_tokens"] = request.max_tokens
        if system:
            body["system"] = system
        if request.thinking_tokens > 0:
            budget = max(request.thinking_tokens, LEAST_THINKING)
            body["max_tokens"] += budget
            body["thinking"] = self._thinking(budget)
        elif self._sends_temperature():
            body["extra_body"] = {"temperature": min(request.temperature, 1.0)}
            body["extra_headers"] = {"anthropic-version": SAMPLING_VERSION}
        return body

    def _thinking(self, budget: int) -> dict[str, Any]:
        kind = self._manner.thinking
        if kind == "auto":
            kind = "budget" if version(self._endpoint.model) < (4, 6) else "adaptive"
        return {"type": "enabled", "budget_tokens": budget} if kind == "budget" else {"type": "adaptive"}

    def _sends_temperature(self) -> bool:
        if self._manner.temperature != "auto":
            return self._manner.temperature == "on"
        return version(self._endpoint.model) <= (4, 6)


def version(model: str) -> tuple[int, int]:
    """The generation in a Claude model's name: (4, 5) of ``claude-haiku-4-5-20251001``, (3, 7) of
    ``claude-3-7-sonnet-latest``; a name without one counts as the newest."""
    found = re.search(r"-(\d{1,2})(?:-(\d{1,2}))?(?!\d)", model)
    return (int(found[1]), int(found[2] or 0)) if found is not None else (99, 0)


def require_sdk() -> None:
    """Raise InputError with the cure where the SDK is not installed."""
    try:
        import anthropic  # noqa: F401
    except ImportError as error:
        raise InputError("Claude models need the package anthropic: pip install 'maxcode[llm]'") from error


async def _close(client: AsyncAnthropic) -> None:
    await client.close()


async def _ask(messages: AsyncMessagesWithStreamingResponse, body: dict[str, Any], key: str) -> _Answer:
    answer = _Answer(key)
    async with messages.create(**body) as response:
        await read_events(response.iter_bytes(), answer.see)
    return answer


class _Counts(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Delta(msgspec.Struct):
    text: str | None = None
    stop_reason: str | None = None


class _Started(msgspec.Struct):
    usage: _Counts | None = None


class _Event(msgspec.Struct):
    type: str
    delta: _Delta | None = None
    message: _Started | None = None
    usage: _Counts | None = None
    error: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Event)


@final
class _Answer:
    """What has arrived of an answer."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._texts: list[str] = []
        self._reason: str | None = None
        self._whole = False
        self._counts = _Counts()
        self._fault = ""

    def see(self, data: bytes) -> bool:
        """Take in one event; true when it is the last."""
        try:
            event = _decode.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._fault = self._fault or no_answer(error, data, self._key)
            return True
        if event.type == "error":
            self._fault = broken_off(bytes(event.error), self._key)
            return True
        self._take(event)
        self._whole = self._whole or event.type == "message_stop"
        return self._whole

    def _take(self, event: _Event) -> None:
        if event.delta is not None:
            if event.delta.text:
                self._texts.append(event.delta.text)
            self._reason = event.delta.stop_reason or self._reason
        counts = event.message.usage if event.message is not None else event.usage
        if counts is not None:
            self._counts = _later(self._counts, counts)

    def completion(self, seconds: float, price: Price | None) -> Completion:
        """The answer; TransientFault where it is not whole."""
        if self._fault:
            raise TransientFault(self._fault)
        if not self._whole or self._reason is None:
            raise TransientFault("the answer stopped half-way: the stream ended without its message_stop")
        kinds = {"end_turn": "stop", "stop_sequence": "stop"}
        kinds |= {"max_tokens": "length", "model_context_window_exceeded": "length"}
        ended = kinds.get(self._reason, "other")
        return Completion("".join(self._texts), self._usage(seconds, price), ended)  # type: ignore[arg-type]

    def _usage(self, seconds: float, price: Price | None) -> Usage:
        counts = self._counts
        if counts.input_tokens is None or counts.output_tokens is None:
            return Usage(1, seconds=seconds, dollars=None)
        read, written = counts.cache_read_input_tokens or 0, counts.cache_creation_input_tokens or 0
        prompt = counts.input_tokens + read + written
        known = price is not None and not written  # maxcode asks for no caching: its surcharge is not in the table
        dollars = price.dollars(prompt, counts.output_tokens, read) if known and price is not None else None
        return Usage(1, prompt, counts.output_tokens, seconds, dollars)


def _later(old: _Counts, new: _Counts) -> _Counts:
    """Counts are cumulative: what a later event leaves out stays."""
    fields = {name: getattr(new, name) for name in new.__struct_fields__ if getattr(new, name) is not None}
    return msgspec.structs.replace(old, **fields)
