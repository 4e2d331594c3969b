"""Admitted module problems and rounds of their sides, for evaluating, confirming and checking again."""

from __future__ import annotations

import math
import os
import random
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import final

import anyio
import anyio.to_thread

from maxcode.core.phases import START, VERIFICATION, activity, in_stage
from maxcode.core.stats import median_interval
from maxcode.core.types import (
    Action,
    Evaluation,
    Facts,
    Feedback,
    Hotspot,
    Machine,
    Outcome,
    Problem,
    Program,
    TimedInput,
    Timing,
)
from maxcode.evaluate.function.habits import HABITS, OF_FEW
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.race import SHORT_PASS_S, End, Side, run_until
from maxcode.evaluate.machine.roofline import memory_gbs
from maxcode.evaluate.module.clocks import REPORT_BYTES
from maxcode.evaluate.module.contract import Contract, Plans, degenerate, plans, shapes_told
from maxcode.evaluate.module.gpu import on_gpu, require_gpu
from maxcode.evaluate.module.kept_inductor import KeptInductor
from maxcode.evaluate.module.metrics import metrics
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.natives import Natives
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import CANDIDATE, REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import ModuleTrack, open_track
from maxcode.evaluate.module.trivial import meaningless, trivial
from maxcode.evaluate.module.verdicts import module_failed, rejected, unless_slowed
from maxcode.evaluate.rounds.round import (
    CALL,
    VERIFY_ROUNDS,
    RoundFailed,
    Sitting,
    after,
    found_right,
    late,
    seconds_of,
)
from maxcode.evaluate.rounds.stages import Rival, without_work
from maxcode.native import FLAGS
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

COMPILED_PAIRS = 9  # the fewest with a 95 % interval that one outlier cannot move
BEYOND_S = 2.0  # about as many seconds of calls on values beyond those drawn, if the calls are long
SHARED = "an output that is no copy"  # how the warning begins
LOST = "small elements are lost"  # likewise
LOST_SHARE = 0.01  # of an output's elements; fewer save no time
LEAST_BEYOND = 2  # rounds of them
_CALLED = (
    "Reference and candidate are processes of their own that take turns on the same cores, {slots} calls a turn. "
    "Before every call another process writes its inputs anew ({held:,} bytes): count on the cache that cores share, "
    "as far as it holds them, and not on nearer ones (derived, not measured)."
)


