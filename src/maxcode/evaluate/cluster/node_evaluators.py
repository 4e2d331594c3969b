"""What a node opens to run tasks: the sandbox, a builder, and an evaluator for each admitted problem."""

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
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import Harness, HarnessTerms, MeasureOptions, TimingCache
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
    """A problem that this node admitted, with one harness for each set of options; the default one always exists."""

    problem: Problem
    harnesses: dict[MeasureOptions, Harness]

    @property
    def harness(self) -> Harness:
        """The harness with the default options."""
        return self.harnesses[_USUAL]

    async def evaluate(self, task: Evaluate, toolchain: str) -> Evaluation:
        """Evaluate the task's program; its artefact is used if it fits."""
        problem = replace(self.problem, permitted=task.permitted)
        harness = self._measuring(task.options)
        built = checked(task.artefact, toolchain) if task.artefact is not None else None
        if built is not None:
            harness.give(problem, task.program, built)
        incumbent = Action(task.incumbent) if task.incumbent is not None else None
        return await harness.evaluate(problem, Action(task.program), incumbent)

    async def settle(self, task: Settle) -> dict[StateId, Evaluation]:
        """Decide which challenger of the task becomes the incumbent."""
        problem = replace(self.problem, permitted=task.permitted)
        challengers = [_state(problem, one) for one in task.challengers]
        incumbent = _state(problem, task.incumbent) if task.incumbent is not None else None
        return await self.harness.settle(problem, challengers, incumbent)

    def remembered(self) -> dict[MeasureOptions, TimingCache]:
        """The timing caches of its harnesses."""
        return {options: one.remembered() for options, one in self.harnesses.items()}

    def forget_since(self, then: Mapping[MeasureOptions, TimingCache]) -> None:
        """Return to these timing caches: measurements made since then are not reliable."""
        self.harnesses = {options: one for options, one in self.harnesses.items() if options in then}
        for options, one in self.harnesses.items():
            one.forget_since(then[options])

    def _measuring(self, options: MeasureOptions) -> Harness:
        """The harness that measures with these options."""
        if options not in self.harnesses:
            self.harnesses[options] = self.harness.measuring(options)
        return self.harnesses[options]


def _state(problem: Problem, one: Challenger) -> State:
    return State(problem, State(problem), Step(Action(one.program), one.evaluation, 0.0), one.at)


def checked(artefact: BuiltProgram, toolchain: str) -> Built | None:
    """A build that another worker made; None if it is damaged, or made with another toolchain."""
    if artefact.toolchain != toolchain or hashlib.sha256(artefact.data).hexdigest() != artefact.sha256:
        return None
    return Built(Blob.of(artefact.data), "", artefact.diagnostics, artefact.remarks, artefact.machine_code)


@final
class NodeEvaluators:
    """The evaluators of a node; the sandbox is opened on first use.  A folder holds the files of the problems until
    ``close``."""

    def __init__(self) -> None:
        self.problems: dict[str, ProblemSession] = {}
        self._scratch = Scratch()
        self._opened: tuple[Sandbox, Builder, Machine] | None = None

    def close(self) -> None:
        """Remove the files."""
        self._scratch.close()

    @property
    def machine(self) -> Machine:
        """This machine; known after ``open``."""
        assert self._opened is not None
        return self._opened[2]

    async def open(self) -> tuple[Sandbox, Builder, Machine]:
        """The sandbox, its builder, and a description of this machine.  UnsafeError if no sandbox is safe."""
        if self._opened is None:
            sandbox = await open_safe()
            self._opened = sandbox, Builder(sandbox, sandbox.cache), describe(sandbox.describe())
        return self._opened

    async def calibrated(self) -> Interval:
        """The calibration kernel's time now."""
        return await calibrated((await self.open())[0])

    async def admit(self, task: Admit) -> AdmitResult:
        """Admit a problem.  InputError if its original fails here."""
        sandbox, builder, machine = await self.open()
        bundle = task.bundle
        key = bundle.key
        folder = self._scratch.path / key[:16]
        shutil.rmtree(folder, ignore_errors=True)
        problem = unpack(bundle, folder)
        harness = make_harness(problem, sandbox, builder, HarnessTerms(seed=bundle.seed))
        found = await harness.admit(problem)
        if task.timed:
            found = harness.time_these(found, task.timed)
        self.problems[key] = ProblemSession(found.problem, {_USUAL: harness})
        return _taken(found, problem, machine)

    async def build(self, task: Build) -> BuildResult:
        """Build a program for the node that times it."""
        _, builder, _ = await self.open()
        began = time.monotonic()
        built = await builder.build(task.problem, task.program)
        seconds = time.monotonic() - began
        if built.artefact is None:
            return BuildResult(artefact=None, unbuilt=unbuilt(built), seconds=seconds)
        artefact = BuiltProgram(
            built.artefact.read(),
            built.artefact.sha256,
            await self.toolchain(task.problem),
            built.diagnostics,
            built.remarks,
            built.machine_code,
        )
        return BuildResult(artefact=artefact, seconds=seconds)

    async def toolchain(self, problem: Problem) -> str:
        """A hash of what a build depends on besides its sources: compiler, flags, and the instruction sets of
        -march=native."""
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
        facts=found.facts,
    )
