"""Admitted module problems and rounds of their sides, for evaluating, confirming and checking again."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import final

import anyio

from maxcode.core.types import Evaluation, Feedback, Hotspot, Outcome, Problem, Program
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.race import SHORT_PASS_S, End, RaceResult, Side, run_until
from maxcode.evaluate.module.clocks import REPORT_BYTES
from maxcode.evaluate.module.contract import Contract, Plans, degenerate, plans, shapes_told
from maxcode.evaluate.module.gpu import on_gpu, require_gpu
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.natives import Natives
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import CANDIDATE, REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import CALL, ModuleTrack, open_track
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

VERIFY_ROUNDS = 3


@final
@dataclass(frozen=True, slots=True)
class Staged:
    """An admitted module problem.

    ``stage``: starts its sides.
    ``plans``: its plans of calls; ``reference``: its reference.
    ``caveats``: warnings for every result.
    """

    stage: SideStarter
    plans: Plans
    reference: ModuleSide
    admitted: Admitted
    caveats: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.admitted.timed


@final
class Stages:
    """The problems that one harness has admitted; builds and starts their sides."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
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
        stage = replace(stage, contract=await stage.describe(reference))
        stage = await stage.with_weights(reference)
        seconds = await self._seconds(stage, reference)
        slots = stage.contract.slots(seconds)
        short = slots * seconds < SHORT_PASS_S and not stage.on_device
        plan = plans(stage.contract, slots, REPORT_BYTES * stage.on_device, twice=short)
        caveats = tuple(
            f"degenerate: {why}; a program could pass without doing the work, so a speed-up means nothing here"
            for why in degenerate(stage.contract)
        )
        spots = await operators(stage, reference)
        shown = replace(problem, statement="\n".join((problem.statement, gpu.told())).strip()) if gpu else problem
        return Staged(stage, plan, reference, _admitted(shown, stage.contract, (seconds, spots), caveats), caveats)

    async def _seconds(self, stage: SideStarter, reference: ModuleSide) -> float:
        """Seconds of a warm call of the reference."""
        plan = plans(stage.contract, 2, REPORT_BYTES * stage.on_device)
        async with open_track(stage, plan, reference, {"original": reference}) as track:
            await track.pair()
            pairs = [await track.pair() for _ in range(3)]
        return min(pair.total("original") for pair in pairs) / 2

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
        self, staged: Staged, sides: Mapping[Side, ModuleSide], end: End, verify: int
    ) -> tuple[RaceResult, tuple[str, ...], bool | None]:
        """Start the sides, check ``verify`` rounds that are not timed, then race until ``end``.

        Returns the race, its warnings, and what KernelBench's own rule says of the candidate.
        """
        async with AsyncExitStack() as stack:
            async with build_lane():
                track = await stack.enter_async_context(open_track(staged.stage, staged.plans, staged.reference, sides))
                for _ in range(verify):
                    await track.round()
            held = await run_until(end, track)
        return held, _seeded(track), track.official.accepts


def _admitted(
    problem: Problem, contract: Contract, seen: tuple[float, tuple[Hotspot, ...]], caveats: tuple[str, ...]
) -> Admitted:
    """The problem with its shapes in its statement; ``seen``: seconds of a call of the reference, and its profile."""
    seconds, spots = seen
    given = Input(CALL, Blob.of(b""), None, "generated", seconds)
    baseline = Evaluation(Outcome.CORRECT, profile=spots, measures={CALL: seconds}, warnings=caveats)
    statement = "\n".join(part for part in (problem.statement, *shapes_told(contract)) if part)
    return Admitted(replace(problem, statement=statement), (given,), (given,), Built(None), baseline, notes=caveats)


def after(pairs: int) -> End:
    """Ends a race after so many pairs, as a tie; for races that only measure."""
    return lambda seen: "tie" if len(seen) >= pairs else None


def _seeded(track: ModuleTrack) -> tuple[str, ...]:
    if "candidate" not in track.seeded:
        return ()
    return ("its parameters do not have the reference's names: both were made from the same seed, not copied",)
