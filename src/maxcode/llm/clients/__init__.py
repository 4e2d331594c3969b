"""The role of a language model: one request in, one completion out.

Policies and critics make a ``ModelRequest``; a ``Model`` answers it.  The wrappers between them are models too, from
the outside in:

    Journal (answers repeated calls) -> Retrying (back-off, time limit, cap) -> OpenAIModel | AnthropicModel

The journal comes first, so no answer is paid twice.  The failure of a provider is a ``ProviderError``, never a
completion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, final

from maxcode.core.types import Usage

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
    """

    messages: tuple[Message, ...]
    draw: int = 0
    temperature: float = 0.6
    max_tokens: int = 16_384
    thinking_tokens: int = 0


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
