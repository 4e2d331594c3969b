"""What a training measures with: three manners of one machine or cluster, and a machine of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from maxcode.core.types import Action, Problem, ProgramSpec
from maxcode.errors import InputError
from maxcode.evaluate.cluster import Cluster, Engine, Terms, WorkerAddress
from maxcode.evaluate.cluster.wire import Evaluate, read_task
from maxcode.evaluate.target import ClusterMachine, LocalMachine
from maxcode.testing import Table, TableNode, TableNodes, toy_problem
from maxcode.train.evaluators import AFRESH, ASSESSING, TRAINING, TargetEvaluators
from tests.support.toy_run import toy


class Watched:
    """Nodes that look speed-ups up in a table, and every task that came to them."""

    def __init__(self, nodes: TableNodes) -> None:
        self.nodes = nodes
        self.tasks: list[Evaluate] = []

    async def places(self) -> Sequence[WorkerAddress]:
        return await self.nodes.places()

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        found = read_task(task)
        self.tasks += [found] if isinstance(found, Evaluate) else []
        return await self.nodes.carry(task, worker, builds)

    async def close(self) -> None:
        await self.nodes.close()


def test_the_three_evaluators_of_a_training_measure_in_three_manners_on_the_machine_of_the_target() -> None:
    watched = Watched(TableNodes({"n0": TableNode(Table({}))}))

    async def opened() -> Engine:
        return watched

    with Cluster(opened, Terms("table")) as cluster:
        bench = TargetEvaluators(ClusterMachine(cluster))
        config = toy()
        (problem,) = bench.problems(config)
        assert bench.problems(config) == [problem]
        for evaluator in (bench.training, bench.afresh, bench.assessing):
            anyio.run(evaluator.evaluate, problem, Action(problem.program))
        assert bench.machine.node == "table"
    assert [task.options for task in watched.tasks] == [TRAINING, AFRESH, ASSESSING]
    assert {task.program for task in watched.tasks if task.program != problem.program} == set()


def test_problems_that_need_several_harnesses_are_not_measured_together_on_this_machine() -> None:
    program = toy_problem("0")
    module = Problem("module", "module", "python", program.program, ProgramSpec())
    with pytest.raises(InputError, match="kinds module, program cannot be measured together"):
        anyio.run(LocalMachine().open, [program, module])
