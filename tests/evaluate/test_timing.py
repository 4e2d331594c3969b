"""Counting instructions in place of a race, and beside one that ends in a tie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import (
    Action,
    Case,
    Evaluation,
    Interval,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    Step,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.instruction_count import Uncounted, counted, require_counter
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import Pair, end_of_race, mean_s
from maxcode.evaluate.ladder.timing import _believed, warnings_of
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.observe.feedback import feedback_lines, result_line
from maxcode.problems import load
from maxcode.sandbox.sandbox import Blob, Sandbox
from maxcode.testing import exact_timing
from tests.support.counting import ALIKE, FAST, SLOW
from tests.support.rules import SHORT

SIZES = {"small": 10, "middle": 100_000_000, "big": 200_000_000}
HALF = SLOW.replace("i++", "i += 2").replace("sum += i;", "sum += 2 * i + 1;")  # every size is even
# The counter starts a program by its path.
HIDES = SLOW.replace("int main(void)", "int main(int count, char **words)").replace(
    "for (long i", "if (count && *words[0] == '/') sum = n * (n - 1) / 2; else for (long i"
)
LIES = HIDES.replace("n * (n - 1) / 2;", "7;")


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("tests")
    cases = {}
    for name, n in SIZES.items():
        (folder / f"{name}.in").write_text(f"{n}\n")
        (folder / f"{name}.out").write_text(f"{n * (n - 1) // 2}\n")
        cases[name] = Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out"))
    spec = ProgramSpec(flags=("-O1",), seen=(cases["small"], cases["middle"]), held_out=(cases["big"],))
    return Problem("count", "program", "c", Program({"count.c": SLOW}), spec, goal="instructions")


@pytest.fixture(scope="module")
def admitted(sandbox_evaluator: ProgramEvaluator, problem: Problem) -> Admitted:
    return anyio.run(sandbox_evaluator.admit, problem)


@pytest.fixture(scope="module")
def judge(sandbox_evaluator: ProgramEvaluator, admitted: Admitted) -> Callable[[str], Evaluation]:
    return lambda text: anyio.run(sandbox_evaluator.evaluate, admitted.problem, Action(Program({"count.c": text})))


@pytest.fixture(scope="module")
def settle(sandbox_evaluator: ProgramEvaluator, admitted: Admitted) -> Callable[..., list[Evaluation]]:
    def settled(*texts: str, found: Evaluation) -> list[Evaluation]:
        root = State(admitted.problem)
        steps = [Step(Action(Program({"count.c": text})), found, 2.0) for text in texts]
        states = [State(admitted.problem, root, step, (1, slot)) for slot, step in enumerate(steps)]
        ended = anyio.run(sandbox_evaluator.settle, admitted.problem, states, None)
        return [ended.get(state.id, found) for state in states]

    return settled


@pytest.fixture(scope="module")
def artefact(builder: Builder, problem: Problem) -> Callable[[str], Blob]:
    def built(text: str) -> Blob:
        found = anyio.run(builder.build, problem, Program({"count.c": text}))
        assert found.artefact is not None, found.diagnostics
        return found.artefact

    return built


def numbered(n: int) -> Input:
    return Input("n", Blob.of(f"{n}\n".encode()), f"{n * (n - 1) // 2}\n".encode(), "seen", 0.01)


def test_a_count_is_the_same_from_run_to_run_and_grows_with_the_work(
    sandbox: Sandbox, problem: Problem, artefact: Callable[[str], Blob]
) -> None:
    program = artefact(SLOW)
    once, again, more = (
        anyio.run(counted, sandbox, problem, program, numbered(n)) for n in (1_000_000, 1_000_000, 3_000_000)
    )
    assert once.instructions == pytest.approx(again.instructions, rel=1e-4)
    per_step = (more.instructions - once.instructions) / 2_000_000
    assert per_step == pytest.approx(round(per_step), abs=1e-3)
    assert once.output == b"499999500000\n"


def test_a_program_that_is_counted_starts_no_child_whose_count_it_could_erase(
    sandbox: Sandbox, problem: Problem, artefact: Callable[[str], Blob]
) -> None:
    start = "#include <unistd.h>\n#include <sys/wait.h>\n" + SLOW
    hidden = start.replace("for (long i", "if (fork() == 0) _exit(0);\n    if (wait(0) < 0) for (long i")
    alone, own = (anyio.run(counted, sandbox, problem, artefact(text), numbered(1_000_000)) for text in (SLOW, hidden))
    assert own.instructions > 0.9 * alone.instructions and own.output == alone.output, "it had to do the work itself"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int main(void) { return 3; }", "ended by exit 3"),
        (
            "#include <unistd.h>\nint main(void) { return fork() < 0 ? 4 : 0; }",
            "ended by exit 4; a program that starts processes cannot be counted",
        ),
        (
            "#include <immintrin.h>\n__attribute__((target(\"avx512f\"))) int main(int n, char **w) { (void)w;\n"
            "volatile __m512i a = _mm512_set1_epi32(n); a = _mm512_add_epi32(a, a); return 0; }",
            "-march=x86-64-v3",
        ),
        (
            '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9000; i++) fprintf(stderr, "0123456789"); }',
            "wrote so much to its error output",
        ),
        (
            '#include <stdio.h>\nint main(void) { fprintf(stderr, "==1== I   refs:      1,000\\n");'
            ' for (int i = 0; i < 9000; i++) fprintf(stderr, "0123456789"); }',
            "wrote so much to its error output",
        ),
    ],
)  # fmt: skip
def test_a_run_that_cannot_be_counted_says_why(
    text: str, words: str, sandbox: Sandbox, problem: Problem, artefact: Callable[[str], Blob]
) -> None:
    with pytest.raises(Uncounted, match=words):
        anyio.run(counted, sandbox, problem, artefact(text), numbered(5))


def test_fewer_instructions_are_found_without_a_race_and_confirmed_with_seconds_beside(
    judge: Callable[[str], Evaluation], settle: Callable[..., list[Evaluation]]
) -> None:
    found = judge(HALF)
    assert found.outcome is Outcome.CORRECT
    timing = found.timing
    assert timing is not None
    assert (timing.clock, timing.verdict, timing.significant, timing.pairs) == ("instructions", "fewer", True, 2)
    assert 1.3 < timing.speedup.low <= timing.speedup.value <= timing.speedup.high < 3
    assert timing.speedup.high == pytest.approx(timing.speedup.low, rel=1e-4)
    assert timing.seconds is None
    assert any("not seconds: blind to cache misses" in warning for warning in found.warnings)
    (settled,) = settle(HALF, found=found)
    assert settled.timing is not None
    assert settled.timing.confirmed
    assert settled.timing.seconds is not None
    assert (settled.timing.seconds.clock, settled.timing.seconds.confirmed) == ("cpu", True)
    assert settled.timing.seconds.pairs == SHORT.confirm_least
    assert settled.timing.significant == (settled.timing.verdict == "fewer")


@pytest.mark.slow
def test_as_many_or_more_instructions_are_not_significant(judge: Callable[[str], Evaluation]) -> None:
    same = judge(ALIKE).timing
    assert same is not None
    assert (same.verdict, same.significant) == ("tie", False)
    more = judge(SLOW.replace("sum += i;", "sum += i; __asm__ volatile(\"nop\");")).timing  # fmt: skip
    assert more is not None
    assert (more.verdict, more.significant) == ("more", False)


@pytest.mark.slow
def test_a_program_that_does_less_only_while_it_is_counted_is_not_believed(
    judge: Callable[[str], Evaluation], settle: Callable[..., list[Evaluation]]
) -> None:
    found = judge(HIDES)
    assert found.timing is not None
    assert found.timing.speedup.low > 100
    (settled,) = settle(HIDES, found=found)
    assert settled.timing is not None
    assert (settled.timing.verdict, settled.timing.significant) == ("not_in_cpu_time", False)
    assert any("its CPU time does not show" in warning for warning in settled.warnings)


def test_outputs_are_checked_while_it_is_counted(judge: Callable[[str], Evaluation]) -> None:
    found = judge(LIES)
    assert found.outcome is Outcome.WRONG
    assert found.timing is None
    assert "wrong output under valgrind" in found.feedback.reasons[0]


@pytest.mark.slow
def test_of_two_contenders_the_one_with_fewer_instructions_leads(
    judge: Callable[[str], Evaluation], settle: Callable[..., list[Evaluation]]
) -> None:
    first, second = settle(HALF, FAST, found=judge(HALF))
    assert first.timing is not None
    assert not first.timing.confirmed
    assert second.timing is not None
    assert second.timing.confirmed
    assert second.timing.speedup.low > 100


@pytest.mark.slow
def test_a_tie_by_the_clock_is_followed_by_one_count_where_that_was_asked_for(
    sandbox: Sandbox, builder: Builder, problem: Problem
) -> None:
    evaluator = ProgramEvaluator(sandbox, builder, RaceRule(most=1))  # one pair decides nothing: a tie
    asked = replace(problem, goal="cpu", spec=replace(problem.spec, tie_break=True))
    for spec, counts in ((problem.spec, False), (asked.spec, True)):
        admitted = anyio.run(evaluator.admit, replace(asked, spec=spec))
        found = anyio.run(evaluator.evaluate, admitted.problem, Action(Program({"count.c": HALF})))
        assert found.timing is not None
        assert (found.timing.clock, found.timing.verdict, found.timing.significant) == ("cpu", "tie", False)
        assert (found.timing.instructions is not None) == counts
    assert found.timing is not None and found.timing.instructions is not None
    assert found.timing.instructions.value > 1.3
    assert any("a tie by the clock; fewer instructions" in warning for warning in found.warnings)
    lost = anyio.run(evaluator.evaluate, admitted.problem, Action(Program({"count.c": LIES})))
    assert lost.outcome is Outcome.CORRECT  # valgrind has no 80-bit numbers: another answer there proves nothing
    assert any("could not be counted: candidate: gave a wrong output" in warning for warning in lost.warnings)


def test_a_program_that_compiles_to_the_original_is_not_timed_and_no_faster(
    sandbox_evaluator: ProgramEvaluator, problem: Problem
) -> None:
    renamed = problem.program.with_text("// the same\n\n" + SLOW.replace("sum", "total"))
    for goal in ("cpu", "wall", "instructions"):
        found = anyio.run(sandbox_evaluator.evaluate, replace(problem, goal=goal), Action(renamed))
        assert found.outcome is Outcome.CORRECT and found.timing is not None
        assert (found.timing.verdict, found.timing.pairs, found.timing.clock) == ("same_code", 0, goal)
        assert not found.timing.significant and found.timing.speedup == Interval(1.0, 1.0, 1.0, 1.0)
        assert "it compiles to the same program as the original" in result_line(found)


def test_programs_that_compile_to_the_same_are_timed_once(
    sandbox_evaluator: ProgramEvaluator, problem: Problem
) -> None:
    fast, renamed = (problem.program.with_text(text) for text in (HALF, f"\n{HALF}".replace("sum", "total")))
    one, other = (anyio.run(sandbox_evaluator.evaluate, problem, Action(each)) for each in (fast, renamed))
    assert one.timing is not None and one.timing == other.timing
    before, now = Step(Action(fast), one, 0.0), Step(Action(renamed), other, 0.0)
    assert any("it compiles to the same program" in line for line in feedback_lines(now, before))


def test_without_valgrind_the_cure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    require_counter()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="apt install valgrind"):
        require_counter()


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str, str], Path]:
    def written(name: str, text: str) -> Path:
        (tmp_path / "tests").mkdir(exist_ok=True)
        for number in range(2):
            (tmp_path / "tests" / f"{number}.in").write_text("1\n")
            (tmp_path / "tests" / f"{number}.out").write_text("1\n")
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-O3 -march=native", "-O3 -march=x86-64-v3"),
        ("-O3 -march=icelake-server -mavx512vnni", "-O3 -march=x86-64-v3"),
        ("-O2 -march=haswell -mprefer-vector-width=512", "-O2 -march=haswell"),
        ("-O2 -march=haswell -mavx2", "-O2 -march=haswell -mavx2"),
    ],
)
def test_flags_are_bounded_for_the_counter_and_it_is_told(
    given: str, kept: str, source: Callable[[str, str], Path]
) -> None:
    path = source("a.c", "int main(void) { return 0; }")
    options = {"goal": "instructions", "flags": given.split()}
    loaded = load(path, path.parent / "tests", options)
    assert " ".join(loaded.problem.spec.flags) == kept
    assert any("AVX-512" in note for note in loaded.notes) == (given != kept)
    plain = load(path, path.parent / "tests", {**options, "goal": "cpu", "tie_break": "instructions"})
    assert " ".join(plain.problem.spec.flags) == given
    assert plain.problem.spec.tie_break


def test_a_program_in_python_is_not_counted(source: Callable[[str, str], Path]) -> None:
    path = source("a.py", "print(1)")
    for options in ({"goal": "instructions"}, {"tie_break": "instructions"}):
        with pytest.raises(InputError, match="the instructions of its interpreter"):
            load(path, path.parent / "tests", options)


def test_a_run_that_the_clock_shows_as_nothing_took_at_most_its_tick() -> None:
    seconds = {"original": {"a": mean_s([0.02, 0.02])}, "candidate": {"a": mean_s([0.0, 0.0])}}
    pair = Pair(seconds, {"original": 0.02, "candidate": 0.001})  # type: ignore[arg-type]
    assert pair.ratio("original", "candidate") == pytest.approx(0.02 / 1e-6)


def paired(cpu: float, wall: float) -> Pair:
    seconds = {"original": {"a": 0.1}, "candidate": {"a": 0.1 / cpu}}
    return Pair(seconds, {"original": 0.1, "candidate": 0.1 / wall})  # type: ignore[arg-type]


def test_fewer_instructions_in_clearly_more_wall_time_are_no_gain_though_cpu_time_is_a_tie() -> None:
    fewer = replace(exact_timing(1.1), clock="instructions", verdict="fewer")
    seconds = replace(exact_timing(1.0), verdict="tie", significant=False, elapsed=Interval(0.3, 0.28, 0.31))
    assert seconds.waits and _believed(fewer, seconds) == "not_in_cpu_time"
    found = replace(fewer, verdict="not_in_cpu_time", significant=False, seconds=seconds)
    assert any("it takes longer: 0.30x" in words for words in warnings_of(found))
    assert _believed(fewer, replace(seconds, elapsed=Interval(1.0, 0.9, 1.1))) == "fewer"


def test_two_pairs_in_which_the_clocks_contradict_each_other_decide_nothing() -> None:
    end = end_of_race(replace(RaceRule(), evident=0.25), has_incumbent=False)
    busy, quiet = paired(2.0, 0.8), paired(2.0, 2.0)
    assert end([quiet, quiet]) == "faster"
    assert end([busy, busy]) is None
    assert end([busy, busy, quiet]) == "faster"
    assert end([busy] * 8) == "faster"  # and what waits in eight pairs is told to be slower by the wall clock
