"""Cells are run or read, failures leave theirs open, a kill costs nothing, and 1,000 problems cost each the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from maxcode.bench import (
    BenchRow,
    BenchRun,
    Cost,
    Event,
    Pace,
    RunDone,
    RunFailed,
    RunStarted,
    bench,
    cells,
    claim,
    finished,
    planned,
    read_row,
    table,
)
from maxcode.errors import BoundaryError, InputError, Interrupted, MachineError, RecordError, UnsafeError
from maxcode.run.record import Line
from tests.support.bench_help import row, runner
from tests.support.selection import some

pytestmark = pytest.mark.heavy

FOLDERS = 30
DRIVER = Path(__file__).parents[1] / "support" / "bench_driver.py"


def test_cells_come_seed_by_seed_so_that_half_a_bench_compares_methods() -> None:
    found = cells(["p", "q"], ["a", "b"], range(2))
    assert [one.name for one in found[:4]] == ["p-a-0", "p-b-0", "q-a-0", "q-b-0"]
    assert len(set(found)) == 8


def test_finished_cells_are_read_and_the_others_run_in_order() -> None:
    asked: list[BenchRun] = []
    plan = cells(["p", "q"], ["a"], range(2))

    def run_one(cell: BenchRun) -> BenchRow:
        asked.append(cell)
        return row(cell.problem, cell.method, cell.seed, 2.0)

    found = bench(plan, run_one, lambda cell: row("q", "a", 0, 3.0) if cell == plan[1] else None)
    assert asked == [plan[0], plan[2], plan[3]]
    assert [one.cell for one in found.rows] == list(plan)
    assert found.rows[1].best.value == 3.0
    assert (found.failed, found.left, found.interrupted) == ((), (), False)


@pytest.mark.parametrize("error", [BoundaryError("the provider is gone"), MachineError("disk"), InputError("refused")])
def test_a_cell_that_fails_is_named_and_left_open_and_the_others_go_on(error: Exception) -> None:
    plan = cells(["p"], ["a", "b"], range(2))
    seen: list[Event] = []

    def run_one(cell: BenchRun) -> BenchRow:
        if cell == plan[1]:
            raise error
        return row(cell.problem, cell.method, cell.seed, 2.0)

    found = bench(plan, run_one, watch=seen.append)
    assert [one.cell for one in found.failed] == [plan[1]] == list(found.left)
    assert found.failed[0].error is error
    assert [one.cell for one in found.rows] == [plan[0], plan[2], plan[3]]
    assert [type(event) for event in seen] == [
        RunStarted,
        RunDone,
        RunStarted,
        RunFailed,
        RunStarted,
        RunDone,
        RunStarted,
        RunDone,
    ]
    assert [event.left for event in seen if isinstance(event, RunStarted)] == [4, 3, 2, 1]


def test_a_cell_that_another_process_held_and_finished_is_read_and_has_not_failed() -> None:
    held, late, own = plan = cells(["p"], ["a", "b", "c"], range(1))
    there: dict[BenchRun, BenchRow] = {}

    def run_one(cell: BenchRun) -> BenchRow:
        if cell != own:
            raise RecordError(f"{cell.name} is in use by another maxcode")
        there[held] = row("p", "a", 0, 3.0)  # the other process goes on meanwhile
        return row("p", "c", 0, 2.0)

    found = bench(plan, run_one, there.get)
    assert [one.cell for one in found.rows] == [held, own]
    assert [one.cell for one in found.failed] == [late] == list(found.left)


def test_a_machine_that_is_not_safe_ends_the_bench() -> None:
    def run_one(cell: BenchRun) -> BenchRow:
        raise UnsafeError("no sandbox")

    with pytest.raises(UnsafeError):
        bench(cells(["p"], ["a"], range(2)), run_one)


@pytest.mark.parametrize("stop", [Interrupted("stopped"), KeyboardInterrupt()])
def test_ctrl_c_keeps_the_rows_there_are(stop: BaseException) -> None:
    plan = cells(["p"], ["a"], range(3))

    def run_one(cell: BenchRun) -> BenchRow:
        if cell.seed == 1:
            raise stop
        return row("p", "a", cell.seed, 2.0)

    found = bench(plan, run_one)
    assert found.interrupted
    assert [one.cell.seed for one in found.rows] == [0]
    assert found.left == plan[1:]


def test_time_left_is_that_of_the_same_problem_where_it_is_known() -> None:
    slow, quick, new = BenchRun("slow", "a", 0), BenchRun("quick", "a", 0), BenchRun("new", "a", 0)
    pace = Pace([slow, slow, quick, quick, new])
    assert pace.seconds_left is None
    pace.took(slow, 100.0)
    pace.leave(slow)
    assert pace.seconds_left == pytest.approx(100 * 4)
    pace.took(quick, 10.0)
    pace.leave(quick)
    assert pace.seconds_left == pytest.approx(100 + 10 + 55)
    for cell in (slow, quick, new):
        pace.leave(cell)
    assert pace.seconds_left == 0.0


def test_a_row_holds_what_the_record_says(tmp_path: Path) -> None:
    cell = BenchRun("one", "best-of-n", 0)
    made = runner(tmp_path)(cell)
    assert made == finished(cell, tmp_path / cell.name, 6) == read_row(cell, tmp_path / cell.name)
    lines = [json.loads(line) for line in (tmp_path / cell.name / "events.jsonl").read_text().splitlines()]
    seen = [line["evaluation"] for line in lines if line["part"] == "evaluated"]
    gains = [one["timing"]["speedup"]["value"] for one in seen if one["outcome"] == "correct"]
    assert made.candidates == len(seen) == 6
    assert made.correct == len(gains)
    assert made.faster == sum(gain > 1 for gain in gains)
    assert made.best.value == max([1.0, *gains])
    assert made.cost == Cost(0.5, 6)


def test_a_folder_with_another_run_is_refused_and_an_unfinished_one_is_open(tmp_path: Path) -> None:
    cell = BenchRun("one", "best-of-n", 0)
    folder = tmp_path / cell.name
    assert finished(cell, folder, 6) is None
    runner(tmp_path)(cell)
    with pytest.raises(RecordError, match="budget is 6, not 8"):
        finished(cell, folder, 8)
    with pytest.raises(RecordError, match="method is 'best-of-n', not 'refine'"):
        finished(BenchRun("one", "refine", 0), folder, 6)
    (folder / "result.json").write_text('{"speedup": {"val')
    assert finished(cell, folder, 6) is None
    with pytest.raises(InputError, match="repeat the command"):
        read_row(cell, folder)


def test_a_folder_keeps_one_bench_to_which_problems_may_be_added(tmp_path: Path) -> None:
    terms = {"budget": 6, "policy": ""}
    claim(tmp_path, terms, {"p": "1"})
    claim(tmp_path, terms, {"q": "2"})
    with pytest.raises(RecordError, match="budget was 6, now 8"):
        claim(tmp_path, {**terms, "budget": 8}, {"p": "1"})
    with pytest.raises(RecordError, match="the problem p has changed"):
        claim(tmp_path, terms, {"p": "3", "q": "2"})
    claim(tmp_path, terms, {"p": "1", "q": "2"})
    (tmp_path / "bench.toml").write_text("budget =")
    with pytest.raises(RecordError, match=r"cannot read .*bench\.toml"):
        claim(tmp_path, terms, {})


@dataclass(frozen=True)
class Claims:
    """Claims the same new folders as another process, at the same moment, for a method of its own."""

    out: Path
    method: str

    def __call__(self, together: Barrier) -> None:
        for number in range(FOLDERS):
            together.wait(20)  # where the other one has died, nobody waits for it
            claim(self.out / str(number), {"budget": 6}, {self.method: "d"}, {"methods": [self.method], "seeds": [0]})


def test_two_processes_that_claim_a_folder_at_once_both_have_their_plan_in_it(tmp_path: Path) -> None:
    spawning = get_context("spawn")
    together = spawning.Barrier(2)
    both = [spawning.Process(target=Claims(tmp_path, name), args=(together,), daemon=True) for name in ("beam", "tree")]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    assert [one.exitcode for one in both] == [0, 0]
    for number in range(FOLDERS):
        assert {cell.name for cell in planned(tmp_path / str(number)).cells} == {
            f"{problem}-{method}-0" for problem in ("beam", "tree") for method in ("beam", "tree")
        }
        assert not list((tmp_path / str(number)).glob("*.new"))


def drive(out: Path, parts: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DRIVER), str(out), str(parts)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def told(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """The bench's answer."""
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("parts", "least"), some([(60, 2), (17, 4), (31, 3)], 1))
def test_killed_again_and_again_and_resumed_the_table_is_that_of_the_unbroken_bench(
    parts: int, least: int, tmp_path: Path
) -> None:
    whole = told(drive(tmp_path / "whole", 0))
    deaths = 0
    while (done := drive(tmp_path / "broken", parts)).returncode == -signal.SIGKILL:
        deaths += 1
        assert deaths < 20
    assert deaths >= least
    assert told(done) == whole
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "broken").rglob("*.jsonl")}
    assert told(drive(tmp_path / "broken", 0)) == whole
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "broken").rglob("*.jsonl")} == before


