"""The application: routes, faults, and how replies go out.  Importing it needs the extra ``serve``.

request -> read -> fault? -> answer (in a worker thread: rules are arithmetic) -> reply in the API's shape
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import final

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from maxcode.serve.answer import MODELS, Served, answer, mixed
from maxcode.serve.api import Api, Call, Choice, Refusal, Reply, bounded
from maxcode.serve.chat import ChatCompletions
from maxcode.serve.faults import Faults
from maxcode.serve.messages import Messages
from maxcode.serve.tally import Tally, content_digest

FIXED = "maxcode-fixed"
DRAW = "{draw}"
MOST_BYTES = 32 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_JSON, _EVENTS = b"application/json", b"text/event-stream; charset=utf-8"
_DRIBBLES = 20  # pieces of a slow answer
_GARBAGE = b'{"id": "chatcmpl-\x00\xff", "choices": [{]'


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How a server behaves: a pause before every answer, faults, and what ``maxcode-fixed`` answers (None: there is no
    such model; ``{draw}`` in it becomes the draw, so that answers can be told apart)."""

    delay_s: float = 0.0
    faults: Faults = field(default_factory=Faults)
    fixed: str | None = None


@final
@dataclass(slots=True)
class Service:
    """Answers requests of either API, and counts them.  One answer is worked out at a time: rules hold the interpreter
    anyway, and the loop stays free for the others."""

    settings: Settings
    tally: Tally
    numbers: count[int] = field(default_factory=count)
    turn: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, 1))

    async def respond(self, api: Api, request: Request) -> Out:
        """The response to a request, faults included."""
        body = await request.body()
        number, content = next(self.numbers), content_digest(body)
        try:
            call = self._read(api, body)
        except Refusal as refusal:
            self.tally.end("refused", content)
            return _failed(api, refusal.status, refusal.message, refusal.code)
        asked = self.tally.ask(content)
        await asyncio.sleep(self.settings.delay_s)
        fault = self.settings.faults.of(number)
        if fault.isdigit() or fault in ("hang", "garbage"):
            self.tally.end(fault, content)
            return _broken(api, call, fault)
        texts = await self._texts(call, content, asked)
        if await request.is_disconnected():
            self.tally.end("gone", content)
            return Out(_JSON, (b"",))
        self.tally.end(fault or "answered", content)
        choices = tuple(_shortened(bounded(text, call.max_tokens), fault) for text in texts)
        return self._out(api, Reply(call, number, int(time.time()), choices), fault)

    def _read(self, api: Api, body: bytes) -> Call:
        """The call, for a model that there is."""
        if len(body) > MOST_BYTES:
            raise Refusal(413, f"the request has {len(body)} bytes; at most {MOST_BYTES} are read")
        call = api.read(body)
        if call.model not in self.models:
            raise Refusal(404, f"The model '{call.model}' does not exist; there is {_listed(self)}", "model_not_found")
        return call

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that are served."""
        return (*(one.name for one in MODELS), *((FIXED,) if self.settings.fixed is not None else ()))

    async def _texts(self, call: Call, content: str, asked: int) -> list[str]:
        """One text for each choice; with a seed a pure function of the call, else another sample each time."""
        seed = call.seed if call.seed is not None else mixed(int(content[:15], 16), asked)
        draws = [mixed(seed, number) for number in range(call.n)]
        if call.model == FIXED:
            return [(self.settings.fixed or "").replace(DRAW, str(draw)) for draw in draws]
        model = next(one for one in MODELS if one.name == call.model)
        return [await anyio.to_thread.run_sync(_answer, model, call, draw, limiter=self.turn) for draw in draws]

    def _out(self, api: Api, reply: Reply, fault: str) -> Out:
        stream = reply.call.stream
        pieces = tuple(api.events(reply)) if stream else (api.whole(reply),)
        kind, gap = (_EVENTS if stream else _JSON), 0.0
        if fault == "slow":
            pieces = _dribbled(b"".join(pieces))
            gap = self.settings.faults.slow_s / len(pieces)
        if fault != "half":
            return Out(kind, pieces, gap_s=gap)
        if stream:
            return Out(kind, pieces[: len(pieces) // 2])
        return Out(kind, (pieces[0][: len(pieces[0]) // 2],), complete=False)


def _answer(model: Served, call: Call, draw: int) -> str:
    return answer(model, call.messages, draw, call.temperature)


def _listed(service: Service) -> str:
    return ", ".join(service.models)


def _shortened(choice: Choice, fault: str) -> Choice:
    return choice if fault != "truncated" else Choice(choice.text[: len(choice.text) // 2], "length")


def _dribbled(data: bytes) -> tuple[bytes, ...]:
    size = -(-len(data) // _DRIBBLES)
    return tuple(data[at : at + size] for at in range(0, len(data), size))


# ------------------------------------------------------------------------------------------------------ what goes out


@final
@dataclass(frozen=True, slots=True)
class Out:
    """A response: its pieces, the pause after each, and whether it comes to a proper end.  ``hangs``: no byte is sent
    before the client leaves."""

    kind: bytes
    pieces: tuple[bytes, ...]
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    gap_s: float = 0.0
    complete: bool = True
    hangs: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while self.hangs and (await receive())["type"] != "http.disconnect":
            pass
        if self.hangs:
            return
        headers = [(b"content-type", self.kind), *self.headers]
        if len(self.pieces) == 1 and self.complete:
            headers.append((b"content-length", str(len(self.pieces[0])).encode()))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for left, piece in zip(range(len(self.pieces) - 1, -1, -1), self.pieces, strict=True):
            await send({"type": "http.response.body", "body": piece, "more_body": left > 0 or not self.complete})
            if self.gap_s and left:
                await asyncio.sleep(self.gap_s)


def _failed(api: Api, status: int, message: str, code: str | None = None) -> Out:
    wait = ((b"retry-after-ms", b"50"),) if status in (429, 503, 529) else ()
    return Out(_JSON, (api.failure(status, message, code),), status, wait)


def _broken(api: Api, call: Call, fault: str) -> Out:
    """The response of a fault that holds no answer."""
    if fault == "hang":
        return Out(_JSON, (), hangs=True)
    if fault == "garbage":
        return Out(_EVENTS, (b"data: " + _GARBAGE + b"\n\n",)) if call.stream else Out(_JSON, (_GARBAGE,))
    return _failed(api, int(fault), f"status {fault}, made on purpose by maxcode serve --faults")


# ------------------------------------------------------------------------------------------------------------- routes


def application(settings: Settings, tally: Tally) -> Starlette:
    """The ASGI application."""
    service = Service(settings, tally)

    async def models(request: Request) -> Response:
        entries = [
            {"id": name, "object": "model", "type": "model", "display_name": name, "created": 0, "owned_by": "maxcode",
             "created_at": "1970-01-01T00:00:00Z"}
            for name in service.models
        ]  # fmt: skip
        first, last = entries[0]["id"], entries[-1]["id"]
        return JSONResponse({"object": "list", "data": entries, "has_more": False, "first_id": first, "last_id": last})

    async def counts(request: Request) -> Response:
        return Response(msgspec.json.encode(tally.told()), media_type="application/json")

    return Starlette(
        routes=[
            Route("/v1/models", _local(models)),
            Route("/v1/chat/completions", _local(partial(service.respond, ChatCompletions())), methods=["POST"]),
            Route("/v1/messages", _local(partial(service.respond, Messages())), methods=["POST"]),
            Route("/tally", _local(counts)),
        ]
    )


def _local(
    endpoint: Callable[[Request], Awaitable[Out | Response]],
) -> Callable[[Request], Awaitable[Out | Response]]:
    """The endpoint for those who call this machine by its own name: a web page of another host is refused."""

    async def guarded(request: Request) -> Out | Response:
        if (host := request.headers.get("host", "").rsplit(":", 1)[0]) not in _LOOPBACK:
            return JSONResponse({"error": {"message": f"'{host}' is not this machine", "type": "forbidden"}}, 403)
        return await endpoint(request)

    return guarded
