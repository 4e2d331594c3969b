"""The shape of OpenAI's chat completions, which most servers of models speak."""

from __future__ import annotations

from typing import Annotated, Any, final

import msgspec

from maxcode.serve.api import Call, Refusal, Reply, Turn, message, pieces

_KINDS = {429: "rate_limit_error", 404: "invalid_request_error", 400: "invalid_request_error"}


@final
class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = False


@final
class _Body(msgspec.Struct):
    model: str
    messages: Annotated[list[Turn], msgspec.Meta(min_length=1)]
    n: Annotated[int, msgspec.Meta(ge=1, le=128)] | None = 1
    seed: int | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = 1.0
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    stream: bool | None = False
    stream_options: _StreamOptions | None = None


_decoder = msgspec.json.Decoder(_Body)


@final
class ChatCompletions:
    """POST /v1/chat/completions."""

    def read(self, body: bytes) -> Call:
        """The call in a body."""
        try:
            told = _decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, f"the request cannot be read: {error}") from None
        return Call(
            model=told.model,
            messages=tuple(message(turn) for turn in told.messages),
            n=told.n or 1,
            seed=told.seed,
            temperature=1.0 if told.temperature is None else told.temperature,
            max_tokens=told.max_completion_tokens or told.max_tokens,
            stream=bool(told.stream),
            usage_in_stream=told.stream_options is not None and bool(told.stream_options.include_usage),
        )

    def whole(self, reply: Reply) -> bytes:
        """A completion in one piece."""
        choices = [
            {
                "index": index,
                "message": {"role": "assistant", "content": choice.text, "refusal": None},
                "logprobs": None,
                "finish_reason": choice.ended,
            }
            for index, choice in enumerate(reply.choices)
        ]
        return msgspec.json.encode({**_head(reply, "chat.completion"), "choices": choices, "usage": _usage(reply)})

    def events(self, reply: Reply) -> list[bytes]:
        """A completion as server-sent events: roles, texts, ends, the usage where it was asked for, [DONE]."""
        head = _head(reply, "chat.completion.chunk")
        if reply.call.usage_in_stream:
            head["usage"] = None
        deltas: list[tuple[int, dict[str, str], str | None]] = []
        deltas += [(index, {"role": "assistant", "content": ""}, None) for index, _ in enumerate(reply.choices)]
        for index, choice in enumerate(reply.choices):
            deltas += [(index, {"content": piece}, None) for piece in pieces(choice.text)]
        deltas += [(index, {}, choice.ended) for index, choice in enumerate(reply.choices)]
        frames = [_frame({**head, "choices": [_delta(*one)]}) for one in deltas]
        if reply.call.usage_in_stream:
            frames.append(_frame({**head, "choices": [], "usage": _usage(reply)}))
        return [*frames, b"data: [DONE]\n\n"]

    def failure(self, status: int, message: str, code: str | None = None) -> bytes:
        """An error's body."""
        kind = _KINDS.get(status, "server_error")
        return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.number}",
        "object": kind,
        "created": reply.created,
        "model": reply.call.model,
        "system_fingerprint": None,
    }


def _usage(reply: Reply) -> dict[str, int]:
    given, made = reply.prompt_tokens, reply.completion_tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _delta(index: int, delta: dict[str, str], ended: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": ended}


def _frame(event: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