def test_ctrl_c_in_the_middle_of_a_run_finishes_what_runs_and_the_repeat_ends_the_bench(tmp_path: Path) -> None:
    plan = cells(["one", "three"], ["refine"], range(1))
    parts: list[Line] = []

    def press(line: Line) -> None:
        parts.append(line)
        if len(parts) == 12:  # the third of six candidates
            os.kill(os.getpid(), signal.SIGINT)

    known: Callable[[BenchRun], BenchRow | None] = lambda cell: finished(cell, tmp_path / cell.name, 6)  # noqa: E731
    found = bench(plan, runner(tmp_path, watch=press), known)
    assert found.interrupted
    assert (found.rows, found.left) == ((), tuple(plan))
    assert 12 < len(parts) < 30, "what ran was finished, and the rest was not begun"
    again = bench(plan, runner(tmp_path), known)
    assert [one.cell for one in again.rows] == list(plan)


def made_up(problems: int) -> tuple[tuple[BenchRun, ...], Callable[[BenchRun], BenchRow]]:
    def run_one(cell: BenchRun) -> BenchRow:
        return row(cell.problem, cell.method, cell.seed, 1.0 + len(cell.name) + cell.seed)

    return cells([f"p{n}" for n in range(problems)], ["a", "b"], range(2)), run_one


