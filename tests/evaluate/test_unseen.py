"""Winners are verified on inputs nobody saw, looked at again where they are too good, and told of their defects."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.cli.common import show
from maxcode.code.languages import language
from maxcode.core.phases import recording
from maxcode.core.types import (
    Action,
    Case,
    Evaluation,
    Limits,
    Machine,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    Step,
)
from maxcode.evaluate.inputs.fresh import FAILED, FreshInputs
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.evaluate.program.plausibility import VETO, Examiner
from maxcode.run.candidate_result import result_of
from maxcode.run.certificate.doubts import findings_of
from maxcode.sandbox.sandbox import Sandbox
from tests.support.rules import SHORT

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
static long number(void) {
    int c = getchar_unlocked(), minus = 0;
    while (c != '-' && (c < '0' || c > '9')) {
        if (c < 0) return 0;
        c = getchar_unlocked();
    }
    if (c == '-') minus = 1, c = getchar_unlocked();
    long value = 0;
    while (c >= '0' && c <= '9') value = 10 * value + c - '0', c = getchar_unlocked();
    return minus ? -value : value;
}
int main(void) {
    int n = (int)number();
    long best = 0, here = 0, x;
    for (int i = 0; i < n; i++) {
        x = number();
        here = here + x > 0 ? here + x : 0;
        if (here > best) best = here;
    }
    printf("%ld\n", best);
    return 0;
}
"""
SIZES = (1, 5, 12, 40, 300, 900, 14_000, 15_500)


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
    return ProgramEvaluator(sandbox, builder, SHORT)


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
    bench: ProgramEvaluator,
    admitted: Admitted,
    judge: Callable[[str], tuple[Evaluation, Evaluation]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, settled = judge(FAST)
    assert settled.timing is not None
    assert settled.timing.confirmed
    assert settled.timing.speedup.low > 10
    assert [warning for warning in settled.warnings if "busy machine" not in warning] == []
    harsher = settled.harsher
    assert harsher is not None
    assert (harsher.passed, harsher.triggers) == (True, ("speed-up above 10x",))
    assert harsher.inputs == len(anyio.run(harsh_inputs, bench, admitted)) > 8
    count = harsher.inputs
    assert str(harsher).startswith(f"passed on {count} extra inputs: {count} changed from the given ones")
    told = result_of(settled, admitted, Machine("", "", 0, "", {}, ""), ())
    assert told.table()["harsher"] == {**dataclasses.asdict(harsher), "result": harsher.result}
    show(told, False)
    assert f"\nre-check   {harsher}" in capsys.readouterr().out


def test_a_winner_that_does_not_build_where_it_is_looked_at_is_doubted(
    judge: Callable[[str], tuple[Evaluation, Evaluation]],
) -> None:
    _, settled = judge('#if __has_include("maxcode_neighbours.c")\n#error not here\n#endif\n' + FAST)
    assert settled.timing is not None and settled.timing.confirmed
    (doubt,) = findings_of(settled)
    assert doubt.startswith(f"{VETO}its use of memory it never wrote was not looked at: no build: ")


async def harsh_inputs(bench: ProgramEvaluator, admitted: Admitted) -> tuple[Input, ...]:
    return (await bench.made(admitted.problem, harsh=True)).inputs


def test_a_program_that_fails_the_harsher_verification_alone_is_wrong_and_it_is_named(
    bench: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], tuple[Evaluation, Evaluation]]
) -> None:
    """It is wrong on one of the further inputs, which it knows by its answer, and on nothing else."""
    usual = {given.expected for given in (*admitted.inputs, *anyio.run(bench.made, admitted.problem).inputs)}
    further = [given.expected for given in anyio.run(harsh_inputs, bench, admitted)]
    answer = next(int(one) for one in further if one is not None and one not in usual)
    _, settled = judge(FAST.replace('    printf("%ld', f'    if (best == {answer}) best++;\n    printf("%ld'))
    assert (settled.outcome, settled.feedback.reasons) == (Outcome.WRONG, (FAILED,))
    assert settled.harsher is not None
    assert not settled.harsher.passed
    assert settled.harsher.result.startswith(f"FAILED on {len(further)} extra inputs: ")


def test_a_program_that_is_right_for_few_numbers_only_fails_on_what_nobody_saw(
    admitted: Admitted, judge: Callable[[str], tuple[Evaluation, Evaluation]]
) -> None:
    large = [given for given in admitted.inputs if given.stdin.size > 1000]
    known = [
        f"if (n == {given.stdin.read().split()[0].decode()}) best = {int(given.expected or b'0')};" for given in large
    ]
    found, settled = judge(
        FAST.replace('    printf("%ld', f'    if (n > 50) {{ best = 0; {" ".join(known)} }}\n    printf("%ld')
    )
    assert found.outcome is Outcome.CORRECT
    assert (settled.outcome, settled.feedback.reasons) == (Outcome.WRONG, (FAILED,))


def test_a_program_that_is_wrong_now_and_then_is_caught_by_more_runs(
    judge: Callable[[str], tuple[Evaluation, Evaluation]],
) -> None:
    drawn = "    unsigned char drawn;\n    if (getrandom(&drawn, 1, 0) != 1 || drawn < 100) best++;\n    printf"
    text = FAST.replace("    printf", drawn).replace(
        "#include <stdio.h>", "#include <stdio.h>\n#include <sys/random.h>"
    )
    found, settled = judge(text)
    assert Outcome.WRONG in (found.outcome, settled.outcome)
    assert settled.timing is None


