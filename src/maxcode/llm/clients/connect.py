"""Makes a model from its name: which provider, which key, which endpoint; or which command.

Keys and base URLs come from the environment variables that the SDKs use (OPENAI_API_KEY, OPENAI_BASE_URL,
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL), or from the settings.  Callers need not close anything: see ``sdk.py``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final, get_args
from urllib.parse import urlsplit

from maxcode.errors import InputError, unknown
from maxcode.llm.clients import Model
from maxcode.llm.clients import anthropic as claude
from maxcode.llm.clients import openai as compatible
from maxcode.llm.clients.command import COMMAND, REPORTING, command_model
from maxcode.llm.clients.faults import Endpoint
from maxcode.llm.clients.prices import Price, price
from maxcode.llm.clients.retrying import Patience, Retrying
from maxcode.llm.journal import Journal, Journalled, NoModel

Provider = Literal["auto", "openai", "anthropic"]
PRICES_VARIABLE = "MAXCODE_PRICES"
BYTES_PER_TOKEN = 4


@final
@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How to reach a model.

    ``provider``: "auto" takes Anthropic for a name that begins with "claude" if no OpenAI-compatible base URL is set.
    ``key_env``: the environment variable of the key, if it is not the usual one of the provider.
    ``concurrency``: the most calls at the same time.
    ``timeout_s``: the time limit of one attempt, in seconds; ``attempts``: the most attempts for a call.
    ``seed``, ``temperature``, ``max_tokens_field``, ``stream_usage``, ``thinking``: for endpoints that refuse the
    defaults.
    ``reasoning_tokens``: the room for reasoning in the bound of an answer, if it is not found by the model's name.
    ``prices``: your own price table (also MAXCODE_PRICES).
    """

    provider: Provider = "auto"
    base_url: str | None = None
    key_env: str | None = None
    concurrency: int = 8
    timeout_s: float = 600.0
    attempts: int = 6
    seed: bool = True
    temperature: compatible.Switch = "auto"
    max_tokens_field: compatible.LimitField = "auto"
    stream_usage: bool = True
    reasoning_tokens: int | None = None
    thinking: claude.Thinking = "auto"
    prices: Path | None = None

    def __post_init__(self) -> None:
        _one_of("provider", self.provider, get_args(Provider))
        _one_of("temperature", self.temperature, get_args(compatible.Switch))
        _one_of("max_tokens_field", self.max_tokens_field, get_args(compatible.LimitField))
        _one_of("thinking", self.thinking, get_args(claude.Thinking))
        for name, value in (
            ("concurrency", self.concurrency),
            ("attempts", self.attempts),
            ("timeout_s", self.timeout_s),
        ):
            if value <= 0:
                raise InputError(f"{name} of a model is {value}; it must be more than 0")


def connect(name: str, settings: ModelSettings | None = None, environment: Mapping[str, str] | None = None) -> Retrying:
    """The model called ``name``, with a cap and retries, without a journal.  It sends no request yet.

    InputError if the key, the endpoint or the SDK is missing; the message says what to set.
    """
    chosen = settings or ModelSettings()
    variables = os.environ if environment is None else environment
    patience = Patience(chosen.attempts, chosen.timeout_s, chosen.concurrency)
    if name.startswith(COMMAND):
        return Retrying(command_model(name), f"the command '{name.removeprefix(COMMAND)}'", patience)
    make = _anthropic if _is_anthropic(name, chosen, variables) else _openai
    model, endpoint = make(name, chosen, variables)
    return Retrying(model, endpoint, patience)


def recorded(name: str, settings: ModelSettings, journal: Journal) -> Journalled:
    """The model called ``name`` behind ``journal``; a replay needs no key and no endpoint."""
    return Journalled(NoModel() if journal.replay is not None else connect(name, settings), name, journal)


def is_priced(name: str, settings: ModelSettings) -> bool:
    """Whether the price of the model called ``name`` is known with these settings; a command may report its own."""
    return name.startswith(REPORTING) or price_of(name, settings) is not None


