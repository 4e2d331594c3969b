"""A driver killed in the middle of a run on two nodes: its nodes go with it, and the next driver pays nothing twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import descendants, is_alive, wait_until

pytestmark = pytest.mark.sandbox

WORDS = ["optimize", "slow.c", "--tests", "tests", "--method", "best-of-n", "--policy", "rewriter", "--budget", "4",
         "--out", "run", "--cluster", "local:2", "--shared-cores", "--no-certificate", "--json"]  # fmt: skip


@contextmanager
def started(place: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "maxcode", *WORDS]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            yield run
        finally:
            run.kill()


def lines(place: Path) -> list[dict[str, object]]:
    path = place / "run" / "events.jsonl"
    return (
        [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        if (path.exists())
        else []
    )


def evaluated(place: Path) -> list[tuple[int, int]]:
    return [tuple(line["at"]) for line in lines(place) if line["part"] == "evaluated"]  # type: ignore[arg-type, misc]


@pytest.mark.slow
def test_a_killed_driver_takes_its_nodes_along_and_the_next_one_goes_on(place: Path) -> None:
    with started(place) as run:
        assert wait_until(lambda: len(evaluated(place)) >= 1, 500), run.poll()
        family = descendants(run.pid)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        kept = lines(place)
    assert wait_until(lambda: not any(map(is_alive, family)), 30), "processes were left behind"
    with started(place) as run:
        out, told = run.communicate(timeout=900)
    assert run.returncode == 0, told
    found = lines(place)
    assert found[: len(kept)] == kept
    assert max(Counter(evaluated(place)).values()) == 1
    assert len(evaluated(place)) == 4
    verdict = json.loads(out)
    assert set(verdict["outcomes"]) <= {"correct", "unbuilt", "wrong"}
    assert sum(slot["busy_s"] for slot in verdict["cluster"]["slots"]) > 0
    assert verdict["machine"]["node"] == "cluster local:2"
