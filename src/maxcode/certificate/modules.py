"""Making a certificate of a PyTorch module: its own processes, weights and seeds, nothing taken from before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, final

from maxcode.certificate.claim import (
    CONTROL_CONFIDENCE,
    RUNS_LEAST,
    Certificate,
    Control,
    MadeInputs,
    Verification,
    subject_of,
)
from maxcode.errors import InputError
from maxcode.evaluate.machine import describe
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.runtime import find_runtime
from maxcode.evaluate.sanitize import Sanitized
from maxcode.stats import median_interval
from maxcode.types import Action, Evaluation, Outcome, Problem, Program, State, Step, Timing

_PROCESSES = 2  # that the verification is spread over, each with weights of its own


@final
@dataclass(frozen=True, slots=True)
class ModuleWork:
    """An admitted module problem and its winner.  There are no tests: every call of every round has fresh inputs."""

    evaluator: ModuleEvaluator
    problem: Problem
    winner: Program
    started: float

    def certificate(self, options: Mapping[str, Any], seed: int | None) -> Certificate:
        """All that is known before anything of the winner was run."""
        machine = describe(self.evaluator.sandbox)
        return Certificate(
            subject=subject_of(self.problem, self.winner),
            options=dict(options),
            tests=(),
            origins={"seen": 0, "held_out": 0, "generated": 0},
            dropped=(),
            compiler=f"torch {find_runtime().torch}, {machine.compilers.get('cpp', 'no g++')}",
            machine=machine,
            sandbox=machine.sandbox,
            seeds={"run": () if seed is None else (seed,)},
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=0.0,
            version=version("maxcode"),
        )

    async def refusal(self) -> str:
        """What keeps the winner from being run; empty where nothing does."""
        return await self.evaluator.refusal(self.problem, Action(self.winner))

    async def made_inputs(self) -> MadeInputs:
        return MadeInputs(how=("every call of every round: fresh ones, from secret seeds",))

    async def verified(self) -> Verification:
        """Rounds of calls that are not timed, in processes of their own."""
        rounds = RUNS_LEAST // _PROCESSES
        failures: list[str] = []
        for process in range(_PROCESSES):
            why = await self.evaluator.failure(self.problem, self.winner, rounds)
            failures += [f"process {process + 1}, {why}"] if why else []
        return Verification(_PROCESSES * rounds, len(failures), tuple(failures))

    async def timed(self) -> tuple[Timing | None, str]:
        """A confirmation like that of a winner in a run; (None, why) where it did not come to an end."""
        untimed = Evaluation(Outcome.CORRECT)
        state = State(self.problem, State(self.problem), Step(Action(self.winner), untimed, 0.0), (1, 0))
        try:
            evaluation = (await self.evaluator.settle(self.problem, [state], None))[state.id]
        except InputError as error:  # the reference itself failed
            return None, str(error)
        if evaluation.timing is None:
            return None, "; ".join(evaluation.feedback.reasons) or evaluation.outcome.value
        return evaluation.timing, ""

    async def control(self, pairs: int) -> tuple[Control | None, str]:
        """The reference on both sides, as often as the winner was timed; (None, why) where that failed."""
        try:
            found = await self.evaluator.control(self.problem, pairs)
        except InputError as error:
            return None, str(error)
        samples = tuple((pair.total("original"), pair.total("candidate")) for pair in found)
        return Control(samples, median_interval([a / b for a, b in samples], CONTROL_CONFIDENCE)), ""

    async def sanitized(self) -> Sanitized:
        return Sanitized(not_run=("sanitizers: a Python process with torch is not built with them",))


async def module_work(evaluator: ModuleEvaluator, problem: Problem, winner: Program) -> ModuleWork:
    """An admitted problem; nothing of the winner has been run."""
    started = time.monotonic()
    await evaluator.admit(problem)
    return ModuleWork(evaluator, problem, winner, started)
