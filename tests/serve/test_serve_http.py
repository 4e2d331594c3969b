"""Both APIs over loopback, through the providers' own clients."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai
import pytest

from maxcode.errors import InputError
from maxcode.serve import Faults, Serving, serving
from tests.support.serve_help import READS, WANTS_EDITS, ask, client, evolving

pytestmark = pytest.mark.heavy

PROMPT = f"Make it faster:\n```cpp\n{READS}```\n"
TURNS: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": PROMPT}]
THINKING: anthropic.types.ThinkingConfigParam = {"type": "enabled", "budget_tokens": 1024}


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    with serving(fixed="answer {draw}") as made:
        yield made


@pytest.fixture
def chat(running: Serving) -> Iterator[openai.OpenAI]:
    with client(running) as made:
        yield made


@pytest.fixture
def claude(running: Serving) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=running.anthropic_base_url, api_key="none", max_retries=0) as made:
        yield made


def test_both_clients_list_the_models(chat: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    names = ["maxcode-rewriter", "maxcode-kernels", "maxcode-fixed"]
    assert [one.id for one in chat.models.list()] == names
    assert [one.id for one in claude.models.list()] == names


def test_a_seed_fixes_the_answer_and_without_one_each_call_is_another_sample(chat: openai.OpenAI) -> None:
    assert ask(chat, PROMPT, seed=5) == ask(chat, PROMPT, seed=5)
    assert len({ask(chat, PROMPT, seed=seed) for seed in range(8)}) > 2
    assert len({ask(chat, PROMPT, "maxcode-fixed", seed=None) for _ in range(8)}) == 8
    assert ask(chat, PROMPT, "maxcode-fixed", seed=7) == "answer 7"


def test_samples_without_a_seed_are_the_same_on_a_fresh_server() -> None:
    told = []
    for _ in range(2):
        with serving(fixed="answer {draw}") as fresh, client(fresh) as made:
            told.append([ask(made, PROMPT, "maxcode-fixed", seed=None) for _ in range(3)])
    assert told[0] == told[1]


def test_n_choices_are_n_samples_of_which_the_first_is_the_seeds_own(chat: openai.OpenAI) -> None:
    told = chat.chat.completions.create(model="maxcode-fixed", messages=TURNS, n=4, seed=7)
    texts = [choice.message.content for choice in told.choices]
    assert [choice.index for choice in told.choices] == [0, 1, 2, 3]
    assert texts[0] == "answer 7" and len(set(texts)) == 4


def test_low_temperatures_keep_to_the_heaviest_rules(chat: openai.OpenAI) -> None:
    def rules(temperature: float) -> set[str]:
        made = chat.chat.completions.create(
            model="maxcode-rewriter", messages=TURNS, n=24, seed=1, temperature=temperature
        )
        return {rule for one in made.choices for rule in re.findall(r"^- (\w+)\(", one.message.content or "", re.M)}

    assert rules(0.0) < rules(2.0)


def test_an_answer_is_cut_at_max_tokens(chat: openai.OpenAI) -> None:
    told = chat.chat.completions.create(model="maxcode-rewriter", messages=TURNS, seed=1, max_tokens=10)
    whole = ask(chat, PROMPT, seed=1)
    assert told.choices[0].message.content == whole[:40] and told.choices[0].finish_reason == "length"
    assert told.usage is not None and told.usage.completion_tokens == 10


def test_a_stream_gives_the_same_text_and_the_usage_in_the_last_chunk(chat: openai.OpenAI) -> None:
    whole = chat.chat.completions.create(model="maxcode-rewriter", messages=TURNS, seed=2)
    with chat.chat.completions.create(
        model="maxcode-rewriter", messages=TURNS, seed=2, stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    ends = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert text == whole.choices[0].message.content
    assert ends[-1] == "stop" and not any(ends[:-1])
    assert chunks[-1].usage == whole.usage and chunks[-1].choices == []


def test_several_choices_stream_side_by_side(chat: openai.OpenAI) -> None:
    with chat.chat.completions.create(model="maxcode-fixed", messages=TURNS, n=3, seed=1, stream=True) as stream:
        texts = dict.fromkeys(range(3), "")
        for chunk in stream:
            texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts[0] == "answer 1" and len(set(texts.values())) == 3


def test_unknown_models_are_refused_in_each_apis_words(chat: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    with pytest.raises(openai.NotFoundError, match="'gpt' does not exist; there is maxcode-rewriter") as refused:
        ask(chat, PROMPT, "gpt")
    assert refused.value.code == "model_not_found"
    with pytest.raises(anthropic.NotFoundError) as lost:
        claude.messages.create(model="claude", max_tokens=9, messages=[{"role": "user", "content": PROMPT}])
    assert lost.value.body == {
        "type": "error",
        "error": {"type": "not_found_error", "message": str(refused.value.body["message"]).replace("gpt", "claude")},  # type: ignore[index]
        "request_id": None,
    }


@pytest.mark.parametrize("wrong", [{"n": 0}, {"temperature": 3.0}, {"max_tokens": 0}, {"messages": []}])
def test_what_cannot_be_asked_is_refused(chat: openai.OpenAI, wrong: dict[str, object]) -> None:
    told = {"model": "maxcode-fixed", "messages": TURNS, **wrong}
    with pytest.raises(openai.BadRequestError, match="cannot be read"):
        chat.post("/chat/completions", body=told, cast_to=dict)


def test_contents_in_parts_are_read(chat: openai.OpenAI) -> None:
    parts = [{"type": "text", "text": PROMPT[:30]}, {"type": "text", "text": "int main() { for (;;) ; }\n```"}]
    told = chat.chat.completions.create(model="maxcode-rewriter", messages=[{"role": "user", "content": parts}])  # type: ignore[list-item,misc]
    assert "int main()" in (told.choices[0].message.content or "")


def test_a_message_in_anthropics_shape(claude: anthropic.Anthropic) -> None:
    told = claude.messages.create(
        model="maxcode-rewriter",
        max_tokens=16000,
        system=WANTS_EDITS,
        messages=[{"role": "user", "content": evolving(READS, "cpp", "")}],
    )
    assert told.content[0].type == "text" and "<<<<<<< SEARCH" in told.content[0].text
    assert told.stop_reason == "end_turn" and told.usage.output_tokens > 10


def test_anthropics_stream_has_thinking_first_and_adds_up(claude: anthropic.Anthropic) -> None:
    with claude.messages.stream(
        model="maxcode-rewriter",
        max_tokens=16000,
        thinking=THINKING,
        messages=[{"role": "user", "content": PROMPT}],
    ) as stream:
        text = "".join(stream.text_stream)
        told = stream.get_final_message()
    assert [block.type for block in told.content] == ["thinking", "text"]
    assert text == told.content[1].text and "#include" in text  # type: ignore[union-attr]
    assert told.usage.output_tokens > 10 and told.stop_reason == "end_turn"


def test_anthropics_answer_is_cut_at_max_tokens(claude: anthropic.Anthropic) -> None:
    told = claude.messages.create(
        model="maxcode-rewriter", max_tokens=10, messages=[{"role": "user", "content": PROMPT}]
    )
    assert told.stop_reason == "max_tokens" and len(told.content[0].text) == 40  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tokens": 1024, "thinking": THINKING}, "must be greater than"),
        ({"max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 5}}, "less than 1024"),
        ({"max_tokens": 16000, "thinking": THINKING, "temperature": 0.6}, "not possible with thinking"),
        ({"max_tokens": 16000, "temperature": 1.5}, "cannot be read"),
    ],
)
def test_anthropics_own_rules_about_thinking_hold(
    claude: anthropic.Anthropic, options: dict[str, object], words: str
) -> None:
    body = {"model": "maxcode-fixed", "messages": [{"role": "user", "content": "x"}], **options}
    with pytest.raises(anthropic.BadRequestError, match=words):
        claude.post("/v1/messages", body=body, cast_to=dict)


def test_answers_are_counted_by_content() -> None:
    with serving(fixed="x") as fresh, client(fresh) as made:
        for seed in (1, 2, 3, 3):
            ask(made, PROMPT, "maxcode-fixed", seed)
        assert fresh.tally.outcomes == {"answered": 4}
        assert fresh.tally.paid_again == 1
        with urllib.request.urlopen(f"{fresh.anthropic_base_url}/tally") as told:
            assert json.load(told) == {"requests": 4, "outcomes": {"answered": 4}, "paid_again": 1}


def test_many_callers_are_answered_at_once() -> None:
    with serving(delay_s=0.2, fixed="x") as fresh, client(fresh) as made, ThreadPoolExecutor(24) as pool:
        told = list(pool.map(lambda seed: ask(made, PROMPT, "maxcode-fixed", seed), range(24)))
    assert told == ["x"] * 24 and fresh.tally.requests == 24


def test_a_client_that_left_has_not_been_answered() -> None:
    with serving(delay_s=0.5, fixed="x") as fresh:
        with client(fresh, timeout=0.1) as made, pytest.raises(openai.APITimeoutError):
            ask(made, PROMPT, "maxcode-fixed")
        with client(fresh) as made:
            ask(made, PROMPT, "maxcode-fixed")
        assert fresh.tally.outcomes == {"gone": 1, "answered": 1} and fresh.tally.paid_again == 0


def test_the_endpoint_is_on_loopback_alone(running: Serving) -> None:
    with pytest.raises(openai.PermissionDeniedError, match="not this machine"), client(running) as made:
        made.with_options(default_headers={"host": "evil.example"}).models.list()
    with socket.socket() as other:
        other.bind(("127.0.0.2", 0))
        other.settimeout(2)
        with pytest.raises(OSError):
            other.connect(("127.0.0.2", running.port))


def test_a_port_that_is_taken_is_named(running: Serving) -> None:
    with (
        pytest.raises(InputError, match=f"port {running.port} .* --port 0 takes a free one"),
        serving(port=running.port),
    ):
        pass


def test_a_port_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="70000 is no port"), serving(port=70000):
        pass


def test_the_context_ends_though_a_call_hangs() -> None:
    with ThreadPoolExecutor(1) as pool:
        with serving(Faults({"hang": 1.0}), fixed="x") as fresh:

            def waits() -> str:
                with client(fresh) as made:
                    return ask(made, PROMPT, "maxcode-fixed")

            waiting = pool.submit(waits)
            while not fresh.tally.requests:
                time.sleep(0.01)
        with pytest.raises(openai.OpenAIError):
            waiting.result(timeout=20)


def test_after_the_context_nobody_answers() -> None:
    with serving() as fresh, client(fresh) as made:
        made.models.list()
    with client(fresh) as made, pytest.raises(openai.APIConnectionError):
        made.models.list()
