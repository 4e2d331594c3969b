"""The suite for evaluators: ours pass it, and one that breaks the contract is told how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from maxcode import Evaluation, Outcome
from maxcode.core.types import Action, Problem, Program
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.testing import Exam, Table, exact_timing, toy_problem, violations
from tests.support.counting import FAST, SLOW

TABLE = Table({"0": 1.0, "fast": 2.0, "slow": 0.5})
EXAM = Exam(toy_problem("0"), *(Program({"toy.py": text}) for text in ("fast", "slow", "no such")))


def test_the_table_evaluator_keeps_the_contract() -> None:
    assert anyio.run(violations, TABLE, EXAM) == []


@dataclass(frozen=True)
class TimesAnything:
    """Times programs that are wrong, and measures against the incumbent."""

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        found = await TABLE.evaluate(problem, action)
        if found.outcome is Outcome.WRONG:
            return replace(found, timing=exact_timing(1.5))
        return replace(found, timing=exact_timing(1.5)) if incumbent is not None else found


def test_an_evaluator_that_breaks_the_contract_is_told_how() -> None:
    told = anyio.run(violations, TimesAnything(), EXAM)
    assert "wrong: a wrong program was timed" in told
    assert "against_the_original: a slower program was called faster" in told


@pytest.mark.slow
def test_the_evaluator_of_this_machine_keeps_it(sandbox_evaluator: ProgramEvaluator, tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((10, 150_000_000, 200_000_000)):
        (tmp_path / "tests" / f"{number}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    problem = load(tmp_path / "slow.c", tmp_path / "tests", {}).problem
    twice = SLOW.replace(
        "sum += i;", 'sum += i; __asm__ volatile("" : "+r"(sum)); sum += 0; __asm__ volatile("" : "+r"(i));'
    )
    exam = Exam(
        problem, *(problem.program.with_text(text) for text in (FAST, twice, SLOW.replace("sum = 0", "sum = 1")))
    )
    assert anyio.run(violations, sandbox_evaluator, exam, sandbox_evaluator) == []
