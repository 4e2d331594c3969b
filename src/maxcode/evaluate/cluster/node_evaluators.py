"""What a node opens to carry out orders: the sandbox, a builder, and an evaluator for each problem it admitted."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.types import Action, Evaluation, Interval, Machine, Problem, State, StateId, Step
from maxcode.evaluate.cluster.quiet_cores import calibrated
from maxcode.evaluate.cluster.scratch import Scratch
from maxcode.evaluate.cluster.wire import (
    Admit,
    AdmitResult,
    Build,
    BuildResult,
    BuiltProgram,
    Challenger,
    Evaluate,
    Settle,
    Test,
    unpack,
)
from maxcode.evaluate.harness import HarnessTerms, make_harness
from maxcode.evaluate.harness_protocol import Harness, MeasureOptions, TimingCache
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.judge import unbuilt
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import open_safe

_USUAL = MeasureOptions()


@final
@dataclass(slots=True)
class ProblemSession:
    """A problem that was admitted here, and the harnesses of it by how they measure; the usual one is always there."""

    problem: Problem
    harnesses: dict[MeasureOptions, Harness]

    @property
    def harness(self) -> Harness:
        """The usual one."""
        return self.harnesses[_USUAL]

    async def evaluate(self, order: Evaluate, toolchain: str) -> Evaluation:
        """Evaluate the order's program; its artefact is taken where it fits."""
        problem = replace(self.problem, permitted=order.permitted)
        harness = self._measuring(order.manner)
        built = checked(order.artefact, toolchain) if order.artefact is not None else None
        if built is not None:
            harness.give(problem, order.program, built)
        incumbent = Action(order.incumbent) if order.incumbent is not None else None
        return await harness.evaluate(problem, Action(order.program), incumbent)

    async def settle(self, order: Settle) -> dict[StateId, Evaluation]:
        """Decide who leads among the order's programs."""
        problem = replace(self.problem, permitted=order.permitted)
        challengers = [_state(problem, one) for one in order.challengers]
        incumbent = _state(problem, order.incumbent) if order.incumbent is not None else None
        return await self.harness.settle(problem, challengers, incumbent)

    def remembered(self) -> dict[MeasureOptions, TimingCache]:
        """What its harnesses know of earlier measurements."""
        return {options: one.remembered() for options, one in self.harnesses.items()}

    def forget_since(self, then: Mapping[MeasureOptions, TimingCache]) -> None:
        """Know no more than then: what was measured since is not to be believed."""
        self.harnesses = {options: one for options, one in self.harnesses.items() if options in then}
        for options, one in self.harnesses.items():
            one.forget_since(then[options])

    def _measuring(self, options: MeasureOptions) -> Harness:
        """The harness that measures in this manner."""
        if options not in self.harnesses:
            self.harnesses[options] = self.harness.measuring(options)
        return self.harnesses[options]


def _state(problem: Problem, one: Challenger) -> State:
    return State(problem, State(problem), Step(Action(one.program), one.evaluation, 0.0), one.at)


def checked(artefact: BuiltProgram, toolchain: str) -> Built | None:
    """A build that another worker made; None where it came damaged, or from another toolchain."""
    if artefact.toolchain != toolchain or hashlib.sha256(artefact.data).hexdigest() != artefact.sha256:
        return None
    return Built(Blob.of(artefact.data), "", artefact.diagnostics, artefact.remarks)


@final
class NodeEvaluators:
    """Opened on first use; ``folder`` holds the files of problems and goes with it."""

    def __init__(self) -> None:
        self.desks: dict[str, ProblemSession] = {}
        self._scratch = Scratch()
        self._opened: tuple[Sandbox, Builder, Machine] | None = None

    def close(self) -> None:
        """Remove the files."""
        self._scratch.close()

    @property
    def machine(self) -> Machine:
        """This machine; only once it was opened."""
        assert self._opened is not None
        return self._opened[2]

    async def open(self) -> tuple[Sandbox, Builder, Machine]:
        """The sandbox, its builder, and this machine in words; UnsafeError where no sandbox holds."""
        if self._opened is None:
            sandbox = await open_safe()
            self._opened = sandbox, Builder(sandbox, sandbox.cache), describe(sandbox.describe())
        return self._opened

    async def calibrated(self) -> Interval:
        """The calibration kernel's time now."""
        return await calibrated((await self.open())[0])

    async def admit(self, order: Admit) -> AdmitResult:
        """Take up a problem; InputError where its original fails here."""
        sandbox, builder, machine = await self.open()
        parcel = order.parcel
        key = parcel.key
        folder = self._scratch.path / key[:16]
        shutil.rmtree(folder, ignore_errors=True)
        problem = unpack(parcel, folder)
        harness = make_harness(problem, sandbox, builder, HarnessTerms(seed=parcel.seed))
        found = await harness.admit(problem)
        if order.timed:
            found = harness.time_these(found, order.timed)
        self.desks[key] = ProblemSession(found.problem, {_USUAL: harness})
        return _taken(found, problem, machine)

    async def build(self, order: Build) -> BuildResult:
        """Build a program for whoever times it."""
        _, builder, _ = await self.open()
        began = time.monotonic()
        built = await builder.build(order.problem, order.program)
        seconds = time.monotonic() - began
        if built.artefact is None:
            return BuildResult(artefact=None, unbuilt=unbuilt(built), seconds=seconds)
        artefact = BuiltProgram(
            built.artefact.read(),
            built.artefact.sha256,
            await self.toolchain(order.problem),
            built.diagnostics,
            built.remarks,
        )
        return BuildResult(artefact=artefact, seconds=seconds)

    async def toolchain(self, problem: Problem) -> str:
        """What a build depends on beside its sources: compiler, flags, and the instruction sets of -march=native."""
        _, builder, machine = await self.open()
        words = (await builder.compiler(problem), *problem.spec.flags, machine.cpu, *machine.isa)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _taken(found: Admitted, whole: Problem, machine: Machine) -> AdmitResult:
    timed = {one.name for one in found.timed}
    kept = {case.name for case in (*found.problem.spec.seen, *found.problem.spec.held_out)}
    cases = [case.name for case in (*whole.spec.seen, *whole.spec.held_out)]
    return AdmitResult(
        machine=machine,
        tests=tuple(Test(one.name, one.origin, one.seconds, one.name in timed) for one in found.inputs),
        removed=tuple(name for name in cases if name not in kept),
        dropped=found.dropped,
        notes=found.notes,
        statement=found.problem.statement,
        baseline=found.baseline,
        peak_gflops=found.peak_gflops,
    )
