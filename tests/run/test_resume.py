"""A run killed anywhere and started again ends as the unbroken run does, and nothing recorded is repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec
import pytest

from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Evaluation, Outcome, Problem, State, StateId
from maxcode.errors import BoundaryError, InputError, Interrupted, ProviderError, RecordError
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import EVENTS, Evaluated, Line, Opened, Proposed, Record, check_header, read_events
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import FakeClock, Scripted, Table, toy_problem
from tests.support.processes import wait_until

pytestmark = pytest.mark.heavy

DRIVER = Path(__file__).parents[1] / "support" / "resume_driver.py"
FAST = ["cuda-llm", "elites", "cuda-llm by value"]
OTHERS = ["best-of-n", "refine", "beam", "tree", "beam by value", "tree by value"]
SEARCHES = [*FAST, *(pytest.param(search, marks=pytest.mark.slow) for search in OTHERS)]


Drive = Callable[[Path, str, str], int]


@pytest.fixture(scope="module")
def drive() -> Iterator[Drive]:
    """Runs a search in a process of its own up to a moment; its code. One process imports for all of them."""
    with subprocess.Popen([sys.executable, DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdin and driver.stdout
        asked, answers = driver.stdin, driver.stdout

        def run(folder: Path, search: str, moment: str) -> int:
            print(json.dumps([str(folder), search, moment]), file=asked, flush=True)
            return int(answers.readline())

        yield run
        asked.close()


def parts(folder: Path) -> list[Line]:
    """The record's parts, times and openings apart, in (batch, slot) order."""
    lines = [msgspec.structs.replace(line, t=0.0) for line in read_events(folder) if not isinstance(line, Opened)]
    return sorted(lines, key=lambda line: (str(getattr(line, "batch", "")), repr(line)))


@pytest.mark.parametrize("search", SEARCHES)
def test_killed_after_every_single_part_the_run_still_ends_as_the_unbroken_one(
    search: str, drive: Drive, tmp_path: Path
) -> None:
    assert drive(tmp_path / "whole", search, "never") == 0
    expected = parts(tmp_path / "whole")
    broken = tmp_path / "broken"
    deaths = 0
    while drive(broken, search, "part") == -signal.SIGKILL:
        deaths += 1
        assert deaths <= len(expected)
    assert deaths == len(expected)
    assert parts(broken) == expected


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("moment", ["propose", "evaluate"])
def test_killed_inside_a_call_the_run_still_ends_as_the_unbroken_one(
    search: str, moment: str, drive: Drive, tmp_path: Path
) -> None:
    assert drive(tmp_path / "whole", search, "never") == 0
    broken = tmp_path / "broken"
    assert drive(broken, search, moment) == -signal.SIGKILL
    assert drive(broken, search, "part") == -signal.SIGKILL
    assert drive(broken, search, moment) == -signal.SIGKILL
    assert drive(broken, search, "never") == 0
    assert parts(broken) == parts(tmp_path / "whole")


def test_a_torn_last_line_is_dropped_wherever_it_is_torn(drive: Drive, tmp_path: Path) -> None:
    assert drive(tmp_path / "whole", "cuda-llm", "never") == 0
    text = (tmp_path / "whole" / EVENTS).read_bytes()
    for cut in range(0, len(text), 997):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / EVENTS).write_bytes(text[:cut])
        record = Record(folder)
        record.close()
        assert len(list(read_events(folder))) == text[:cut].count(b"\n") + 1  # and the line that says it was opened


def test_a_damaged_line_in_the_middle_is_named(drive: Drive, tmp_path: Path) -> None:
    assert drive(tmp_path, "refine", "never") == 0
    lines = (tmp_path / EVENTS).read_bytes().split(b"\n")
    lines[2] = b'{"part":"nonsense"}'
    (tmp_path / EVENTS).write_bytes(b"\n".join(lines))
    with pytest.raises(RecordError, match="line 3 is damaged"):
        Record(tmp_path)


def method(search: Search) -> Method:
    return Method(Scripted(write=lambda text, draw: str(draw % 1009)), search, compose())


def speed(text: str) -> float:
    return 1 + int(text) / 1009


def test_an_evaluator_that_breaks_in_the_middle_of_a_batch_loses_none_of_its_siblings(tmp_path: Path) -> None:
    asked: list[str] = []

    async def break_third(text: str) -> None:
        asked.append(text)
        place = len(asked)
        await anyio.sleep(0.01 * place)
        if place == 3:
            raise OSError("the disk is gone")

    run = Run(budget=8, record=Record(tmp_path))
    with run.record, pytest.raises(BoundaryError, match=r"slot 2 failed: OSError: the disk is gone"):
        optimize(toy_problem(), method(BestOfN(8, 8)), Table(rule=speed, before=break_third), run)
    assert len(run.record.evaluations) == 7
    again: list[str] = []

    async def note(text: str) -> None:
        again.append(text)

    run = Run(budget=8, record=Record(tmp_path))
    with run.record:
        result = optimize(toy_problem(), method(BestOfN(8, 8)), Table(rule=speed, before=note), run)
    assert again == [asked[2]]
    assert result.reached.candidates == 8


