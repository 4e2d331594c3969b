"""Winners are verified on inputs nobody saw, looked at again where they are too good, and told of their defects."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from maxcode.evaluate.build import Builder
from maxcode.evaluate.prepare import Admitted
from maxcode.evaluate.program import ProgramEvaluator
from maxcode.evaluate.sandbox import Sandbox
from maxcode.evaluate.unseen import FAILED
from maxcode.languages import language
from maxcode.types import Action, Case, Evaluation, Limits, Outcome, Problem, Program, ProgramSpec, State, Step

SLOW = r"""#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    long *a = malloc((n + 1) * sizeof *a), best = 0;
    for (int i = 0; i < n; i++) if (scanf("%ld", &a[i]) != 1) return 1;
    for (int i = 0; i < n; i++) {
        long sum = 0;
        for (int j = i; j < n; j++) {
            sum += a[j];
            if (sum > best) best = sum;
            __asm__ volatile("" : "+r"(sum));
        }
    }
    printf("%ld\n", best);
    return 0;
}
"""
FAST = r"""#include <stdio.h>
int main(void) {
    int n;
    long best = 0, here = 0, x;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 0; i < n; i++) {
        if (scanf("%ld", &x) != 1) return 1;
        here = here + x > 0 ? here + x : 0;
        if (here > best) best = here;
    }
    printf("%ld\n", best);
    return 0;
}
"""
SIZES = (1, 5, 12, 40, 3000, 12_000, 14_000, 16_000)


def answer(numbers: Sequence[int]) -> int:
    best = here = 0
    for number in numbers:
        here = max(0, here + number)
        best = max(best, here)
    return best


def problem_of(folder: Path, sizes: Sequence[int], program: str = SLOW, name: str = "sums.c") -> Problem:
    """The largest sum of neighbours, with its tests; the larger half is held out."""
    rng, cases = random.Random(7), []
    for number, n in enumerate(sizes):
        numbers = [rng.randint(-100, 100) for _ in range(n)]
        case = Case(f"{number:02}", str(folder / f"{number}.in"), str(folder / f"{number}.out"))
        Path(case.stdin).write_text(f"{n}\n{' '.join(map(str, numbers))}\n")
        Path(case.expected or "").write_text(f"{answer(numbers)}\n")
        cases.append(case)
    half = len(cases) // 2
    spec = ProgramSpec(
        flags=language("c").default_flags,
        seen=tuple(cases[:half]),
        held_out=tuple(cases[half:]),
        limits=Limits(run_s=10, output_mb=4),
    )
    return Problem("sums", "program", "c", Program({name: program}), spec)


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder)


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    return problem_of(tmp_path_factory.mktemp("sums"), SIZES)


@pytest.fixture(scope="module")
def admitted(bench: ProgramEvaluator, problem: Problem) -> Admitted:
    return anyio.run(bench.admit, problem)


@pytest.fixture(scope="module")
def judge(bench: ProgramEvaluator, admitted: Admitted) -> Callable[[str], tuple[Evaluation, Evaluation]]:
    """What the search is told of a program, and what remains of it when it would lead."""

    async def both(text: str) -> tuple[Evaluation, Evaluation]:
        action = Action(admitted.problem.program.with_text(text))
        found = await bench.evaluate(admitted.problem, action)
        state = State(admitted.problem, State(admitted.problem), Step(action, found, 1.0), (1, 0))
        return found, (await bench.settle(admitted.problem, [state], None))[state.id]

    return lambda text: anyio.run(both, text)


def memorised(admitted: Admitted) -> str:
    """A program that knows the answer to every given test, by its length and first number, and says 0 to all else."""
    known = []
    for given in admitted.inputs:
        words = given.stdin.read().split()
        known.append(f"if (n == {int(words[0])} && x == {int(words[1])}) best = {int(given.expected or b'0')};")
    return FAST.replace('printf("%ld', f'best = 0; {" ".join(known)}\n    printf("%ld').replace(
        "for (int i = 0; i < n; i++) {", "for (int i = 0; i < 1; i++) {"
    )


def test_a_program_that_knows_the_answers_passes_every_test_and_fails_on_what_nobody_saw(
    admitted: Admitted, judge: Callable[[str], tuple[Evaluation, Evaluation]]
) -> None:
    found, settled = judge(memorised(admitted))
    assert found.outcome is Outcome.CORRECT
    assert settled.outcome is Outcome.WRONG
    assert settled.feedback.reasons == (FAILED,)
    assert settled.feedback.cases == ()
    assert settled.timing is None


def test_an_honest_program_far_faster_than_the_original_passes_the_harsher_verification(
    bench: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], tuple[Evaluation, Evaluation]]
) -> None:
    _, settled = judge(FAST)
    assert settled.timing is not None
    assert settled.timing.confirmed
    assert settled.timing.speedup.low > 10
    assert settled.warnings == ()
