"""The shape of Anthropic's messages."""

from __future__ import annotations

from typing import Annotated, Any, final

import msgspec

from maxcode.llm.clients import Message
from maxcode.serve.api import Call, Refusal, Reply, Turn, message, pieces, text_of, token_count

_KINDS = {400: "invalid_request_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
_ENDS = {"stop": "end_turn", "length": "max_tokens"}
THOUGHT = "The answer is made by rules; there was no thinking."
_LEAST_BUDGET = 1024


@final
class _Thinking(msgspec.Struct):
    type: str
    budget_tokens: int | None = None


@final
class _Body(msgspec.Struct):
    model: str
    max_tokens: Annotated[int, msgspec.Meta(ge=1)]
    messages: Annotated[list[Turn], msgspec.Meta(min_length=1)]
    system: str | list[dict[str, Any]] | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    stream: bool | None = False
    thinking: _Thinking | None = None


_decoder = msgspec.json.Decoder(_Body)


@final
class Messages:
    """POST /v1/messages.  With thinking on, a block that says there was none comes first."""

    def read(self, body: bytes) -> Call:
        """The call in a body; the API's own rules about thinking hold here too."""
        try:
            told = _decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, f"the request cannot be read: {error}") from None
        _check_thinking(told)
        system = text_of(told.system)
        turns = [message(turn) for turn in told.messages]
        return Call(
            model=told.model,
            messages=(*([Message("system", system)] if system else []), *turns),
            temperature=1.0 if told.temperature is None else told.temperature,
            max_tokens=told.max_tokens,
            stream=bool(told.stream),
            thinking=told.thinking is not None and told.thinking.type != "disabled",
        )

    def whole(self, reply: Reply) -> bytes:
        """A message in one piece."""
        usage = {"input_tokens": reply.prompt_tokens, "output_tokens": _made(reply)}
        told = _message(reply) | {"content": _content(reply), "stop_reason": _ended(reply), "usage": usage}
        return msgspec.json.encode(told)

    def events(self, reply: Reply) -> list[bytes]:
        """A message as server-sent events."""
        frames = [_frame("message_start", message=_message(reply))]
        for index, block in enumerate(_content(reply)):
            frames += _block_events(index, block)
        delta = {"stop_reason": _ended(reply), "stop_sequence": None}
        frames.append(_frame("message_delta", delta=delta, usage={"output_tokens": _made(reply)}))
        return [*frames, _frame("message_stop")]

    def failure(self, status: int, message: str, code: str | None = None) -> bytes:
        """An error's body."""
        kind = _KINDS.get(status, "api_error")
        return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}, "request_id": None})


def _check_thinking(told: _Body) -> None:
    if told.thinking is None or told.thinking.type != "enabled":
        return
    budget = told.thinking.budget_tokens
    if budget is None or budget < _LEAST_BUDGET:
        raise Refusal(400, f"thinking.budget_tokens: {budget} is less than {_LEAST_BUDGET}")
    if budget >= told.max_tokens:
        raise Refusal(400, f"max_tokens: {told.max_tokens} must be greater than thinking.budget_tokens, {budget}")
    if told.temperature not in (None, 1.0):
        raise Refusal(400, f"temperature: {told.temperature:g} is not possible with thinking; leave it out or say 1")


def _message(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.number}",
        "type": "message",
        "role": "assistant",
        "model": reply.call.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.prompt_tokens, "output_tokens": 0},
    }


def _content(reply: Reply) -> list[dict[str, str]]:
    thought = [{"type": "thinking", "thinking": THOUGHT, "signature": "none"}] if reply.call.thinking else []
    return [*thought, {"type": "text", "text": reply.choices[0].text}]


def _made(reply: Reply) -> int:
    return reply.completion_tokens + (token_count(THOUGHT) if reply.call.thinking else 0)


def _ended(reply: Reply) -> str:
    return _ENDS[reply.choices[0].ended]


def _block_events(index: int, block: dict[str, str]) -> list[bytes]:
    kind = block["type"]
    empty = dict.fromkeys(block, "") | {"type": kind}
    deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces(block[kind])]
    if "signature" in block:
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return [
        _frame("content_block_start", index=index, content_block=empty),
        *(_frame("content_block_delta", index=index, delta=delta) for delta in deltas),
        _frame("content_block_stop", index=index),
    ]


def _frame(kind: str, **event: Any) -> bytes:
    return f"event: {kind}\ndata: ".encode() + msgspec.json.encode({"type": kind, **event}) + b"\n\n"
