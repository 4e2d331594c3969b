"""Language models as maxcode sees them: one request in, one completion out.

Policies and critics make a ``ModelRequest``; a ``Model`` answers it.  What lies between is wrappers that are models
themselves, from the outside in:

    Journal (answers what was answered before) -> Retrying (back-off, time limit, cap) -> OpenAIModel | AnthropicModel

The journal is asked first, so nothing that was answered is ever paid twice, whoever asks.  A provider's failure is a
``ProviderError``, never a completion.
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
    """What a model is asked.  ``draw`` tells samples of one prompt apart, and is sent as the seed where an endpoint
    takes one; ``max_tokens`` bounds the answer, ``thinking_tokens`` the thinking before it (0 = none)."""

    messages: tuple[Message, ...]
    draw: int = 0
    temperature: float = 0.6
    max_tokens: int = 16_384
    thinking_tokens: int = 0


@final
@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered: the text as it came, and why it ended (``length``: cut at ``max_tokens``)."""

    text: str
    usage: Usage
    ended: Literal["stop", "length", "other"] = "stop"


class Model(Protocol):
    """A language model.  Concurrent calls are welcome; raises ``ProviderError`` when the provider failed for good."""

    async def complete(self, request: ModelRequest) -> Completion: ...
