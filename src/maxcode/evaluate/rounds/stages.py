"""What differs between the kinds of problems whose sides are called in rounds: one class each implements ``Stages``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from maxcode.core.types import Action, Evaluation, Interval, Machine, Problem, Program, Timing
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import End, Side
from maxcode.evaluate.rounds.round import Beyond, RoundFailed, Sitting


def without_work(why: str) -> str:
    """That a problem is degenerate, in words; ``why``: without its end."""
    return f"degenerate: {why}; a program could pass without doing the work"


class StagedProblem(Protocol):
    """An admitted problem.  ``degenerate``: why a candidate could pass without doing the work; ``same_calls``: which
    calls are timed, in words, where they are the same in every pair; empty where every call is drawn anew."""

    @property
    def admitted(self) -> Admitted: ...

    @property
    def problem(self) -> Problem: ...

    @property
    def degenerate(self) -> tuple[str, ...]: ...

    @property
    def inputs(self) -> tuple[Input, ...]: ...

    @property
    def same_calls(self) -> str: ...


def caveats(staged: StagedProblem) -> tuple[str, ...]:
    """Warnings for every result."""
    return tuple(map(without_work, staged.degenerate))


S = TypeVar("S", bound=StagedProblem)
Rival = tuple[Interval | None, tuple[str, ...]]
P = TypeVar("P")  # a program that is ready to be started


class Stages(Protocol[S, P]):
    """What differs between the kinds: it admits problems, starts their sides and judges what these did."""

    async def admit(self, problem: Problem) -> S:
        """Run the original again.  InputError if its outputs cannot be compared with anything."""
        ...

    async def of(self, problem: Problem) -> S: ...

    async def fresh(self, problem: Problem) -> S:
        """The problem with new secrets."""
        ...

    def one_by_one(self, staged: S) -> tuple[S, int] | None:
        """The problem with one call at a time, where several come together, and how many calls a round has."""
        ...

    def original(self, staged: S) -> P: ...

    async def built(self, staged: S, program: Program) -> P | Evaluation: ...

    async def run(self, staged: S, sides: Mapping[Side, P], end: End, verify: int, beyond: Beyond = "never") -> Sitting:
        """Start the sides, check ``verify`` rounds that are not timed, then race until ``end``.

        ``beyond``: when to check many rounds on values beyond those drawn as well.
        """
        ...

    def rejected(self, problem: Problem, action: Action) -> Evaluation | None: ...

    def failed(self, failed: RoundFailed) -> Evaluation: ...

    def right(self, staged: S, side: P, timing: Timing, seen: Sitting) -> Evaluation:
        """The evaluation of a candidate whose every output was right."""
        ...

    async def examined(self, staged: S, side: P, found: Evaluation) -> Evaluation:
        """The evaluation with the candidate's profile, where somebody is told of it."""
        ...

    def leaves_cores(self, staged: S) -> bool:
        """Whether other work may go on while the original is timed."""
        ...

    async def over_rival(self, staged: S, side: P) -> Rival:
        """The candidate's speed-up over what the kind is also compared with; None, perhaps with the reason."""
        ...

    def compiler(self, problem: Problem, machine: Machine) -> str:
        """What stands for the compiler in a certificate."""
        ...

    @property
    def made(self) -> str:
        """How the inputs of calls come about."""
        ...
