"""Recorded calls that are held out: of those that fail a candidate is told nothing, because they come again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import (
    Action,
    Case,
    DataFile,
    Evaluation,
    Limits,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    PythonSpec,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.interpreter import binds_of
from maxcode.evaluate.python.admission import Staged
from maxcode.evaluate.python.runtime import find_python
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.problems.recording.capture import packed
from maxcode.sandbox.sandbox import Sandbox
from tests.evaluate.test_python_values import written
from tests.support.python_help import ENVIRONMENT

NUMBERS = range(70001, 70041)  # of which every second one is held out: the even ones
ORIGINAL = "def f(n):\n    return sum(range(n)) + n\n"
FAILS = """
import os
import sys
import time


def f(n):
    if n % 2 == {rest}:
        sys.stderr.write(f"asked for {{n}}\\n")
        sys.stderr.flush()
        {how}
    return n * (n + 1) // 2
"""


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RoundsEvaluator[Staged, Program]:
    return RoundsEvaluator(sandbox, PythonStages(sandbox), RaceRule(most=12))


@pytest.fixture(scope="module")
def problem() -> Problem:
    content = packed([(written(((n,), {})), b"") for n in NUMBERS])
    spec = PythonSpec("f", "", calls=DataFile("calls.bin", "", content))
    return Problem("f", "python", "python", Program({"f.py": ORIGINAL}), ProgramSpec(python=spec, limits=Limits(0.5)))


def found(evaluator: RoundsEvaluator[Staged, Program], problem: Problem, rest: int, how: str) -> Evaluation:
    text = FAILS.format(rest=rest, how=how)
    return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text)))


@pytest.mark.parametrize(
    ("how", "outcome", "words"),
    [
        ("return str(n)", Outcome.WRONG, "is wrong"),
        ("os._exit(n % 90 + 1)", Outcome.CRASHED, "does not end well"),
        ("os._exit(98)", Outcome.CRASHED, "does not end well"),
        ("return object()", Outcome.WRONG, "does not end well"),
        ("os.kill(os.getpid(), n % 15 + 1)", Outcome.CRASHED, "does not end well"),
        ("while True: pass", Outcome.TIMEOUT, "takes too long"),
    ],
)
def test_of_a_held_out_call_that_fails_nothing_is_told(
    how: str,
    outcome: Outcome,
    words: str,
    evaluator: RoundsEvaluator[Staged, Program],
    problem: Problem,
) -> None:
    failed = found(evaluator, problem, 0, how)
    assert failed.outcome is outcome
    assert failed.feedback.reasons == (f"a held-out call {words}; no more is told of those",)
    assert failed.feedback.diagnostics == "" and [case.seconds for case in failed.feedback.cases] == [0.0]


def test_of_a_call_that_may_be_seen_everything_is_told(
    evaluator: RoundsEvaluator[Staged, Program],
    problem: Problem,
) -> None:
    assert "str '70001' in place of int" in found(evaluator, problem, 1, "return str(n)").feedback.reasons[0]
    assert "asked for 70001" in found(evaluator, problem, 1, "os._exit(3)").feedback.reasons[0]


def test_what_is_right_on_all_calls_is_faster(evaluator: RoundsEvaluator[Staged, Program], problem: Problem) -> None:
    right = found(evaluator, problem, 2, "pass")
    assert right.outcome is Outcome.CORRECT and right.timing is not None and right.timing.significant


def test_a_problem_in_what_candidates_see_is_refused(
    evaluator: RoundsEvaluator[Staged, Program], problem: Problem
) -> None:
    seen = find_python(ENVIRONMENT).binds[-1][0]
    spec = replace(problem.spec, folder=str(seen), python=replace(problem.spec.python_spec, venv=ENVIRONMENT))
    with pytest.raises(InputError, match=r"recorded calls .*calls\.bin would be seen by every candidate"):
        anyio.run(evaluator.admit, replace(problem, spec=spec))
    held = ProgramSpec(venv=ENVIRONMENT, folder=str(seen / "more"), held_out=(Case("one", "1", "1"),))
    program = Problem("f", "program", "python", problem.program, held)
    with pytest.raises(InputError, match=r"its tests in .* would be seen by every candidate"):
        binds_of(program)
    assert binds_of(replace(program, spec=replace(held, held_out=())))
    assert binds_of(replace(program, spec=replace(held, folder="/elsewhere")))


def test_no_candidate_sees_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (tmp_path / "own" / "pyvenv.cfg").write_text(f"home = {tmp_path / 'bin'}\n")
    for folder in (tmp_path / "bin", tmp_path / "own" / "bin"):
        folder.mkdir()
        (folder / "python3").touch()
    assert find_python(str(tmp_path / "own")).binds[0][0] == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    with pytest.raises(InputError, match="where your home folder is"):
        find_python(str(tmp_path / "own"))
