"""``--total-seconds`` bounds a whole command: what does not fit is named, and a repeated command goes on with it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.run.deadline import Deadline
from maxcode.run.evaluation import Judging, measured
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.run.result import RunResult
from maxcode.sandbox.sandbox import Blob
from maxcode.testing import Table, toy_problem
from maxcode.testing.nodes import MACHINE
from tests.support.cli import maxcode
from tests.support.counting import QUARTER, SLOW
from tests.support.table_machine import TableHarness, TableMachine

GIVES = '''
from maxcode import Action

class Gives:
    """Proposes the program beside it."""

    async def propose(self, observation):
        return Action(observation.state.program.with_text(TEXT), "- faster")
'''


@dataclass
class HangsAtConfirmation:
    """What a table runs first: the evaluation is quick, and every later look at the program hangs."""

    looks: int = 0

    async def __call__(self, text: str) -> None:
        self.looks += 1
        await anyio.sleep(0 if self.looks == 1 else 60)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "quarter.c").write_text(QUARTER)
    (tmp_path / "policy.py").write_text(GIVES.replace("TEXT", repr(QUARTER)))
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((10, 400_000_000)):
        (tmp_path / "tests" / f"{number}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    return tmp_path


def table_run(place: Path, seconds: float, table: Table) -> RunResult:
    request = Request(
        place / "slow.c",
        place / "tests",
        policy=f"{place / 'policy.py'}:Gives",
        method="best-of-n",
        budget=1,
        out=place / "run",
        certificate=False,
        total_seconds=seconds,
    )
    return optimize_source(request, on=TableMachine(table))


def test_a_confirmation_that_does_not_fit_is_named_and_the_same_command_with_more_seconds_makes_it(place: Path) -> None:
    began = time.monotonic()
    cut = table_run(place, 6.0, Table(rule=lambda text: 1.8, before=HangsAtConfirmation(), confirmed=False))
    assert time.monotonic() - began < 20
    assert cut.why is not None and cut.why.startswith("not confirmed: the time ended (--total-seconds 6) before ")
    assert "1.80x" in cut.why and cut.why.endswith("repeat the command with more seconds")
    assert cut.outcome is Outcome.CORRECT and not cut.confirmed and not cut.trusted and cut.candidates == 1
    (line,) = [one for one in str(cut).splitlines() if one.startswith("speed-up")]
    assert line == f"speed-up   none: {cut.why}"
    outcome = str(cut).splitlines()[0]
    assert outcome == "outcome    correct (the original: no candidate was confirmed to be faster)"
    (spent,) = [one for one in str(cut).splitlines() if one.startswith("time ")]
    assert "search " in spent or "confirmation " in spent
    looks = HangsAtConfirmation()
    full = table_run(place, 60.0, Table(rule=lambda text: 1.8, before=looks.__call__))
    assert looks.looks == 1, "the candidate is in the record: only the confirmation is made"
    assert str(full).startswith("outcome    correct\n")
    assert full.confirmed and full.candidates == 1 and "the time ended" not in str(full)


def test_the_search_leaves_time_for_what_comes_after_it(place: Path) -> None:
    given = Input("1", Blob.of(b"1"), b"1", "held_out", seconds=0.2)
    admitted = Admitted(toy_problem(), (given,), (given,), Built(None, ""), Evaluation(Outcome.CORRECT))
    whole = Deadline(1000.0)
    whole.keep_for(admitted, 10.0, certifies=True)
    alone = Deadline(1000.0)
    alone.keep_for(admitted, 10.0, certifies=False)
    assert 25 < whole.reserve - alone.reserve < 100 and 5 < alone.reserve < 30
    short = Deadline(20.0)
    short.keep_for(admitted, 10.0, certifies=True)
    assert 9 < short.reserve <= 10, "the search gets half of it"
    short.began -= 11
    assert short.left > 8 and short.refusal() == (
        "11 of 20 seconds of --total-seconds are spent, and about 10 are kept for the confirmation and the certificate"
    )
    assert Deadline().refusal() is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_no_number_of_seconds_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match=r"--total-seconds is .*; give a number above 0, or leave it out"):
        Deadline(seconds)


def judged(before: HangsAtConfirmation, seconds: float) -> tuple[str | None, bool]:
    """Why a candidate of a table is not confirmed, and whether it is trusted."""
    table = Table(rule=lambda text: 1.8, before=before, confirmed=False)
    problem = toy_problem()
    admitted = Admitted(problem, (), (), Built(None, ""), Evaluation(Outcome.CORRECT))
    action, how = Action(problem.program.with_text("1")), Judging(deadline=Deadline(seconds))
    found = anyio.run(measured, TableHarness(table), admitted, MACHINE, action, how).result(())
    return found.why, found.trusted


def test_a_judgement_that_does_not_fit_is_an_error_and_one_that_is_not_confirmed_says_so() -> None:
    with pytest.raises(InputError, match=r"the time ended \(--total-seconds 0.5\) before the candidate was judged"):
        judged(HangsAtConfirmation(looks=1), 0.5)
    why, trusted = judged(HangsAtConfirmation(), 3.0)
    assert why == (
        "not confirmed: the time ended (--total-seconds 3) before it was timed again on fresh pairs; give more seconds"
    )
    assert not trusted


@pytest.mark.sandbox
def test_an_admission_that_does_not_fit_ends_with_the_time(place: Path) -> None:
    ran = maxcode("evaluate", "quarter.c", "--against", "slow.c", "--tests", "tests", "--total-seconds", 0.3, cwd=place)
    assert ran.returncode == 2 and ran.stdout == ""
    assert "the time ended (--total-seconds 0.3) during the admission of the original" in ran.stderr


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_certificate_that_does_not_fit_is_a_doubt_and_the_same_command_makes_it(place: Path) -> None:
    words = ("optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:Gives", "--method", "best-of-n",
             "--budget", "1", "--out", "run", "--json")  # fmt: skip
    first = json.loads(maxcode(*words, "--no-certificate", cwd=place).stdout)
    assert first["confirmed"] and first["trusted"] and "certificate" not in first
    seconds = 2 * first["times"]["admission"] + 6  # enough to admit it again, and not to time it three times
    began = time.monotonic()
    ran = maxcode(*words, "--total-seconds", seconds, "--fail-on", "doubt", cwd=place)
    assert time.monotonic() - began < seconds + 10
    cut = json.loads(ran.stdout)
    assert ran.returncode == 1 and cut["confirmed"] and not cut["trusted"] and "certificate" not in cut
    (doubt,) = cut["doubts"]
    assert doubt.startswith("not certified: the time ended (--total-seconds ") and "more seconds" in doubt
    assert doubt in (place / "run" / "report.html").read_text()
    whole = json.loads(maxcode(*words, "--total-seconds", 600, cwd=place).stdout)
    assert whole["trusted"] and Path(place, whole["certificate"]).exists() and whole["speedup"] == first["speedup"]
