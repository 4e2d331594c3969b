"""Checks a winner among PyTorch modules again, for a certificate: with new processes, weights and seeds.

There are no tests: every call of every round has fresh inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.phases import in_stage
from maxcode.core.types import Action, Evaluation, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import FreshRace, Verification
from maxcode.evaluate.ladder.race import Pair, Side
from maxcode.evaluate.ladder.sanitize import Sanitized
from maxcode.evaluate.module.sides import ModuleSide
from maxcode.evaluate.module.staging import VERIFY_ROUNDS, Stages, after
from maxcode.evaluate.module.track import RoundFailed
from maxcode.evaluate.module.verdicts import failed_in, rejected

_PROCESSES = 2  # processes that share the verification, each with its own weights


@final
@dataclass(frozen=True, slots=True)
class ModuleCheck:
    """A winner of an admitted module problem."""

    stages: Stages
    problem: Problem
    winner: Program

    async def refusal(self) -> str:
        """Why the winner must not run; empty if it may."""
        refused = rejected(self.problem, Action(self.winner))
        if refused is None:
            side = await self.stages.built(await self.stages.of(self.problem), self.winner)
            refused = side if isinstance(side, Evaluation) else None
        return "" if refused is None else "; ".join(refused.feedback.reasons)

    @in_stage("ten verifications")
    async def verify_again(self, runs: int) -> Verification:
        """Rounds of calls that are not timed, in new processes."""
        rounds = runs // _PROCESSES
        failures: list[str] = []
        for process in range(_PROCESSES):
            why = await self._failure(rounds)
            failures += [f"process {process + 1}, {why}"] if why else []
        return Verification(_PROCESSES * rounds, len(failures), tuple(failures))

    async def _failure(self, rounds: int) -> str:
        """What fails in so many rounds of new processes with new weights; empty if nothing does."""
        staged = await self.stages.fresh(self.problem)
        side = await self.stages.built(staged, self.winner)
        if isinstance(side, Evaluation):
            return "; ".join(side.feedback.reasons)
        try:
            sides: dict[Side, ModuleSide] = {"original": staged.reference, "candidate": side}
            await self.stages.run(staged, sides, after(1), rounds - 1, beyond=True)
        except RoundFailed as failed:
            return "; ".join(failed_in(failed).feedback.reasons)
        return ""

    async def race_fresh(self, pairs: int) -> FreshRace:
        """No race: all inputs of a confirmation are fresh already."""
        return FreshRace(why="every timed call had fresh inputs of the problem's own shapes", needless=True)

    @in_stage("control")
    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """The reference against itself, with so many pairs in each session.  InputError if it fails."""
        staged = await self.stages.fresh(self.problem)
        sides: dict[Side, ModuleSide] = {"original": staged.reference, "candidate": staged.reference}
        try:
            held = [(await self.stages.run(staged, sides, after(pairs), VERIFY_ROUNDS)).held for pairs in sittings]
        except RoundFailed as failed:
            raise InputError(f"the reference failed while being called: {failed}") from failed
        return [pair for one in held for pair in one.pairs]

    async def sanitized(self) -> Sanitized:
        """No sanitizers: torch is not built with them."""
        return Sanitized(not_run=("sanitizers: a Python process with torch is not built with them",))