def test_half_a_character_in_an_answer_does_not_break_the_record(tmp_path: Path) -> None:
    scripted = Scripted(write=lambda text, draw: f"{draw % 1009} \ud83d")
    run = Run(budget=2, record=Record(tmp_path))
    with run.record:
        optimize(toy_problem(), Method(scripted, BestOfN(2, 2), compose()), Table(rule=lambda text: 1.0), run)
    programs = [line.action.program for line in read_events(tmp_path) if isinstance(line, Proposed)]
    assert [program.text[-2:] for program in programs if program is not None] == [" ?", " ?"]


class BrokenReferee:
    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        raise OSError("the disk is gone")


def test_a_referee_that_breaks_is_named_and_costs_nothing_that_was_recorded(tmp_path: Path) -> None:
    run = Run(budget=4, record=Record(tmp_path))
    wins = Table(rule=lambda text: 2.0, confirmed=False)
    with run.record, pytest.raises(BoundaryError, match="the referee of batch 1 failed: OSError: the disk is gone"):
        optimize(toy_problem(), method(BestOfN(4, 4)), wins, run, BrokenReferee())
    assert len(run.record.evaluations) == 4


class Doubts:
    """Confirms every challenger, and finds in the second batch that the incumbent of the first does not hold."""

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        found = {
            state.id: replace(state.step.evaluation, timing=replace(state.step.evaluation.timing, confirmed=True))
            for state in challengers
            if state.step is not None and state.step.evaluation.timing is not None
        }
        if incumbent is not None and incumbent.id[0] == 1:
            found[incumbent.id] = Evaluation(Outcome.WRONG)
        return found


def test_a_champion_that_does_not_hold_loses_the_lead_in_the_run_and_in_its_resume(tmp_path: Path) -> None:
    speeds = {1: 3.0, 2: 3.0, 3: 1.5}  # a tie, which the incumbent would keep
    asked: list[str] = []

    async def count(text: str) -> None:
        asked.append(text)

    table = Table(rule=lambda text: speeds[int(text) % 10], before=count, confirmed=False)
    scripted = Scripted(write=lambda text, draw: str(10 * (draw % 97) + len(asked) + 1))
    results = []
    for _ in range(2):
        run = Run(budget=3, record=Record(tmp_path))
        with run.record:
            results.append(optimize(toy_problem(), Method(scripted, Refine(3), compose()), table, run, Doubts()))
    for result in results:
        assert result.best is not None
        assert result.best.id == (2, 0)
        assert result.reached[1, 0].outcome is Outcome.WRONG
        assert [state.id for state in result.reached.children(result.reached.root)] == [(1, 0)]


def test_a_provider_that_fails_leaves_its_slot_open_and_earns_nothing() -> None:
    async def fail(text: str) -> None:
        raise ProviderError("429 for an hour; wait, or raise the quota")

    record = Record()
    with pytest.raises(ProviderError, match="429") as caught:
        optimize(toy_problem(), method(Refine(4)), Table(rule=speed, before=fail), Run(4, record=record))
    assert "batch 1, slot 0" in caught.value.__notes__[0]
    assert record.evaluations == {}
    assert list(record.actions) == [(1, 0)]


def test_a_resume_with_more_budget_goes_on(tmp_path: Path) -> None:
    for budget in (3, 5, 9):
        run = Run(budget, record=Record(tmp_path))
        result = optimize(toy_problem(), method(CudaLlm(3, 3)), Table(rule=speed), run)
        run.record.close()
        assert result.reached.candidates == budget


def test_the_batch_is_cut_to_what_is_left_of_the_budget() -> None:
    result = optimize(toy_problem(), method(BestOfN(64, 8)), Table(rule=speed), Run(budget=11))
    assert result.reached.candidates == 11


def in_loop(work: Callable[[], object]) -> object:
    """The work inside a running event loop, as in a notebook."""

    async def notebook() -> object:
        return work()

    return anyio.run(notebook)


def plainly(work: Callable[[], object]) -> object:
    return work()


