"""A cap on seconds ends the run while a candidate is being measured, and a larger cap takes it up again."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import anyio
import pytest

from maxcode.core.budget import Caps
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.types import Action, Observation, Program
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Evaluated, Launched, Proposed, Record, Settled, read_events
from maxcode.sandbox.lanes import timing_lane
from maxcode.search import BestOfN
from maxcode.testing import Table, toy_problem
from tests.support.cli import answer, maxcode
from tests.support.counting import BY_FOUR, LOOP, SLOW

POLICY = f"""
from maxcode import Action

class ByFour:
    async def propose(self, observation):
        text = observation.state.problem.program.text.replace({LOOP!r}, {BY_FOUR!r})
        return Action(observation.state.program.with_text(text), f"by four({{observation.draw}})")
"""
LONG = 3_000_000_000  # about a second: no race of this ends within two
STOPPED = "a candidate was stopped before it was measured; repeat the command with a larger cap to go on"


@pytest.mark.sandbox
def test_the_seconds_end_a_candidate_that_is_being_timed_and_the_run_is_whole(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "policy.py").write_text(POLICY)
    (tmp_path / "tests").mkdir()
    for name, n in (("1", 10), ("2", LONG)):
        (tmp_path / "tests" / f"{name}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{name}.out").write_text(f"{n * (n - 1) // 2}\n")
    words = ["optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:ByFour", "--method", "best-of-n",
             "--budget", "1", "--max-seconds", "2", "--out", "run", "--json"]  # fmt: skip
    told = answer(maxcode(*words, cwd=tmp_path))
    assert told["candidates"] == 0
    assert told["why"].startswith("the run ended before a candidate was measured; ")
    assert [note for note in told["notes"] if note.endswith(f"of 2 seconds are spent; {STOPPED}")]
    lines = list(read_events(tmp_path / "run"))
    assert [line.dropped for line in lines if isinstance(line, Settled)] == [(0,)]
    assert not [line for line in lines if isinstance(line, Evaluated)]
    assert json.loads((tmp_path / "run" / "result.json").read_text())["candidates"] == 0
    assert STOPPED in (tmp_path / "run" / "report.html").read_text()
    assert answer(maxcode(*words, cwd=tmp_path))["candidates"] == 0, "the same cap is spent already"


class Counted:
    """Proposes a text for each draw; ``draws`` are those that it was asked with."""

    def __init__(self) -> None:
        self.draws: list[int] = []

    async def propose(self, observation: Observation) -> Action:
        self.draws.append(observation.draw)
        return Action(Program({"toy.py": str(observation.draw)}), "one")


def searched(policy: Counted, folder: Path, seconds: float) -> Result:
    """A search of two candidates whose second one takes until it is stopped."""

    async def before(text: str) -> None:
        if policy.draws[:2] == [policy.draws[0], int(text)]:
            await anyio.sleep(3600 if seconds < 100 else 0)

    method = Method(policy, BestOfN(n=2, width=1), compose())
    with Record(folder) as record:
        run = Run(2, record=record, caps=Caps(seconds=seconds), concurrency=1)
        return optimize(toy_problem(), method, Table(rule=lambda text: 2.0, before=before), run)


def test_the_wait_for_another_run_is_not_counted_also_after_a_resume(tmp_path: Path) -> None:
    """Another process holds the timing lane for longer than the cap."""
    lane = tmp_path / "lane.lock"

    async def before(text: str) -> None:
        async with timing_lane(lane):
            pass

    def searched(budget: int, record: Record) -> Result:
        method = Method(Counted(), BestOfN(n=2, width=1), compose())
        run = Run(budget, record=record, caps=Caps(seconds=4), concurrency=1)
        return optimize(toy_problem(), method, Table(rule=lambda text: 2.0, before=before), run)

    holding = ["flock", str(lane), "sh", "-c", "echo held; sleep 7"]
    with subprocess.Popen(holding, stdout=subprocess.PIPE) as holder, Record(tmp_path / "run") as record:
        assert holder.stdout is not None
        holder.stdout.readline()
        began = time.monotonic()
        found = searched(1, record)
        assert time.monotonic() - began > 4, "the run took longer than its cap"
    assert found.reached.candidates == 1 and not found.ended
    with Record(tmp_path / "run") as record:
        again = searched(2, record)
    assert again.reached.candidates == 2 and not again.ended
    assert found.spent.seconds <= again.spent.seconds < 4, "seconds of work"


def test_a_larger_cap_asks_again_for_the_candidate_that_was_stopped(tmp_path: Path) -> None:
    first, again = Counted(), Counted()
    cut = searched(first, tmp_path, 3.0)
    assert cut.reached.candidates == 1 and cut.ended.endswith(STOPPED)
    whole = searched(again, tmp_path, 1e6)
    assert whole.reached.candidates == 2 and not whole.ended
    assert again.draws == first.draws[1:], "the same draw, so a model's recorded answer is used again"
    lines = list(read_events(tmp_path))
    assert sum(isinstance(line, Launched) for line in lines) == sum(isinstance(line, Proposed) for line in lines) == 3


def test_a_larger_cap_takes_the_answer_of_the_stopped_one_of_several_not_that_of_its_sibling(tmp_path: Path) -> None:
    def run(policy: Counted, seconds: float, stopped: list[str]) -> Result:
        async def before(text: str) -> None:
            if len(policy.draws) == 2 and seconds < 100:  # the second one is under way, and the third not yet asked
                stopped.append(text)
            if text in stopped and seconds < 100:
                await anyio.sleep(3600)

        method = Method(policy, BestOfN(n=4, width=4), compose())
        with Record(tmp_path) as record:
            asked = Run(4, record=record, caps=Caps(seconds=seconds))
            return optimize(toy_problem(), method, Table(rule=lambda text: 2.0, before=before), asked)

    first, again = Counted(), Counted()
    stopped: list[str] = []
    cut = run(first, 2.0, stopped)
    assert (cut.reached.candidates, len(first.draws), stopped) == (3, 4, [str(first.draws[1])])
    assert run(again, 1e6, stopped).reached.candidates == 4
    assert again.draws == [first.draws[1]]
