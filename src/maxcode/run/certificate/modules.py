"""Making a certificate of a PyTorch module: its own processes, weights and seeds, nothing taken from before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, final

from maxcode.core.types import Action, Problem, Program, Timing
from maxcode.errors import InputError
from maxcode.evaluate.ladder.sanitize import Sanitized
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.run.certificate.claim import RUNS_LEAST, Certificate, CertifiedInputs, Control, Verification, subject_of
from maxcode.run.certificate.parts import Confirmed, confirmation, control_of
from maxcode.run.certificate.unseen import FreshInputTiming

_PROCESSES = 2  # that the verification is spread over, each with weights of its own


@final
@dataclass(frozen=True, slots=True)
class ModuleCheck:
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

    async def made_inputs(self) -> CertifiedInputs:
        return CertifiedInputs(how=("every call of every round: fresh ones, from secret seeds",))

    async def verified(self) -> Verification:
        """Rounds of calls that are not timed, in processes of their own."""
        rounds = RUNS_LEAST // _PROCESSES
        failures: list[str] = []
        for process in range(_PROCESSES):
            why = await self.evaluator.failure(self.problem, self.winner, rounds)
            failures += [f"process {process + 1}, {why}"] if why else []
        return Verification(_PROCESSES * rounds, len(failures), tuple(failures))

    async def timed(self) -> Confirmed:
        return await confirmation(self.evaluator, self.problem, self.winner)

    async def unseen(self) -> FreshInputTiming | str:
        return FreshInputTiming(why="every timed call had newly generated inputs")

    async def control(self, timing: Timing) -> tuple[Control | None, str]:
        """The reference on both sides, in sittings like the winner's; (None, why) where that failed."""
        try:
            return control_of(await self.evaluator.control(self.problem, timing.sittings), timing.sittings), ""
        except InputError as error:
            return None, str(error)

    async def sanitized(self) -> Sanitized:
        return Sanitized(not_run=("sanitizers: a Python process with torch is not built with them",))


async def module_work(evaluator: ModuleEvaluator, problem: Problem, winner: Program) -> ModuleCheck:
    """An admitted problem; nothing of the winner has been run."""
    started = time.monotonic()
    await evaluator.admit(problem)
    return ModuleCheck(evaluator, problem, winner, started)
