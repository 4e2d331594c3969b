"""Admission of a module: the reference is described and called, and what may be kept of that is kept."""

from __future__ import annotations

import math
import os
import random
import secrets
import time
from dataclasses import dataclass, replace
from typing import final

import anyio
import anyio.to_thread

from maxcode.core.types import Evaluation, Facts, Outcome, Problem, TimedInput
from maxcode.evaluate.function.habits import HABITS, OF_FEW
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.race import SHORT_PASS_S
from maxcode.evaluate.machine.roofline import memory_gbs
from maxcode.evaluate.module.clocks import REPORT_BYTES
from maxcode.evaluate.module.contract import Contract, Plans, degenerate, plans, shapes_told
from maxcode.evaluate.module.gpu import on_gpu, require_gpu
from maxcode.evaluate.module.learned_contract import LearnedContract, parts
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import ModuleTrack, open_track
from maxcode.evaluate.module.trivial import meaningless, trivial
from maxcode.evaluate.rounds.round import CALL
from maxcode.evaluate.rounds.stages import caveats
from maxcode.native import FLAGS
from maxcode.sandbox.sandbox import Blob, Sandbox

BEYOND_S = 2.0  # about as many seconds of calls on values beyond those drawn, if the calls are long
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
    def problem(self) -> Problem:
        return self.stage.problem

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.admitted.timed

    @property
    def same_calls(self) -> str:
        return ""


@final
class ModuleAdmissions:
    """Admits problems on one machine."""

    def __init__(self, sandbox: Sandbox, prompts: bool, kept: KeptAdmissions) -> None:
        """``prompts``: profile references, which only prompts tell of; ``kept``: admissions of earlier commands."""
        self._sandbox = sandbox
        self._prompts = prompts
        self._earlier = kept
        self._described: dict[str, tuple[SideStarter, ModuleSide]] = {}
        self._known: dict[str, anyio.Event] = {}

    async def described(self, problem: Problem) -> tuple[SideStarter, ModuleSide]:
        """The starter of its sides, and its reference, as soon as its contract is known.  Its weights may be missing,
        and its admission may go on."""
        await self._event(problem).wait()
        return self._described[identity(problem)]

    def _event(self, problem: Problem) -> anyio.Event:
        return self._known.setdefault(identity(problem), anyio.Event())

    def _tell(self, stage: SideStarter, reference: ModuleSide) -> None:
        self._described[identity(stage.problem)] = stage, reference
        self._event(stage.problem).set()

    async def staged(self, problem: Problem) -> Staged:
        """Run the reference.  InputError if its outputs cannot be compared with anything."""
        spec = problem.spec.module_spec
        reference = ModuleSide(replaced(problem.program.text, dict(spec.constants)), REFERENCE)
        threads = 1 if problem.goal == "cpu" else len(os.sched_getaffinity(0))
        stage = SideStarter(self._sandbox, find_runtime(), problem, threads, secrets.randbits(31))
        gpu = await require_gpu(self._sandbox, problem) if spec.device == "cuda" else None
        stage = on_gpu(stage, gpu) if gpu is not None else stage
        stage, known, notes = await self._known_or_learned(stage, reference)
        slots = known.contract.slots(known.seconds)
        short = slots * known.seconds < SHORT_PASS_S and not stage.on_device
        plan = plans(known.contract, slots, REPORT_BYTES * stage.on_device, twice=short)
        shown = replace(problem, statement="\n".join((problem.statement, gpu.told())).strip()) if gpu else problem
        facts = _facts(known.contract, known.seconds, slots, 0 if stage.on_device else threads)
        admitted = replace(_admitted(shown, known), facts=replace(facts, far_gbs=known.far_gbs))
        staged = Staged(stage, plan, reference, admitted, known.reasons)
        return replace(staged, admitted=_warned(staged.admitted, caveats(staged), notes))

    async def _known_or_learned(
        self, stage: SideStarter, reference: ModuleSide
    ) -> tuple[SideStarter, LearnedContract, tuple[str, ...]]:
        """The stage with new weights, what an earlier command has kept of the reference or what is learned now, and a
        note on it.  On a GPU nothing is kept: a candidate is refused by seconds that are measured here."""
        kept = KeptAdmissions() if stage.on_device else self._earlier
        named = identity(stage.problem)
        earlier = await kept.earlier(self._sandbox, named, self._prompts, parts(stage.runtime), LearnedContract)
        if (known := earlier.found) is not None:
            stage = replace(stage, contract=known.contract)
            self._tell(stage, reference)
            return await stage.with_weights(reference), known, earlier.notes
        stage, known = await self._learned(stage, reference)
        await earlier.keep(known)
        return stage, replace(known, all_s=0.0), earlier.notes

    async def _learned(self, stage: SideStarter, reference: ModuleSide) -> tuple[SideStarter, LearnedContract]:
        began = time.monotonic()
        stage = await stage.described(reference)
        self._tell(stage, reference)
        seconds, reasons = await self._seconds(stage, reference)
        spots = await operators(stage, reference) if self._prompts else ()
        far_gbs = await memory_gbs(self._sandbox) if self._prompts and not stage.on_device else 0.0
        all_s = time.monotonic() - began
        return stage, LearnedContract(stage.contract, seconds, reasons, spots, far_gbs, all_s)

    async def _seconds(self, stage: SideStarter, reference: ModuleSide) -> tuple[float, tuple[str, ...]]:
        """Seconds of a warm call of the reference, and why it is degenerate."""
        plan = plans(stage.contract, 2, REPORT_BYTES * stage.on_device)
        async with open_track(stage, plan, reference, {"original": reference}) as track:
            await track.pair()
            pairs = [await track.pair() for _ in range(3)]
            seconds = min(pair.total("original") for pair in pairs) / 2
            reasons = degenerate(stage.contract) if stage.on_device else await _degenerate(stage, track, seconds)
        return seconds, reasons


async def _degenerate(stage: SideStarter, track: ModuleTrack, seconds: float) -> tuple[str, ...]:
    """Why the reference is degenerate: what its contract shows, and else answers that pass without work."""
    tolerance = stage.problem.spec.module_spec.tolerance
    others = beyond_letters(2, seconds)
    drawn = [call for then in ((), others[0]) for call in await track.calls_seen(then=then)]
    wrong = (unsteady,) if (unsteady := meaningless(drawn)) else ()
    if found := (*wrong, *degenerate(stage.contract)):
        return found
    both = zip(others, [*others[1:], ()], strict=True)
    further = [call for letters, then in both for call in await track.calls_seen(letters, then)]
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


def _admitted(problem: Problem, known: LearnedContract) -> Admitted:
    """The problem with its shapes in its statement."""
    given = Input(CALL, Blob.of(b""), None, "generated", known.seconds)
    baseline = Evaluation(Outcome.CORRECT, profile=known.profile, measures={CALL: known.seconds})
    statement = "\n".join(part for part in (problem.statement, *shapes_told(known.contract)) if part)
    shown = replace(problem, statement=statement)
    return Admitted(shown, (given,), (given,), Built(None), baseline, saved_s=known.all_s)


def _warned(admitted: Admitted, warnings: tuple[str, ...], notes: tuple[str, ...]) -> Admitted:
    return replace(admitted, baseline=replace(admitted.baseline, warnings=warnings), notes=(*notes, *warnings))


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
