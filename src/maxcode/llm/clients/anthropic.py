"""Anthropic's API through the official SDK, with extended thinking if a request asks for it.

The SDK's helper streams the answer.  A stream without its ``message_stop`` is an incomplete answer: a transient fault.
Thinking blocks are not part of the text.  The draw is not sent, because the API takes no seed.  A prompt that is asked
again goes through the provider's cache, unless a price is known that does not hold for cached prompts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from maxcode.core.types import Usage
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.llm.clients.faults import Endpoint
from maxcode.llm.clients.openai import Switch
from maxcode.llm.clients.prices import Price
from maxcode.llm.clients.repeated import RepeatedPrompts
from maxcode.llm.clients.sdk import Broken, Connection, imported, mended

if TYPE_CHECKING:
    import anthropic
    from anthropic import AsyncAnthropic

OFFICIAL = "https://api.anthropic.com"
# The last version of the API that takes a temperature; later ones refuse a request that holds any.
SAMPLING_VERSION = "2023-06-01"
LEAST_THINKING = 1024

Thinking = Literal["auto", "budget", "adaptive"]
ENDED: dict[str, Literal["stop", "length"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


@final
@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """The parameters that a Claude model accepts.

    ``thinking``: a "budget" of tokens (models up to 4.5), or "adaptive", where the model sets its own (4.6 and later);
    "auto" decides by the name of the model.
    ``temperature``: "auto" sends it to models up to 4.6, because later ones refuse it.
    """

    thinking: Thinking = "auto"
    temperature: Switch = "auto"


@final
class AnthropicModel:
    """A Claude model.

    With thinking on, no temperature is sent, because the API refuses it, and ``thinking_tokens`` are added to
    ``max_tokens``, because the API counts both together.  A budget below the API's minimum of 1,024 is raised to it.
    TransientFault if a later attempt may succeed, else ProviderError.
    """

    def __init__(
        self, endpoint: Endpoint, key: str, manner: ClaudeSettings | None = None, price: Price | None = None
    ) -> None:
        sdk = imported("anthropic")
        self._connection: Connection[AsyncAnthropic] = Connection(sdk, sdk.AsyncAnthropic, endpoint, key)
        self._endpoint = endpoint
        self._manner = manner or ClaudeSettings()
        self._price = price
        self._repeated = RepeatedPrompts()

    async def complete(self, request: ModelRequest) -> Completion:
        if self._price is not None and not self._price.knows_cache:
            return await self._answer(self._body(request))
        async with self._repeated.turn(request.messages) as (cached, begins):
            body = self._body(request)
            return await self._answer(_through_cache(body) if cached else body, begins)

    async def _answer(self, body: dict[str, Any], begins: Callable[[], None] = lambda: None) -> Completion:
        began, last = time.perf_counter(), ""
        async with self._connection.client() as client:
            async with client.messages.stream(**body) as stream:
                async for event in stream:
                    last = event.type
                    begins()
            if last != "message_stop" or (message := stream.current_message_snapshot).stop_reason is None:
                raise Broken("the stream ended without its message_stop")
            text = "".join(block.text for block in message.content if block.type == "text")
            usage = _usage(message.usage, time.perf_counter() - began, self._price)
            return Completion(mended(text), usage, ENDED.get(message.stop_reason, "other"))

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        system = "\n\n".join(message.text for message in request.messages if message.role == "system")
        turns = [{"role": said.role, "content": said.text} for said in request.messages if said.role != "system"]
        body: dict[str, Any] = {"model": self._endpoint.model, "messages": turns, "max_tokens": request.max_tokens}
        if system:
            body["system"] = system
        if request.thinking_tokens > 0:
            budget = max(request.thinking_tokens, LEAST_THINKING)
            body["max_tokens"] += budget
            body["thinking"] = self._thinking(budget)
        elif self._sends_temperature():
            body["extra_body"] = {"temperature": min(request.temperature, 1.0)}
            body["extra_headers"] = {"anthropic-version": SAMPLING_VERSION}
        effort = {"output_config": {"effort": request.effort}} if request.effort else {}
        if effort or request.extra_body:
            body["extra_body"] = {**body.get("extra_body", {}), **effort, **request.extra_body}
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


def _through_cache(body: dict[str, Any]) -> dict[str, Any]:
    """The body with a mark at the end of its prompt: the provider keeps all before it for some minutes."""
    *before, last = body["messages"]
    marked = {"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}
    return {**body, "messages": [*before, {**last, "content": [marked]}]}


def version(model: str) -> tuple[int, int]:
    """The version in the name of a Claude model: (4, 5) of ``claude-haiku-4-5-20251001``, (3, 7) of
    ``claude-3-7-sonnet-latest``; a name without a version counts as the newest."""
    match = re.search(r"-(\d{1,2})(?:-(\d{1,2}))?(?!\d)", model)
    return (int(match[1]), int(match[2] or 0)) if match is not None else (99, 0)


def _usage(counts: anthropic.types.Usage, seconds: float, price: Price | None) -> Usage:
    read, written = counts.cache_read_input_tokens or 0, counts.cache_creation_input_tokens or 0
    prompt = counts.input_tokens + read + written
    dollars = price.dollars(prompt, counts.output_tokens, read, written) if price is not None else None
    return Usage(1, prompt, counts.output_tokens, seconds, dollars)
