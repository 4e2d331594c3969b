"""Checks a winner of a repository again, for a certificate: built again from base's build tree."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from maxcode.core.phases import in_stage
from maxcode.core.types import Outcome, Program, RaceVerdict
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import CheckedWinner, Confirm, FreshRace, Verification, in_steps
from maxcode.evaluate.ladder.race import Pair, Side, WrongOutput, run_until
from maxcode.evaluate.ladder.sanitize import Sanitized
from maxcode.evaluate.repo.admission import Base
from maxcode.evaluate.repo.candidates import ready, verified
from maxcode.evaluate.repo.commands import SEED
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.track import RepoTrack
from maxcode.sandbox.lanes import build_lane

TESTS_S = 120.0  # for repeated runs of the tests; later runs are of the benchmark alone
_LEAST = 2  # runs of the tests


@final
@dataclass(frozen=True, slots=True)
class RepoCheck:
    """A winner of an admitted repository."""

    base: Base
    winner: Program

    async def refusal(self) -> str:
        """Why the winner must not run, or does not build; empty if it may."""
        one, found = await ready(self.base, self.winner, with_canary=True)
        return "" if one is not None or found.outcome is Outcome.WRONG else "; ".join(found.feedback.reasons)

    async def checked(self, runs: int, confirm: Confirm) -> CheckedWinner:
        """Verifications, then the confirmation by ``confirm``; the control is timed apart."""
        return await in_steps(self.verify_again, runs, partial(confirm, {}))

    @in_stage("ten verifications")
    async def verify_again(self, runs: int) -> Verification:
        """Tests and benchmark in new sessions; the tests as often as there is time for, at least twice."""
        one, found = await ready(self.base, self.winner)
        if one is None:
            return Verification(runs, runs, ("; ".join(found.feedback.reasons),))
        failures: list[str] = []
        began = time.monotonic()
        for number in range(runs):
            has_tests = number < _LEAST or time.monotonic() - began < TESTS_S
            async with build_lane():
                found = await verified(self.base, one.side, tests=has_tests)
            if found.outcome is not Outcome.CORRECT:
                failures.append(f"run {number + 1}: {'; '.join(found.feedback.reasons)}")
        return Verification(runs, len(failures), tuple(failures))

    async def race_fresh(self, pairs: int) -> FreshRace:
        """No race: the inputs are those of the benchmark."""
        if SEED in self.base.problem.spec.repo_spec.benchmark:
            return FreshRace(why="every timed run had another seed", needless=True)
        return FreshRace(
            why="the benchmark has its own inputs; with {seed} in its command it gets others in every pair"
        )

    @in_stage("control")
    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """Base against itself, with so many pairs.  InputError if it fails."""
        sides: dict[Side, Layers] = {"original": self.base.side, "candidate": self.base.side}

        def end(pairs: list[Pair]) -> RaceVerdict | None:
            return "tie" if len(pairs) >= sum(sittings) else None

        try:
            return (await run_until(end, RepoTrack(self.base, sides))).pairs
        except WrongOutput as wrong:
            raise InputError(f"the benchmark of base failed while it was timed: {wrong}") from wrong

    async def sanitized(self) -> Sanitized:
        """No sanitizers: the repository's own commands build it."""
        return Sanitized(not_run=("sanitizers: a repository is built by its own commands",))
