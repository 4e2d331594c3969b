"""Admitted module problems and rounds of their sides, for evaluating, confirming and checking again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import final

import anyio

from maxcode.core.phases import START, VERIFICATION, activity, in_stage
from maxcode.core.stats import median_interval
from maxcode.core.types import (
    Action,
    Evaluation,
    Feedback,
    Hotspot,
    Machine,
    Outcome,
    Problem,
    Program,
    Timing,
)
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import identity
from maxcode.evaluate.ladder.race import End, Side, run_until
from maxcode.evaluate.module.admission import ModuleAdmissions, Staged, beyond_letters
from maxcode.evaluate.module.kept_inductor import KeptInductor
from maxcode.evaluate.module.metrics import metrics
from maxcode.evaluate.module.natives import Natives
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import CANDIDATE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import ModuleTrack, open_track
from maxcode.evaluate.module.verdicts import module_failed, rejected, unless_slowed
from maxcode.evaluate.rounds.round import (
    VERIFY_ROUNDS,
    Beyond,
    RoundFailed,
    Sitting,
    after,
    found_right,
    hidden,
    late,
    seconds_of,
)
from maxcode.evaluate.rounds.stages import Rival, caveats
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Sandbox

COMPILED_PAIRS = 9  # the fewest with a 95 % interval that one outlier cannot move
SHARED = "an output that is no copy"  # how the warning begins
LOST = "small elements are lost"  # likewise
LOST_SHARE = 0.01  # of an output's elements; fewer save no time


@final
class ModuleStages:
    """The problems that one harness has admitted; builds and starts their sides (``rounds/stages.py``)."""

    def __init__(
        self,
        sandbox: Sandbox,
        beside_compiled: bool = True,
        prompts: bool = True,
        kept: KeptAdmissions = KeptAdmissions(),  # noqa: B008
    ) -> None:
        """``prompts``: profile reference and candidates, which only prompts and reports of searches tell of;
        ``kept``: admissions of earlier commands; if there are some, torch.compile finds what these have kept too."""
        self._sandbox = sandbox
        self._kept = KeptInductor.below(sandbox.cache, keeps=kept.folder is not None)
        self._admissions = ModuleAdmissions(sandbox, prompts, kept)
        self._beside_compiled = beside_compiled
        self._prompts = prompts
        self._staged: dict[str, Staged] = {}
        self._weighted: dict[str, SideStarter] = {}  # with new weights that nothing has used
        self._admitting = anyio.Lock()
        self.natives = Natives()

    async def admit(self, problem: Problem) -> Staged:
        """Run the reference again.  InputError if its outputs cannot be compared with anything."""
        staged = await self._admissions.staged(problem)
        self._staged[identity(problem)] = staged
        return staged

    async def of(self, problem: Problem) -> Staged:
        async with self._admitting:
            if identity(problem) not in self._staged:
                await self.admit(problem)
            return self._staged[identity(problem)]

    async def fresh(self, problem: Problem) -> Staged:
        """The problem with new weights."""
        known = await self.of(problem)
        stage = self._weighted.pop(identity(problem), None)
        if stage is None:
            stage = await replace(known.stage, seed=secrets.randbits(31)).with_weights(known.reference)
        return replace(known, stage=stage)

    async def work_ahead(self, problem: Problem, program: Program) -> None:
        """Builds a candidate once the contract is known, while the admission goes on, and then draws the weights of its
        confirmation; not beside a wall clock."""
        if problem.goal == "wall":
            return
        stage, reference = await self._admissions.described(problem)
        await self._built(stage, program)
        async with build_lane():
            stage = await replace(stage, seed=secrets.randbits(31)).with_weights(reference)
        self._weighted[identity(problem)] = stage

    async def built(self, staged: Staged, program: Program) -> ModuleSide | Evaluation:
        return await self._built(staged.stage, program)

    async def _built(self, stage: SideStarter, program: Program) -> ModuleSide | Evaluation:
        async with build_lane():
            side, failed = await self.natives.of(stage, ModuleSide(program.text, CANDIDATE))
        return side if failed is None else Evaluation(Outcome.UNBUILT, Feedback((failed.reason,), failed.diagnostics))

    async def run(
        self, staged: Staged, sides: Mapping[Side, ModuleSide], end: End, verify: int, beyond: Beyond = "never"
    ) -> Sitting:
        """Start the sides, check ``verify`` rounds that are not timed, then race until ``end``.

        ``beyond``: when to check many rounds on values beyond those drawn as well.
        """
        stage, plan = staged.stage, staged.plans
        others = beyond_letters(plan.slots, staged.inputs[0].seconds)
        first = others if beyond in ("first", "around") else []
        async with AsyncExitStack() as stack:
            async with build_lane():
                with activity(START):
                    track = await stack.enter_async_context(open_track(stage, plan, staged.reference, sides))
                with activity(VERIFICATION):
                    await track.rounds([()] * verify, then=first[0] if first else ())
                    await track.rounds(first)
            held = await run_until(end, track)
            async with build_lane():
                with activity(VERIFICATION):
                    if beyond == "unless faster" and held.verdict != "faster":
                        await track.rounds(others)
                    if beyond == "around":  # a candidate may take the race for the end of such calls
                        again = beyond_letters(plan.slots, staged.inputs[0].seconds)
                        await track.rounds(again[: (len(again) + 1) // 2])
                    await track.check_beyond()
        counted = len(track.compared), len(track.skipped)
        start_s = track.start_s("original"), track.start_s("candidate")
        return Sitting(
            held,
            (
                *_seeded(track),
                *late(start_s, "its import, __init__ and first calls"),
                *hidden(track.round_s["original"], track.round_s["candidate"]),
                *_sharing(track),
                *_losing(track),
            ),
            start_s,
            counted,
            track.official.accepts,
        )

    # ---------------------------------------------------------------------------------------------- rounds/stages.py

    def one_by_one(self, staged: Staged) -> None:
        """Nothing: every call of a module is over before the next one comes."""

    def original(self, staged: Staged) -> ModuleSide:
        return staged.reference

    def rejected(self, problem: Problem, action: Action) -> Evaluation | None:
        return rejected(problem, action)

    def failed(self, failed: RoundFailed) -> Evaluation:
        return module_failed(failed)

    def right(self, staged: Staged, side: ModuleSide, timing: Timing, seen: Sitting) -> Evaluation:
        seconds = seconds_of(timing, staged.plans.slots)
        found = found_right(seconds, timing, (*caveats(staged), *seen.warnings), seen.official)
        alone_s = staged.admitted.timed[0].seconds if staged.stage.on_device else 0.0
        return replace(unless_slowed(alone_s, staged.plans.slots, found), remarks=self.natives.remarks(side))

    async def examined(self, staged: Staged, side: ModuleSide, found: Evaluation) -> Evaluation:
        async with build_lane():
            profile, more = await self._operators(staged.stage, side), await metrics(staged.stage, side)
        return replace(found, profile=profile, remarks=(*found.remarks, *more))

    async def _operators(self, stage: SideStarter, side: ModuleSide) -> tuple[Hotspot, ...]:
        return await operators(stage, side) if self._prompts else ()

    def leaves_cores(self, staged: Staged) -> bool:
        """If the CPU time of one thread decides."""
        return staged.problem.goal == "cpu" and not staged.stage.on_device

    @in_stage("torch.compile")
    async def over_rival(self, staged: Staged, side: ModuleSide) -> Rival:
        """The candidate's speed-up over torch.compile of the reference; None, with the reason, if that fails.

        ``RoundFailed`` if the candidate fails: its outputs are checked here too.
        """
        if not self._beside_compiled:
            return None, ()
        compiled = await self._compiled(staged)
        sides: dict[Side, ModuleSide] = {"original": staged.reference, "incumbent": compiled, "candidate": side}
        try:
            held = (await self.run(staged, sides, after(COMPILED_PAIRS), VERIFY_ROUNDS)).held
        except RoundFailed as failed:
            if failed.side != "incumbent":
                raise
            return None, (f"not compared with torch.compile: {failed}",)
        return median_interval([pair.ratio("incumbent", "candidate") for pair in held.pairs]), ()

    async def _compiled(self, staged: Staged) -> ModuleSide:
        side = replace(staged.reference, compile=True)
        if staged.stage.on_device:
            return side
        async with build_lane():
            return replace(side, inductor=await self._kept.given(staged.stage, staged.reference))

    def compiler(self, problem: Problem, machine: Machine) -> str:
        """The version of torch, and of g++ for native code."""
        return f"torch {find_runtime().torch}, {machine.compilers.get('cpp', 'no g++')}"

    @property
    def made(self) -> str:
        return "every call of every round: fresh ones, from secret seeds"


def _sharing(track: ModuleTrack) -> tuple[str, ...]:
    if not track.shares:
        return ()
    which = ", ".join(str(number + 1) for number in sorted(track.shares))
    return (
        f"{SHARED}: output {which} is the same memory as an input, and for the original it is not: who changes one "
        "changes the other",
    )


def _losing(track: ModuleTrack) -> tuple[str, ...]:
    shares = track.lost_shares()
    if max(shares) < LOST_SHARE:
        return ()
    which = f"output {shares.index(max(shares)) + 1}" if len(shares) > 1 else "the output"
    return (
        f"{LOST}: {max(shares):.0%} of the elements of {which} are off by half of their own size and more, and right "
        "in the reference's; beside its other elements they are within the tolerance",
    )


def _seeded(track: ModuleTrack) -> tuple[str, ...]:
    if "candidate" not in track.seeded:
        return ()
    return ("its parameters do not have the reference's names: both were made from the same seed, not copied",)
