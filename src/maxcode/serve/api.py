"""What both APIs have in common: a call, the reply to it, and how a request is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, final

import msgspec

from maxcode.llm.clients import Message, Speaker

Ended = Literal["stop", "length"]
PIECE = 200  # characters in one event of a stream
CHARACTERS = 4  # that count as one token, as providers say of English and code

_SPEAKERS: dict[str, Speaker] = {"system": "system", "developer": "system", "assistant": "assistant"}


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A request, whichever API it came through.  ``max_tokens`` None: no bound."""

    model: str
    messages: tuple[Message, ...]
    n: int = 1
    seed: int | None = None
    temperature: float = 1.0
    max_tokens: int | None = None
    stream: bool = False
    usage_in_stream: bool = False
    thinking: bool = False


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """One answer, and why it ended."""

    text: str
    ended: Ended = "stop"


@final
@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent back: the choices, and the number of the request it answers."""

    call: Call
    number: int
    created: int
    choices: tuple[Choice, ...]

    @property
    def prompt_tokens(self) -> int:
        """Tokens in, estimated."""
        return sum(token_count(message.text) for message in self.call.messages)

    @property
    def completion_tokens(self) -> int:
        """Tokens out, estimated."""
        return sum(token_count(choice.text) for choice in self.choices)


class Api(Protocol):
    """A provider's shape of requests, replies and errors.  ``read`` raises ``Refusal``; ``events`` are the frames of a
    stream, of which the first half never holds the end."""

    def read(self, body: bytes) -> Call: ...

    def whole(self, reply: Reply) -> bytes: ...

    def events(self, reply: Reply) -> list[bytes]: ...

    def failure(self, status: int, message: str, code: str | None = None) -> bytes: ...


@final
class Refusal(Exception):
    """A request that cannot be answered: HTTP status, words, and the API's code for it."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@final
class Turn(msgspec.Struct):
    """A message as it comes over the wire: a text, or parts of which those of type ``text`` are read."""

    role: str
    content: str | list[dict[str, Any]] | None = None


def message(turn: Turn) -> Message:
    """The message of a turn; whoever is neither system nor assistant is a user."""
    return Message(_SPEAKERS.get(turn.role, "user"), text_of(turn.content))


def text_of(content: str | list[dict[str, Any]] | None) -> str:
    """The text of a content, its parts joined by newlines."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type", "text") == "text")


def token_count(text: str) -> int:
    """Tokens of a text, estimated by its length."""
    return -(-len(text) // CHARACTERS)


def bounded(text: str, max_tokens: int | None) -> Choice:
    """A text as an answer, cut where it is longer than ``max_tokens``."""
    if max_tokens is None or token_count(text) <= max_tokens:
        return Choice(text)
    return Choice(text[: max_tokens * CHARACTERS], "length")


def pieces(text: str) -> list[str]:
    """The text in the pieces of a stream: at least one."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]
