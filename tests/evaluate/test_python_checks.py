"""The user's ``is_solution``: which results of a Python function it is asked about, within what time, what is told."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Limits, Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.ladder.original_runs import OriginalRuns, counted_in
from maxcode.evaluate.ladder.race import Side
from maxcode.evaluate.python import checking, making, sides
from maxcode.evaluate.python.admission import Staged
from maxcode.evaluate.python.checking import Given, unlike
from maxcode.evaluate.python.sides import Checks
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.python.track import open_track
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.evaluate.rounds.round import VERIFY_ROUNDS, RoundFailed, after
from maxcode.run.admission import Watch
from maxcode.sandbox.sandbox import Sandbox
from tests.support.python_help import problem_of

SQUARE = """
def square(n):
    for _ in range(60_000):
        pass
    return n * n
"""
NUMBERS = "def inputs(seed, size):\n    return (seed % 1000 + 5,)\n"
DEAR = """
def is_solution(n, result):
    for _ in range(1_500_000):
        pass
    return result in (n * n, -n * n)
"""
NEGATIVE = "def square(n):\n    return -n * n\n"  # right, but not the original's result
# honest as long as its session is verified, then wrong in three calls of four
COUNTS = """
CALLS = 0

def square(n):
    global CALLS
    CALLS += 1
    return -1 if CALLS > {honest} and CALLS % 4 else -n * n
"""
HANGS = "def is_solution(n, result):\n    while True:\n        pass\n"
# is_solution sees one row in two places, and a table that all calls return
TABLED = """
from fractions import Fraction

TABLE = [[n] for n in range(3)]

def tabled(n):
    row, half = [n], Fraction(1, 2)
    return [row, "x", row, TABLE, half]
"""
SEES_ROWS = """
def is_solution(n, result):
    row, _, again, table, half = result
    return row is again and row in ([n], [-n]) and table == [[0], [1], [2]] and half == 0.5
