"""An endpoint of OpenAI's chat completions on loopback, in its own process; its models are the built-in rules.

    python benchmarks/peers/endpoint.py [--delay MS] [--fixed FILE]

It gives other tools the same proposals that maxcode's policies make: the model `rewriter` for programs, `kernels` for
functions; `fixed` answers the program of FILE, with {draw} in it replaced.  A prompt is read as Markdown: the program
to improve is the fenced block announced as the current one, else the longest.  The answer is always the whole program.
With a seed it is a pure function of the request, else another sample each time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from maxcode.code.languages import language as language_row
from maxcode.code.languages import language_of
from maxcode.code.prose import prose
from maxcode.code.source import fenced, fences
from maxcode.core.types import Action, Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.policy.rules.kernels.policy import propose as transform
from maxcode.policy.rules.rewriter.policy import propose as rewrite

RULES: Mapping[str, Callable[[Observation], Action]] = {"rewriter": rewrite, "kernels": transform}
FIXED = "fixed"
CHARACTERS = 4  # that count as one token
NO_PROGRAM = "No program was found in the prompt: put the whole program into one fenced block."
TAGS = {"cpp": "cpp", "c++": "cpp", "c": "c", "python": "python", "py": "python"}
# What OpenEvolve ("# Current Program"), ShinkaEvolve ("... is the current program ...") and GEPA ("The current
# parameter value is:") write above the program.
ANNOUNCED = re.compile(
    r"^[^\n`]*\b(?:current|incorrect)\s+(?:program|parameter)\b[^\n`]*\n(?:[^\n`]*\n){0,3}?(?P<block>```.*?^```$)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
CPP = re.compile(r"\bstd::|\busing namespace\b|#\s*include\s*<[a-z_]+>|\btemplate\s*<|\b(cin|cout)\b")
MARKER = re.compile(r"^[ \t]*(?://|#)[ \t]*EVOLVE-BLOCK-(START|END)\b.*\n?", re.MULTILINE)


def program_in(prompt: str) -> tuple[str, str, str] | None:
    """The program of a prompt, its language, and the tag of its block; None if there is none."""
    announced = list(ANNOUNCED.finditer(prompt))
    found = fences(announced[-1]["block"] if announced else prompt)
    if not found:
        return None
    block = max(found, key=lambda one: len(one.body))
    language = TAGS.get(block.tag) or ("cpp" if CPP.search(block.body) else "c")
    return block.body, language, block.tag


def proposal(model: str, prompt: str, draw: int, temperature: float) -> str:
    """The words of a policy and its whole program.  Markers of ShinkaEvolve stay around the whole program, where its
    driver puts them."""
    found = program_in(prompt)
    if found is None:
        return NO_PROGRAM
    text, language, tag = found
    markers, bare = MARKER.findall(text), MARKER.sub("", text)
    flags = " ".join(dict.fromkeys(re.findall(r"-fopenmp(?:-simd)?\b", prompt)))
    said = Section("Problem", f"language: {language}\nflags: {flags}\n")
    action = RULES[model](Observation(*observed(bare, language, said), draw, temperature))
    assert action.program is not None, "the built-in policies always answer with a program"
    new = action.program.files[action.program.name]
    if markers:
        sign = "#" if language == "python" else "//"
        new = f"{sign} EVOLVE-BLOCK-START\n{new.rstrip()}\n{sign} EVOLVE-BLOCK-END\n"
    return f"{prose(action.completion)}\n\n{fenced(new, tag or language)}"


def observed(text: str, language: str, said: Section) -> tuple[tuple[Section, ...], State]:
    """The observation of a policy: the program, with a problem that holds only what the prompt says."""
    name = f"program{language_row(language).suffixes[0]}"
    kind = "program" if re.search(r"\bmain\s*\(", text) or language == "python" else "function"
    problem = Problem("asked", kind, language, Program({name: text}), ProgramSpec())  # type: ignore[arg-type]
    return (said, Section("Program", fenced(text, language))), State(problem)


class Endpoint(ThreadingHTTPServer):
    """The server, with the number of requests for each content."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, delay_s: float, fixed: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.delay_s, self.fixed = delay_s, fixed
        self.asked: Counter[bytes] = Counter()

    def answer(self, raw: bytes) -> tuple[str, dict[str, Any]]:
        """The text for a request, and the request."""
        body = json.loads(raw)
        time.sleep(self.delay_s)
        draw = body.get("seed")
        if draw is None:
            self.asked[raw] += 1
            draw = int.from_bytes(sha256(raw + b"%d" % self.asked[raw]).digest()[:7])
        if body["model"] == FIXED:
            return self.fixed.replace("{draw}", str(draw)), body
        prompt = "\n".join(_text(message["content"]) for message in body["messages"] if message["role"] == "user")
        return proposal(body["model"], prompt, draw, body.get("temperature", 1.0)), body


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else an answer waits 40 ms for the client's acknowledgement
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        try:
            text, body = self.server.answer(raw)
        except (ValueError, LookupError, TypeError) as error:
            self.send(400, "application/json", json.dumps({"error": {"message": f"cannot answer: {error!r}"}}).encode())
            return
        kind, data = _events(text, body) if body.get("stream") else _whole(text, body)
        self.send(200, kind, data)

    def send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _usage(text: str, body: dict[str, Any]) -> dict[str, int]:
    asked = sum(len(_text(message["content"])) for message in body["messages"]) // CHARACTERS
    said = len(text) // CHARACTERS
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-0", "object": kind, "created": int(time.time()), "model": body["model"]}


def _whole(text: str, body: dict[str, Any]) -> tuple[str, bytes]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    told = {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(text, body)}
    return "application/json", json.dumps(told).encode()


def _events(text: str, body: dict[str, Any]) -> tuple[str, bytes]:
    head = _head(body, "chat.completion.chunk")
    deltas = [({"role": "assistant", "content": text}, None), ({}, "stop")]
    told: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]} for delta, ended in deltas
    ]
    told.append({**head, "choices": [], "usage": _usage(text, body)})
    return "text/event-stream", b"".join(
        b"data: %s\n\n" % json.dumps(one).encode() for one in told
    ) + b"data: [DONE]\n\n"


@contextmanager
def endpoint(*, delay_ms: float = 0.0, fixed: Path | None = None) -> Iterator[str]:
    """The base URL of an endpoint on a free port; it runs inside the block."""
    command = [sys.executable, __file__, "--delay", str(delay_ms)]
    command += ["--fixed", str(fixed)] if fixed is not None else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                raise SystemExit(f"`{' '.join(command)}` ended with status {server.wait()} before it was ready")
            yield line.strip()
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.0, metavar="MS", help="pause before every answer")
    parser.add_argument("--fixed", type=Path, help="the program that the model `fixed` answers")
    options = parser.parse_args()
    fixed = fenced(options.fixed.read_text(), language_of(str(options.fixed)).name) if options.fixed else NO_PROGRAM
    with Endpoint(options.delay / 1e3, fixed) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
