"""The two clients over real HTTP, through the real SDKs: what they send, and what they make of every kind of answer."""

from __future__ import annotations

import gc

import anyio
import pytest

from maxcode.errors import ProviderError
from maxcode.llm.clients import Completion, Message, Model, ModelRequest
from maxcode.llm.clients.anthropic import AnthropicModel, ClaudeSettings, version
from maxcode.llm.clients.faults import Endpoint, TransientFault
from maxcode.llm.clients.openai import Dialect, OpenAIModel
from maxcode.llm.clients.prices import Price
from tests.support.provider import Provider, text_for

ASKED = ModelRequest(
    (Message("system", "Be brief."), Message("user", "Faster, please.")), draw=2**40 + 17, temperature=0.3
)
BOTH = pytest.mark.parametrize("api", ["openai", "anthropic"])


def model(provider: Provider, api: str, name: str = "claude-haiku-4-5", price: Price | None = None) -> Model:
    endpoint = Endpoint(name, provider.url + ("/v1" if api == "openai" else ""), "SOME_KEY")
    if api == "openai":
        return OpenAIModel(endpoint, "sk-secret", price=price)
    return AnthropicModel(endpoint, "sk-secret", price=price)


def ask(asked: Model, request: ModelRequest = ASKED) -> Completion:
    return anyio.run(asked.complete, request)


@BOTH
def test_an_answer_comes_whole_with_its_tokens_and_dollars(provider: Provider, api: str) -> None:
    answer = ask(model(provider, api, price=Price(1.0, 10.0)))
    assert answer.text == text_for(provider.bodies[0])
    assert answer.ended == "stop"
    assert (answer.usage.calls, answer.usage.prompt_tokens, answer.usage.completion_tokens) == (1, 100, 20)
    assert answer.usage.dollars == pytest.approx((100 * 1.0 + 20 * 10.0) / 1e6)
    assert answer.usage.seconds > 0


@BOTH
def test_a_slow_stream_is_as_whole_as_a_fast_one(provider: Provider, api: str) -> None:
    provider.script = ["slow"]
    assert ask(model(provider, api)).text == text_for(provider.bodies[0])


@BOTH
def test_an_answer_cut_at_its_bound_says_so(provider: Provider, api: str) -> None:
    provider.script = ["cut"]
    assert ask(model(provider, api)).ended == "length"


@BOTH
@pytest.mark.parametrize("word", ["half", "garbage", "error", "down", "drop", "limit"])
def test_what_may_pass_is_a_transient_fault(provider: Provider, api: str, word: str) -> None:
    provider.script = [word]
    with pytest.raises(TransientFault) as caught:
        ask(model(provider, api))
    assert caught.value.retry_after == (7 if word == "limit" else None)


@BOTH
@pytest.mark.parametrize("word", ["garbage", "error"])
def test_what_a_stream_says_of_the_key_is_not_told(provider: Provider, api: str, word: str) -> None:
    provider.script = [word]
    with pytest.raises(TransientFault, match=r"\(key\)") as caught:
        ask(model(provider, api))
    assert "sk-secret" not in str(caught.value)


def test_a_content_in_parts_is_the_text_of_those_that_have_any(provider: Provider) -> None:
    provider.script = ["parts"]
    assert ask(model(provider, "openai")).text == text_for(provider.bodies[0])


@BOTH
def test_halves_of_a_letter_in_two_events_are_joined_and_one_alone_is_replaced(provider: Provider, api: str) -> None:
    provider.script = ["halves"]
    found = ask(model(provider, api)).text
    assert found == text_for(provider.bodies[0]).replace("\N{GRINNING FACE}", "\N{GRINNING FACE}\ufffd")


@pytest.mark.parametrize("word", ["disordered", "bare", "textless"])
def test_events_that_are_not_anthropics_are_a_transient_fault(provider: Provider, word: str) -> None:
    provider.script = [word]
    with pytest.raises(TransientFault, match="is not an answer"):
        ask(model(provider, "anthropic"))


def test_an_answer_without_its_last_event_is_half_an_answer(provider: Provider) -> None:
    provider.script = ["unstopped"]
    with pytest.raises(TransientFault, match="half-way"):
        ask(model(provider, "anthropic"))


@BOTH
def test_a_server_that_is_not_there_is_a_transient_fault(api: str) -> None:
    nowhere = Endpoint("m", "http://127.0.0.1:9", "SOME_KEY")
    gone = OpenAIModel(nowhere, "k") if api == "openai" else AnthropicModel(nowhere, "k")
    with pytest.raises(TransientFault, match="connection failed"):
        ask(gone)


