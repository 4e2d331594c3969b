"""Asking again over real HTTP: which failures pass, how long is waited, and what the last word says."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from maxcode.errors import ProviderError
from maxcode.llm.clients import Completion, Message, Model, ModelRequest
from maxcode.llm.clients.anthropic import AnthropicModel
from maxcode.llm.clients.faults import Endpoint, retry_after, shown
from maxcode.llm.clients.openai import OpenAIModel
from maxcode.llm.clients.retrying import Pace, Patience, Retrying
from maxcode.run.display import Display
from maxcode.run.waits import waits_on
from tests.support.provider import RETRY_AFTER_S, Provider

ASKED = ModelRequest((Message("user", "Faster, please."),), draw=3)


class Waits:
    """A sleep that takes no time and remembers how long it was asked to take."""

    def __init__(self, jitter: float = 0.0) -> None:
        self.seconds: list[float] = []
        self.pace = Pace(self._sleep, lambda: jitter)

    async def _sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def patient(provider: Provider, waits: Waits, patience: Patience | None = None, api: str = "openai") -> Retrying:
    endpoint = Endpoint("some-model", provider.url, "SOME_KEY")
    make: Callable[[Endpoint, str], Model] = OpenAIModel if api == "openai" else AnthropicModel
    return Retrying(make(endpoint, "sk-secret"), endpoint, patience, waits.pace)


def ask(asked: Model) -> Completion:
    return anyio.run(asked.complete, ASKED)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_every_failure_that_may_pass_is_asked_again(provider: Provider, api: str) -> None:
    provider.script = ["down", "half", "garbage", "drop", "error"]
    waits = Waits()
    assert ask(patient(provider, waits, api=api)).ended == "stop"
    assert len(provider.bodies) == 6
    assert all(body == provider.bodies[0] for body in provider.bodies)
    assert waits.seconds == [0.25, 0.5, 1.0, 2.0, 4.0]  # half of the back-off, where the jitter draws 0


def test_jitter_at_most_doubles_a_wait(provider: Provider) -> None:
    provider.script = ["down", "down"]
    waits = Waits(jitter=1.0)
    ask(patient(provider, waits))
    assert waits.seconds == [0.5, 1.0]


def test_retry_after_is_honoured(provider: Provider) -> None:
    provider.script = ["limit"]
    waits = Waits()
    ask(patient(provider, waits))
    assert waits.seconds == [RETRY_AFTER_S]


@pytest.mark.parametrize("soon", ["0", "0.05"])
def test_a_retry_after_shorter_than_the_back_off_does_not_use_the_attempts_up(provider: Provider, soon: str) -> None:
    provider.script = ["limit", "limit"]
    provider.retry_after = soon
    waits = Waits()
    ask(patient(provider, waits))
    assert waits.seconds == [0.25, 0.5]


def test_a_wait_longer_than_the_patience_ends_it_at_once(provider: Provider) -> None:
    provider.script = ["limit"]
    with pytest.raises(ProviderError, match=f"asks to wait {RETRY_AFTER_S} s"):
        ask(patient(provider, Waits(), Patience(longest_wait_s=1.0)))
    assert len(provider.bodies) == 1


def test_a_call_that_hangs_is_given_up_at_its_time_limit_and_asked_again(provider: Provider) -> None:
    provider.script = ["hang"]
    assert ask(patient(provider, Waits(), Patience(timeout_s=2.0))).ended == "stop"
    assert len(provider.bodies) == 2


def test_a_final_failure_names_model_endpoint_attempts_cause_and_cure_but_no_key(provider: Provider) -> None:
    provider.script = ["down"] * 3
    with pytest.raises(ProviderError) as caught:
        ask(patient(provider, Waits(), Patience(attempts=3)))
    said = str(caught.value)
    assert f"some-model at {provider.url} failed after 3 attempts (last: HTTP 500" in said
    assert "run the same command again" in said
    assert "sk-secret" not in said
    assert len(provider.bodies) == 3


@pytest.mark.parametrize("word", ["400", "401", "403", "404"])
def test_what_cannot_pass_is_asked_once(provider: Provider, word: str) -> None:
    provider.script = [word]
    with pytest.raises(ProviderError):
        ask(patient(provider, Waits()))
    assert len(provider.bodies) == 1


def test_the_time_limit_is_named_when_it_was_the_last_cause(provider: Provider) -> None:
    provider.script = ["hang"]
    with pytest.raises(ProviderError, match=r"no complete answer within 0\.2 s"):
        ask(patient(provider, Waits(), Patience(attempts=1, timeout_s=0.2)))


def test_no_more_calls_are_under_way_than_the_cap(provider: Provider) -> None:
    provider.delay_s = 0.05
    capped = patient(provider, Waits(), Patience(concurrency=3))

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(12):
                group.start_soon(capped.complete, ASKED)

    anyio.run(many)
    assert provider.most_under_way == 3
    anyio.run(many)  # the cap outlives its event loop
    assert provider.most_under_way == 3


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers) == expected


def test_a_url_is_shown_without_its_secrets() -> None:
    assert shown("https://user:pass@host:8443/v1/?key=abc") == "https://host:8443/v1"


def test_a_pause_before_another_attempt_is_told_with_its_length(
    provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = ["down"] * 6
    waits = Waits(jitter=1.0)
    with Display() as display, waits_on(display):
        ask(patient(provider, waits, Patience(attempts=7)))
    said = capsys.readouterr().err.splitlines()
    told = [line.rpartition(": ")[2] for line in said]
    assert waits.seconds == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert told == ["attempt 6 of 7 in 8 s", "attempt 7 of 7 in 16 s"], "short pauses are not worth a line"
    assert said[0].startswith("model some-model at http://") and " failed (" in said[0], said
