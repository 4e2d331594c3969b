"""Benchmark nodes that a real Slurm starts, of which one job is cancelled while its candidate is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from maxcode import Evaluation, Outcome
from maxcode.core.types import Action, Problem
from maxcode.evaluate.cluster import Cluster, ClusterRequest, opened
from maxcode.evaluate.cluster.site import script
from tests.support.processes import until
from tests.support.slurm_help import PARTITION, Slurm, slurm

pytestmark = [pytest.mark.slow, pytest.mark.slurm]  # needs Debian's Slurm, which `make test` does not install


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Slurm, Path]]:
    """A Slurm with two cores, and a site file whose jobs have one each."""
    folder = tmp_path_factory.mktemp("site")
    file = folder / "site.toml"
    with slurm(cores=2) as here, pytest.MonkeyPatch.context() as patched:
        patched.setenv("SLURM_CONF", str(here.conf))
        patched.setenv("XDG_CONFIG_HOME", str(folder))
        lines = ["cores = 1", 'memory = "500MB"', 'walltime = "00:30:00"', "jobs = 2", 'host = "127.0.0.1"']
        lines += [f'queue = "{PARTITION}"', f'python = "{sys.executable}"', f'logs = "{folder}"', "patience_s = 300"]
        file.write_text("\n".join(lines) + "\n")
        yield here, file


def test_the_job_script_is_shown_and_nothing_is_started(site: tuple[Slurm, Path]) -> None:
    here, file = site
    shown = script(f"slurm:{file}")
    assert shown is not None
    assert f"#SBATCH -p {PARTITION}" in shown
    assert "bench=1" in shown
    assert here.jobs() == []


def test_ten_candidates_are_measured_although_one_of_two_jobs_is_cancelled(
    site: tuple[Slurm, Path], problem: Problem
) -> None:
    here, file = site
    with opened(ClusterRequest(f"slurm:{file}", shared=True), None) as cluster:
        found = anyio.run(measured, cluster, problem, here)
        events = cluster.report().events
        first, _, *later = here.jobs_so_far()
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 10
    assert [str(one.timing.speedup) for one in found if one.timing and one.timing.significant] == []
    assert any("was lost" in event for event in events)
    assert here.state_of(first) == "CANCELLED"
    assert len(later) == 1, "the job that was cancelled has no successor"
    until(lambda: here.jobs() == [], 60, lambda: f"jobs are left: {here.jobs()}")


async def measured(cluster: Cluster, problem: Problem, here: Slurm) -> list[Evaluation]:
    """Ten programs as fast as the original; the first job is cancelled as soon as both have measured something."""
    evaluator = cluster.evaluator()
    found: list[Evaluation] = []

    async def one(number: int) -> None:
        text = problem.program.text.replace("return 0;", f"return (int)(n + {number} < 0);")
        found.append(await evaluator.evaluate(problem, Action(problem.program.with_text(text))))

    async def cancel() -> None:
        while sum("evaluating" in slot.seconds for slot in cluster.report().slots) < 2:
            await anyio.sleep(0.1)
        here.ask("scancel", here.jobs()[0])
        with anyio.move_on_after(120):  # it may come after the last candidate
            while [here.state_of(job) for job in here.jobs_so_far()[2:]] != ["RUNNING"]:
                await anyio.sleep(0.5)

    await evaluator.admit(problem)
    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(one, number)
        group.start_soon(cancel)
    return found