def price_of(name: str, settings: ModelSettings) -> Price | None:
    """The price of the model called ``name`` with these settings; None if it is not known."""
    if name.startswith(REPORTING):
        return None
    endpoint = (_claude_at if _is_anthropic(name, settings, os.environ) else _openai_at)(name, settings, os.environ)
    return _price(endpoint, settings, os.environ)


def estimate_tokens(text: str) -> int:
    """A rough estimate for dry runs: one token per four bytes of UTF-8.  It never counts as spent."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def _is_anthropic(name: str, settings: ModelSettings, variables: Mapping[str, str]) -> bool:
    if settings.provider != "auto":
        return settings.provider == "anthropic"
    return name.startswith("claude") and not (settings.base_url or variables.get("OPENAI_BASE_URL"))


def _anthropic(name: str, settings: ModelSettings, variables: Mapping[str, str]) -> tuple[Model, Endpoint]:
    endpoint = _claude_at(name, settings, variables)
    key = _key(endpoint, variables, needed=endpoint.base_url == claude.OFFICIAL or settings.key_env is not None)
    manner = claude.ClaudeSettings(settings.thinking, settings.temperature)
    return claude.AnthropicModel(endpoint, key, manner, _price(endpoint, settings, variables)), endpoint


def _openai(name: str, settings: ModelSettings, variables: Mapping[str, str]) -> tuple[Model, Endpoint]:
    endpoint = _openai_at(name, settings, variables)
    key = _key(endpoint, variables, needed=endpoint.base_url == compatible.OFFICIAL or settings.key_env is not None)
    dialect = compatible.Dialect(
        settings.max_tokens_field, settings.temperature, settings.seed, settings.stream_usage, settings.reasoning_tokens
    )
    return compatible.OpenAIModel(endpoint, key, dialect, _price(endpoint, settings, variables)), endpoint


def _claude_at(name: str, settings: ModelSettings, variables: Mapping[str, str]) -> Endpoint:
    url = settings.base_url or variables.get("ANTHROPIC_BASE_URL") or claude.OFFICIAL
    return Endpoint(name, _checked(url), settings.key_env or "ANTHROPIC_API_KEY")


def _openai_at(name: str, settings: ModelSettings, variables: Mapping[str, str]) -> Endpoint:
    url = settings.base_url or variables.get("OPENAI_BASE_URL") or compatible.OFFICIAL
    return Endpoint(name, _checked(url), settings.key_env or "OPENAI_API_KEY")


def _checked(url: str) -> str:
    """The base URL without blanks around it; InputError if it is not one, without the part that may be a password."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not _is_visible(url):
        told = url.rsplit("@", 1)[-1].split("?", 1)[0]
        raise InputError(f"the base URL {told!r} of the model is not a URL; write it like http://127.0.0.1:8000/v1")
    return url


def _is_visible(text: str) -> bool:
    """Whether the text is only visible ASCII, as a header or a URL must be."""
    return text.isascii() and text.isprintable() and " " not in text


def _key(endpoint: Endpoint, variables: Mapping[str, str], needed: bool) -> str:
    """The key; a placeholder if none is ``needed``: a server of the user reports by itself that it needs one."""
    key = variables.get(endpoint.key_variable, "").strip()
    if not _is_visible(key):  # the SDK would refuse it with a message that repeats it
        raise InputError(
            f"{endpoint.key_variable} holds a blank, a line break or another character that no key has; set it again"
        )
    if key:
        return key
    if needed:
        raise InputError(
            f"no key for the model '{endpoint.model}': set {endpoint.key_variable}; for a server of your own (vLLM, "
            "SGLang, Ollama, llama.cpp) set OPENAI_BASE_URL, e.g. http://127.0.0.1:8000/v1; to try maxcode without "
            "any model, use --policy rewriter"
        )
    return "none"


def _price(endpoint: Endpoint, settings: ModelSettings, variables: Mapping[str, str]) -> Price | None:
    named = variables.get(PRICES_VARIABLE)
    own = settings.prices or (Path(named) if named else None)
    return price(endpoint.model, endpoint.base_url, own)


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise unknown(f"{what} of a model", value, known)
