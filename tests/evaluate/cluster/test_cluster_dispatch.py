"""Tasks, losses, refusals, groups and quarantine, on nodes that need no machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import anyio
import pytest

from maxcode import Evaluation, Outcome
from maxcode.core.types import Action, Program, State, StateId, Step
from maxcode.errors import MachineError
from maxcode.evaluate.cluster import Cluster, Engine, Terms, together
from maxcode.evaluate.cluster.dispatch import Dispatcher
from maxcode.evaluate.cluster.engine import NodeLost, WorkerAddress
from maxcode.evaluate.cluster.quarantine import FILE, Quarantine
from maxcode.evaluate.cluster.utilisation import Utilisation
from maxcode.evaluate.cluster.wire import BuildResult, EvaluateResult, SettleResult, encode, read_result
from maxcode.testing import Exam, Table, TableNode, TableNodes, toy_problem, violations

PROBLEM = toy_problem("0")
WORTH = Table({"0": 1.0, "fast": 2.0, "slow": 0.5, "killer": 3.0} | {f"p{i}": 1.0 + i / 10 for i in range(20)})


def nodes_of(count: int, delay_s: float = 0.0, killers: tuple[str, ...] = ()) -> TableNodes:
    return TableNodes({f"n{i}": TableNode(WORTH, delay_s) for i in range(count)}, killers)


def cluster_of(nodes: TableNodes, folder: Path | None = None, patience_s: float = 10.0) -> Cluster:
    async def opened() -> Engine:
        return nodes

    return Cluster(opened, Terms("table", patience_s=patience_s, folder=folder))


def action(text: str) -> Action:
    return Action(Program({"toy.py": text}))


def evaluated(cluster: Cluster, *texts: str, during: Callable[[], None] = lambda: None) -> list[Evaluation]:
    """The texts' evaluations, asked for at once; ``during`` is called in the cluster's loop a moment later."""
    found: dict[int, Evaluation] = {}
    failed: list[MachineError] = []

    async def later() -> None:
        await anyio.sleep(0.1)
        during()

    async def all_of_them() -> None:
        evaluator = cluster.evaluator()

        async def one(at: int, text: str) -> None:
            try:
                found[at] = await evaluator.evaluate(PROBLEM, action(text))
            except MachineError as error:  # carried past the group, which would wrap it
                failed.append(error)

        async with anyio.create_task_group() as group:
            for at, text in enumerate(texts):
                group.start_soon(one, at, text)
            group.start_soon(cluster.here, later)

    anyio.run(all_of_them)
    if failed:
        raise failed[0]
    return [found[at] for at in sorted(found)]


def served(nodes: TableNodes) -> list[str]:
    return [text for node in nodes.nodes.values() for _, text in node.served]


def test_an_evaluator_on_nodes_keeps_the_contract_of_evaluators() -> None:
    exam = Exam(PROBLEM, Program({"toy.py": "fast"}), Program({"toy.py": "slow"}), Program({"toy.py": "no such"}))
    with cluster_of(nodes_of(2)) as cluster:
        evaluator = cluster.evaluator()
        assert anyio.run(violations, evaluator, exam, evaluator) == []


@pytest.mark.heavy
def test_a_node_lost_in_the_middle_costs_nothing_but_time() -> None:
    nodes = nodes_of(2, delay_s=0.3)
    with cluster_of(nodes) as cluster:
        found = evaluated(cluster, *(f"p{i}" for i in range(6)), during=lambda: nodes.kill("n0"))
        told = cluster.report()
    assert [one.timing and one.timing.speedup.value for one in found] == pytest.approx([1 + i / 10 for i in range(6)])
    assert told.events == ("node n0 was lost",)


def test_a_program_that_two_nodes_were_lost_with_is_never_run_again_not_even_by_the_next_driver(tmp_path: Path) -> None:
    nodes = nodes_of(3, killers=("killer",))
    with cluster_of(nodes, tmp_path) as cluster:
        found = evaluated(cluster, "killer", "fast")
        assert [one.outcome for one in found] == [Outcome.QUARANTINED, Outcome.CORRECT]
        assert found[0].timing is None
        assert "2 benchmark nodes were lost" in found[0].feedback.reasons[0]
    assert served(nodes).count("killer") == 2
    with cluster_of(nodes, tmp_path) as cluster:
        assert evaluated(cluster, "killer")[0].outcome is Outcome.QUARANTINED
    assert served(nodes).count("killer") == 2
    assert len((tmp_path / FILE).read_text().splitlines()) == 2


@pytest.mark.heavy
def test_a_driver_that_is_killed_after_the_first_loss_leaves_the_second_to_be_the_last(tmp_path: Path) -> None:
    first = nodes_of(1, killers=("killer",))
    with cluster_of(first, tmp_path, patience_s=1.0) as cluster, pytest.raises(MachineError):
        evaluated(cluster, "killer", during=lambda: first.remove("n0"))
    again = nodes_of(1, killers=("killer",))
    with cluster_of(again, tmp_path) as cluster:
        assert evaluated(cluster, "killer")[0].outcome is Outcome.QUARANTINED
    assert served(first).count("killer") + served(again).count("killer") <= 2


def test_without_any_node_left_the_machine_failed_and_no_program_did() -> None:
    nodes = nodes_of(1, delay_s=0.5)
    with cluster_of(nodes, patience_s=0.5) as cluster, pytest.raises(MachineError, match="no benchmark node"):
        evaluated(cluster, "fast", during=lambda: nodes.remove("n0"))


def test_a_node_whose_cores_others_use_is_passed_over_and_said_so() -> None:
    nodes = nodes_of(2)
    nodes.nodes["n0"].refuses = "others use 50 % of its cores"
    with cluster_of(nodes) as cluster:
        assert [one.outcome for one in evaluated(cluster, "fast", "p1")] == [Outcome.CORRECT] * 2
        assert "node n0 refused to measure: others use 50 % of its cores" in cluster.report().events
    assert nodes.nodes["n0"].served == []


@pytest.mark.heavy
def test_where_every_node_refuses_the_run_ends_with_the_reason() -> None:
    nodes = nodes_of(1)
    nodes.nodes["n0"].refuses = "others use 50 % of its cores"
    with cluster_of(nodes, patience_s=0.5) as cluster, pytest.raises(MachineError, match="others use 50 %"):
        evaluated(cluster, "fast")


def test_a_node_that_keeps_failing_retires_and_its_candidates_go_elsewhere() -> None:
    nodes = nodes_of(2)
    nodes.nodes["n0"].fails = "the disk is full"
    nodes.nodes["n1"].delay_s = 0.1  # so that the other is asked
    with cluster_of(nodes) as cluster:
        assert {one.outcome for one in evaluated(cluster, *(f"p{i}" for i in range(8)))} == {Outcome.CORRECT}
        assert any("n0 retired: 3 tasks in a row failed" in event for event in cluster.report().events)


LIES: dict[str, Callable[[bytes], bytes]] = {
    "no result": lambda _: b"\x80 not JSON",
    "half of a result": lambda raw: raw[: len(raw) // 2],
    "a number that no clock gives": lambda raw: raw.replace(b'"time_s":0.0', b'"time_s":NaN'),
    "the result of another task": lambda raw: encode(BuildResult(seconds=0.0)),
    "a settled batch": lambda raw: encode(SettleResult(evaluations=())),
}


@final
class LyingNodes(TableNodes):  # type: ignore[misc]
    """Of its nodes n0 changes what it returns of evaluations."""

    lie: Callable[[bytes], bytes]

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        raw = await super().carry(task, worker, builds)
        is_evaluation = isinstance(read_result(raw), EvaluateResult)
        return self.lie(raw) if is_evaluation and worker.name == "n0" else raw


@pytest.mark.parametrize("name", LIES)
def test_a_node_whose_results_do_not_fit_retires_and_another_measures(name: str) -> None:
    nodes = LyingNodes({f"n{i}": TableNode(WORTH) for i in range(2)})
    nodes.lie = LIES[name]
    with cluster_of(nodes) as cluster:
        found = evaluated(cluster, *(f"p{i}" for i in range(8)))
        told = cluster.report()
    assert [one.timing and one.timing.speedup.value for one in found] == pytest.approx([1 + i / 10 for i in range(8)])
    assert any("n0" in event and "retire" in event for event in told.events), told.events


def test_a_node_of_another_kind_is_not_mixed_with_the_first() -> None:
    nodes = nodes_of(2, delay_s=0.05)
    nodes.nodes["n1"].machine = replace(nodes.nodes["n1"].machine, cpu="another table")
    with cluster_of(nodes) as cluster:
        evaluated(cluster, "p0")
        found = evaluated(cluster, *(f"p{i}" for i in range(1, 6)))
        assert any("another kind of node" in event for event in cluster.report().events)
    assert len({one.node.name for one in found if one.node is not None}) == 1


def test_a_group_stays_on_one_node_and_groups_are_spread() -> None:
    nodes = nodes_of(2, delay_s=0.02)

    async def grouped() -> dict[str, set[str]]:
        where: dict[str, set[str]] = {"a": set(), "b": set()}
        evaluator = cluster.evaluator()

        async def one(group: str, text: str) -> None:
            with together(group):
                found = await evaluator.evaluate(PROBLEM, action(text))
            assert found.node is not None
            where[group].add(found.node.name)

        async with anyio.create_task_group() as tasks:
            for i in range(10):
                tasks.start_soon(one, "ab"[i % 2], f"p{i}")
        return where

    with cluster_of(nodes) as cluster:
        where = anyio.run(grouped)
    assert sorted(map(sorted, where.values())) == [["n0"], ["n1"]]


def test_every_second_of_a_slot_is_accounted_for() -> None:
    nodes = nodes_of(2, delay_s=0.1)
    with cluster_of(nodes) as cluster:
        evaluated(cluster, *(f"p{i}" for i in range(6)))
        told = cluster.report()
    for slot in told.slots:
        assert sum(slot.seconds.values()) == pytest.approx(
            told.wall_s, abs=0.001 * len(slot.seconds)
        )  # each is rounded
    assert sum(slot.seconds.get("evaluating", 0.0) for slot in told.slots) >= 6 * 0.1


def settled(cluster: Cluster, texts: Sequence[str], incumbent: str | None = None) -> dict[StateId, Evaluation]:
    def state(text: str, at: StateId) -> State:
        return State(PROBLEM, State(PROBLEM), Step(action(text), Evaluation(Outcome.CORRECT), 1.0), at)

    async def ask() -> dict[StateId, Evaluation]:
        challengers = [state(text, (2, slot)) for slot, text in enumerate(texts)]
        leading = state(incumbent, (1, 0)) if incumbent is not None else None
        return await cluster.evaluator().settle(PROBLEM, challengers, leading)

    return anyio.run(ask)


def test_of_contenders_that_nodes_are_lost_with_only_the_killer_falls(tmp_path: Path) -> None:
    nodes = nodes_of(2, killers=("killer",))
    with cluster_of(nodes, tmp_path) as cluster:
        found = settled(cluster, ["p3", "killer", "p4"], incumbent="p1")
        assert {at: one.outcome for at, one in found.items()} == {(2, 1): Outcome.QUARANTINED, (2, 2): Outcome.CORRECT}
        assert [one.outcome for one in evaluated(cluster, "p1", "p3", "p4")] == [Outcome.CORRECT] * 3


def test_nodes_that_are_lost_whoever_is_alone_with_them_end_the_run_and_blame_nobody(tmp_path: Path) -> None:
    nodes = nodes_of(2, killers=("incumbent",))
    nodes.nodes["n0"].table = nodes.nodes["n1"].table = Table({"incumbent": 4.0, "p3": 1.3, "p4": 1.4, "0": 1.0})
    with cluster_of(nodes, tmp_path) as cluster, pytest.raises(MachineError, match="none with one challenger alone"):
        settled(cluster, ["p3", "p4"], incumbent="incumbent")
    assert not (tmp_path / FILE).exists()


def test_losses_that_a_program_has_come_through_since_are_forgotten(tmp_path: Path) -> None:
    lost = Quarantine(tmp_path)
    once, twice = Program({"toy.py": "once"}), Program({"toy.py": "twice"})
    for program in (once, twice):
        lost.record_loss(program, "n0")
    lost.clear(once)
    for known in (lost, Quarantine(tmp_path)):
        known.record_loss(once, "n1")
        assert known.verdict(once) is None
        known.clear(once)
    lost.record_loss(twice, "n1")
    assert Quarantine(tmp_path).verdict(twice) is not None


@final
@dataclass
class Restarting:
    """An engine of one worker with cores for builds, which is at ``address`` now."""

    address: str = "first"
    built_at: list[str] = field(default_factory=list)

    async def places(self) -> Sequence[WorkerAddress]:
        return [WorkerAddress("n0", self.address, builds=2)]

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        if worker.address != self.address:
            raise NodeLost
        self.built_at.append(worker.address)
        return task

    async def close(self) -> None:
        """Nothing is open."""


def test_a_worker_that_has_restarted_builds_again() -> None:
    engine = Restarting()
    dispatcher = Dispatcher(engine, Utilisation())

    async def build() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(dispatcher.watch)
            for address in ("first", "second"):
                engine.address = address
                with anyio.fail_after(10):
                    while await dispatcher.build(b"task") is None:
                        await anyio.sleep(0.05)
            group.cancel_scope.cancel()

    anyio.run(build)
    assert engine.built_at == ["first", "second"]


@pytest.mark.heavy
def test_a_group_moves_where_its_node_keeps_refusing() -> None:
    nodes = nodes_of(2)
    where: list[str] = []

    async def grouped() -> None:
        evaluator = cluster.evaluator()
        with together("a"):
            for text in ("p1", "p2"):
                found = await evaluator.evaluate(PROBLEM, action(text))
                assert found.node is not None
                where.append(found.node.name)
                nodes.nodes[where[0]].refuses = "others use 50 % of its cores"

    with cluster_of(nodes, patience_s=8.0) as cluster:
        anyio.run(grouped)
    assert sorted(where) == ["n0", "n1"]
