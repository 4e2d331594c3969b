"""What differs between whole programs and functions in their evaluator: one class each, and a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, final

from maxcode.code.languages import language
from maxcode.core.types import Facts, Kind, Problem
from maxcode.evaluate.function.calls import Calls, calls_of
from maxcode.evaluate.function.function import Inputs, spec_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.inputs.amplify import amplify
from maxcode.evaluate.inputs.proving import Prover
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import COPIES, Admitted, Input, InputSource, generate, read_inputs
from maxcode.evaluate.machine.roofline import Bandwidth, memory_of, peak_gflops
from maxcode.evaluate.program.facts import facts_of_calls, facts_of_runs
from maxcode.evaluate.program.lower_bound import LowerBound, empty_pass_s, floor_of, process_floor
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Sandbox


class ProgramKind(Protocol):
    """A kind of problem whose programs are built once and run in sessions."""

    def source(self, sandbox: Sandbox, problem: Problem) -> InputSource:
        """The source of the inputs of a timed pass."""
        ...

    async def inputs(self, sandbox: Sandbox, problem: Problem) -> tuple[InputSource, list[Input]]:
        """That source, and the inputs to verify on."""
        ...

    async def roofs(self, sandbox: Sandbox, problem: Problem) -> tuple[float, Bandwidth | None]:
        """GFLOPS of one core and the memory bandwidth, measured if the problem says how much work a call is."""
        ...

    async def start_s(self, sandbox: Sandbox, problem: Problem) -> float:
        """CPU seconds of a run that no larger input lengthens."""
        ...

    async def longer(self, sandbox: Sandbox, builder: Builder, admitted: Admitted, seed: int) -> Admitted:
        """For an admission whose inputs are too short: the admission with longer inputs, if they can be made."""
        ...

    async def lower_bound(self, sandbox: Sandbox, admitted: Admitted) -> LowerBound:
        """The least time of a pass over the timed inputs."""
        ...

    async def facts(self, sandbox: Sandbox, admitted: Admitted) -> Facts:
        """What prompts tell of an admission."""
        ...


@final
@dataclass(frozen=True, slots=True)
class WholePrograms:
    """Processes that read an input and write an output."""

    def source(self, sandbox: Sandbox, problem: Problem) -> InputSource:
        return COPIES

    async def inputs(self, sandbox: Sandbox, problem: Problem) -> tuple[InputSource, list[Input]]:
        generated = await generate(sandbox, problem, range(1, problem.spec.generated + 1))
        return COPIES, read_inputs(problem) + [Input(name, blob, None, "generated") for name, blob in generated]

    async def roofs(self, sandbox: Sandbox, problem: Problem) -> tuple[float, Bandwidth | None]:
        return 0.0, None

    async def start_s(self, sandbox: Sandbox, problem: Problem) -> float:
        return (await floor_of(sandbox, language(problem.language))).start_s

    async def longer(self, sandbox: Sandbox, builder: Builder, admitted: Admitted, seed: int) -> Admitted:
        return await amplify(sandbox, Prover(sandbox, builder), admitted, seed)

    async def lower_bound(self, sandbox: Sandbox, admitted: Admitted) -> LowerBound:
        floor = await process_floor(sandbox)
        reading = floor.reading(tuple(given.stdin.size for given in admitted.timed))
        return LowerBound(len(admitted.timed) * floor.start_s, "processes that do nothing", reading)

    async def facts(self, sandbox: Sandbox, admitted: Admitted) -> Facts:
        return await facts_of_runs(sandbox, admitted)


@final
@dataclass(frozen=True, slots=True)
class Functions:
    """Functions that maxcode's driver calls, on fresh inputs in every pass."""

    def source(self, sandbox: Sandbox, problem: Problem) -> Calls:
        return Calls(Inputs(sandbox, problem))

    async def inputs(self, sandbox: Sandbox, problem: Problem) -> tuple[InputSource, list[Input]]:
        source = self.source(sandbox, problem)
        return source, await calls_of(problem, source.inputs)

    async def roofs(self, sandbox: Sandbox, problem: Problem) -> tuple[float, Bandwidth | None]:
        return await peak_gflops(sandbox, spec_of(problem)), await memory_of(sandbox, timed_shapes(problem))

    async def start_s(self, sandbox: Sandbox, problem: Problem) -> float:
        return 0.0  # the clock of calls leaves out the start

    async def longer(self, sandbox: Sandbox, builder: Builder, admitted: Admitted, seed: int) -> Admitted:
        return admitted

    async def lower_bound(self, sandbox: Sandbox, admitted: Admitted) -> LowerBound:
        async with build_lane():
            least_s = await empty_pass_s(sandbox, admitted)
        return LowerBound(least_s, "calls of a function that does nothing")

    async def facts(self, sandbox: Sandbox, admitted: Admitted) -> Facts:
        return facts_of_calls(admitted)


PROGRAM_KINDS: Mapping[Kind, ProgramKind] = {"program": WholePrograms(), "function": Functions()}
