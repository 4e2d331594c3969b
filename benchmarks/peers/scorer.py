"""Keeps maxcode's evaluator open for one problem, so that another tool can use it as its score.

    python benchmarks/peers/scorer.py PROBLEM SOCKET

PROBLEM is a folder with problem.toml, SOCKET the path of a unix socket to make; "ready" is printed when it listens.
One line of JSON asks, one answers, and the connection is closed:

    {"kind": "problem"}                     -> language, suffix, flags, statement, program
    {"kind": "verified", "program": TEXT}   -> outcome, score, speedup, reasons
    {"kind": "naive", "program": TEXT}      -> outcome, score, reasons; programs only

``verified`` is the evaluator's result: all its stages with held-out tests and paired runs; the score is its speed-up, 0
for a program that is not correct.  ``naive`` is an evaluator that a user would write: build, run the seen tests once,
compare tokens, then the lowest CPU time of three runs on the input that takes longest, over that of the original,
measured once at the start; no held-out tests, no pairs, no exclusive cores.  Both run only in the sandbox.  A request
that cannot be answered gets {"error": REASON}.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketStream

from maxcode.code.languages import language
from maxcode.core.types import Action, Checker, Evaluation, Outcome, Problem, Program
from maxcode.errors import InputError, MaxcodeError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.verify import job_for, verify
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.sandbox import Blob, Sandbox
from maxcode.sandbox.selftest import require_safe

MOST_BYTES = 32 << 20
RUNS = 3
REASONS = 20


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A request; ``program`` is the text of the problem's one source file."""

    kind: str
    program: str | None = None


@dataclass(frozen=True)
class Naive:
    """The data of a simple user-written evaluator: seen tests, the slowest one, and the original's seconds on it."""

    problem: Problem
    seen: tuple[Input, ...]
    slowest: Input
    original_s: float


