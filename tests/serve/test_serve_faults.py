"""Faults come when they are asked for, look like the real ones to the clients, and can be repeated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anthropic
import openai
import pytest

from maxcode.errors import InputError
from maxcode.serve import Faults, Serving, faults, serving
from tests.support.serve_help import READS, ask, client

pytestmark = pytest.mark.heavy

PROMPT = f"```cpp\n{READS}```"
FIXED = "word " * 400
TURN: anthropic.types.MessageParam = {"role": "user", "content": PROMPT}


@contextmanager
def always(kind: str) -> Iterator[tuple[Serving, openai.OpenAI, anthropic.Anthropic]]:
    """A server that has one fault all the time, and both clients without retries."""
    with (
        serving(Faults({kind: 1.0}, slow_s=0.3), fixed=FIXED) as running,
        client(running, timeout=3.0) as chat,
        anthropic.Anthropic(base_url=running.anthropic_base_url, api_key="none", max_retries=0, timeout=3.0) as claude,
    ):
        yield running, chat, claude


def streamed(chat: openai.OpenAI) -> tuple[str, str | None]:
    """The text of a stream, and the reason it ended, None when it said none."""
    text, ended = "", None
    with chat.chat.completions.create(
        model="maxcode-fixed", messages=[{"role": "user", "content": PROMPT}], stream=True
    ) as stream:
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
            ended = chunk.choices[0].finish_reason or ended
    return text, ended


@pytest.mark.parametrize(
    ("status", "error", "other"),
    [
        ("429", openai.RateLimitError, anthropic.RateLimitError),
        ("500", openai.InternalServerError, anthropic.InternalServerError),
        ("529", openai.InternalServerError, anthropic.APIStatusError),
    ],
)
def test_a_status_is_the_clients_own_error(status: str, error: type[Exception], other: type[Exception]) -> None:
    with always(status) as (running, chat, claude):
        with pytest.raises(error, match="made on purpose"):
            ask(chat, PROMPT, "maxcode-fixed")
        with pytest.raises(error):
            streamed(chat)
        with pytest.raises(other):
            claude.messages.create(model="maxcode-fixed", max_tokens=9, messages=[TURN])
        assert running.tally.outcomes == {status: 3} and not running.tally.paid


def test_a_hanging_call_ends_with_the_clients_patience_and_with_the_server() -> None:
    with always("hang") as (running, chat, claude):
        for one in (chat.with_options(timeout=0.2), chat.with_options(timeout=0.1)):
            with pytest.raises(openai.APITimeoutError):
                ask(one, PROMPT, "maxcode-fixed")
        with pytest.raises(anthropic.APITimeoutError):
            claude.with_options(timeout=0.2).messages.create(model="maxcode-fixed", max_tokens=9, messages=[TURN])
        assert running.tally.outcomes == {"hang": 3} and not running.tally.paid


def test_garbage_is_no_json() -> None:
    with always("garbage") as (running, chat, _):
        with pytest.raises((openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError)):
            ask(chat, PROMPT, "maxcode-fixed")
        with pytest.raises((openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError)):
            streamed(chat)
        assert running.tally.outcomes == {"garbage": 2} and not running.tally.paid


def test_a_truncated_answer_says_so() -> None:
    with always("truncated") as (running, chat, claude):
        told = chat.chat.completions.create(model="maxcode-fixed", messages=[{"role": "user", "content": PROMPT}])
        assert (told.choices[0].message.content, told.choices[0].finish_reason) == (FIXED[:1000], "length")
        assert streamed(chat) == (FIXED[:1000], "length")
        said = claude.messages.create(model="maxcode-fixed", max_tokens=4000, messages=[TURN])
        assert said.stop_reason == "max_tokens"
        assert running.tally.outcomes == {"truncated": 3}


def test_half_a_stream_ends_without_a_reason_and_half_a_body_breaks() -> None:
    with always("half") as (running, chat, claude):
        text, ended = streamed(chat)
        assert ended is None and FIXED.startswith(text) and 0 < len(text) < len(FIXED)
        with pytest.raises(openai.APIConnectionError):
            ask(chat, PROMPT, "maxcode-fixed")
        with claude.messages.stream(model="maxcode-fixed", max_tokens=4000, messages=[TURN]) as stream:
            kinds = [event.type for event in stream]
        assert "content_block_delta" in kinds and "message_stop" not in kinds
        assert running.tally.outcomes == {"half": 3} and not running.tally.paid


def test_a_slow_answer_arrives_whole() -> None:
    with always("slow") as (_, chat, _):
        assert ask(chat, PROMPT, "maxcode-fixed") == FIXED
        assert streamed(chat) == (FIXED, "stop")
        with pytest.raises(openai.APITimeoutError):
            ask(chat.with_options(timeout=0.005), PROMPT, "maxcode-fixed")


def test_faults_follow_from_the_number_of_the_request_and_the_seed() -> None:
    some = faults("429=0.1,hang=0.2,slow=0.3", seed=4)
    drawn = [some.of(number) for number in range(2000)]
    assert drawn == [faults("429=0.1,hang=0.2,slow=0.3", seed=4).of(number) for number in range(2000)]
    assert drawn != [faults("429=0.1,hang=0.2,slow=0.3", seed=5).of(number) for number in range(2000)]
    counts = Counter(drawn)
    assert [round(counts[kind] / 2000, 1) for kind in ("429", "hang", "slow", "")] == [0.1, 0.2, 0.3, 0.4]


def test_a_client_with_retries_gets_through_and_nothing_is_paid_twice() -> None:
    with serving(faults("429=0.6", seed=1), fixed="x") as running, client(running) as chat:
        patient = chat.with_options(max_retries=12)
        assert [ask(patient, PROMPT, "maxcode-fixed", seed) for seed in range(6)] == ["x"] * 6
        assert running.tally.outcomes["answered"] == 6 and running.tally.requests > 6
        assert running.tally.paid_again == 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("429", "is no fault; write for example"),
        ("429=x", "is no fault; write for example"),
        ("hangs=0.1", "did you mean 'hang'"),
        ("429=1.5", "between 0 and 1"),
        ("429=0.6,500=0.6", "add up to 1.2"),
    ],
)
def test_faults_that_make_no_sense_are_refused(told: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        faults(told)


def test_no_faults_are_no_faults() -> None:
    assert {faults("").of(number) for number in range(50)} == {""}