@pytest.mark.parametrize("start", [plainly, in_loop])
def test_ctrl_c_once_finishes_what_ends_soon_and_launches_nothing_new(
    start: Callable[[Callable[[], object]], object], tmp_path: Path
) -> None:
    started: list[str] = []

    async def slow(text: str) -> None:
        started.append(text)
        if len(started) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        with anyio.fail_after(60):
            while "stopping" not in "".join(said):
                await anyio.sleep(0.01)

    said: list[str] = []
    run = Run(budget=8, concurrency=2, record=Record(tmp_path), say=said.append)
    with run.record, pytest.raises(Interrupted):
        start(lambda: optimize(toy_problem(), method(BestOfN(8, 8)), Table(rule=speed, before=slow), run))
    assert len(run.record.evaluations) == len(started) == 2
    assert [words.partition(":")[0] for words in said].count("stopping") == 1


@pytest.mark.parametrize("start", [plainly, in_loop])
def test_ctrl_c_once_ends_a_long_measurement_which_a_resume_makes_again(
    start: Callable[[Callable[[], object]], object], tmp_path: Path
) -> None:
    async def hang(text: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep(60)

    began = time.monotonic()
    run = Run(budget=1, record=Record(tmp_path))
    with run.record, pytest.raises(Interrupted, match="stopped in batch 1; all finished parts are recorded"):
        start(lambda: optimize(toy_problem(), method(Refine(1)), Table(rule=speed, before=hang), run))
    assert time.monotonic() - began < 20
    assert len(run.record.actions) == 1 and not run.record.evaluations
    with Record(tmp_path) as record:
        assert optimize(toy_problem(), method(Refine(1)), Table(rule=speed), Run(1, record=record)).best
        assert len(record.actions) == 1, "what was proposed is not asked for again"


@pytest.mark.parametrize("start", [plainly, in_loop])
def test_ctrl_c_twice_stops_at_once(start: Callable[[Callable[[], object]], object], tmp_path: Path) -> None:
    hanging, said = threading.Event(), list[str]()

    async def hang(text: str) -> None:
        hanging.set()
        await anyio.sleep(60)

    def press() -> None:
        assert hanging.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
        assert wait_until(lambda: "stopping" in "".join(said), 25)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    started = time.monotonic()
    run = Run(4, record=Record(tmp_path), say=said.append)
    with run.record, pytest.raises(Interrupted, match="at once"):
        start(lambda: optimize(toy_problem(), method(Refine(4)), Table(rule=speed, before=hang), run))
    assert time.monotonic() - started < 30


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook() -> int:
        return optimize(toy_problem(), method(Refine(4)), Table(rule=speed), Run(4)).reached.candidates

    assert anyio.run(notebook) == 4


def test_a_record_made_by_another_search_is_refused(tmp_path: Path) -> None:
    run = Run(6, record=Record(tmp_path))
    optimize(toy_problem(), method(BestOfN(6, 3)), Table(rule=speed), run)
    run.record.close()
    other = method(CudaLlm(2, 3))
    with Record(tmp_path) as record, pytest.raises(RecordError, match="another search"):
        optimize(toy_problem(), other, Table(rule=speed), Run(6, record=record))


def test_two_processes_cannot_write_one_record(tmp_path: Path) -> None:
    record = Record(tmp_path)
    with pytest.raises(RecordError, match="in use by another maxcode"):
        Record(tmp_path)
    record.close()
    Record(tmp_path).close()


def test_an_unwritable_folder_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another --out"):
        Record(tmp_path / "file" / "run")


def test_the_header_refuses_another_run_and_names_what_differs(tmp_path: Path) -> None:
    check_header(tmp_path, {"seed": 1, "budget": 8}, frozenset({"budget"}))
    check_header(tmp_path, {"seed": 1, "budget": 16}, frozenset({"budget"}))
    with pytest.raises(RecordError, match="seed was 1, now 2"):
        check_header(tmp_path, {"seed": 2, "budget": 16}, frozenset({"budget"}))


def test_pauses_between_processes_are_not_time_spent(tmp_path: Path) -> None:
    clock = FakeClock(100.0)
    for _ in range(2):
        record = Record(tmp_path, clock)
        clock.advance(5)
        record.append(Proposed(at=(1, 0), action=Action(None)))
        record.close()
        clock.advance(1000)
    with Record(tmp_path, clock) as record:
        assert record.seconds == 10


def test_every_part_survives_the_round_trip_through_json(drive: Drive, tmp_path: Path) -> None:
    assert drive(tmp_path, "cuda-llm", "never") == 0
    with Record(tmp_path) as record:
        pass
    kinds = {type(line) for line in read_events(tmp_path)}
    assert {Opened, Proposed, Evaluated} < kinds
    assert record.evaluations[(1, 0)].timing is None or record.evaluations[(1, 0)].timing.confirmed
    assert len(record.actions) == record.planned == 9
