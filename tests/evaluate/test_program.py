"""The ladder on real programs: every rung is reached, the verdict is against the original, and nothing leaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.types import (
    Action,
    Case,
    Checker,
    Evaluation,
    Limits,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    Step,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.verify import job_for
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.support.counting import ALIKE
from tests.support.counting import FAST as CLOSED
from tests.support.counting import SLOW as COUNT
from tests.support.rules import SHORT

SIZES = {"small": 10, "middle": 160_000_000, "big": 240_000_000}


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("tests")
    cases = {}
    for name, n in SIZES.items():
        (folder / f"{name}.in").write_text(f"{n}\n")
        (folder / f"{name}.out").write_text(f"{n * (n - 1) // 2}\n")
        cases[name] = Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out"))
    spec = ProgramSpec(
        flags=language("c").default_flags,
        seen=(cases["small"], cases["middle"]),
        held_out=(cases["big"],),
        limits=Limits(run_s=5, output_mb=4),
    )
    return Problem("count", "program", "c", Program({"count.c": COUNT}), spec)


@pytest.fixture(scope="module")
def bench(sandbox_evaluator: ProgramEvaluator) -> ProgramEvaluator:
    return sandbox_evaluator


@pytest.fixture(scope="module")
def admitted(bench: ProgramEvaluator, problem: Problem) -> Admitted:
    return anyio.run(bench.admit, problem)


@pytest.fixture(scope="module")
def judge(bench: ProgramEvaluator, admitted: Admitted) -> Callable[[str], Evaluation]:
    def evaluate(text: str) -> Evaluation:
        return anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": text})))

    return evaluate


def test_the_original_is_admitted_timed_on_what_is_held_out_and_profiled(admitted: Admitted) -> None:
    assert admitted.dropped == ()
    assert [given.name for given in admitted.timed] == ["big"]
    assert admitted.baseline.outcome is Outcome.CORRECT
    top = admitted.baseline.profile[0]
    assert (top.line, top.function) == (5, "main")
    assert top.share > 0.5


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        ("int main(void) { return x; }", Outcome.UNBUILT, "undeclared"),
        (COUNT.replace("sum += i", "sum -= i"), Outcome.WRONG, "expected '45', got '-45'"),
        (COUNT.replace("long n, sum = 0;", "long n, sum = 0; for (;;);"), Outcome.TIMEOUT, "small"),
        (COUNT.replace("long n, sum = 0;", "long n, sum = 0; *(volatile int *)0 = 1;"), Outcome.CRASHED, "SIGSEGV"),
        (COUNT.replace("return 0;", "return 3;"), Outcome.CRASHED, "exit status 3"),
        (COUNT.replace('printf("%ld', 'for (;;) printf("%ld'), Outcome.CRASHED, "wrote more than"),
        ("", Outcome.UNBUILT, "undefined reference"),
    ],
)
def test_a_bad_program_gets_its_rung_and_the_reason(
    text: str, outcome: Outcome, words: str, judge: Callable[[str], Evaluation]
) -> None:
    found = judge(text)
    assert found.outcome is outcome
    assert found.timing is None
    assert any(words in reason for reason in found.feedback.reasons), found.feedback


def test_no_program_and_other_files_never_reach_the_compiler(bench: ProgramEvaluator, admitted: Admitted) -> None:
    nothing = anyio.run(bench.evaluate, admitted.problem, Action(None))
    assert nothing.outcome is Outcome.UNPARSED
    other = anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": CLOSED, "more.c": ""})))
    assert other.outcome is Outcome.REJECTED
    huge = anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": "//" + "x" * 2_000_000})))
    assert huge.outcome is Outcome.REJECTED
    torn = anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": COUNT + "// \ud800"})))
    assert torn.outcome is Outcome.REJECTED
    assert "not text" in torn.feedback.reasons[0]


def test_a_faster_program_wins_the_race_and_is_confirmed_on_fresh_pairs(
    bench: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], Evaluation]
) -> None:
    found = judge(CLOSED)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert found.timing.significant
    assert not found.timing.confirmed
    assert found.timing.speedup.low > 2
    step = Step(Action(Program({"count.c": CLOSED})), found, found.timing.speedup.value)
    state = State(admitted.problem, State(admitted.problem), step, (1, 0))
    settled = anyio.run(bench.settle, admitted.problem, [state], None)[state.id]
    assert settled.timing is not None
    assert settled.timing.confirmed
    assert settled.timing.significant
    assert settled.timing.speedup.low > 2
    assert len(settled.timing.samples) == settled.timing.pairs == SHORT.confirm_least


def test_the_program_itself_is_no_faster_than_itself(judge: Callable[[str], Evaluation]) -> None:
    found = judge(ALIKE)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert not found.timing.significant
    assert found.timing.verdict in ("tie", "slower")


@pytest.mark.slow
def test_a_grossly_slower_program_costs_two_pairs(judge: Callable[[str], Evaluation]) -> None:
    found = judge(
        COUNT.replace("for (long i = 0; i < n; i++)", "for (long k = 0; k < 4; k++) for (long i = sum = 0; i < n; i++)")
    )
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert (found.timing.verdict, found.timing.pairs) == ("slower", 2)


def test_feedback_about_held_out_tests_is_one_bit(judge: Callable[[str], Evaluation]) -> None:
    found = judge(COUNT.replace('printf("%ld\\n", sum)', 'printf("%ld\\n", n > 200000000 ? 7 : sum)'))
    assert found.outcome is Outcome.WRONG
    assert found.feedback.reasons == ("a held-out test failed",)
    assert [case.detail for case in found.feedback.cases if not case.seen] == [""]


@pytest.mark.parametrize(("act", "told"), [("7", "gave a wrong output"), ("(exit(37), 7L)", "ended by exit")])
def test_a_cheat_that_was_right_when_it_was_verified_is_caught_while_it_is_timed(
    act: str, told: str, judge: Callable[[str], Evaluation]
) -> None:
    """No run can tell what it is for, so the cheat is right by a coin: verified it passes half of the time.  Its status
    is not told: it could carry the test out, a byte a candidate."""
    for attempt in range(20):
        found = judge(TURNCOAT.replace("7 :", f"{act} + {attempt} :"))
        if found.feedback.reasons == (f"while being timed on a held-out test: {told}",):
            assert (found.outcome, found.timing) == (Outcome.WRONG, None)
            return
    pytest.fail("no wrong output of a timed run was seen")


def test_less_cpu_time_at_the_price_of_waiting_is_no_speed_up(
    admitted: Admitted, judge: Callable[[str], Evaluation], bench: ProgramEvaluator
) -> None:
    (big,) = admitted.timed
    waiting = f"usleep(n == {SIZES[big.name]} ? {10 * big.seconds:.3f} * 1e6 : 0); return 0;"
    sleepy = CLOSED.replace("return 0;", waiting)
    found = judge("#include <unistd.h>\n" + sleepy)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert found.timing.elapsed is not None
    assert found.timing.speedup.low > 2 > 1 > found.timing.elapsed.high
    assert (found.timing.verdict, found.timing.significant) == ("slower_by_wall", False)
    assert any("it takes longer" in warning for warning in found.warnings)
    step = Step(Action(Program({"count.c": "#include <unistd.h>\n" + sleepy})), found, 1.0)
    state = State(admitted.problem, State(admitted.problem), step, (1, 0))
    confirmed = anyio.run(bench.settle, admitted.problem, [state], None)[state.id]
    assert confirmed.timing is not None
    assert not confirmed.timing.significant


@pytest.mark.slow
def test_twins_share_one_race(bench: ProgramEvaluator, admitted: Admitted) -> None:
    actions = [Action(Program({"count.c": ALIKE.replace("sum += i", f"sum += i + {k} - {k}")})) for k in (3, 4)]
    found: dict[int, Evaluation] = {}

    async def both() -> None:
        async def one(k: int) -> None:
            found[k] = await bench.evaluate(admitted.problem, actions[k])

        async with anyio.create_task_group() as group:
            for k in (0, 1):
                group.start_soon(one, k)

    anyio.run(both)
    assert found[0].timing is not None
    assert found[0].timing == found[1].timing, "the seconds of one race"


@pytest.mark.slow
def test_a_race_that_a_rival_ended_is_run_again_without_it(bench: ProgramEvaluator, admitted: Admitted) -> None:
    same, incumbent = (Action(Program({"count.c": text})) for text in (ALIKE, CLOSED))
    beaten = anyio.run(bench.evaluate, admitted.problem, same, incumbent)
    alone = anyio.run(bench.evaluate, admitted.problem, same)
    assert beaten.timing is not None
    assert alone.timing is not None
    assert beaten.timing.over_rival is not None
    assert alone.timing.over_rival is None


@pytest.mark.slow
def test_the_same_artefact_is_not_raced_twice(bench: ProgramEvaluator, admitted: Admitted) -> None:
    again = ALIKE.replace("sum += i", "sum += i + 0")
    first = anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": again})))
    second = anyio.run(bench.evaluate, admitted.problem, Action(Program({"count.c": again})))
    assert first.timing is not None
    assert second.timing == first.timing


def test_tests_the_original_fails_itself_are_dropped_and_said(
    bench: ProgramEvaluator, problem: Problem, tmp_path: Path
) -> None:
    (tmp_path / "bad.in").write_text("10\n")
    (tmp_path / "bad.out").write_text("46\n")
    bad = Case("bad", str(tmp_path / "bad.in"), str(tmp_path / "bad.out"))
    spec = replace(problem.spec, seen=(*problem.spec.seen, bad))
    found = anyio.run(bench.admit, replace(problem, spec=spec))
    assert found.dropped == ("bad (wrong)",)
    assert "bad" not in {case.name for case in found.problem.spec.seen}
    assert any("dropped 1 test" in note for note in found.notes)
    only = replace(problem.spec, seen=(bad,), held_out=())
    with pytest.raises(InputError, match="passes none of its 1 tests"):
        anyio.run(bench.admit, replace(problem, spec=only))


@pytest.mark.parametrize(
    ("needs", "named"),
    [('if (!popen("true", "r")) return 1;', "popen"), ('if (!fopen("/dev/stdin", "r")) return 1;', "/dev/stdin")],
)
def test_an_original_that_needs_what_no_compiled_program_gets_is_told_so(
    bench: ProgramEvaluator, problem: Problem, needs: str, named: str
) -> None:
    text = COUNT.replace("long n", f"{needs}\n    long n", 1)
    with pytest.raises(
        InputError, match=f"it uses `{named}`, and a compiled program gets no pipe.*read standard input"
    ):
        anyio.run(bench.admit, replace(problem, program=Program({"count.c": text})))


def test_an_original_that_does_not_build_is_bad_input(bench: ProgramEvaluator, problem: Problem) -> None:
    broken = replace(problem, program=Program({"count.c": "int main(void) { retur 0; }"}))
    with pytest.raises(InputError, match="does not build"):
        anyio.run(bench.admit, broken)


def test_runs_too_short_to_time_are_not_measurable(bench: ProgramEvaluator, problem: Problem) -> None:
    spec = replace(problem.spec, seen=problem.spec.seen[:1], held_out=())
    found = anyio.run(bench.admit, replace(problem, spec=spec))
    assert found.timed == ()
    assert "not measurable" in found.notes[-1]
    evaluation = anyio.run(bench.evaluate, found.problem, Action(Program({"count.c": CLOSED})))
    assert evaluation.outcome is Outcome.CORRECT
    assert evaluation.timing is None
    assert "not measurable" in evaluation.warnings[0]


def test_generated_inputs_take_the_original_as_their_oracle(
    bench: ProgramEvaluator, problem: Problem, tmp_path: Path
) -> None:
    (tmp_path / "gen.py").write_text("import sys\nprint(240_000_000 + int(sys.argv[1]))\n")
    spec = replace(
        problem.spec, generator=("python3", "gen.py", "{seed}"), generated=2, folder=str(tmp_path), held_out=()
    )
    found = anyio.run(bench.admit, replace(problem, spec=spec))
    assert found.count("generated") == 2
    assert {given.origin for given in found.timed} == {"generated"}
    expected = {given.name: given.expected for given in found.inputs}
    assert expected["generated-1"] == f"{240_000_001 * 240_000_000 // 2}\n".encode()
    broken = replace(spec, generator=("python3", "gen.py"))
    with pytest.raises(InputError, match="generator"):
        anyio.run(bench.admit, replace(problem, spec=broken))


def test_a_checker_command_judges_in_the_sandbox(bench: ProgramEvaluator, problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(
        "import sys\nwant, got = (abs(int(open(p).read())) for p in sys.argv[2:])\n"
        "assert not __import__('os').path.exists('/root/.bashrc')\nsys.exit(want != got)\n"
    )
    checker = Checker("command", command=("python3", "check.py"))
    spec = replace(problem.spec, checker=checker, folder=str(tmp_path), seen=problem.spec.seen[:1], held_out=())
    found = anyio.run(bench.admit, replace(problem, spec=spec))
    lenient = anyio.run(bench.evaluate, found.problem, Action(Program({"count.c": COUNT.replace("+= i", "-= i")})))
    assert lenient.outcome is Outcome.CORRECT
    wrong = anyio.run(bench.evaluate, found.problem, Action(Program({"count.c": COUNT.replace("+= i", "+= 2")})))
    assert wrong.outcome is Outcome.WRONG


def test_a_python_program_climbs_the_same_ladder(bench: ProgramEvaluator, tmp_path: Path) -> None:
    slow = "n = int(input())\ntotal = 0\nfor i in range(n):\n    total += i\nprint(total)\n"
    fast = "n = int(input())\nprint(n * (n - 1) // 2)\n"
    cases = []
    for name, n in (("a", 10), ("b", 2_000_000)):
        (tmp_path / f"{name}.in").write_text(f"{n}\n")
        (tmp_path / f"{name}.out").write_text(f"{n * (n - 1) // 2}\n")
        cases.append(Case(name, str(tmp_path / f"{name}.in"), str(tmp_path / f"{name}.out")))
    spec = ProgramSpec(seen=tuple(cases[:1]), held_out=tuple(cases[1:]))
    found = anyio.run(bench.admit, Problem("py", "program", "python", Program({"slow.py": slow}), spec))

    def judged(text: str) -> Evaluation:
        return anyio.run(bench.evaluate, found.problem, Action(Program({"slow.py": text})))

    assert judged("n = int(input()\n").outcome is Outcome.UNBUILT
    assert judged("print(1 / 0)\n").outcome is Outcome.CRASHED
    won = judged(fast)
    assert won.timing is not None
    assert won.timing.significant


# Right in half of its runs on a large input.
TURNCOAT = CLOSED.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>").replace(
    'printf("%ld\\n", sum)', 'printf("%ld\\n", n > 200000000 && clock() % 2 ? 7 : sum)'
)


def challenger(admitted: Admitted, text: str, slot: int, judge: Callable[[str], Evaluation]) -> State:
    step = Step(Action(Program({"count.c": text})), judge(CLOSED), 3.0)
    return State(admitted.problem, State(admitted.problem), step, (1, slot))


@pytest.mark.slow
def test_a_leader_that_is_wrong_in_the_playoff_leads_nobody(
    bench: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], Evaluation]
) -> None:
    assert TURNCOAT.count("clock() % 2") == 1
    mostly_wrong = TURNCOAT.replace("clock() % 2", "clock() % 4")  # a playoff may have six runs
    assert judge(mostly_wrong).outcome is Outcome.WRONG
    bad, good = (challenger(admitted, text, slot, judge) for slot, text in enumerate((mostly_wrong, CLOSED)))
    settled = anyio.run(bench.settle, admitted.problem, [bad, good], None)
    assert settled[bad.id].outcome is Outcome.WRONG
    first = settled[good.id].timing
    assert first is not None
    assert first.confirmed
    other_way = anyio.run(bench.settle, admitted.problem, [good, bad], None)
    assert other_way[bad.id].outcome is Outcome.WRONG
    assert other_way[good.id].timing == first  # confirmed once, however often it is proposed


def test_a_champion_that_does_not_hold_is_told(
    bench: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], Evaluation]
) -> None:
    wrong = CLOSED.replace("n * (n - 1) / 2", "n * (n - 1) / 2 + (n > 1000)")
    incumbent, good = (challenger(admitted, text, slot, judge) for slot, text in enumerate((wrong, CLOSED)))
    settled = anyio.run(bench.settle, admitted.problem, [good], incumbent)
    assert settled[incumbent.id].outcome is Outcome.WRONG
    assert settled[good.id].timing is not None


def test_a_problem_is_admitted_once_under_the_tests_it_came_with(bench: ProgramEvaluator, problem: Problem) -> None:
    first = anyio.run(bench.admit, problem)
    assert anyio.run(bench._admissions.of, problem) is first
    assert anyio.run(bench._admissions.of, first.problem) is first


def test_no_limit_tells_a_program_how_long_the_original_took(
    sandbox: Sandbox, builder: Builder, problem: Problem
) -> None:
    text = (
        "#include <stdio.h>\n#include <sys/resource.h>\nint main(void) {\n"
        "    for (int i = 0; i < 16; i++) {\n        struct rlimit one;\n"
        '        if (!getrlimit(i, &one)) printf("%d %lu %lu\\n", i, one.rlim_cur, one.rlim_max);\n    }\n}\n'
    )

    async def shown() -> list[bytes]:
        built = await builder.build(problem, problem.program.with_text(text), final=True)
        assert built.artefact is not None, built.diagnostics
        inputs = [Input(f"{n}", Blob.of(b"1"), b"", "made", seconds=0.3 * n) for n in range(4)]
        async with sandbox.session([built.artefact, *(one.stdin for one in inputs)]) as session:
            runs = [await session.run(job_for(problem, built.artefact, one)) for one in inputs]
        assert all(ran.ok for ran in runs)
        return [ran.stdout for ran in runs]

    found = anyio.run(shown)
    assert len(set(found)) == 1
    assert found[0].count(b"\n") == 16
