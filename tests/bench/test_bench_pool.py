"""Several cells at once give the rows of one after the other, and whoever runs them ends with the bench."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from maxcode.bench import BenchRow, BenchRun, BenchState, Event, Pool, RunStarted, bench, cells, finished
from maxcode.errors import MachineError
from tests.support.bench_help import Watched, runner

pytestmark = pytest.mark.heavy

DRIVER = Path(__file__).parents[1] / "support" / "pool_driver.py"
CELLS = cells(["one", "three"], ["best-of-n", "cuda-llm"], range(2))


def known(out: Path, cell: BenchRun) -> BenchRow | None:
    return finished(cell, out / cell.name, 6)


def told(found: BenchState) -> list[tuple[object, ...]]:
    """What does not depend on the time it took."""
    return [(row.cell, row.best, row.candidates, row.correct, row.trace.candidates) for row in found.rows]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def workers(out: Path) -> list[int]:
    return [int(path.name) for path in (out / "workers").iterdir()]


def test_the_rows_are_those_of_one_after_the_other_and_in_their_order(tmp_path: Path) -> None:
    one, several = tmp_path / "one", tmp_path / "several"
    heard: list[BenchRun] = []
    seen: list[Event] = []
    found = bench(CELLS, Pool(Watched(several), 3, heard.append), watch=seen.append)
    assert told(found) == told(bench(CELLS, runner(one)))
    assert (found.failed, found.left, found.interrupted) == ((), (), False)
    assert sorted(heard, key=str) == sorted([cell for cell in CELLS for _ in range(6)], key=str)
    assert [event.left for event in seen if isinstance(event, RunStarted)] == list(range(len(CELLS), 0, -1))
    assert 1 < len(workers(several)) <= 3
    assert not any(map(is_running, workers(several)))


def test_a_worker_that_dies_leaves_its_cell_open_and_the_others_go_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    deadly = CELLS[1]
    found = bench(CELLS, Pool(Watched(out, deadly=deadly.name), 2, lambda cell: None))
    assert found.left == (deadly,)
    assert [type(one.error) for one in found.failed] == [MachineError]
    assert "status 9" in str(found.failed[0].error)
    again = bench(CELLS, Pool(Watched(out, deadly=deadly.name), 2, lambda cell: None), lambda cell: known(out, cell))
    assert [row.cell for row in again.rows] == list(CELLS)


def test_ctrl_c_that_comes_before_a_worker_is_up_is_heard(tmp_path: Path) -> None:
    def press(event: Event) -> None:
        if isinstance(event, RunStarted) and event.cell == CELLS[1]:
            os.kill(os.getpid(), signal.SIGINT)

    found = bench(CELLS, Pool(Watched(tmp_path, pause_s=0.1), 2, lambda cell: None), watch=press)
    assert (found.interrupted, found.failed, found.rows) == (True, (), ())


def test_ctrl_c_finishes_what_runs_and_the_repeat_ends_the_bench(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    pressed: list[BenchRun] = []

    def press(cell: BenchRun) -> None:
        if not pressed:
            os.kill(os.getpid(), signal.SIGINT)
        pressed.append(cell)

    found = bench(CELLS, Pool(Watched(tmp_path, pause_s=0.02), 2, press), lambda cell: known(tmp_path, cell))
    assert found.interrupted
    assert found.left
    assert not any(map(is_running, workers(tmp_path)))
    assert signal.getsignal(signal.SIGINT) is before
    again = bench(CELLS, Pool(Watched(tmp_path), 2, lambda cell: None), lambda cell: known(tmp_path, cell))
    assert told(again) == told(bench(CELLS, runner(tmp_path / "whole")))


def test_workers_die_with_the_bench_and_the_repeat_goes_on(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, str(DRIVER), str(tmp_path)], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "evaluated\n"
        driver.kill()
    deadline = time.monotonic() + 20
    while any(map(is_running, workers(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers(tmp_path)))
    again = bench(CELLS, Pool(Watched(tmp_path), 2, lambda cell: None), lambda cell: known(tmp_path, cell))
    assert told(again) == told(bench(CELLS, runner(tmp_path / "whole")))