@BOTH
@pytest.mark.parametrize(
    ("word", "cure"),
    [
        ("401", "set SOME_KEY to a key"),
        ("403", "may not use this model"),
        ("404", "base URL"),
        ("400", "switch that one off"),
        ("402", "no credit left"),
    ],
)
def test_what_cannot_pass_names_model_endpoint_and_cure_but_no_key(
    provider: Provider, api: str, word: str, cure: str
) -> None:
    provider.script = [word]
    with pytest.raises(ProviderError, match=cure) as caught:
        ask(model(provider, api))
    assert "claude-haiku-4-5" in str(caught.value)
    assert provider.url in str(caught.value)
    assert "sk-secret" not in str(caught.value) and "key was" in str(caught.value)
    assert str(caught.value).isprintable()  # no line break, no colour of a terminal, no half of a letter


def test_a_429_of_an_account_that_has_run_dry_is_final(provider: Provider) -> None:
    provider.script = ["quota"]
    with pytest.raises(ProviderError, match="no credit left"):
        ask(model(provider, "openai"))


@pytest.mark.parametrize("word", ["nousage", "uncounted"])
def test_without_token_counts_there_is_no_price(provider: Provider, word: str) -> None:
    provider.script = [word]
    usage = ask(model(provider, "openai", price=Price(1.0, 1.0))).usage
    assert (usage.calls, usage.tokens, usage.dollars) == (1, 0, None)


def test_an_endpoint_that_does_not_stream_is_understood(provider: Provider) -> None:
    provider.script = ["plain"]
    answer = ask(model(provider, "openai"))
    assert (answer.text, answer.ended, answer.usage.tokens) == (text_for(provider.bodies[0]), "stop", 120)


def test_an_old_style_server_gets_max_tokens_temperature_and_the_draw_as_seed(provider: Provider) -> None:
    ask(model(provider, "openai", "local"))
    body = provider.bodies[0]
    assert body["max_tokens"] == ASKED.max_tokens and "max_completion_tokens" not in body
    assert body["seed"] == ASKED.draw % 2**31 < 2**31
    assert body["temperature"] == 0.3
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Faster, please."},
    ]


def test_every_part_can_be_switched_off(provider: Provider) -> None:
    bare = Dialect(limit="max_completion_tokens", temperature="off", seed=False, usage=False)
    ask(OpenAIModel(Endpoint("local", provider.url, "K"), "k", bare))
    assert provider.bodies[0].keys() == {"model", "messages", "max_completion_tokens", "stream"}


@pytest.mark.parametrize(
    ("name", "url", "field", "temperature"),
    [
        ("o4-mini", "https://api.openai.com/v1", "max_completion_tokens", False),
        ("gpt-5.5", "https://api.openai.com/v1", "max_completion_tokens", False),
        ("o3", "https://eu.api.openai.com/v1", "max_completion_tokens", False),
        ("gpt-4.1", "https://api.openai.com/v1", "max_completion_tokens", True),
        ("o4-mini", "https://openrouter.ai/api/v1", "max_tokens", True),
    ],
)
def test_openai_and_other_servers_each_get_the_fields_they_know(
    name: str, url: str, field: str, temperature: bool
) -> None:
    body = OpenAIModel(Endpoint(name, url, "K"), "k")._body(ASKED)
    assert field in body
    assert ("temperature" in body) is temperature


def test_thinking_is_paid_for_on_top_left_out_of_the_text_and_without_temperature(provider: Provider) -> None:
    answer = ask(model(provider, "anthropic"), ModelRequest(ASKED.messages, max_tokens=500, thinking_tokens=2000))
    body = provider.bodies[0]
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 2500
    assert "temperature" not in body
    assert body["system"] == "Be brief." and [turn["role"] for turn in body["messages"]] == ["user"]
    assert answer.text == text_for(body)


def test_newer_claude_models_think_adaptively_and_take_no_temperature(provider: Provider) -> None:
    newer = model(provider, "anthropic", "claude-opus-5-5")
    ask(newer)
    ask(newer, ModelRequest(ASKED.messages, thinking_tokens=10))
    assert "temperature" not in provider.bodies[0] and "thinking" not in provider.bodies[0]
    assert provider.bodies[1]["thinking"] == {"type": "adaptive"}


def test_older_claude_models_get_their_temperature_in_the_version_of_the_api_that_takes_one(provider: Provider) -> None:
    ask(model(provider, "anthropic"))
    assert provider.bodies[0]["temperature"] == 0.3
    assert provider.headers[0]["anthropic-version"] == "2023-06-01"
    ask(AnthropicModel(Endpoint("claude-haiku-4-5", provider.url, "K"), "k", ClaudeSettings(temperature="off")))
    assert "temperature" not in provider.bodies[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-3-7-sonnet-20250219", (3, 7)),
        ("claude-haiku-4-5-20251001", (4, 5)),
        ("claude-opus-4-20250514", (4, 0)),
        ("claude-sonnet-5", (5, 0)),
        ("claude-next", (99, 0)),
    ],
)
def test_the_generation_is_read_from_a_claude_name(name: str, expected: tuple[int, int]) -> None:
    assert version(name) == expected


