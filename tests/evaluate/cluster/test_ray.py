"""Ray as the engine: the same contract, and what is left of candidates when a worker, a node or the driver dies."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from maxcode import Outcome
from maxcode.core.types import Problem
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster import Cluster, ClusterRequest, opened
from maxcode.run.record import Evaluated, Proposed, read_events
from maxcode.testing import Exam, violations
from tests.support.counting import SLOW
from tests.support.processes import folder_of, killed_while_evaluating, of_this_cluster, until

pytestmark = pytest.mark.heavy

FASTER = SLOW.replace(
    'for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }',
    'for (long i = 0; i < n / 2; i++) { sum += n - 1; __asm__ volatile("" : "+r"(sum)); }\n    sum += n % 2 * (n / 2);',
)
SLOWER = SLOW.replace("sum += i;", 'sum += i; __asm__ volatile("" : "+r"(i)); sum += 0 * i; sum ^= 1; sum ^= 1;')


@pytest.fixture(scope="module")
def ray_nodes() -> Iterator[Cluster]:
    with opened(ClusterRequest("ray:local:2", shared=True), None) as cluster:
        yield cluster


@pytest.mark.slow
def test_it_keeps_the_contract_of_evaluators(ray_nodes: Cluster, problem: Problem) -> None:
    wrong = SLOW.replace("sum = 0", "sum = 1")
    faster, slower, wrong_one = (problem.program.with_text(text) for text in (FASTER, SLOWER, wrong))
    evaluator = ray_nodes.evaluator()
    assert anyio.run(violations, evaluator, Exam(problem, faster, slower, wrong_one), evaluator) == []


@pytest.mark.slow
def test_nothing_of_it_listens_beyond_this_machine(ray_nodes: Cluster) -> None:
    mine = {os.getpid(), *of_this_cluster()}
    lines = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = [line.split() for line in lines if any(f"pid={process}," in line for process in mine)]
    assert ours
    assert [line for line in ours if "127.0.0.1" not in line[3]] == []


@pytest.mark.slow
def test_a_worker_and_then_a_whole_node_killed_in_the_middle_lose_nothing(ray_nodes: Cluster, problem: Problem) -> None:
    anyio.run(ray_nodes.evaluator().admit, problem)
    workers = of_this_cluster("ray::Bench")
    assert len(workers) == 2
    found = killed_while_evaluating(ray_nodes, problem, workers[:1], 0)
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 4
    assert any("was lost" in event for event in ray_nodes.report().events)
    (raylet,) = of_this_cluster("raylet/raylet", "slot0")
    found = killed_while_evaluating(ray_nodes, problem, [raylet], 4)
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 4
    assert [str(one.timing.speedup) for one in found if one.timing and one.timing.significant] == []


@pytest.mark.slow
def test_a_driver_that_is_killed_takes_its_nodes_with_it_and_goes_on_where_it_was(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "maxcode", "optimize", str(place / "slow.c"), "--tests", str(place / "tests")]
    command += ["--cluster", "ray:local:1", "--shared-cores", "--method", "best-of-n", "--budget", "4"]
    command += ["--no-certificate", "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as driver:
        until(lambda: driver.poll() is not None or _evaluated(out) > 0, 300, lambda: "nothing was evaluated")
        folder = folder_of(driver.pid)
        os.kill(driver.pid, signal.SIGKILL)
        assert driver.stderr is not None
    assert folder, "its Ray was not there"
    until(lambda: not of_this_cluster(folder=folder), 60, lambda: "its Ray is there yet")
    shutil.rmtree(folder)
    before = out.joinpath("events.jsonl").read_bytes()
    subprocess.run(command, check=True, capture_output=True)
    after = out.joinpath("events.jsonl").read_bytes()
    assert after.startswith(before[: before.rindex(b"\n") + 1])
    for kind in (Proposed, Evaluated):
        counts = Counter(line.at for line in read_events(out) if isinstance(line, kind))
        assert counts == Counter({(1, slot): 1 for slot in range(4)})


def _evaluated(out: Path) -> int:
    if not (out / "events.jsonl").exists():
        return 0
    return sum(isinstance(line, Evaluated) for line in read_events(out))


def test_words_that_name_no_ray_cluster_are_refused() -> None:
    for spec in ("ray:", "ray:local", "ray:host", "ray:local:0"):
        with pytest.raises(InputError), opened(ClusterRequest(spec), None):
            pass


def test_where_no_head_listens_it_says_so_at_once() -> None:
    told = pytest.raises(MachineError, match=r"no Ray cluster answers at 127.0.0.1:1.*ray start --head")
    with told, opened(ClusterRequest("ray:127.0.0.1:1"), None):
        pass