class Scorer:
    """Scores programs for one admitted problem."""

    def __init__(self, sandbox: Sandbox, admitted: Admitted, evaluator: ProgramEvaluator, builder: Builder) -> None:
        self._sandbox = sandbox
        self._admitted = admitted
        self._evaluator = evaluator
        self._builder = builder
        self._naive: Naive | None = None
        self._first = anyio.Lock()

    @classmethod
    async def open(cls, source: Path) -> Scorer:
        """The scorer of a problem; this builds, verifies and profiles the original."""
        problem = load(source).problem
        if len(problem.program.files) != 1:
            raise InputError(f"{source} has {len(problem.program.files)} source files; peers rewrite one file")
        sandbox = await Sandbox.open()
        await require_safe(sandbox)
        builder = Builder(sandbox, sandbox.cache)
        evaluator = ProgramEvaluator(sandbox, builder)
        return cls(sandbox, await evaluator.admit(problem), evaluator, builder)

    async def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to one request; a bad request raises nothing."""
        try:
            asked = msgspec.json.decode(line, type=Asked)
        except msgspec.MsgspecError as error:
            return {"error": f"not a request ({error}): {line[:60]!r}; send one line {{'kind': ..., 'program': ...}}"}
        kinds = {"verified": self._verified, "naive": self._naively}
        if asked.kind == "problem":
            return self.described()
        if asked.kind not in kinds:
            return {"error": f"there is no kind '{asked.kind}'; there are problem, {', '.join(kinds)}"}
        if asked.program is None:
            return {"error": f"a request of kind '{asked.kind}' needs a program"}
        try:
            return await kinds[asked.kind](self._admitted.problem.program.with_text(asked.program))
        except MaxcodeError as error:
            return {"error": str(error)}

    def described(self) -> dict[str, Any]:
        problem = self._admitted.problem
        return {
            "language": problem.language,
            "suffix": Path(problem.program.name).suffix,
            "flags": " ".join(problem.spec.flags),
            "statement": problem.statement,
            "program": problem.program.text,
        }

    async def _verified(self, program: Program) -> dict[str, Any]:
        found = await self._evaluator.evaluate(self._admitted.problem, Action(program))
        timing = found.timing
        told = {"score": 0.0, "speedup": None, **_outcome(found)}
        if timing is not None:
            s = timing.speedup
            told["speedup"] = {"value": s.value, "low": s.low, "high": s.high, "significant": timing.significant}
            told["score"] = s.value
        return told

    async def _naively(self, program: Program) -> dict[str, Any]:
        async with self._first:
            if self._naive is None:
                self._naive = await self._prepared()
        naive = self._naive
        built = await self._builder.build(naive.problem, program)
        if built.artefact is None:
            return {"outcome": Outcome.UNBUILT.value, "score": 0.0, "reasons": [built.reason]}
        checked = await verify(self._sandbox, naive.problem, built.artefact, naive.seen)
        wrong = [f"test {one.name}: {one.detail}" for one in checked.results if one.outcome is not Outcome.CORRECT]
        seconds = await self._least(naive.problem, built.artefact, naive.slowest) if not wrong else None
        score = naive.original_s / seconds if seconds else 0.0
        return {"outcome": checked.outcome.value, "score": score, "reasons": wrong}

    async def _prepared(self) -> Naive:
        admitted = self._admitted
        if admitted.problem.kind != "program":
            raise InputError(f"a naive score is for programs; this problem is a {admitted.problem.kind}")
        seen = tuple(one for one in admitted.inputs if one.seen)
        if not seen:
            raise InputError("a naive score needs a test that may be seen")
        problem = replace(admitted.problem, spec=replace(admitted.problem.spec, checker=Checker("tokens")))
        slowest = max(seen, key=lambda one: one.seconds)
        assert admitted.original.artefact is not None
        original_s = await self._least(problem, admitted.original.artefact, slowest)
        assert original_s is not None, "the original was admitted with this test"
        return Naive(problem, seen, slowest, original_s)

    async def _least(self, problem: Problem, artefact: Blob, given: Input) -> float | None:
        """CPU seconds, the lowest of three runs; None if one of them fails."""
        job = job_for(problem, artefact, given)
        bare = language(problem.language).bare
        async with self._sandbox.session([artefact, given.stdin], bare=bare) as session:
            runs = [await session.run(job) for _ in range(RUNS)]
        return min(ran.cpu_s for ran in runs) if all(ran.ok for ran in runs) else None


def _outcome(found: Evaluation) -> dict[str, Any]:
    reasons = [*found.feedback.reasons, *found.feedback.diagnostics.splitlines(), *found.warnings]
    return {"outcome": found.outcome.value, "reasons": reasons[:REASONS]}


async def serve(source: Path, path: Path, ready: Callable[[], None]) -> None:
    """Answers on the socket ``path`` until SIGTERM or SIGINT."""
    scorer = await Scorer.open(source)

    async def one(stream: SocketStream) -> None:
        async with stream:
            line = await _line(stream)
            answer = await scorer.answer(line) if line is not None else {"error": "no line of at most 32 MB came"}
            with suppress(anyio.BrokenResourceError):  # who asked has left
                await stream.send(msgspec.json.encode(answer) + b"\n")

    listener = await anyio.create_unix_listener(path, mode=0o600)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, one)
        ready()
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                group.cancel_scope.cancel()
                return


async def _line(stream: SocketStream) -> bytes | None:
    """The first line; None if the sender left before its end or it is too long."""
    got = bytearray()
    while b"\n" not in got:
        try:
            got += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return None
        if len(got) > MOST_BYTES:
            return None
    return bytes(got[: got.index(b"\n")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", type=Path)
    parser.add_argument("socket", type=Path)
    options = parser.parse_args()
    try:
        anyio.run(serve, options.problem, options.socket, lambda: print("ready", flush=True))
    except MaxcodeError as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error


if __name__ == "__main__":
    main()