@pytest.mark.heavy
@BOTH
def test_one_model_serves_two_event_loops_and_leaves_nothing_open(provider: Provider, api: str) -> None:
    asked = model(provider, api)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for draw in range(8):
                group.start_soon(asked.complete, ModelRequest(ASKED.messages, draw))
        await asked.complete(ASKED)

    anyio.run(many)
    after_first = provider.connections
    assert after_first <= 8
    anyio.run(many)
    gc.collect()  # a socket left open is a ResourceWarning, which fails the test
    assert len(provider.bodies) == 18


@BOTH
def test_a_connection_is_used_again(provider: Provider, api: str) -> None:
    asked = model(provider, api)

    async def in_turn() -> None:
        for draw in range(5):
            await asked.complete(ModelRequest(ASKED.messages, draw))

    anyio.run(in_turn)
    assert provider.connections == 1


@BOTH
def test_a_cancelled_call_leaves_nothing_open_and_the_model_usable(provider: Provider, api: str) -> None:
    provider.script = ["hang"]
    asked = model(provider, api)

    async def cancelled_then_asked() -> Completion:
        async with anyio.create_task_group() as group:
            group.start_soon(asked.complete, ASKED)
            while not provider.bodies:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        return await asked.complete(ASKED)

    assert anyio.run(cancelled_then_asked).ended == "stop"
    gc.collect()


def test_a_prompt_is_written_to_the_cache_when_it_is_asked_again_and_then_read(provider: Provider) -> None:
    claude = model(provider, "anthropic", price=Price(1.0, 5.0, cached=0.1, written=1.25))
    provider.delay_s = 0.5

    async def ask_at_once() -> None:
        async with anyio.create_task_group() as group:
            for draw in range(5):
                group.start_soon(claude.complete, ModelRequest(ASKED.messages, draw))

    anyio.run(ask_at_once)
    marked = [isinstance(body["messages"][-1]["content"], list) for body in provider.bodies]
    assert sorted(marked) == [False, True, True, True, True], "one plain request, for prompts that are asked once"
    assert provider.most_under_way == 3, "two at first; the three that read wait for the one that writes"
    block = next(body for body in provider.bodies if isinstance(body["messages"][-1]["content"], list))
    assert block["messages"][-1]["content"] == [
        {"type": "text", "text": "Faster, please.", "cache_control": {"type": "ephemeral"}}
    ]
    before = len(provider.bodies)
    ask(claude, ModelRequest((Message("user", "another"),)))
    assert isinstance(provider.bodies[before]["messages"][-1]["content"], str)


def test_without_a_price_for_cached_prompts_nothing_is_cached(provider: Provider) -> None:
    plain = model(provider, "anthropic", price=Price(1.0, 5.0))
    for _ in range(3):
        ask(plain)
    assert all(isinstance(body["messages"][-1]["content"], str) for body in provider.bodies)
    assert Price(1.0, 5.0, 0.1, 1.25).dollars(10, 0, cached=4, written=2) == pytest.approx((4 + 0.4 + 2.5) / 1e6)
    assert Price(1.0, 5.0, 0.1).dollars(10, 0, written=2) is None


@BOTH
def test_effort_and_other_keys_go_into_the_body(provider: Provider, api: str) -> None:
    ask(model(provider, api), ModelRequest(ASKED.messages, effort="high", extra_body={"top_k": 20}))
    body = provider.bodies[0]
    assert body["top_k"] == 20
    assert (body["reasoning_effort"] if api == "openai" else body["output_config"]["effort"]) == "high"


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("gpt-4o", 0), ("gpt-4.1-mini", 0), ("qwen2.5-coder", 0), ("meta/llama-3.3-70b", 0), ("o4-mini", 16_384),
        ("gpt-5", 16_384), ("deepseek-reasoner", 16_384), ("deepseek-ai/DeepSeek-R1", 16_384),
        ("Qwen/Qwen3-32B", 16_384), ("openai/gpt-oss-120b", 16_384), ("kimi-k2-thinking", 16_384),
    ],
)  # fmt: skip
def test_the_bound_of_an_answer_leaves_room_for_the_reasoning_of_models_that_reason(name: str, room: int) -> None:
    endpoint = Endpoint(name, "http://127.0.0.1:9/v1", "K")
    assert OpenAIModel(endpoint, "k")._body(ASKED)["max_tokens"] == ASKED.max_tokens + room
    more = ModelRequest(ASKED.messages, thinking_tokens=30_000)
    assert OpenAIModel(endpoint, "k")._body(more)["max_tokens"] == ASKED.max_tokens + 30_000
    assert OpenAIModel(endpoint, "k", Dialect(reasoning=5))._body(ASKED)["max_tokens"] == ASKED.max_tokens + 5
