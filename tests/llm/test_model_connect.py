"""From names and environment variables to a model, and what tokens cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError, ProviderError
from maxcode.llm.clients import Message, ModelRequest
from maxcode.llm.clients.connect import ModelSettings, connect, estimate_tokens
from maxcode.llm.clients.faults import is_loopback
from maxcode.llm.clients.prices import Price, price, read_prices
from tests.support.provider import Provider

ASKED = ModelRequest((Message("user", "Faster, please."),), draw=5)
OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"


def where(name: str, variables: dict[str, str], settings: ModelSettings | None = None) -> str:
    return str(connect(name, settings, variables)._endpoint)


def test_a_name_finds_its_provider() -> None:
    assert where("gpt-4.1", {"OPENAI_API_KEY": "k"}) == "model gpt-4.1 at https://api.openai.com/v1"
    assert where("claude-opus-5", {"ANTHROPIC_API_KEY": "k"}) == "model claude-opus-5 at https://api.anthropic.com"
    both = {"ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "https://openrouter.ai/api/v1"}
    assert where("claude-opus-5", both) == "model claude-opus-5 at https://openrouter.ai/api/v1"
    assert where("claude-opus-5", both, ModelSettings("anthropic")).endswith("api.anthropic.com")
    assert where("local", {}, ModelSettings(base_url="http://gpu:8000/v1")).endswith("http://gpu:8000/v1")


@pytest.mark.parametrize(("name", "variable"), [("gpt-4.1", "OPENAI_API_KEY"), ("claude-opus-5", "ANTHROPIC_API_KEY")])
def test_without_a_key_or_an_endpoint_the_cure_is_named(name: str, variable: str) -> None:
    with pytest.raises(InputError, match=f"set {variable}.*OPENAI_BASE_URL.*--policy rewriter"):
        connect(name, environment={"OPENAI_API_KEY" if name.startswith("claude") else "ANTHROPIC_API_KEY": "k"})


def test_a_variable_that_is_named_for_the_key_must_be_set() -> None:
    with pytest.raises(InputError, match="set MINE"):
        connect("m", ModelSettings(base_url="http://127.0.0.1:9", key_env="MINE"), {})


def test_a_loopback_endpoint_needs_no_key_and_gets_the_one_that_is_set(provider: Provider) -> None:
    anyio.run(connect("m", ModelSettings(base_url=provider.url), {}).complete, ASKED)
    anyio.run(connect("m", ModelSettings(base_url=provider.url, key_env="MINE"), {"MINE": "k1"}).complete, ASKED)
    anyio.run(connect("claude-x", ModelSettings("anthropic"), {"ANTHROPIC_BASE_URL": provider.url}).complete, ASKED)
    assert [body["model"] for body in provider.bodies] == ["m", "m", "claude-x"]
    assert provider.headers[1]["authorization"] == "Bearer k1"


@pytest.mark.parametrize("key", ["sk-first\nsecond-half", "sk-\u201cquoted\u201d", "sk-first second", "sk-\x00zero"])
@pytest.mark.parametrize("name", ["m", "claude-x"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_repeated(name: str, key: str) -> None:
    with pytest.raises(InputError, match="MINE holds a blank, a line break") as caught:
        connect(name, ModelSettings(key_env="MINE"), {"MINE": key})
    assert key[:6] not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["localhost:8000/v1", "http://h:99999/v1", "http://[::1", "ftp://h/v1", "http:///v1", "http://h/a b", "127.0.0.1"],
)
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(InputError, match=r"write it like http://127\.0\.0\.1:8000/v1"):
        connect("m", ModelSettings(base_url=url), {})


def test_a_base_url_that_is_none_is_told_without_its_password() -> None:
    with pytest.raises(InputError, match="'h:99999/v1'") as caught:
        connect("m", ModelSettings(base_url="http://me:hidden@h:99999/v1?token=hidden"), {})
    assert "hidden" not in str(caught.value)


def test_a_refused_key_names_the_variable_it_came_from(provider: Provider) -> None:
    provider.script = ["401"]
    with pytest.raises(ProviderError, match="set MINE to a key"):
        anyio.run(connect("m", ModelSettings(base_url=provider.url, key_env="MINE"), {"MINE": "k1"}).complete, ASKED)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"provider": "antropic"}, "did you mean 'anthropic'"),
        ({"temperature": "yes"}, "unknown temperature"),
        ({"max_tokens_field": "max"}, "max_tokens_field"),
        ({"concurrency": 0}, "concurrency of a model is 0"),
        ({"timeout_s": -1.0}, "timeout_s"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ModelSettings(**wrong)  # type: ignore[arg-type]


def test_a_price_holds_at_its_own_host_alone() -> None:
    assert price("gpt-4.1", OPENAI) == Price(2.0, 8.0, 0.5)
    assert price("gpt-4.1", "https://openrouter.ai/api/v1") is None
    assert price("gpt-4.1-2099-01-01", OPENAI) is None
    assert price("claude-haiku-4-5", ANTHROPIC) == Price(1.0, 5.0, 0.1, 1.25)


def test_dollars_follow_the_price_and_are_unknown_where_it_does_not_reach() -> None:
    assert Price(2.0, 8.0).dollars(1_000_000, 500_000) == 6.0
    assert Price(2.0, 8.0, cached=0.5).dollars(1_000_000, 0, cached=400_000) == pytest.approx(1.4)
    assert Price(2.0, 8.0).dollars(10, 10, cached=5) is None
    assert Price(2.0, 8.0, up_to=100).dollars(101, 1) is None
    assert Price(0.0, 0.0).dollars(10, 10) == 0.0


def test_a_table_of_the_users_comes_first_and_holds_everywhere(tmp_path: Path, provider: Provider) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('"m" = { input = 1.0, output = 10.0 }\n"gpt-4.1" = { input = 9, output = 9 }\n')
    assert price("gpt-4.1", OPENAI, table) == Price(9.0, 9.0)
    for settings, variables in (
        (ModelSettings(base_url=provider.url, prices=table), {}),
        (ModelSettings(base_url=provider.url), {"MAXCODE_PRICES": str(table)}),
    ):
        answer = anyio.run(connect("m", settings, variables).complete, ASKED)
        assert answer.usage.dollars == pytest.approx(300e-6)
    assert anyio.run(connect("m", ModelSettings(base_url=provider.url), {}).complete, ASKED).usage.dollars is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"m" = 3\n',
        '"m" = { input = 1 }\n',
        '"m" = { in = 1, output = 2 }\n',
        '"m" = { input = -1, output = 2 }\n',
        '"m" = { input = nan, output = 2 }\n',
        "not toml",
    ],
)
def test_a_price_table_that_cannot_be_read_is_refused_with_an_example(tmp_path: Path, text: str) -> None:
    table = tmp_path / "prices.toml"
    if text:
        table.write_text(text)
    with pytest.raises(InputError, match="dollars per million tokens"):
        read_prices(table)


def test_the_estimate_of_tokens_is_a_quarter_of_the_bytes() -> None:
    assert [estimate_tokens(text) for text in ("", "abc", "abcde", "\u00e9" * 4)] == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.2/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_loopback_is_known_by_its_address(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_the_sdks_are_imported_only_where_a_model_is_connected() -> None:
    code = (
        "import sys, maxcode.llm.clients.connect; print(sorted({'openai', 'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_missing_sdk_is_an_input_error_with_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['openai'] = sys.modules['anthropic'] = None\n"
        "from maxcode.llm.clients.connect import connect\n"
        "for name, keys in ('m', {'OPENAI_API_KEY': 'k'}), ('claude-x', {'ANTHROPIC_API_KEY': 'k'}):\n"
        "    try: connect(name, environment=keys)\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.count("InputError") == ran.stdout.count("pip install 'maxcode[llm]'") == 2


def test_a_loopback_endpoint_is_reached_past_a_proxy(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    for name, settings in ("m", ModelSettings(base_url=provider.url)), ("c", ModelSettings("anthropic", provider.url)):
        anyio.run(connect(name, settings, {}).complete, ASKED)
    assert len(provider.bodies) == 2
