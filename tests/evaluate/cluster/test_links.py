"""Two nodes beyond links that are cut and healed while they measure: a lost link is a lost node, and no verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from maxcode import Evaluation, Outcome
from maxcode.core.types import Action, Problem
from maxcode.evaluate.cluster import Cluster, ClusterRequest, opened
from tests.support.netns_help import HOST, Network, network, run
from tests.support.processes import until
from tests.support.slurm_help import free_ports

pytestmark = [pytest.mark.slow, pytest.mark.slurm]  # half a minute until a link is given up; needs root


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Network, Cluster]]:
    """A scheduler here, a node in each of two namespaces, all over TLS, and the driver's end of it."""
    (port,) = free_ports(1)
    address = f"tcp://{HOST}:{port}"
    folder = tmp_path_factory.mktemp("links")
    maxcode = [sys.executable, "-m", "maxcode", "cluster"]
    with ExitStack() as stack:
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        patched.setenv("MAXCODE_CLUSTER_KEYS", str(folder / "keys"))
        links = stack.enter_context(network(("a", "b")))
        run(*maxcode, "keys")
        stack.enter_context(running([*maxcode, "scheduler", "--host", HOST, "--port", str(port)], folder / "scheduler"))
        for place, core in (("a", "0"), ("b", "1")):
            node = links.command(place, *maxcode, "node", address, "--cores", core, "--name", place, "--until-eof")
            stack.enter_context(running(node, folder / place))
        cluster = stack.enter_context(opened(ClusterRequest(address, shared=True), None))
        until(lambda: len(cluster.report().slots) == 2, 120, lambda: told(folder))
        yield links, cluster


class running:  # noqa: N801
    """A process for as long as the block; its output goes to a file."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command, self._log = command, log

    def __enter__(self) -> subprocess.Popen[bytes]:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)
        assert self._process.stdin is not None
        self._process.stdin.close()


def told(folder: Path) -> str:
    return "\n".join(f"--- {file.name}\n{file.read_text()[-1500:]}" for file in folder.iterdir() if file.is_file())


def test_a_cut_link_costs_time_and_no_candidate_and_a_healed_one_brings_its_node_back(
    nodes: tuple[Network, Cluster], problem: Problem
) -> None:
    links, cluster = nodes
    found = measured(cluster, problem, range(6), "a", lambda: links.cut("a"))
    assert_right(found, 6)
    assert any(event.startswith("node a") and "lost" in event for event in cluster.report().events)
    links.heal("a")
    before = orders(cluster, "a")
    for round_ in range(1, 11):
        assert_right(measured(cluster, problem, range(10 * round_, 10 * round_ + 2)), 2)
        if orders(cluster, "a") > before:
            return
    pytest.fail("the node beyond the healed link never measured again")


def test_with_both_links_cut_candidates_wait_until_one_is_healed(
    nodes: tuple[Network, Cluster], problem: Problem
) -> None:
    links, cluster = nodes

    def cut_both_for_a_while() -> None:
        for place in ("a", "b"):
            links.cut(place)
        until(lambda: len(lost(cluster)) == 2, 120, lambda: str(cluster.report().events))
        for place in ("a", "b"):
            links.heal(place)

    assert_right(measured(cluster, problem, range(200, 203), "b", cut_both_for_a_while), 3)


def lost(cluster: Cluster) -> set[str]:
    return {event.split()[1] for event in cluster.report().events if event.endswith("was lost")}


def orders(cluster: Cluster, name: str) -> int:
    return sum(slot.orders for slot in cluster.report().slots if slot.name == name)


def assert_right(found: list[Evaluation], count: int) -> None:
    assert [one.outcome for one in found] == [Outcome.CORRECT] * count
    assert [str(one.timing.speedup) for one in found if one.timing and one.timing.significant] == []


def measured(
    cluster: Cluster, problem: Problem, numbers: range, slot: str = "", then: Callable[[], None] = lambda: None
) -> list[Evaluation]:
    """Programs as fast as the original, all at once; ``then`` happens when ``slot`` has begun to measure one."""
    evaluator = cluster.evaluator()
    found: list[Evaluation] = []

    async def one(number: int) -> None:
        text = problem.program.text.replace("return 0;", f"return (int)(n + {number} < 0);")
        found.append(await evaluator.evaluate(problem, Action(problem.program.with_text(text))))

    async def happen() -> None:
        while slot and not any(use.name == slot and use.seconds.get("evaluating") for use in cluster.report().slots):
            await anyio.sleep(0.05)
        await anyio.to_thread.run_sync(then)

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for number in numbers:
                group.start_soon(one, number)
            group.start_soon(happen)

    anyio.run(everything)
    return found
