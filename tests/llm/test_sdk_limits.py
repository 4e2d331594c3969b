"""What the SDKs do not do, each the reason of some code in `maxcode.llm.clients`.

Where a newer SDK fails one of these tests, the code that it is the reason of can go.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
import warnings
from typing import Any

import anthropic
import anyio
import openai
import pytest

from tests.support.provider import Provider

MESSAGES: Any = [{"role": "user", "content": "Faster, please."}]


def chat(provider: Provider, **settings: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url=provider.url, **settings)


def claude(provider: Provider, **settings: Any) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key="k", base_url=provider.url, **settings)


async def streamed(client: openai.AsyncOpenAI) -> list[Any]:
    """The reasons to end that OpenAI's stream gave."""
    async with client:
        stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        return [choice.finish_reason async for chunk in stream for choice in chunk.choices]


async def message(client: anthropic.AsyncAnthropic) -> anthropic.types.Message:
    async with client, client.messages.stream(model="m", messages=MESSAGES, max_tokens=99) as stream:
        return await stream.get_final_message()


def test_openais_stream_breaks_at_an_event_without_data(provider: Provider) -> None:
    """Why `openai._read` reads the events: gateways send such events as signs of life."""
    with pytest.raises(json.JSONDecodeError):
        anyio.run(streamed, chat(provider))


def test_anthropics_helper_returns_half_an_answer_as_a_message(provider: Provider) -> None:
    """Why `anthropic` looks for the last event itself."""
    provider.script = ["half", "unstopped"]
    assert anyio.run(message, claude(provider)).content[0].type == "text"
    assert anyio.run(message, claude(provider)).stop_reason == "end_turn"
    assert len(provider.bodies) == 2


@pytest.mark.parametrize("word", ["error", "garbage"])
def test_the_sdks_ask_for_no_answer_again_that_broke_off(provider: Provider, word: str) -> None:
    """Why `Retrying` asks again and not the SDK."""
    provider.script = [word]
    with pytest.raises((anthropic.APIStatusError, json.JSONDecodeError)):
        anyio.run(message, claude(provider, max_retries=5))
    assert len(provider.bodies) == 1


def test_the_sdks_use_their_retries_up_where_a_short_wait_is_asked_for(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why `Retrying` waits for its back-off at least: many callers wait for the same quota."""
    provider.script, provider.retry_after = ["limit"] * 6, "0.01"
    begin, asked_at = provider.begin, list[float]()

    def seen(*given: Any) -> str:
        asked_at.append(time.monotonic())
        return begin(*given)

    monkeypatch.setattr(provider, "begin", seen)
    with pytest.raises(anthropic.RateLimitError):
        anyio.run(message, claude(provider, max_retries=5))
    assert len(provider.bodies) == 6
    assert asked_at[-1] - asked_at[0] < 0.5 + 1 + 2  # the back-off of the first three waits alone


def test_the_time_limit_of_an_sdk_bounds_a_silence_and_not_the_call(provider: Provider) -> None:
    """Why `Retrying` bounds a call itself."""
    provider.script = ["slow"]
    began = time.monotonic()
    assert anyio.run(message, claude(provider, timeout=0.8)).stop_reason == "end_turn"
    assert time.monotonic() - began > 0.8


@pytest.mark.heavy
def test_a_client_of_an_sdk_that_is_not_closed_in_its_loop_leaves_its_connection_open(provider: Provider) -> None:
    """Why `Connection` keeps one client per event loop, and closes it before the loop ends."""
    client = chat(provider, max_retries=0)

    async def asked(client: openai.AsyncOpenAI) -> None:
        responses = client.chat.completions.with_streaming_response
        async with responses.create(model="m", messages=MESSAGES, stream=True) as response:
            await response.read()

    asyncio.run(asked(client))
    with pytest.raises((openai.APIConnectionError, RuntimeError)):
        asyncio.run(asked(client))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del client
        gc.collect()


def test_anthropics_client_goes_through_a_proxy_that_it_was_told_to_pass_by(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why `_past_proxies` makes a client of httpx2's own."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    direct = anthropic.DefaultAsyncHttpxClient(trust_env=False)
    with pytest.raises(anthropic.APIConnectionError):
        anyio.run(message, claude(provider, http_client=direct, max_retries=0))