@final
@dataclass(frozen=True, slots=True)
class Staged:
    """An admitted module problem.

    ``stage``: starts its sides.
    ``plans``: its plans of calls; ``reference``: its reference.
    ``degenerate``: why a candidate could pass without doing the work; part of every result.
    """

    stage: SideStarter
    plans: Plans
    reference: ModuleSide
    admitted: Admitted
    degenerate: tuple[str, ...]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Warnings for every result."""
        return tuple(map(without_work, self.degenerate))

    @property
    def problem(self) -> Problem:
        return self.stage.problem

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.admitted.timed

    @property
    def same_calls(self) -> str:
        return ""


@final
class ModuleStages:
    """The problems that one harness has admitted; builds and starts their sides (``rounds/stages.py``)."""

    def __init__(
        self, sandbox: Sandbox, beside_compiled: bool = True, prompts: bool = True, keeps: bool = False
    ) -> None:
        """``prompts``: profile reference and candidates, which only prompts and reports of searches tell of;
        ``keeps``: torch.compile finds what earlier commands have kept of the reference."""
        self._sandbox = sandbox
        self._kept = KeptInductor.below(sandbox.cache, keeps)
        self._beside_compiled = beside_compiled
        self._prompts = prompts
        self._staged: dict[str, Staged] = {}
        self._admitting = anyio.Lock()
        self.natives = Natives()

    async def admit(self, problem: Problem) -> Staged:
        """Run the reference again.  InputError if its outputs cannot be compared with anything."""
        staged = await self._stage(problem)
        self._staged[identity(problem)] = staged
        return staged

    async def _stage(self, problem: Problem) -> Staged:
        spec = problem.spec.module_spec
        reference = ModuleSide(replaced(problem.program.text, dict(spec.constants)), REFERENCE)
        threads = 1 if problem.goal == "cpu" else len(os.sched_getaffinity(0))
        stage = SideStarter(self._sandbox, find_runtime(), problem, threads, secrets.randbits(31))
        gpu = await require_gpu(self._sandbox, problem) if spec.device == "cuda" else None
        stage = on_gpu(stage, gpu) if gpu is not None else stage
        stage = await stage.described(reference)
        seconds, reasons = await self._seconds(stage, reference)
        slots = stage.contract.slots(seconds)
        short = slots * seconds < SHORT_PASS_S and not stage.on_device
        plan = plans(stage.contract, slots, REPORT_BYTES * stage.on_device, twice=short)
        spots = await self._operators(stage, reference)
        shown = replace(problem, statement="\n".join((problem.statement, gpu.told())).strip()) if gpu else problem
        facts = _facts(stage.contract, seconds, slots, 0 if stage.on_device else threads)
        facts = replace(facts, far_gbs=await memory_gbs(self._sandbox)) if facts.moved else facts
        admitted = replace(_admitted(shown, stage.contract, (seconds, spots)), facts=facts)
        staged = Staged(stage, plan, reference, admitted, reasons)
        return replace(staged, admitted=_warned(staged.admitted, staged.caveats))

    async def _seconds(self, stage: SideStarter, reference: ModuleSide) -> tuple[float, tuple[str, ...]]:
        """Seconds of a warm call of the reference, and why it is degenerate."""
        plan = plans(stage.contract, 2, REPORT_BYTES * stage.on_device)
        async with open_track(stage, plan, reference, {"original": reference}) as track:
            await track.pair()
            pairs = [await track.pair() for _ in range(3)]
            seconds = min(pair.total("original") for pair in pairs) / 2
            reasons = degenerate(stage.contract) if stage.on_device else await _degenerate(stage, track, seconds)
        return seconds, reasons

    async def of(self, problem: Problem) -> Staged:
        async with self._admitting:
            if identity(problem) not in self._staged:
                await self.admit(problem)
            return self._staged[identity(problem)]

    async def fresh(self, problem: Problem) -> Staged:
        """The problem with new weights."""
        known = await self.of(problem)
        stage = replace(known.stage, seed=secrets.randbits(31))
        return replace(known, stage=await stage.with_weights(known.reference))

    async def built(self, staged: Staged, program: Program) -> ModuleSide | Evaluation:
        async with build_lane():
            side, failed = await self.natives.of(staged.stage, ModuleSide(program.text, CANDIDATE))
        return side if failed is None else Evaluation(Outcome.UNBUILT, Feedback((failed.reason,), failed.diagnostics))

    async def run(
        self, staged: Staged, sides: Mapping[Side, ModuleSide], end: End, verify: int, beyond: bool = False
    ) -> Sitting:
        """Start the sides, check ``verify`` rounds that are not timed, then race until ``end``.

        ``beyond``: check rounds on values beyond those drawn as well.
        """
        stage, plan = staged.stage, staged.plans
        async with AsyncExitStack() as stack:
            async with build_lane():
                with activity(START):
                    track = await stack.enter_async_context(open_track(stage, plan, staged.reference, sides))
                with activity(VERIFICATION):
                    for _ in range(verify):
                        await track.round()
                    start_s = track.start_s("original"), track.start_s("candidate")
                    for letters in beyond_letters(plan.slots, staged.inputs[0].seconds) if beyond else ():
                        await track.round(letters)
            held = await run_until(end, track)
            async with build_lane():
                with activity(VERIFICATION):
                    await track.check_beyond()
        counted = len(track.compared), len(track.skipped)
        return Sitting(
            held,
            (
                *_seeded(track),
                *late(start_s, "its import, __init__ and first calls"),
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
        found = found_right(seconds, timing, (*staged.caveats, *seen.warnings), seen.official)
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


async def _degenerate(stage: SideStarter, track: ModuleTrack, seconds: float) -> tuple[str, ...]:
    """Why the reference is degenerate: what its contract shows, and else answers that pass without work."""
    tolerance = stage.problem.spec.module_spec.tolerance
    drawn = [call for _ in range(2) for call in await track.calls_seen()]
    wrong = (unsteady,) if (unsteady := meaningless(drawn)) else ()
    if found := (*wrong, *degenerate(stage.contract)):
        return found
    further = [call for letters in beyond_letters(2, seconds) for call in await track.calls_seen(letters)]
    return await anyio.to_thread.run_sync(lambda: tuple(trivial(stage.contract, tolerance, [*drawn, *further])))


def beyond_letters(slots: int, seconds: float) -> list[tuple[str, ...]]:
    """The habits of the values of every call, for some rounds: all of them, or as many as there is time for.

    Those of which a few values are unlike the others come twice: a look at some places sees these in one call of a few.
    """
    chance = random.SystemRandom()
    letters = [*HABITS, *OF_FEW]
    chance.shuffle(letters)
    fitting = max(LEAST_BEYOND, int(BEYOND_S / max(slots * seconds, 1e-6)))
    rounds = min(math.ceil(len(letters) / slots), fitting)
    return [tuple(letters[at * slots : (at + 1) * slots]) for at in range(rounds)]


def _admitted(problem: Problem, contract: Contract, seen: tuple[float, tuple[Hotspot, ...]]) -> Admitted:
    """The problem with its shapes in its statement; ``seen``: seconds of a call of the reference, and its profile."""
    seconds, spots = seen
    given = Input(CALL, Blob.of(b""), None, "generated", seconds)
    baseline = Evaluation(Outcome.CORRECT, profile=spots, measures={CALL: seconds})
    statement = "\n".join(part for part in (problem.statement, *shapes_told(contract)) if part)
    return Admitted(replace(problem, statement=statement), (given,), (given,), Built(None), baseline)


def _warned(admitted: Admitted, caveats: tuple[str, ...]) -> Admitted:
    return replace(admitted, baseline=replace(admitted.baseline, warnings=caveats), notes=caveats)


def _facts(contract: Contract, seconds: float, slots: int, threads: int) -> Facts:
    """What prompts tell; ``threads``: 0 on a GPU."""
    timed = (TimedInput(seconds),)
    if not threads:
        return Facts(timed=timed)
    return Facts(
        timed=timed,
        calls=_CALLED.format(slots=slots, held=contract.input_bytes),
        threads=threads,
        native_flags=" ".join(FLAGS),
        libraries=f"torch {find_runtime().torch}, {os.confstr('CS_GNU_LIBC_VERSION') or 'a libc of unknown version'}",
        moved=contract.input_bytes + contract.output_bytes,
    )


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
