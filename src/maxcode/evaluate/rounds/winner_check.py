"""Checks a winner that is called in rounds again, for a certificate: with new processes and seeds.

There are no tests: every call of every round has fresh inputs, or is a recorded one that is held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from maxcode.core.phases import in_stage
from maxcode.core.stats import LOOKS, RaceRule
from maxcode.core.types import Action, Evaluation, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import CheckedWinner, Confirm, FreshRace, Verification
from maxcode.evaluate.ladder.one_by_one import OneByOne
from maxcode.evaluate.ladder.race import Pair, Side
from maxcode.evaluate.ladder.sanitize import Sanitized
from maxcode.evaluate.rounds.confirming import Confirmation
from maxcode.evaluate.rounds.round import VERIFY_ROUNDS, RoundFailed, after
from maxcode.evaluate.rounds.stages import P, S, Stages

_PROCESSES = 2  # that share the pairs of calls one by one


@dataclass(frozen=True, slots=True)
class RoundsCheck(Generic[S, P]):
    """A winner of an admitted problem."""

    stages: Stages[S, P]
    problem: Problem
    winner: Program
    rule: RaceRule

    async def refusal(self) -> str:
        """Why the winner must not run; empty if it may."""
        refused = self.stages.rejected(self.problem, Action(self.winner))
        if refused is None:
            side = await self.stages.built(await self.stages.of(self.problem), self.winner)
            refused = side if isinstance(side, Evaluation) else None
        return "" if refused is None else "; ".join(refused.feedback.reasons)

    @in_stage("confirmation")
    async def checked(self, runs: int, confirm: Confirm) -> CheckedWinner:
        """A confirmation in new processes with new secrets, whose rounds that are not timed are the verification, with
        the original once more in every session.  InputError if that fails.

        Of a session in which the winner failed no round counts as right.
        """
        staged = await self.stages.fresh(self.problem)
        side = await self.stages.built(staged, self.winner)
        if isinstance(side, Evaluation):
            return CheckedWinner(Verification(runs, runs, side.feedback.reasons))
        rounds = max(VERIFY_ROUNDS, -(-runs // min(LOOKS)))
        confirmation = Confirmation(self.stages, self.rule, staged, rounds, control=True)
        try:
            found = await confirmation.of(side)
        except RoundFailed as failed:
            why, number = "; ".join(self.stages.failed(failed).feedback.reasons), len(confirmation.sittings) + 1
            return CheckedWinner(Verification(number * rounds, rounds, (f"session {number}, {why}",)))
        return CheckedWinner(
            Verification(len(confirmation.sittings) * rounds), found, tuple(confirmation.control_pairs())
        )

    async def race_fresh(self, pairs: int) -> FreshRace:
        """No race for other inputs: all of a confirmation are fresh already, or they are calls that nothing can draw.
        Where several calls come together, one to see whether it is also faster when they come one by one."""
        staged = await self.stages.of(self.problem)
        same = staged.same_calls
        found = FreshRace(why=same or "every timed call had fresh inputs of the problem's own", needless=not same)
        alone = self.stages.one_by_one(staged)
        side = await self.stages.built(staged, self.winner) if alone is not None else None
        if alone is None or side is None or isinstance(side, Evaluation):
            return found
        sides: dict[Side, P] = {"original": self.stages.original(staged), "candidate": side}
        both = OneByOne(alone[1], pairs)
        try:
            while not both.is_over():
                both.add(await self._pairs(staged, sides, pairs), await self._pairs(alone[0], sides, pairs))
        except RoundFailed as failed:
            words = f"{failed.side}, called one by one: {failed}"
            return FreshRace(failed=words, by_original=failed.side == "original")
        return replace(found, doubt=both.doubt())

    async def _pairs(self, staged: S, sides: Mapping[Side, P], pairs: int) -> Sequence[Pair]:
        """So many pairs, by processes of their own."""
        return (await self.stages.run(staged, sides, after(-(-pairs // _PROCESSES)), VERIFY_ROUNDS)).held.pairs

    @in_stage("control")
    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """The original against itself, with so many pairs in each session.  InputError if it fails."""
        staged = await self.stages.fresh(self.problem)
        sides: dict[Side, P] = {"original": self.stages.original(staged), "candidate": self.stages.original(staged)}
        try:
            held = [(await self.stages.run(staged, sides, after(pairs), VERIFY_ROUNDS)).held for pairs in sittings]
        except RoundFailed as failed:
            raise InputError(f"the original failed while being called: {failed}") from failed
        return [pair for one in held for pair in one.pairs]

    async def sanitized(self) -> Sanitized:
        """No sanitizers: Python is not built with them."""
        return Sanitized(not_run=("sanitizers: a Python process is not built with them",))
