"""The role of a language model: one request in, one completion out.

Policies and critics make a ``ModelRequest``; a ``Model`` answers it.  The wrappers between them are models too, from
the outside in:

    Journal (answers repeated calls) -> Retrying (back-off, time limit, cap) -> OpenAIModel | AnthropicModel

The journal comes first, so no answer is paid twice.  The failure of a provider is a ``ProviderError``, never a
completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, final

from maxcode.core.types import Usage
from maxcode.errors import InputError

Speaker = Literal["system", "user", "assistant"]


@final
@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Speaker
    text: str


@final
@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model.

    ``draw``: makes samples of one prompt differ; sent as the seed if the endpoint takes one.
    ``max_tokens``: bound on the answer; ``thinking_tokens``: bound on the thinking before it (0 = none).
    ``effort``: how much the model should think, in the endpoint's words; empty: the endpoint's default.
    ``extra_body``: more keys of the request's body, as the endpoint takes them.
    ``files``: what an agent finds in its folder; other models do not see them.
    """

    messages: tuple[Message, ...]
    draw: int = 0
    temperature: float = 0.6
    max_tokens: int = 16_384
    thinking_tokens: int = 0
    effort: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How a policy or a critic asks its model; None or empty: its own default.  The keys are those of ``ModelRequest``.
    InputError for a value that no model takes."""

    temperature: float | None = None
    max_tokens: int | None = None
    thinking_tokens: int | None = None
    effort: str = ""
    extra_body: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("temperature", 0), ("max_tokens", 1), ("thinking_tokens", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise InputError(f"{name} = {value} of a model; give at least {least}")

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are not the default."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "", {})}


@final
@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model: its verbatim text, and why it ended (``length``: cut at ``max_tokens``)."""

    text: str
    usage: Usage
    ended: Literal["stop", "length", "other"] = "stop"


class Model(Protocol):
    """A language model.  Calls may be concurrent; ``ProviderError`` if the provider failed and no attempt is left."""

    async def complete(self, request: ModelRequest) -> Completion: ...
