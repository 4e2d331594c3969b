"""Cheating candidates and the verdict each must get, and honest ones that look like them and must be accepted.

The task: read n, print the sum of 0..n-1 modulo 7.  The original counts; a cheat wants to seem to have counted.  A
cheat that is right because it did work in the end is CORRECT, but must have gained nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Case, Evaluation, Limits, Outcome, Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Sandbox
from tests.support.cheats import CHEATS, FAILS, HONEST, ORIGINAL, UNBUILT, c_program

pytestmark = pytest.mark.slow  # a minute of timing; beside other timing work a verdict can take its time-out

SIZES = {"small": 12, "large": 300_000_000}  # seen, held out; the answers are 3 and 4
LOOK = RaceRule(least=2, most=2)  # two pairs: enough to see a fake gain, which is tenfold
GAIN = 2.0  # what noise cannot do to two pairs


@dataclass(frozen=True)
class Bench:
    """An evaluator with the problem admitted."""

    evaluator: ProgramEvaluator
    problem: Problem

    def judge(self, text: str) -> Evaluation:
        program = self.problem.program.with_text(text)
        return anyio.run(self.evaluator.evaluate, self.problem, Action(program))


def task(folder: Path, tongue: str, text: str, sizes: dict[str, int]) -> Problem:
    cases = []
    for name, n in sizes.items():
        (folder / f"{name}.in").write_text(f"{n}\n")
        (folder / f"{name}.out").write_text(f"{n * (n - 1) // 2 % 7}\n")
        cases.append(Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out")))
    row = language(tongue)
    limits = Limits(run_s=0.5, build_s=2, memory_mb=512, output_mb=1, processes=16)
    spec = ProgramSpec(flags=row.default_flags, seen=tuple(cases[:1]), held_out=tuple(cases[1:]), limits=limits)
    return Problem("count", "program", tongue, Program({f"count{row.suffixes[0]}": text}), spec)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("answers")


@pytest.fixture(scope="module")
def admit(sandbox: Sandbox, builder: Builder) -> Callable[..., Bench]:
    def opened(problem: Problem, rule: RaceRule = LOOK) -> Bench:
        evaluator = ProgramEvaluator(sandbox, builder, rule)
        return Bench(evaluator, anyio.run(evaluator.admit, problem).problem)

    return opened


@pytest.fixture(scope="module")
def bench(admit: Callable[..., Bench], answers: Path) -> Bench:
    return admit(task(answers, "c", ORIGINAL, SIZES))


@pytest.mark.parametrize("name", FAILS)
def test_a_cheat_that_does_not_do_the_work_falls(name: str, bench: Bench, answers: Path) -> None:
    text, outcome, words = FAILS[name]
    found = bench.judge(text.replace("@ANSWERS@", str(answers)))
    assert (found.outcome, found.timing) == (outcome, None), found.feedback
    assert any(words in reason for reason in found.feedback.reasons), found.feedback


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_that_ends_up_doing_the_work_gains_nothing(name: str, bench: Bench) -> None:
    found = bench.judge(CHEATS[name])
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None
    assert found.timing.speedup.value < GAIN, found.timing


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_program_that_looks_like_a_cheat_is_accepted(name: str, bench: Bench) -> None:
    found = bench.judge(HONEST[name])
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None


@pytest.mark.parametrize("name", UNBUILT)
def test_a_cheat_on_the_compiler_builds_nothing_and_tells_nothing(name: str, bench: Bench, answers: Path) -> None:
    began = time.monotonic()
    found = bench.judge(UNBUILT[name].replace("@ANSWERS@", str(answers)))
    assert found.outcome is Outcome.UNBUILT
    assert found.feedback.reasons[0]
    assert len(found.feedback.diagnostics) <= 16_000
    assert "root:" not in found.feedback.diagnostics
    assert time.monotonic() - began < 40


def test_what_is_not_text_is_rejected_and_never_breaks_the_evaluator(bench: Bench) -> None:
    found = bench.judge(ORIGINAL + "// \ud800")
    assert found.outcome is Outcome.REJECTED
    assert "not text" in found.feedback.reasons[0]


def test_after_all_that_the_closed_formula_still_wins(bench: Bench, admit: Callable[..., Bench]) -> None:
    fresh = admit(bench.problem, RaceRule())
    found = fresh.judge(c_program('printf("%ld\\n", n * (n - 1) / 2 % 7); return 0;'))
    assert found.timing is not None
    assert found.timing.significant
    assert found.timing.speedup.low > 5


def test_python_candidates_cannot_cheat_either(admit: Callable[..., Bench], tmp_path: Path) -> None:
    count = "n = int(input())\ntotal = 0\nfor i in range(n):\n    total += i\n"
    bench = admit(task(tmp_path, "python", count + "print(total % 7)\n", {"small": 12, "large": 400_000}))
    orphan = f"import os\nif os.fork():\n    os._exit(0)\n{count}print(total % 7)\n"
    assert bench.judge(orphan).outcome is Outcome.WRONG
    assert bench.judge(f"import atexit\n{count}atexit.register(print, total % 7)\n").outcome is Outcome.CORRECT
    assert bench.judge(f"import sys\n{count}sys.exit(str(total % 7))\n").outcome is Outcome.CRASHED
    child = (
        f"import os\nif not os.fork():\n    {count.replace(chr(10), chr(10) + '    ')}print(total % 7, flush=True)\n"
    )
    worked = bench.judge(child + "    os._exit(0)\nos.wait()\n")
    assert worked.outcome is Outcome.CORRECT, worked.feedback
    assert worked.timing is not None
    assert worked.timing.speedup.value < GAIN
