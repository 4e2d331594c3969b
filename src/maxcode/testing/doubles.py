"""Doubles that replace mocks: a scripted policy, a table evaluator, a fake clock.

They keep the contracts of the roles, so a search, record or loop behaves the same with them as with the real parts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import anyio

from maxcode.core.types import (
    Action,
    CaseResult,
    Evaluation,
    Feedback,
    Interval,
    Observation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    Step,
    Timing,
    Usage,
)
from maxcode.llm.clients import Completion, ModelRequest


def toy_problem(text: str = "0", problem_id: str = "toy") -> Problem:
    """A problem whose program is only ``text``; for table evaluators."""
    return Problem(problem_id, "program", "python", Program({"toy.py": text}), ProgramSpec())


@final
@dataclass(frozen=True, slots=True)
class Scripted:
    """A policy that answers ``script[draw % len(script)]``, or the result of ``write`` for the current program and the
    draw."""

    script: Sequence[str] = ()
    write: Callable[[str, int], str] | None = None
    delay_s: float = 0.0

    async def propose(self, observation: Observation) -> Action:
        await anyio.sleep(self.delay_s)
        program = observation.state.program
        if self.write is not None:
            text = self.write(program.text, observation.draw)
        else:
            text = self.script[observation.draw % len(self.script)]
        return Action(program.with_text(text), completion=f"scripted: {text}")


@final
@dataclass(frozen=True, slots=True)
class Table:
    """An evaluator that reads the speed-up from a table: ``speedups[text]``, or ``rule(text)``; None: a wrong program.

    Its timings are exact, so they are ``confirmed``; set that to False to test a referee.  ``before`` runs first (to
    delay, to fail, to kill).
    """

    speedups: Mapping[str, float | None] = field(default_factory=dict)
    rule: Callable[[str], float | None] | None = None
    before: Callable[[str], Awaitable[None]] | None = None
    confirmed: bool = True

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        if action.program is None:
            return Evaluation(Outcome.UNPARSED, Feedback((action.unread or "no program in the completion",)))
        text = action.program.text
        if self.before is not None:
            await self.before(text)
        speed = self.rule(text) if self.rule is not None else self.speedups.get(text)
        if speed is None:
            return Evaluation(Outcome.WRONG, Feedback(cases=(CaseResult("table", Outcome.WRONG, 0.0, True),)))
        return Evaluation(Outcome.CORRECT, timing=replace(exact_timing(speed), confirmed=self.confirmed))


def exact_timing(speedup: float) -> Timing:
    """A timing without noise."""
    verdict = "faster" if speedup > 1 else "tie"
    interval = Interval(speedup, speedup, speedup)
    return Timing("cpu", interval, speedup > 1, verdict, pairs=1, confirmed=True)  # type: ignore[arg-type]


@final
@dataclass(frozen=True, slots=True)
class Echo:
    """A critic that repeats the outcome."""

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        return f"outcome {step.evaluation.outcome.value}, reward {step.reward:.3f}"


@final
@dataclass(slots=True)
class FakeClock:
    """A clock in seconds that moves only by ``advance``."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@final
@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """A language model that answers ``script[draw % len(script)]``, or the result of ``write`` for the request.  A text
    counts as one call, with four characters per token.  ``asked`` collects the requests, in order."""

    script: Sequence[str | Completion] = ()
    write: Callable[[ModelRequest], str | Completion] | None = None
    delay_s: float = 0.0
    asked: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> Completion:
        self.asked.append(request)
        await anyio.sleep(self.delay_s)
        answer = self.write(request) if self.write is not None else self.script[request.draw % len(self.script)]
        if isinstance(answer, Completion):
            return answer
        prompt = sum(len(message.text) for message in request.messages)
        return Completion(answer, Usage(1, prompt // 4, len(answer) // 4, self.delay_s))
