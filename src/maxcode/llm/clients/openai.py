"""Any OpenAI-compatible endpoint (OpenAI, vLLM, SGLang, Ollama, OpenRouter, llama.cpp) through the official SDK.

Answers are streamed, to detect incomplete ones: a stream that ends without a ``finish_reason`` is a transient fault.
Reasoning in the stream is not part of the text.

This file reads the stream as bytes.  The SDK's reader fails at an event without data, which gateways send to keep a
connection alive.  It also builds a validated object for every token: 131 microseconds of CPU against 15 here, taken
from the programs that are timed on the same machine.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final
from urllib.parse import urlsplit

import anyio
import msgspec

from maxcode.core.types import Usage
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.llm.clients.faults import Endpoint
from maxcode.llm.clients.prices import Price
from maxcode.llm.clients.sdk import Broken, Connection, imported, mended

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI

OFFICIAL = "https://api.openai.com/v1"
DRAIN_S = 0.1
# OpenAI's reasoning models accept only their default temperature.
FIXED_TEMPERATURE = re.compile(r"o\d|gpt-([5-9]|\d\d)")

# Models that reason before they answer: their reasoning counts to the bound of the answer.
REASONS = re.compile(
    r"(.*/)?(o\d|gpt-([5-9]|\d\d|oss)|qwq|qwen-?3|magistral|grok-[4-9]|deepseek-r)|.*(reason|think)", re.I
)
ALLOWANCE = 16_384  # tokens for the reasoning of such a model if nothing else is said

ENDED: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}

LimitField = Literal["auto", "max_tokens", "max_completion_tokens"]
Switch = Literal["auto", "on", "off"]


@final
@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters of a request to an endpoint.

    ``limit``: the field that bounds the answer; "auto" is ``max_completion_tokens`` at OpenAI, whose reasoning models
    refuse the older ``max_tokens``, and ``max_tokens`` elsewhere, because older servers know no other.
    ``temperature``: "auto" leaves it out for OpenAI's reasoning models.
    ``seed``: whether to send the draw of the request, modulo 2**31.
    ``usage``: whether to ask for the token counts at the end of the stream.
    ``reasoning``: the least number of tokens that the bound leaves for reasoning; None: by the name of the model.
    """

    limit: LimitField = "auto"
    temperature: Switch = "auto"
    seed: bool = True
    usage: bool = True
    reasoning: int | None = None


@final
class OpenAIModel:
    """A model at an OpenAI-compatible endpoint.

    ``thinking_tokens`` are added to the bound of the answer, because these endpoints count both together; the endpoint
    decides how much to think.  If it sends no token counts, tokens are 0 and dollars None.
    TransientFault if a later attempt may succeed, else ProviderError.
    """

    def __init__(
        self, endpoint: Endpoint, key: str, dialect: Dialect | None = None, price: Price | None = None
    ) -> None:
        sdk = imported("openai")
        self._connection: Connection[AsyncOpenAI] = Connection(sdk, sdk.AsyncOpenAI, endpoint, key)
        self._endpoint = endpoint
        self._dialect = dialect or Dialect()
        self._price = price

    async def complete(self, request: ModelRequest) -> Completion:
        began = time.perf_counter()
        async with self._connection.client() as client:
            completions = client.chat.completions.with_streaming_response
            async with completions.create(**self._body(request)) as response:
                answer = await _read(response)
            return answer.completion(time.perf_counter() - began, self._price)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            self._limit_field(): request.max_tokens + max(request.thinking_tokens, self._reasoning()),
            "stream": True,
        }
        if self._sends_temperature():
            body["temperature"] = request.temperature
        if self._dialect.seed:
            body["seed"] = request.draw % 2**31
        if self._dialect.usage:
            body["stream_options"] = {"include_usage": True}
        if request.effort:
            body["reasoning_effort"] = request.effort
        if request.extra_body:
            body["extra_body"] = dict(request.extra_body)
        return body

    def _reasoning(self) -> int:
        if self._dialect.reasoning is not None:
            return self._dialect.reasoning
        return ALLOWANCE if reasons(self._endpoint.model) else 0

    def _limit_field(self) -> str:
        if self._dialect.limit != "auto":
            return self._dialect.limit
        return "max_completion_tokens" if self._is_openai() else "max_tokens"

    def _sends_temperature(self) -> bool:
        if self._dialect.temperature != "auto":
            return self._dialect.temperature == "on"
        return not (self._is_openai() and FIXED_TEMPERATURE.match(self._endpoint.model))

    def _is_openai(self) -> bool:
        return f".{urlsplit(self._endpoint.base_url).hostname}".endswith(".api.openai.com")


def reasons(model: str) -> bool:
    """Whether the name is that of a model that reasons before it answers."""
    return REASONS.match(model) is not None


async def _read(response: AsyncAPIResponse[Any]) -> _Answer:
    """Reads the answer from a response: one JSON object, or events of one ``data:`` line each, as all providers send
    them.  After the last event it waits briefly for the end of the stream: only a connection that was read to its end
    is used again."""
    answer, rest = _Answer(), b""
    if "json" in response.headers.get("content-type", ""):  # an endpoint that does not stream
        answer.take(await response.read())
        return answer
    with anyio.CancelScope() as scope:
        async for chunk in response.iter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            for data in (line[5:].strip() for line in lines if line.startswith(b"data:")):
                if data == b"[DONE]":
                    scope.deadline = anyio.current_time() + DRAIN_S
                elif data:
                    answer.take(data)
    return answer


class _Part(msgspec.Struct):
    text: str | None = None


class _Said(msgspec.Struct):
    """``content`` is a text, or a list of parts (Mistral); parts with reasoning have no text."""

    content: str | list[_Part] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or self.refusal or ""


class _Choice(msgspec.Struct):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Counts(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Counts | None = None
    error: Any = None


@final
class _Answer:
    """The part of an answer that has arrived."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._ended: str | None = None
        self._counts = _Counts()

    def take(self, data: bytes) -> None:
        """Adds the data of one event.  ``json`` accepts halves of surrogate pairs, which other readers refuse."""
        chunk = msgspec.convert(json.loads(data), _Chunk)
        if chunk.error is not None:
            raise Broken(f"the endpoint says {json.dumps(chunk.error)}")
        self._counts = chunk.usage or self._counts
        for choice in chunk.choices or ():
            said = choice.delta or choice.message
            if said is not None:
                self._texts.append(said.text)
            self._ended = choice.finish_reason or self._ended

    def completion(self, seconds: float, price: Price | None) -> Completion:
        """The answer; Broken if it is incomplete."""
        if self._ended is None or self._ended == "error":
            raise Broken("the stream ended without a finish_reason")
        return Completion(mended("".join(self._texts)), self._usage(seconds, price), ENDED.get(self._ended, "other"))

    def _usage(self, seconds: float, price: Price | None) -> Usage:
        asked, said = self._counts.prompt_tokens, self._counts.completion_tokens
        if asked is None or said is None:
            return Usage(1, seconds=seconds, dollars=None)
        details = self._counts.prompt_tokens_details or _PromptDetails()
        dollars = price.dollars(asked, said, details.cached_tokens or 0) if price is not None else None
        return Usage(1, asked, said, seconds, dollars)
