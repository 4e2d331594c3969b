"""Work for one candidate beside its admission, its races and its confirmation: sooner, and with the same checks."""

from __future__ import annotations

from functools import partial, reduce
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.ahead import started
from maxcode.core.phases import Profile, recording
from maxcode.core.types import Action, Case, Evaluation, Outcome, Problem, Program, ProgramSpec, State, Step
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.inputs.fresh import FAILED, MADE
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.run.evaluation import evaluate_source
from maxcode.run.request import Request
from maxcode.sandbox import lanes
from maxcode.sandbox.sandbox import Sandbox
from tests.support.rules import SHORT

SLOW = """#include <stdio.h>
int main(void) {
    int n = 0; long found = 0;
    scanf("%d", &n);
    for (int k = 0; k < n; k++) {
        long x = 0;
        scanf("%ld", &x);
        for (volatile int i = 0; i < ROUNDS; i++) found += x;
    }
    printf("%ld\\n", found);
    return 0;
}
"""
FAST = SLOW.replace("for (volatile int i = 0; i < ROUNDS; i++) found += x;", "found += ROUNDS * x;")
THREADS = """#include <pthread.h>
static void *nothing(void *of) { return of; }
__attribute__((constructor)) static void one_more(void) { pthread_t t; pthread_create(&t, 0, nothing, 0);
    pthread_join(t, 0); }
"""
FLAGS = (*language("c").default_flags, "-DROUNDS=20000000L", "-pthread")
GIVEN = ((40, 3, 5, 11, 8, 2, 6, 12, 21, 22, 30), (7, 9, 11, 13, 41, 2, 28, 30, 15, 1), (35, 17, 6, 25, 4, 3, 9, 20))


def problem_in(folder: Path, text: str = SLOW) -> Problem:
    cases = []
    for number, values in enumerate(GIVEN * 2):
        values = tuple(value + number for value in values)
        (folder / f"{number}.in").write_text(f"{len(values)}\n{' '.join(map(str, values))}\n")
        (folder / f"{number}.out").write_text(f"{20000000 * sum(values)}\n")
        cases.append(Case(str(number), str(folder / f"{number}.in"), str(folder / f"{number}.out")))
    spec = ProgramSpec(flags=FLAGS, seen=tuple(cases[:3]), held_out=tuple(cases[3:]))
    return Problem("sums", "program", "c", Program({"sums.c": text}), spec)


def judged(sandbox: Sandbox, problem: Problem, text: str, places: int = 1) -> tuple[Evaluation, Profile]:
    """The evaluation of one candidate as ``maxcode evaluate`` makes it, confirmed if it is faster."""

    async def work() -> Evaluation:
        lanes._places().total_tokens = places
        builder = Builder(sandbox, sandbox.cache, keeps=False)
        harness = ProgramEvaluator(sandbox, builder, SHORT, HarnessTerms(single=True))
        action = Action(Program({"sums.c": text}))
        refused, ahead = (
            partial(harness.refused_early, problem, action),
            partial(harness.work_ahead, problem, action, 9),
        )
        async with started(refused), started(ahead):
            admitted = await harness.admit(problem)
            found = await harness.evaluate(admitted.problem, action)
            if found.timing is None or not found.timing.significant:
                return found
            state = State(admitted.problem, State(admitted.problem), Step(action, found, 0.0), (1, 0))
            return (await harness.settle(admitted.problem, [state], None))[state.id]

    with recording() as recorder:
        found = anyio.run(work)
    return found, recorder.profile()


def counted(profile: Profile, stage: str, activity: str) -> int:
    return sum(one.count for one in profile.phases if (one.stage, one.activity) == (stage, activity))


@pytest.mark.slow
def test_a_faster_candidate_is_built_once_and_passes_every_check(sandbox: Sandbox, tmp_path: Path) -> None:
    found, profile = judged(sandbox, problem_in(tmp_path), FAST)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert found.timing.confirmed
    assert counted(profile, "evaluation", "build") == counted(profile, "confirmation", "build") == 0
    assert counted(profile, "evaluation", "verification") == 1, "while its problem is admitted, and not again"
    assert counted(profile, "confirmation", "verification") >= 1
    assert counted(profile, "confirmation/looks", "build") >= 2
    assert counted(profile, "admission", "profile of the program") == 0


def remembering() -> str:
    """A program that is right on the given inputs alone, in their order."""
    given = [[value + number for value in values] for number, values in enumerate(GIVEN * 2)]
    seen = sorted({reduce(lambda found, value: 31 * found + value, values, 0) for values in given})
    text = FAST.replace("found = 0;", "found = 0, seen = 0;").replace(
        "ROUNDS * x;", "ROUNDS * x, seen = 31 * seen + x;"
    )
    known = " && ".join(f"seen != {one}L" for one in seen)
    return text.replace("printf", f"if ({known}) found++;\n    printf")


@pytest.mark.sandbox
@pytest.mark.parametrize("places", [1, 3])
def test_a_possible_winner_is_looked_at_beside_its_fresh_inputs_where_there_are_several_places(
    sandbox: Sandbox, tmp_path: Path, places: int
) -> None:
    found, profile = judged(sandbox, problem_in(tmp_path), remembering(), places)
    assert (found.outcome, found.feedback.reasons) == (Outcome.WRONG, (FAILED,))
    assert any(one.stage.startswith("confirmation/looks") for one in profile.phases) is (places > 1)


@pytest.mark.sandbox
def test_a_candidate_that_fails_on_fresh_inputs_fails_while_it_is_timed(tmp_path: Path) -> None:
    remembers = remembering()
    problem_in(tmp_path)
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "new.c").write_text(remembers)
    request = Request(tmp_path / "slow.c", tmp_path, overrides={"flags": list(FLAGS)})
    found = evaluate_source(tmp_path / "new.c", request)
    assert (found.outcome, found.reasons) == (Outcome.WRONG, (FAILED,))
    assert MADE in found.notes


@pytest.mark.parametrize(("more", "leaves"), [("", True), (THREADS, False)])
def test_nothing_overlaps_with_an_original_that_starts_threads(
    sandbox: Sandbox, tmp_path: Path, more: str, leaves: bool
) -> None:
    async def work() -> bool:
        harness = ProgramEvaluator(sandbox, Builder(sandbox, sandbox.cache, keeps=False), SHORT)
        return await harness._leaves_cores(await harness.admit(problem_in(tmp_path, more + SLOW)))

    assert anyio.run(work) is leaves
