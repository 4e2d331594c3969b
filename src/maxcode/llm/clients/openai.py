"""Any OpenAI-compatible endpoint (OpenAI, vLLM, SGLang, Ollama, OpenRouter, llama.cpp) through the official SDK.

Answers are streamed, so that a half answer is told from a whole one: a stream that ends without a ``finish_reason``
is a transient fault.  What an endpoint streams as reasoning is not part of the text.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final
from urllib.parse import urlsplit

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
from maxcode.llm.clients.prices import Price
from maxcode.llm.clients.stream import read_events

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.resources.chat.completions import AsyncCompletionsWithStreamingResponse

OFFICIAL = "https://api.openai.com/v1"
CONNECT_S = 15.0
# OpenAI's reasoning models take their default temperature alone.
FIXED_TEMPERATURE = re.compile(r"o\d|gpt-([5-9]|\d\d)")

LimitField = Literal["auto", "max_tokens", "max_completion_tokens"]
Switch = Literal["auto", "on", "off"]


@final
@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent to an endpoint beside the messages.

    ``limit``: the field that bounds the answer; "auto" is ``max_completion_tokens`` at OpenAI, whose reasoning models
    refuse the older ``max_tokens``, and ``max_tokens`` elsewhere, as older servers know no other.  ``temperature``:
    "auto" leaves it out for OpenAI's reasoning models.  ``seed``: the request's draw, modulo 2**31.  ``usage``: ask
    for the token counts at the end of the stream.
    """

    limit: LimitField = "auto"
    temperature: Switch = "auto"
    seed: bool = True
    usage: bool = True


@final
class OpenAIModel:
    """A model at an OpenAI-compatible endpoint.

    ``thinking_tokens`` are added to the bound of the answer, since these endpoints count both together; how much to
    think is the endpoint's own setting.  Where it sends no token counts, tokens are 0 and dollars None.
    Raises TransientFault for what may pass, ProviderError for what cannot.
    """

    def __init__(
        self, endpoint: Endpoint, key: str, dialect: Dialect | None = None, price: Price | None = None
    ) -> None:
        require_sdk()
        self._endpoint = endpoint
        self._key = key
        self._dialect = dialect or Dialect()
        self._price = price
        self._clients = PerLoop(self._connect, _close)

    def _connect(self) -> AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._endpoint.base_url,
            max_retries=0,
            # Retrying bounds the whole call; a stream may be silent for long while a model thinks.
            timeout=openai.Timeout(None, connect=CONNECT_S),
            http_client=transport(self._endpoint.base_url),
        )

    async def complete(self, request: ModelRequest) -> Completion:
        import httpx2
        import openai

        client = await self._clients.get()
        began = time.perf_counter()
        try:
            answer = await _ask(client.chat.completions.with_streaming_response, self._body(request), self._key)
        except openai.APIStatusError as error:
            raise fault(self._endpoint, self._refusal(error)) from error
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise unconnected(error, self._key) from error
        return answer.completion(time.perf_counter() - began, self._price)

    def _refusal(self, error: Any) -> Refusal:
        return Refusal(
            error.status_code, without_key(str(error.message), self._key), error.code or "", error.response.headers
        )

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            self._limit_field(): request.max_tokens + request.thinking_tokens,
            "stream": True,
        }
        if self._sends_temperature():
            body["temperature"] = request.temperature
        if self._dialect.seed:
            body["seed"] = request.draw % 2**31
        if self._dialect.usage:
            body["stream_options"] = {"include_usage": True}
        return body

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


def require_sdk() -> None:
    """Raise InputError with the cure where the SDK is not installed."""
    try:
        import openai  # noqa: F401
    except ImportError as error:
        raise InputError("language models need the package openai: pip install 'maxcode[llm]'") from error


async def _close(client: AsyncOpenAI) -> None:
    await client.close()


async def _ask(completions: AsyncCompletionsWithStreamingResponse, body: dict[str, Any], key: str) -> _Answer:
    answer = _Answer(key)
    async with completions.create(**body) as response:
        if "json" in response.headers.get("content-type", ""):  # an endpoint that does not stream
            answer.see(await response.read())
        else:
            await read_events(response.iter_bytes(), answer.see)
    return answer


class _Part(msgspec.Struct):
    text: str | None = None


class _Said(msgspec.Struct):
    """``content`` comes as a text, or in parts (Mistral), of which those that hold reasoning have no text."""

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
    error: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Chunk)


@final
class _Answer:
    """What has arrived of an answer."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._texts: list[str] = []
        self._ended: str | None = None
        self._counts: _Counts | None = None
        self._fault = ""

    def see(self, data: bytes) -> bool:
        """Take in one event; true when it is the last."""
        if data == b"[DONE]" or self._fault:
            return True
        try:
            chunk = _decode.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._fault = no_answer(error, data, self._key)
            return True
        if chunk.error and bytes(chunk.error) != b"null":
            self._fault = broken_off(bytes(chunk.error), self._key)
            return True
        self._take(chunk)
        return False

    def _take(self, chunk: _Chunk) -> None:
        self._counts = chunk.usage or self._counts
        for choice in chunk.choices or ():
            said = choice.delta or choice.message
            if said is not None:
                self._texts.append(said.text)
            self._ended = choice.finish_reason or self._ended

    def completion(self, seconds: float, price: Price | None) -> Completion:
        """The answer; TransientFault where it is not whole."""
        if self._fault:
            raise TransientFault(self._fault)
        if self._ended is None or self._ended == "error":
            raise TransientFault("the answer stopped half-way: the stream ended without a finish_reason")
        ended = {"stop": "stop", "length": "length"}.get(self._ended, "other")
        return Completion("".join(self._texts), self._usage(seconds, price), ended)  # type: ignore[arg-type]

    def _usage(self, seconds: float, price: Price | None) -> Usage:
        counts = self._counts
        if counts is None or counts.prompt_tokens is None or counts.completion_tokens is None:
            return Usage(1, seconds=seconds, dollars=None)
        details = counts.prompt_tokens_details
        cached = (details.cached_tokens or 0) if details is not None else 0
        asked, said = counts.prompt_tokens, counts.completion_tokens
        return Usage(1, asked, said, seconds, price.dollars(asked, said, cached) if price is not None else None)