"""
OTHER_ROWS = TABLED.replace("[n], Fraction(1, 2)", "[-n], HALF").replace("def", "HALF = Fraction(1, 2)\n\ndef")
APART = TABLED.replace("TABLE, half", "[one[:] for one in TABLE], half")
CORES = range(1, len(os.sched_getaffinity(0)) + 1)


@pytest.fixture(scope="module")
def stages(sandbox: Sandbox) -> PythonStages:
    return PythonStages(sandbox, prompts=False)


@pytest.fixture(scope="module")
def dear(stages: PythonStages) -> Staged:
    return anyio.run(stages.admit, problem_of(SQUARE, NUMBERS, check=DEAR))


def evaluated(sandbox: Sandbox, stages: PythonStages, problem: Problem, text: str) -> Evaluation:
    evaluator = RoundsEvaluator(sandbox, stages, RaceRule(most=12))
    return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text)))


def parts(*results: bytes) -> list[Given]:
    return [Given(memoryview(b""), [memoryview(one)], []) for one in results]


def test_results_that_are_the_originals_are_not_asked_about() -> None:
    assert unlike(parts(b"a", b"b", b"c"), parts(b"a", b"b", b"c")) == []
    assert unlike(parts(b"a", b"b", b"c"), parts(b"a", b"x", b"c")) == [1]
    assert unlike(parts(b"a"), [Given(memoryview(b""), [memoryview(b"a"), memoryview(b"")], [])]) == [0]


@pytest.mark.sandbox
def test_of_a_dear_check_one_half_of_a_timed_round_is_asked_about_and_all_of_others(dear: Staged) -> None:
    assert dear.layout.checks == "half"
    assert "one half in timed rounds, drawn in secret" in " ".join(dear.admitted.notes)
    original = dear.problem.program
    negative = original.with_text(NEGATIVE)

    async def asked(candidate: Program, timed: bool) -> int:
        both: dict[Side, Program] = {"original": original, "candidate": candidate}
        async with open_track(dear.stage, dear.layout, both) as track:
            for _ in range(3):
                await track.round(timed=timed)
            assert track.checker is not None
            return len(track.checker.spent_s)

    slots = dear.layout.slots
    assert anyio.run(asked, original, True) == anyio.run(asked, original, False) == 0
    assert anyio.run(asked, negative, True) == 3 * -(-slots // 2)
    assert anyio.run(asked, negative, False) == 3 * slots


@pytest.mark.sandbox
def test_who_is_wrong_in_timed_rounds_alone_is_found(sandbox: Sandbox, stages: PythonStages, dear: Staged) -> None:
    """Three calls in four are wrong there: all pass with a probability below 2^-24."""
    text = COUNTS.format(honest=VERIFY_ROUNDS * dear.layout.calls)
    found = evaluated(sandbox, stages, dear.problem, text)
    assert found.outcome is Outcome.WRONG
    assert "is_solution refuses its result, int -1" in found.feedback.reasons[0]
    right = evaluated(sandbox, stages, dear.problem, NEGATIVE)
    assert right.outcome is Outcome.CORRECT and right.timing is not None and right.timing.significant


def round_of(stages: PythonStages, original: str, candidate: str, checks: Checks) -> None:
    """A timed round of results in which objects stand twice."""
    staged = anyio.run(stages.admit, problem_of(original, NUMBERS, "tabled", SEES_ROWS))
    layout, program = replace(staged.layout, checks=checks), staged.problem.program
    assert layout.slots > 1 and layout.batch > 1

    async def called() -> None:
        both: dict[Side, Program] = {"original": program, "candidate": program.with_text(candidate)}
        async with open_track(staged.stage, layout, both) as track:
            for _ in range(3):
                await track.round(timed=True)
            assert track.checker is not None and track.checker.spent_s

    anyio.run(called)


@pytest.mark.sandbox
@pytest.mark.parametrize("checks", ["all", "half"])
def test_objects_that_stand_twice_in_a_result_or_in_all_are_seen_in_every_part(
    stages: PythonStages, checks: Checks
) -> None:
    round_of(stages, TABLED, OTHER_ROWS, checks)
    with pytest.raises(RoundFailed, match="is_solution refuses its result, list"):
        round_of(stages, TABLED, OTHER_ROWS.replace("TABLE, half", "TABLE.append(TABLE) or TABLE, half"), checks)


@pytest.mark.sandbox
def test_an_object_of_an_earlier_result_is_refused_where_the_originals_holds_none(stages: PythonStages) -> None:
    round_of(stages, APART, OTHER_ROWS.replace("TABLE, half", "[[0], [1], [2]], half"), "all")  # all have one HALF
    with pytest.raises(RoundFailed, match="its result holds an object of an earlier result, and the original's does"):
        round_of(stages, APART, OTHER_ROWS, "all")


SORTS = """
def ordered(values):
    found = []
    for one in values:
        at = 0
        while at < len(found) and found[at] < one:
            at += 1
        found.insert(at, one)
    return found
"""
IN_PLACE = "def ordered(values):\n    values.sort()\n    return values\n"
LISTS = """
import random

def inputs(seed, size):
    return ([random.Random(seed + at).randrange(1000) for at in range(300)],)
