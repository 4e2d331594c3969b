"""A real Slurm on this machine: what the other tests of this room stand on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.support.processes import until
from tests.support.slurm_help import CONF, DAEMONS, Slurm, left_of, slurm

HERE = Path(__file__).parent

pytestmark = [pytest.mark.slow, pytest.mark.slurm]  # needs Debian's Slurm, which `make test` does not install


@pytest.fixture(scope="module")
def site() -> Iterator[Slurm]:
    with slurm() as found:
        yield found


def test_a_job_runs_on_the_node_and_its_output_comes_back(site: Slurm) -> None:
    job = site.submit("echo ran as job $SLURM_JOB_ID on $SLURM_CPUS_ON_NODE")
    site.wait_for(job, "COMPLETED")
    assert site.job_output(job).split() == ["ran", "as", "job", job, "on", "1"]


def test_a_cancelled_job_takes_its_processes_with_it_and_leaves_the_node_idle(site: Slurm) -> None:
    job = site.submit("echo $$; sleep 3600 & echo $!; wait")
    site.wait_for(job, "RUNNING")
    until(lambda: len(site.job_output(job).split()) == 2, 30, lambda: site.job_output(job))
    processes = {int(word) for word in site.job_output(job).split()}
    assert processes <= set(left_of(site.folder))
    site.ask("scancel", job)
    site.wait_for(job, "CANCELLED")
    until(lambda: not processes & set(left_of(site.folder)), 30, lambda: "its processes are there yet")
    until(lambda: site.ask("sinfo", "-h", "-o", "%T") == "idle", 30, lambda: site.ask("sinfo"))


def test_two_jobs_of_one_core_run_beside_each_other_and_a_third_waits(site: Slurm) -> None:
    first, second, third = (site.submit("sleep 3600") for _ in range(3))
    site.wait_for(first, "RUNNING")
    site.wait_for(second, "RUNNING")
    assert site.state_of(third) == "PENDING"
    site.ask("scancel", first)
    site.wait_for(third, "RUNNING")
    site.ask("scancel", second, third)
    until(lambda: not site.jobs(), 30, lambda: str(site.jobs()))


def test_nothing_is_left_when_it_stops_with_a_job_that_heeds_no_signal() -> None:
    with slurm(cores=1) as one:
        job = one.submit("trap '' TERM; echo started; while :; do sleep 1; done")
        one.wait_for(job, "RUNNING")
        until(lambda: "started" in one.job_output(job), 30, lambda: one.job_output(job))
        daemons = list(one.daemons.values())
    assert not one.folder.exists()
    assert left_of(one.folder) == []
    assert all(daemon.poll() is not None for daemon in daemons)


def test_what_does_not_come_up_says_what_its_daemons_wrote() -> None:
    conf = CONF.replace("select/cons_tres", "select/none_such")
    with pytest.raises(RuntimeError, match=r"(?s)slurmd ended at once.*select/none_such"), slurm(conf=conf):
        pass


def test_a_command_that_fails_says_why(site: Slurm) -> None:
    with pytest.raises(RuntimeError, match="invalid partition"):
        site.ask("sbatch", "--partition", "nowhere", "--wrap", "true")


def test_the_daemons_end_when_the_process_that_started_them_is_killed() -> None:
    wait = "import slurm_help as s\nwith s.slurm() as one: print(one.folder, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", wait], cwd=HERE, stdin=PIPE, stdout=PIPE, text=True) as starter:
        assert starter.stdout is not None
        folder = Path(starter.stdout.readline().strip())
        assert len(left_of(folder)) >= len(DAEMONS)
        starter.kill()
    until(lambda: left_of(folder) == [], 30, lambda: str(left_of(folder)))
    shutil.rmtree(folder)
