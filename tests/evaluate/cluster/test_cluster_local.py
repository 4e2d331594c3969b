"""Two real worker processes on this machine: the contract, and what is left of a candidate when its node is killed."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from maxcode import Outcome
from maxcode.core.types import Problem
from maxcode.evaluate.cluster import Cluster
from maxcode.testing import Exam, violations
from tests.support.counting import FAST, SLOW
from tests.support.processes import killed_while_evaluating

pytestmark = pytest.mark.sandbox

WRONG = SLOW.replace("sum = 0", "sum = 1")
SLOWER = SLOW.replace("sum += i;", 'sum += i; __asm__ volatile("" : "+r"(i)); sum += 0 * i; sum ^= 1; sum ^= 1;')


def processes(words: str) -> dict[int, int]:
    """Process id -> parent's, of those whose command line holds these words."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and words in (folder / "cmdline").read_text().replace("\0", " "):
                found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it is gone
            pass
    return found


def nodes() -> list[int]:
    """The node processes that this process started."""
    return [pid for pid, parent in processes("cluster node").items() if parent == os.getpid()]


def workers() -> dict[int, int]:
    """Node process -> its worker process."""
    mine = nodes()
    return {parent: pid for pid, parent in processes("multiprocessing").items() if parent in mine}


@pytest.mark.slow
def test_it_keeps_the_contract_of_evaluators(two_nodes: Cluster, problem: Problem) -> None:
    faster, slower, wrong = (problem.program.with_text(text) for text in (FAST, SLOWER, WRONG))
    evaluator = two_nodes.evaluator()
    assert anyio.run(violations, evaluator, Exam(problem, faster, slower, wrong), evaluator) == []


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing(two_nodes: Cluster, problem: Problem) -> None:
    anyio.run(two_nodes.evaluator().admit, problem)
    both = workers()
    assert len(both) == 2
    found = killed_while_evaluating(two_nodes, problem, [*both.values()][:1], 0)
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 4
    assert any("was lost" in event for event in two_nodes.report().events)


@pytest.mark.slow
def test_a_whole_node_killed_in_the_middle_loses_nothing(two_nodes: Cluster, problem: Problem) -> None:
    anyio.run(two_nodes.evaluator().admit, problem)
    found = killed_while_evaluating(two_nodes, problem, nodes()[:1], 4)
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 4
    assert all(one.timing is not None and not one.timing.significant for one in found)
    assert len(nodes()) == 1