def test_a_defect_that_the_original_does_not_have_is_told_beside_the_result(
    judge: Callable[[str], tuple[Evaluation, Evaluation]],
) -> None:
    past_the_end = FAST.replace("    long best", "    volatile long four[4] = {0};\n    long best")
    _, settled = judge(past_the_end.replace("here + x > 0", "here + x + 0 * four[n > 0 ? 4 : 0] > 0"))
    assert settled.timing is not None
    assert settled.timing.significant
    assert any("a sanitizer found" in words and "sums.c" in words for words in settled.warnings), settled.warnings


def test_the_original_is_looked_at_by_sanitizers_only_where_a_winner_shows_them_something(
    sandbox: Sandbox, builder: Builder, admitted: Admitted
) -> None:
    program = admitted.problem.program.with_text

    def looked(text: str) -> tuple[tuple[str, ...], int]:
        examiner = Examiner(sandbox, builder, FreshInputs(sandbox, builder))
        with recording() as recorder:
            found = anyio.run(examiner.defects, admitted, program(text))
        return found, sum(one.count for one in recorder.profile().phases if one.activity == "run")

    overflows = FAST.replace("long best", "volatile int most = 2147483647;\n    most = most + n;\n    long best")
    (clean, once), (defects, twice) = looked(FAST), looked(overflows)
    assert (clean, len(defects), twice) == ((), 1, 2 * once)
    assert once > 0
    hidden = "#ifdef __SANITIZE_ADDRESS__\n#error not here\n#endif\n"
    (why,), original = looked(FAST + hidden)
    unseen = "the sanitizers did not look at it: address, undefined: no build: "
    assert why.startswith(f"{VETO}{unseen}") and "not here" in why
    assert original == once, "which can be built so"
    dead = replace(admitted, problem=replace(admitted.problem, program=program(SLOW + hidden)))
    (why,) = anyio.run(Examiner(sandbox, builder, FreshInputs(sandbox, builder)).defects, dead, program(overflows))
    assert "the original does not run with them here" in why


def test_made_inputs_are_right_by_the_original_and_come_again_from_the_same_seed(
    sandbox: Sandbox, builder: Builder, bench: ProgramEvaluator, admitted: Admitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maxcode.evaluate.inputs.fresh._SECONDS", 60.0)  # how many fit is another matter

    async def made(seed: int | None) -> GeneratedInputs:
        return await FreshInputs(sandbox, builder, seed).made(admitted)

    first, again, other = anyio.run(made, bench.seed), anyio.run(made, bench.seed), anyio.run(made, None)
    given = {one.stdin.sha256 for one in admitted.inputs}
    assert 4 <= len(first.inputs) <= admitted.problem.spec.made
    assert [one.stdin.sha256 for one in first.inputs] == [one.stdin.sha256 for one in again.inputs]
    assert {one.stdin.sha256 for one in first.inputs}.isdisjoint({*given, *(one.stdin.sha256 for one in other.inputs)})
    for one in first.inputs:
        n, *numbers = map(int, one.stdin.read().split())
        assert (len(numbers), one.expected) == (n, f"{answer(numbers)}\n".encode())


@pytest.mark.slow
def test_what_was_proven_before_is_made_again_where_there_is_no_time_for_more(
    sandbox: Sandbox, builder: Builder, bench: ProgramEvaluator, admitted: Admitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = anyio.run(FreshInputs(sandbox, builder, bench.seed).made, admitted)
    monkeypatch.setattr("maxcode.evaluate.inputs.fresh._SECONDS", 0.0)
    none_before = anyio.run(FreshInputs(sandbox, builder, bench.seed).made, admitted)
    before = frozenset(one.stdin.sha256 for one in first.inputs)
    again = anyio.run(FreshInputs(sandbox, builder, bench.seed, before).made, admitted)
    assert len(none_before.inputs) == 1
    assert [one.stdin.sha256 for one in again.inputs if one.stdin.sha256 in before] == [
        one.stdin.sha256 for one in first.inputs
    ]


def test_no_input_is_made_where_the_original_is_not_clean_on_it(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    past_the_end = "if (a[n > 100 ? n : 0] == 12345678) best = 0;\n    printf"
    unclean = SLOW.replace("malloc((n + 1)", "malloc(n").replace("printf", past_the_end)
    problem = problem_of(tmp_path, (1, 5, 12, 40, 150, 200, 260, 300), unclean)

    async def made() -> GeneratedInputs:
        bench = ProgramEvaluator(sandbox, builder)
        admitted = await bench.admit(problem)
        return await bench.made(admitted.problem)

    found = anyio.run(made)
    assert all(int(one.stdin.read().split()[0]) <= 100 for one in found.inputs)
    assert any("not clean" in note for note in found.notes)


def test_a_generator_is_asked_for_secret_seeds_and_none_may_be_asked_for(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    text = "import random, sys\nr = random.Random(int(sys.argv[1]))\nn = r.randint(1, 40)\nprint(n)\n"
    (tmp_path / "gen.py").write_text(text + "print(*(r.randint(-100, 100) for _ in range(n)))\n")
    problem = problem_of(tmp_path, (1, 2))
    spec = replace(problem.spec, generator=("python3", "gen.py", "{seed}"), folder=str(tmp_path))

    async def made(wanted: int) -> GeneratedInputs:
        bench = ProgramEvaluator(sandbox, builder)
        admitted = await bench.admit(replace(problem, spec=replace(spec, made=wanted)))
        return await bench.made(admitted.problem)

    found = anyio.run(made, 6)
    assert found.how == ("6: generator, secret seed",)
    assert any("the format is read from 3 or more different tests" in note for note in found.notes)
    assert anyio.run(made, 0) == GeneratedInputs(notes=("tests.made is 0",))
