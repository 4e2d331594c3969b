"""A machine that looks speed-ups up: where a whole job is to be seen and no program need be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Action, Evaluation, Machine, Outcome, Problem, Program, State, StateId
from maxcode.evaluate.cluster import Report
from maxcode.evaluate.harness_protocol import FreshRace, MeasureOptions, SearchHarness
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, read_inputs
from maxcode.testing import Table
from maxcode.testing.nodes import MACHINE


@final
@dataclass(frozen=True, slots=True)
class TableHarness:
    """The table as evaluator and referee, of any problem."""

    table: Table
    sandbox: str = MACHINE.sandbox

    async def admit(self, problem: Problem) -> Admitted:
        inputs = tuple(read_inputs(problem))
        return Admitted(problem, inputs, inputs, Built(None, "no program is built"), Evaluation(Outcome.CORRECT))

    def measuring(self, options: MeasureOptions) -> TableHarness:
        return self  # a table is exact, however it is asked

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        return await self.table.evaluate(problem, action, incumbent)

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        return FreshRace(why="a table has no inputs", needless=True)

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Every challenger is what the table says."""
        return {state.id: await self.table.evaluate(problem, Action(state.program)) for state in challengers}


@final
@dataclass(frozen=True, slots=True)
class TableMachine:
    """A target for ``optimize_source``; ``described``: the machine that prompts tell of."""

    table: Table
    described: Machine = MACHINE

    async def open(self, problems: Sequence[Problem]) -> SearchHarness:
        return TableHarness(self.table)

    def machine(self, harness: SearchHarness) -> Machine:
        return self.described

    async def prepare(self, problem: Problem) -> tuple[SearchHarness, Admitted, Machine]:
        harness = TableHarness(self.table)
        return harness, await harness.admit(problem), self.described

    def used(self) -> Report | None:
        return None
