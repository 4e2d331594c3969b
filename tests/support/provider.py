"""A provider of language models on this machine's loopback: real HTTP, both APIs, and every way of failing.

``Provider.script`` names what comes of the first requests, one word each; later ones get "ok".  The words: ok, nousage,
plain (no stream), cut (at its bound), limit (429 with Retry-After), quota, down (500), hang, half, unstopped (without
Anthropic's last event), garbage, error (inside the stream, with the key), slow, drop (the connection), parts (the
content comes in parts), uncounted (of the prompt's tokens alone), halves (of a letter), disordered (Anthropic's text
before its block begins), bare (its message without a content), textless (its text null), and any HTTP status of 4xx.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RETRY_AFTER_S = 7


class Provider:
    """What the server was asked and how it answers."""

    def __init__(self) -> None:
        self.script: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paid: Counter[str] = Counter()  # by content: answers that went out whole
        self.fixed = ""  # what every answer is where it is set; {draw} in it becomes the seed
        self.replies: Callable[[dict[str, Any]], str] | None = None  # makes each answer from its request
        self.counts_bytes = False  # whether usage follows the texts, a token for four bytes, instead of being constant
        self.connections = 0
        self.open: set[socket.socket] = set()
        self.under_way = 0
        self.most_under_way = 0
        self.delay_s = 0.0
        self.retry_after = str(RETRY_AFTER_S)
        self.released = threading.Event()
        self.url = ""
        self._lock = threading.Lock()

    def begin(self, body: dict[str, Any], headers: dict[str, str]) -> str:
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            return self.script.pop(0) if self.script else "ok"

    def end(self, body: dict[str, Any], whole: bool) -> None:
        with self._lock:
            self.under_way -= 1
            self.paid[json.dumps(body, sort_keys=True)] += whole

    @property
    def paid_again(self) -> int:
        """How many answers went out to a content that had been answered before."""
        return self.paid.total() - sum(count > 0 for count in self.paid.values())

    def text(self, body: dict[str, Any]) -> str:
        """The answer to a request."""
        if self.replies is not None:
            return self.replies(body)
        return self.fixed.replace("{draw}", str(body.get("seed", 0))) if self.fixed else text_for(body)

    def counts(self, body: dict[str, Any], text: str) -> dict[str, int]:
        """The usage of an answer at OpenAI's API."""
        if not self.counts_bytes:
            return COUNTS
        asked = sum(len(said["content"].encode()) for said in body["messages"]) // 4
        return {"prompt_tokens": asked, "completion_tokens": len(text.encode()) // 4}


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    provider: Provider

    def setup(self) -> None:
        super().setup()
        self.provider.connections += 1

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        word = self.provider.begin(body, {name.lower(): value for name, value in self.headers.items()})
        whole = False
        try:
            whole = self.answer(word, body)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            self.provider.end(body, whole)

    def answer(self, word: str, body: dict[str, Any]) -> bool:
        time.sleep(self.provider.delay_s)
        match word:
            case "limit":
                return self.refuse(429, {"retry-after": self.provider.retry_after})
            case "quota":
                return self.refuse(429, {}, code="insufficient_quota")
            case "down":
                return self.refuse(500)
            case "drop":
                self.close_connection = True
                return False
            case "hang":
                self.provider.released.wait(30)
                self.close_connection = True
                return False
            case "plain":
                return self.send_plain(body)
            case _ if word.isdigit():
                return self.refuse(int(word))
        return self.stream(word, body)

    @property
    def key(self) -> str:
        return self.headers.get("authorization", "") + self.headers.get("x-api-key", "")

    def refuse(self, status: int, headers: dict[str, str] | None = None, code: str = "oops") -> bool:
        error = {"message": f"refused with {status},\n\x1b[31mkey was {self.key} \ud83d", "code": code, "type": "test"}
        self.send(status, json.dumps({"error": error, "type": "error"}).encode(), headers or {})
        return False

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def send_plain(self, body: dict[str, Any]) -> bool:
        message = {"role": "assistant", "content": self.provider.text(body)}
        answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": COUNTS}
        self.send(200, json.dumps(answer).encode(), {})
        return True

    def stream(self, word: str, body: dict[str, Any]) -> bool:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        text = self.provider.text(body)
        made = anthropic_events if "messages" in self.path else partial(openai_events, self.provider.counts(body, text))
        for event in made(word, body, text, self.key):
            self.chunk(event[:9])  # no event arrives in one piece
            self.chunk(event[9:])
            if word == "slow":
                time.sleep(0.12)
        self.chunk(b"")
        return word not in ("half", "garbage", "error")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


COUNTS = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def text_for(body: dict[str, Any]) -> str:
    """The answer to a request: it repeats the seed, and holds what is awkward to cut apart."""
    return f"```c\nint main(void) {{ return {body.get('seed', 0)}; }}\n```\n\u2028naïve \N{GRINNING FACE}\n"


def pieces(text: str, word: str) -> list[str]:
    """The text as it is streamed; for "halves" its emoji in two halves, and one half more."""
    if word == "halves":
        before, after = text.split("\N{GRINNING FACE}")
        return [before, "\ud83d", "\ude00", "\ud83d", after]
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def openai_events(counted: dict[str, int], word: str, body: dict[str, Any], text: str, key: str) -> Iterator[bytes]:
    def event(delta: dict[str, object], ended: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": ended}
        return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=word == "halves").encode() + b"\n\n"

    yield b": keep alive\n\n"
    yield b"data:      \n\n"  # a sign of life
    yield event({"role": "assistant", "content": "", "reasoning_content": "let me think"})
    for number, piece in enumerate(pieces(text, word)):
        if number == 2 and word == "half":
            return
        if number == 2 and word == "garbage":
            yield f"data: <html>Bad gateway for {key}</html>\n\n".encode()
        if number == 2 and word == "error":
            yield f'data: {{"error": {{"message": "overloaded, key was {key}"}}}}\n\n'.encode()
        parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": piece}]
        yield event({"content": parts if word == "parts" else piece})
    yield event({}, "length" if word == "cut" else "stop")
    if body.get("stream_options", {}).get("include_usage") and word != "nousage":
        counts = {"prompt_tokens": 100} if word == "uncounted" else counted
        yield b"data: " + json.dumps({"choices": [], "usage": counts}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def anthropic_events(word: str, body: dict[str, Any], text: str, key: str) -> Iterator[bytes]:
    def event(kind: str, **fields: object) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    def block(index: int, kind: str, content: list[str]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block={"type": kind, kind: ""})
        for piece in content:
            delta = {"type": f"{kind}_delta", kind: piece if word != "textless" else None}
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    counts = {"input_tokens": 100, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": counts}
    yield event("message_start", message=message if word != "bare" else {"usage": counts})
    yield event("ping")
    thoughts = ["hm"] if "thinking" in body else []
    for thought in thoughts:
        yield from block(0, "thinking", [thought])
    told = list(block(len(thoughts), "text", pieces(text, word)))
    for number, piece in enumerate(told if word != "disordered" else told[1:]):
        if number == 2 and word == "half":
            return
        if number == 2 and word == "garbage":
            yield f"event: content_block_delta\ndata: <html>Bad gateway for {key}</html>\n\n".encode()
        if number == 2 and word == "error":
            yield event("error", error={"type": "overloaded_error", "message": f"overloaded, key was {key}"})
        yield piece
    reason = "max_tokens" if word == "cut" else "end_turn"
    yield event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 20})
    if word != "unstopped":
        yield event("message_stop")


class Server(ThreadingHTTPServer):
    """Ends with all its connections, as a server does that dies."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *told: Any) -> None:
        super().__init__(*told)
        self.open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for one in list(self.open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """A client that was killed is no news."""


@contextmanager
def serving(fixed: str = "", port: int = 0) -> Iterator[Provider]:
    """A provider that listens until the block is left, on a free port unless one is given."""
    provider = Provider()
    provider.fixed = fixed
    server = Server(("127.0.0.1", port), type("Bound", (Handler,), {"provider": provider}))
    provider.open = server.open
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        provider.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