def calls_of(work: Callable[[], object]) -> int:
    """How many calls, of Python and of C functions, the work makes."""
    count = 0

    def note(frame: object, kind: str, what: object) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that the work holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_thousand_problems_cost_no_more_each_to_run_than_a_quarter_of_them() -> None:
    some, many = made_up(250), made_up(1000)
    assert calls_of(lambda: bench(*many)) <= 4.1 * calls_of(lambda: bench(*some))
    assert peak_of(lambda: bench(*many)) <= 4.5 * peak_of(lambda: bench(*some))


def test_a_table_of_many_problems_costs_no_more_for_each_than_one_of_a_quarter_of_them() -> None:
    some, many = bench(*made_up(25)).rows, bench(*made_up(100)).rows
    assert calls_of(lambda: table(many)) <= 4.1 * calls_of(lambda: table(some))
    assert peak_of(lambda: table(many)) <= 4.1 * peak_of(lambda: table(some))


def test_a_thousand_tiny_runs_are_made_and_read_with_the_table_evaluator(tmp_path: Path) -> None:
    plan = cells([f"p{n}" for n in range(1000)], ["best-of-n"], range(1))
    found = bench(plan, runner(tmp_path, budget=2), lambda cell: finished(cell, tmp_path / cell.name, 2))
    assert len(found.rows) == 1000
    assert {one.candidates for one in found.rows} == {2}

    def never(cell: BenchRun) -> BenchRow:
        raise AssertionError(cell)

    assert bench(plan, never, lambda cell: finished(cell, tmp_path / cell.name, 2)).rows == found.rows
    assert table(found.rows).problems == 1000
