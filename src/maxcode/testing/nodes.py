"""An engine without machines: its nodes read speed-ups from a table, and a test can kill, delay and restart them.

They keep the contract of ``evaluate/cluster/engine.py`` and use its messages, so dispatching, losses, quarantine and
affinity are the same as on real nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import anyio

from maxcode.core.types import Action, Evaluation, Interval, Machine, Node, Outcome, Problem, Program, StateId
from maxcode.evaluate.cluster.engine import NodeLost, WorkerAddress
from maxcode.evaluate.cluster.wire import (
    Admit,
    AdmitResult,
    AnyResult,
    AnyTask,
    Build,
    Evaluate,
    EvaluateResult,
    Settle,
    SettleResult,
    TaskFailed,
    TaskRefused,
    Test,
    UnknownProblem,
    encode,
    read_task,
)
from maxcode.testing.doubles import Table, exact_timing

MACHINE = Machine("table", "a table", 1, "", {"c": "none"}, "no program is run")


@final
@dataclass(slots=True)
class TableNode:
    """One node.

    ``table``    the speed-ups of programs; ``delay_s``: seconds per answer
    ``refuses``, ``fails``  if not empty, the refusal or the failure that it answers instead
    ``served``   collects (kind of task, text), in order
    """

    table: Table
    delay_s: float = 0.0
    refuses: str = ""
    fails: str = ""
    machine: Machine = MACHINE
    served: list[tuple[str, str]] = field(default_factory=list)
    problems: dict[str, Problem] = field(default_factory=dict)
    gone: anyio.Event = field(default_factory=anyio.Event)


@final
class TableNodes:
    """The engine.  ``killers`` are texts of programs that kill their node."""

    def __init__(self, nodes: dict[str, TableNode], killers: Sequence[str] = ()) -> None:
        self.nodes = nodes
        self.killers = frozenset(killers)
        self._starts = dict.fromkeys(nodes, 0)

    def kill(self, name: str) -> None:
        """Ends the node's process and restarts it at once without its state, as Dask's nanny does."""
        node = self.nodes[name]
        node.gone.set()
        self._starts[name] += 1
        self.nodes[name] = replace(node, problems={}, gone=anyio.Event())

    def remove(self, name: str) -> None:
        """Removes the node permanently."""
        self.nodes.pop(name).gone.set()

    async def places(self) -> Sequence[WorkerAddress]:
        return [WorkerAddress(name, f"{name}#{self._starts[name]}") for name in self.nodes]

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        node = self.nodes.get(worker.name)
        if node is None or worker.address != f"{worker.name}#{self._starts[worker.name]}":
            raise NodeLost(worker.name)
        answers: list[AnyResult] = []

        async def work(scope: anyio.CancelScope) -> None:
            answers.append(await self._answer(node, worker.name, read_task(task)))
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(work, group.cancel_scope)
            await node.gone.wait()
            group.cancel_scope.cancel()
        if not answers or node.gone.is_set():
            raise NodeLost(worker.name)
        return encode(answers[0])

    async def close(self) -> None:
        pass

    async def _answer(self, node: TableNode, name: str, task: AnyTask) -> AnyResult:
        await anyio.sleep(node.delay_s)
        if node.refuses:
            return TaskRefused(why=node.refuses)
        if node.fails:
            return TaskFailed(kind="machine", message=node.fails)
        match task:
            case Admit():
                node.problems[task.bundle.key] = task.bundle.problem
                return _taken(node, task.bundle.problem)
            case Build():
                return TaskFailed(kind="machine", message="a table builds nothing")
            case _ if task.key not in node.problems:
                return UnknownProblem()
            case Evaluate():
                return await self._evaluated(node, name, task)
            case Settle():
                return await self._settled(node, name, task)

    async def _evaluated(self, node: TableNode, name: str, task: Evaluate) -> EvaluateResult:
        node.served.append(("evaluate", task.program.text))
        if task.program.text in self.killers:
            self.kill(name)
            await anyio.sleep_forever()
        found = await node.table.evaluate(node.problems[task.key], Action(task.program))
        return EvaluateResult(evaluation=replace(found, node=_stamp(name)), time_s=node.delay_s)

    async def _settled(self, node: TableNode, name: str, task: Settle) -> SettleResult:
        node.served += [("settle", one.program.text) for one in task.challengers]
        everyone = [*task.challengers, *([task.incumbent] if task.incumbent is not None else [])]
        if self.killers & {one.program.text for one in everyone}:
            self.kill(name)
            await anyio.sleep_forever()
        worth: dict[StateId, float] = {one.at: await self._worth(node, task.key, one.program) for one in everyone}
        best = max(worth, key=lambda at: worth[at])
        if task.incumbent is not None and best == task.incumbent.at:
            return SettleResult(evaluations=())
        confirmed = Evaluation(Outcome.CORRECT, timing=exact_timing(worth[best]), node=_stamp(name))
        return SettleResult(evaluations=((best, confirmed),))

    async def _worth(self, node: TableNode, key: str, program: Program) -> float:
        found = await node.table.evaluate(node.problems[key], Action(program))
        return found.timing.speedup.value if found.timing is not None else 0.0


def _taken(node: TableNode, problem: Problem) -> AdmitResult:
    return AdmitResult(
        machine=node.machine,
        tests=(Test("table", "held_out", 1.0, True),),
        removed=(),
        dropped=(),
        notes=(),
        statement=problem.statement,
        baseline=Evaluation(Outcome.CORRECT),
    )


def _stamp(name: str) -> Node:
    return Node(name, MACHINE.cpu, "none", (0,), Interval(0.025, 0.024, 0.026))