"""
IS_ORDERED = "def is_solution(values, result):\n    return result == sorted(values)\n"


@pytest.mark.sandbox
def test_who_owns_its_arguments_may_change_them_and_the_check_gets_them_as_they_were(
    sandbox: Sandbox, stages: PythonStages
) -> None:
    kept = problem_of(SORTS, LISTS, check=IS_ORDERED)
    python = replace(kept.spec.python_spec, own_arguments=True)
    owned = replace(kept, spec=replace(kept.spec, python=python))
    refused, taken = (evaluated(sandbox, stages, one, IN_PLACE) for one in (kept, owned))
    assert refused.outcome is Outcome.WRONG and "it changes its arguments otherwise" in refused.feedback.reasons[0]
    assert taken.outcome is Outcome.CORRECT, taken.feedback.reasons
    emptied = evaluated(sandbox, stages, owned, "def ordered(values):\n    values.clear()\n    return values\n")
    assert emptied.outcome is Outcome.WRONG and "is_solution refuses its result" in emptied.feedback.reasons[0]


@pytest.mark.sandbox
def test_the_seed_of_a_wrong_call_is_told_and_makes_its_inputs_again(sandbox: Sandbox, stages: PythonStages) -> None:
    problem = problem_of(SORTS, LISTS, check=IS_ORDERED)
    found = evaluated(sandbox, stages, problem, "def ordered(values):\n    return [*values]\n")
    said = re.search(r"\(inputs of the seed (\d+)\): is_solution refuses its result, list", found.feedback.reasons[0])
    assert said is not None, found.feedback.reasons
    known: dict[str, Any] = {}
    exec(LISTS, known)
    assert known["inputs"](int(said[1]), 0)[0] != sorted(known["inputs"](int(said[1]), 0)[0])


@pytest.mark.sandbox
def test_with_one_thread_there_is_one_processor(stages: PythonStages) -> None:
    """For pools of threads, which ask how many there are."""
    text = "import os\n\n\ndef counted(n):\n    return n, os.cpu_count()\n"
    problem = problem_of(text, NUMBERS, check="def is_solution(n, result):\n    return result == (n, 1)\n")
    assert anyio.run(stages.admit, problem).problem.goal == "cpu"


@pytest.mark.sandbox
def test_a_check_that_takes_too_long_is_refused_in_the_admission_with_its_cure(
    stages: PythonStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_CHECK_S", 0.5)
    with pytest.raises(
        InputError, match=r"is_solution takes more than 0\.5 s for one result .* make is_solution faster"
    ):
        anyio.run(stages.admit, problem_of(SQUARE, NUMBERS, check=HANGS))


@pytest.mark.sandbox
def test_a_check_that_ends_for_the_original_alone_is_the_candidates_fault(
    sandbox: Sandbox, stages: PythonStages, dear: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "START_S", 5.0)
    hangs = DEAR.replace("    return", "    while {}:\n        pass\n    return")

    async def raced(check: str, text: str) -> None:
        python = replace(dear.problem.spec.python_spec, check=check)
        spec = replace(dear.problem.spec, python=python, limits=Limits(run_s=0.1))
        problem = replace(dear.problem, spec=spec)
        staged = replace(dear, stage=replace(dear.stage, problem=problem))
        original = problem.program
        await stages.run(staged, {"original": original, "candidate": original.with_text(text)}, after(2), VERIFY_ROUNDS)

    with pytest.raises(RoundFailed, match="is_solution failed on its results") as failed:
        anyio.run(raced, hangs.format("result < 0"), NEGATIVE)
    assert failed.value.side == "candidate"
    with pytest.raises(InputError, match="does not end in time on results of the original itself"):
        anyio.run(raced, hangs.format("True"), NEGATIVE)
    anyio.run(raced, hangs.format("True"), SQUARE + "\n")  # the same results: nobody asks


@pytest.mark.sandbox
def test_inputs_that_take_long_to_make_are_made_by_several_processes(
    stages: PythonStages, dear: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dear.layout.makers == 1
    monkeypatch.setattr(making, "LONG_S", 0.0)
    staged = anyio.run(stages.admit, problem_of(SQUARE, NUMBERS))
    assert staged.layout.makers == max(one for one in CORES if staged.layout.slots % one == 0)
    assert staged.degenerate == (), "every call has inputs of its own"


@pytest.mark.sandbox
def test_a_long_admission_tells_what_takes_the_time(stages: PythonStages) -> None:
    runs = OriginalRuns()
    with counted_in(runs):
        anyio.run(stages.admit, problem_of(SQUARE, NUMBERS, check=DEAR.replace("1_500_000", "6_000_000")))
    words, seconds = runs.spent
    assert words == "is_solution, the check of results," and seconds > 0.3
    said = f"admission: {words} {seconds:.0f} of {seconds * 1.5:.0f} s so far; Ctrl-C stops"
    assert Watch(runs=runs)._words(seconds * 1.5) == said
    assert Watch(runs=runs)._words(seconds * 3) == f"admission: {seconds * 3:.0f} s so far; Ctrl-C stops"
