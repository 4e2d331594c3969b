"""Rounds of the sides of admitted Python functions, for evaluating, confirming and checking again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import final

import anyio

from maxcode.core.phases import START, VERIFICATION, activity
from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, Timing
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import identity
from maxcode.evaluate.ladder.race import End, Side, run_until
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.evaluate.python.admission import (
    PythonAdmissions,
    Staged,
    profile_run,
    recorded_pairs,
    texts_of,
    whole_pages,
)
from maxcode.evaluate.python.handing import Handing
from maxcode.evaluate.python.runtime import find_python
from maxcode.evaluate.python.spots import profile_of, spots
from maxcode.evaluate.python.track import PythonTrack, open_track
from maxcode.evaluate.rounds.round import (
    VERIFY_ROUNDS,
    Beyond,
    RoundFailed,
    Sitting,
    failed_in,
    found_right,
    hidden,
    late,
    seconds_of,
)
from maxcode.evaluate.rounds.stages import Rival, caveats
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Sandbox


@final
class PythonStages:
    """The problems that one harness has admitted; builds and starts their sides (``rounds/stages.py``)."""

    def __init__(
        self,
        sandbox: Sandbox,
        prompts: bool = True,
        kept: KeptAdmissions = KeptAdmissions(),  # noqa: B008
    ) -> None:
        """``prompts``: profile candidates, which only prompts and reports of searches tell of; ``kept``: admissions of
        earlier commands."""
        self._prompts = prompts
        self._admissions = PythonAdmissions(sandbox, prompts, kept)
        self._staged: dict[str, Staged] = {}
        self._admitting = anyio.Lock()

    async def admit(self, problem: Problem) -> Staged:
        staged = await self._admissions.staged(problem)
        self._staged[identity(problem)] = staged
        return staged

    async def of(self, problem: Problem) -> Staged:
        async with self._admitting:
            if identity(problem) not in self._staged:
                await self.admit(problem)
            return self._staged[identity(problem)]

    async def fresh(self, problem: Problem) -> Staged:
        """The problem as it is: its secrets are drawn for every round."""
        return await self.of(problem)

    async def run(
        self, staged: Staged, sides: Mapping[Side, Program], end: End, verify: int, beyond: Beyond = "never"
    ) -> Sitting:
        handing = Handing()
        if staged.problem.spec.python_spec.calls is not None:
            pairs = recorded_pairs(staged.stage, staged.layout, sides, handing)
            async with build_lane():
                with activity(VERIFICATION):
                    for _ in range(max(1, verify // VERIFY_ROUNDS)):
                        _, track = await pairs.once()
            start_s = track.start_s("original"), track.start_s("candidate")
            held = await run_until(end, pairs)
            handing.check()
            return Sitting(held, late(start_s, "its import and first calls"), start_s)
        async with AsyncExitStack() as stack:
            async with build_lane():
                with activity(START):
                    track = await stack.enter_async_context(open_track(staged.stage, staged.layout, sides, handing))
                with activity(VERIFICATION):
                    await _verified(track, verify)
            held = await run_until(end, track)
        handing.check()
        start_s = track.start_s("original"), track.start_s("candidate")
        untimed = hidden(track.round_s["original"], track.round_s["candidate"])
        return Sitting(held, (*late(start_s, "its import and first calls"), *untimed), start_s)

    # ---------------------------------------------------------------------------------------------- rounds/stages.py

    def one_by_one(self, staged: Staged) -> tuple[Staged, int] | None:
        one = staged.layout
        if one.batch == 1:
            return None
        capacity, results = (whole_pages(-(-size // one.batch)) for size in (one.capacity, one.results))
        alone = replace(one, capacity=capacity, batch=1, slots=one.calls, results=results)
        return replace(staged, layout=alone), one.calls

    def original(self, staged: Staged) -> Program:
        return staged.problem.program

    async def built(self, staged: Staged, program: Program) -> Program | Evaluation:
        """The program itself; refused where it uses what is not permitted."""
        return not_permitted(staged.problem, program) or program

    def rejected(self, problem: Problem, action: Action) -> Evaluation | None:
        return reject(problem, action)

    def failed(self, failed: RoundFailed) -> Evaluation:
        return failed_in(failed)

    def right(self, staged: Staged, side: Program, timing: Timing, seen: Sitting) -> Evaluation:
        return found_right(seconds_of(timing, staged.layout.calls), timing, (*caveats(staged), *seen.warnings))

    async def examined(self, staged: Staged, side: Program, found: Evaluation) -> Evaluation:
        if not self._prompts:
            return found
        async with build_lane():
            profile = profile_of(await profile_run(staged.stage, side, staged.shown))
        return replace(found, profile=spots(profile, texts_of(staged.stage, side)))

    def leaves_cores(self, staged: Staged) -> bool:
        """If the CPU time decides: libraries have one thread then."""
        return staged.problem.goal == "cpu"

    async def over_rival(self, staged: Staged, side: Program) -> Rival:
        """Nothing: a Python function has no other rival."""
        return None, ()

    def compiler(self, problem: Problem, machine: Machine) -> str:
        """The version of Python."""
        return find_python(problem.spec.python_spec.venv).version

    @property
    def made(self) -> str:
        return "every call of every round: fresh ones by inputs.py, from secret seeds; or recorded calls, held out"


async def _verified(track: PythonTrack, rounds: int) -> None:
    for _ in range(rounds):
        await track.round()
