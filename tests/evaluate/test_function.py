"""Functions under the shim's clock: honest ones are timed in GFLOPS, cheats gain nothing or are told what they did."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome, State, Step, Timing
from maxcode.errors import InputError
from maxcode.evaluate.function.calls import Calls
from maxcode.evaluate.function.function import Inputs, Shape, disagreement, spec_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Side, on_one_core, race
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.evaluate.program.facts import facts_of_calls
from maxcode.problems import load
from maxcode.sandbox import lanes
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.support.rules import SHORT
from tests.support.selection import some
from tests.support.small_gemm import GEMM, IKJ, small

NAIVE = (GEMM / "gemm.c").read_text()


@pytest.fixture(scope="module")
def admitted(sandbox_evaluator: ProgramEvaluator) -> Admitted:
    return anyio.run(sandbox_evaluator.admit, small(GEMM))


@pytest.fixture(scope="module")
def judge(sandbox_evaluator: ProgramEvaluator, admitted: Admitted) -> Callable[[str], Evaluation]:
    def judged(text: str) -> Evaluation:
        action = Action(admitted.problem.program.with_text(text))
        return anyio.run(sandbox_evaluator.evaluate, admitted.problem, action)

    return judged


@pytest.fixture(scope="module")
def beside_honest(sandbox_evaluator: ProgramEvaluator, admitted: Admitted) -> Callable[[str], Evaluation]:
    """Judges a text that is timed in the same pairs as the honest one."""
    program = admitted.problem.program

    def judged(text: str) -> Evaluation:
        action, rival = Action(program.with_text(text)), Action(program.with_text(IKJ))
        return anyio.run(sandbox_evaluator.evaluate, admitted.problem, action, rival)

    return judged


def gemm(body: str, before: str = "", honest: str = "honest(m, n, k, A, B, C);") -> str:
    """A gemm that does ``body`` and then what is honest."""
    return (
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        "#include <string.h>\n#include <sys/mman.h>\n#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n"
        + IKJ.replace("void gemm", "static void honest")
        + before
        + "void gemm(int m, int n, int k, const double *A, const double *B, double *C) {\n"
        + body
        + honest
        + "\n}\n"
    )


@pytest.mark.slow
def test_the_original_is_measured_in_gflops_below_the_roofline(admitted: Admitted) -> None:
    assert [one.name for one in admitted.timed] == ["m=120 n=120 k=120"]
    assert {given.origin for given in admitted.inputs} == {"seen", "generated"}
    assert 1 < admitted.peak_gflops < 2000


def test_sizes_that_nobody_named_are_not_timed_and_no_prompt_tells_of_them(admitted: Admitted) -> None:
    spec = spec_of(admitted.problem)
    drawn = [replace(admitted.timed[0], name=f"{n}", workload=Shape(spec, (n, n, n), 6, 104)) for n in (40, 60, 80, 97)]
    assert not any(one.workload.is_timed for one in drawn)
    more = tuple(replace(one, seconds=0.01 * int(one.name) ** 3 / 40**3) for one in drawn)
    assert facts_of_calls(replace(admitted, inputs=(*admitted.inputs, *more))) == facts_of_calls(admitted)


def test_a_better_loop_order_is_faster_and_confirmed(
    sandbox_evaluator: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], Evaluation]
) -> None:
    found = judge(IKJ)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert found.timing.significant
    assert found.timing.gflops is not None
    assert 0 < found.timing.gflops.low <= found.timing.gflops.high < found.timing.roofline
    state = State(
        admitted.problem,
        State(admitted.problem),
        Step(Action(admitted.problem.program.with_text(IKJ)), found, 2.0),
        (1, 0),
    )
    confirmed = anyio.run(sandbox_evaluator.settle, admitted.problem, [state], None)[state.id].timing
    assert confirmed is not None
    assert confirmed.confirmed
    assert confirmed.significant
    assert confirmed.single is None  # one core is all there is to the clock cpu


THREADED = IKJ.replace("    for (int i", "#pragma omp parallel for\n    for (int i")


@pytest.fixture(scope="module")
def walled(sandbox_evaluator: ProgramEvaluator) -> Admitted:
    """The product with threads permitted and the wall clock as the goal."""
    problem = small(GEMM)
    function = replace(spec_of(problem), calls=40)
    flags = (*problem.spec.flags, "-fopenmp")
    spec = replace(problem.spec, flags=flags, function=function, shared_cores=True)
    return anyio.run(sandbox_evaluator.admit, replace(problem, spec=spec, goal="wall"))


@pytest.mark.slow
def test_a_threaded_function_has_its_speed_on_one_core_beside_that_of_the_wall_clock(
    sandbox_evaluator: ProgramEvaluator, walled: Admitted
) -> None:
    action = Action(walled.problem.program.with_text(THREADED))
    found = anyio.run(sandbox_evaluator.evaluate, walled.problem, action)
    assert found.outcome is Outcome.CORRECT, found.feedback
    state = State(walled.problem, State(walled.problem), Step(action, found, 2.0), (1, 0))
    timing = anyio.run(sandbox_evaluator.settle, walled.problem, [state], None)[state.id].timing
    assert timing is not None
    assert timing.confirmed
    assert timing.clock == "wall"
    assert timing.single is not None
    assert 1 < timing.single.low <= timing.single.value <= timing.single.high


@pytest.mark.slow
def test_a_function_that_cannot_work_on_one_core_has_no_figure_for_it(
    sandbox: Sandbox, builder: Builder, walled: Admitted
) -> None:
    stuck = gemm(
        "cpu_set_t cores; sched_getaffinity(0, sizeof cores, &cores); "
        "for (volatile int wait = CPU_COUNT(&cores) == 1; wait;) {}",
        "#include <sched.h>\n",
    )
    built = anyio.run(builder.build, walled.problem, walled.problem.program.with_text(stuck))
    assert built.artefact is not None
    assert walled.original.artefact is not None
    sides: dict[Side, RaceSide] = {
        "original": RaceSide(walled.original.artefact, {}),
        "candidate": RaceSide(built.artefact, {}),
    }
    field = RaceInputs(sandbox, walled.problem, walled.source)
    assert anyio.run(on_one_core, field, sides, walled.timed, SHORT) is None


@pytest.mark.slow
def test_a_playoff_between_two_functions_has_a_winner(
    sandbox_evaluator: ProgramEvaluator, admitted: Admitted, judge: Callable[[str], Evaluation]
) -> None:
    def state(text: str, slot: int) -> State:
        step = Step(Action(admitted.problem.program.with_text(text)), judge(text), 2.0)
        return State(admitted.problem, State(admitted.problem), step, (1, slot))

    twice = IKJ.replace("    memset", "    for (int again = 0; again < 2; again++) {\n    memset").rstrip().rstrip("}")
    states = [state(twice + "}\n}\n", 0), state(IKJ, 1)]
    found = anyio.run(sandbox_evaluator.settle, admitted.problem, states, None)
    assert set(found) == {states[1].id}


WRONG = {
    "results kept from an earlier call": (
        gemm(
            "static double *kept; static int size; "
            "if (kept && size == m * n) { memcpy(C, kept, sizeof *C * (size_t)size); return; }",
            honest="honest(m, n, k, A, B, C); kept = malloc(sizeof *C * (size_t)(m * n)); size = m * n; "
            "memcpy(kept, C, sizeof *C * (size_t)size);",
        ),
        "a held-out test failed | relative error",
    ),
    "skipped tail rows": (gemm("", honest="honest(m - m % 8, n, k, A, B, C);"), "C at m="),
    "float in place of double": (
        IKJ.replace("C[i * n + j] += A", "C[i * n + j] += (double)((float)A").replace(
            "B[p * n + j];", "(float)B[p * n + j]);"
        ),
        "relative error",
    ),
    "nothing written": (gemm("", honest=""), "relative error"),
    "a word too many, then the work": (  # its output is looked at before there is one
        gemm('if (write(6, "d", 1) != 1) return; struct timespec t = {0, 20000000}; nanosleep(&t, 0);'),
        "a held-out test failed | relative error | values beyond those drawn",
    ),
    "only the sizes it was told of": (
        gemm("if (!(m == 120 || m == 1 || (m == 7 && n == 17) || (m == 33 && n == 8))) return;"),
        "a held-out test failed | relative error",
    ),
    "just beyond the output": (gemm("C[m * n] = 1;"), "outside its output"),
    "into an input": (gemm("((double *)(size_t)A)[0] = 1;"), "wrote to an input"),
}

CRASHED = {
    "arrays at the start of a page": gemm("if ((size_t)A % 4096) abort();"),
    "far beyond the output": gemm("C[(m * n + 511) / 512 * 512] = 1;"),
    "leaving before the last call": gemm("static int calls; if (m > 100 && calls++ == 3) exit(0);"),
    "the end of everything": gemm("kill(0, 9);", "#include <signal.h>\n"),
}

REJECTED = {
    "a BLAS by name": gemm("cblas_dgemm(0);", "void cblas_dgemm(int);\n"),
    "the header of a BLAS": "#include <cblas.h>\n" + IKJ,
    "a library loaded": gemm('dlopen("libopenblas.so", 1);', "void *dlopen(const char *, int);\n"),
}

# A thread that never blocks is looked at by the kernel's clock at ticks only.
UNSEEN = gemm(
    "if (m < 100) { honest(m, n, k, A, B, C); return; } job = (struct job){m, n, k, A, B, C}; "
    "pthread_t t; pthread_create(&t, 0, work, 0); for (;;) pause();",
    """struct job { int m, n, k; const double *A, *B; double *C; };
static struct job job;
static long ns(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static void just_after_a_tick(void) {
    long last = ns(CLOCK_MONOTONIC_COARSE);
    while (ns(CLOCK_MONOTONIC_COARSE) == last) {}
}
static void *work(void *p) {
    char word = 'd';
    for (int round = 1;; round++) {
        if (round == 21) { fcntl(5, F_SETFL, O_NONBLOCK); just_after_a_tick(); }
        honest(job.m, job.n, job.k, job.A, job.B, job.C);
        if (write(6, &word, 1) != 1) _exit(1);
        ssize_t got;
        while ((got = read(5, &word, 1)) < 0) {}
        if (got == 0) _exit(0);
    }
    return p;
}
""",
    honest="",
)

# They compute in the end, because what they try is not to be had.
VAIN = {
    "a library loaded under another name": gemm(
        'void *l = open_it("libopenblas.so.0", 2); if (!l) l = open_it("libblas.so.3", 2); if (l) return;',
        "#define open_it dl##open\n#define glue(a, b) a##b\n#undef open_it\n#define open_it glue(dl, open)\n"
        "void *open_it(const char *, int);\n",
    ),
    "work in a child": gemm(
        "pid_t child = fork(); if (child == 0) { honest(m, n, k, A, B, C); _exit(0); } "
        "if (child > 0) { waitpid(child, 0, 0); return; }"
    ),
    "expected values": gemm(
        "char text[64]; int f = open(\"/proc/1/mem\", O_RDONLY); if (f < 0) f = open(\"/proc/1/fd/64\", O_RDONLY); "
        "if (f < 0) f = open(\"/src/gemm.c\", O_RDONLY); if (f >= 0 && read(f, text, 64) > 0) return; "
        "if (read(0, text, 64) > 0) return;"
    ),
    "a thread nobody looks at": UNSEEN,
    "the name of a library in a comment": "/* blocked as in openblas */\n" + IKJ,
    "a patched clock": gemm(
        "", "int clock_gettime(clockid_t c, struct timespec *t) { (void)c; t->tv_sec = t->tv_nsec = 0; return 0; }\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_function_that_does_not_compute_its_output_is_wrong(name: str, judge: Callable[[str], Evaluation]) -> None:
    text, words = WRONG[name]
    found = judge(text)
    assert found.outcome is Outcome.WRONG, found.feedback
    assert found.timing is None
    told = "; ".join(found.feedback.reasons)
    assert any(said in told for said in words.split(" | ")), told  # several where it is found by chance first


@pytest.mark.parametrize("name", CRASHED)
def test_a_function_that_breaks_its_process_has_crashed(name: str, judge: Callable[[str], Evaluation]) -> None:
    assert judge(CRASHED[name]).outcome is Outcome.CRASHED


@pytest.mark.parametrize("name", REJECTED)
def test_a_library_is_refused_before_anything_is_built(name: str, judge: Callable[[str], Evaluation]) -> None:
    found = judge(REJECTED[name])
    assert found.outcome is Outcome.REJECTED
    assert "line" in found.feedback.reasons[0]


@pytest.mark.parametrize("name", some(reversed(VAIN), 1))
def test_a_cheat_that_is_not_to_be_had_gains_nothing(name: str, beside_honest: Callable[[str], Evaluation]) -> None:
    found = beside_honest(VAIN[name])
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None
    assert found.timing.over_rival is not None
    assert found.timing.over_rival.value < 1.3


def test_a_technique_that_is_not_permitted_is_rejected_with_what_and_where(
    sandbox_evaluator: ProgramEvaluator, admitted: Admitted
) -> None:
    staged = replace(admitted.problem, permitted=frozenset({"tiling"}))
    text = IKJ.replace("            for (int j", "#pragma omp simd\n            for (int j")
    found = anyio.run(sandbox_evaluator.evaluate, staged, Action(staged.program.with_text(text)))
    assert found.outcome is Outcome.REJECTED
    assert found.feedback.reasons == ("gemm.c, line 7: `#pragma omp simd` is simd, which is not permitted here",)
    allowed = anyio.run(sandbox_evaluator.evaluate, staged, Action(staged.program.with_text(IKJ)))
    assert allowed.outcome is Outcome.CORRECT


def test_a_pipe_that_is_full_does_not_hold_the_shim_up(judge: Callable[[str], Evaluation]) -> None:
    stuck = gemm(
        'static char many[65536]; int f = open("/proc/self/fd/5", O_WRONLY | O_NONBLOCK); '
        "while (f >= 0 && write(f, many, sizeof many) > 0) {} while (f >= 0 && write(f, many, 1) > 0) {} "
        'static int calls; if (m > 100 && calls++ == 2 && write(6, "d", 1) == 1) for (;;) pause();'
    )
    assert judge(stuck).outcome in (Outcome.TIMEOUT, Outcome.WRONG, Outcome.CRASHED)


def test_work_after_the_word_done_is_charged_or_missing(beside_honest: Callable[[str], Evaluation]) -> None:
    """Whatever is done until the shim has read the clock is charged; the rest is not among the outputs."""
    found = beside_honest(
        gemm('static int real = -1; if (real < 0) { real = dup(6); dup2(1, 6); } if (write(real, "d", 1) != 1) return;')
    )
    if found.outcome is not Outcome.WRONG:
        assert found.outcome is Outcome.CORRECT
        assert found.timing is not None
        assert found.timing.over_rival is not None
        assert found.timing.over_rival.value < 1.3


def test_a_thread_left_running_is_charged(judge: Callable[[str], Evaluation]) -> None:
    spin = "static void *spin(void *p) { for (volatile long i = 0;; i++) {} return p; }\n"
    found = judge(gemm("static pthread_t left; if (!left) pthread_create(&left, 0, spin, 0);", spin))
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None
    assert found.timing.gflops is not None
    honest = judge(IKJ).timing
    assert honest is not None
    assert honest.gflops is not None
    assert found.timing.gflops.value < 0.9 * honest.gflops.value


def test_an_original_that_gives_nan_is_bad_input(sandbox_evaluator: ProgramEvaluator) -> None:
    problem = small(GEMM)
    broken = problem.program.with_text(NAIVE.replace("C[i * n + j] = sum", "C[i * n + j] = sum / (i - i)"))
    with pytest.raises(InputError, match="gives NaN or infinity"):
        anyio.run(sandbox_evaluator.admit, replace(problem, program=broken))


def test_inputs_that_are_the_same_whatever_the_seed_are_bad_input(sandbox_evaluator: ProgramEvaluator) -> None:
    problem = small(GEMM)
    inputs = (
        "void inputs(unsigned long seed, int m, int n, int k, double *A, double *B) {\n(void)seed;\n"
        "for (int i = 0; i < m * k; i++) A[i] = i;\nfor (int i = 0; i < k * n; i++) B[i] = i;\n}\n"
    )
    spec = replace(problem.spec, function=replace(spec_of(problem), inputs=inputs))
    with pytest.raises(InputError, match=r"m=120 n=120 k=120 are the same, .* depend on its `seed`"):
        anyio.run(sandbox_evaluator.admit, replace(problem, spec=spec))
    half = inputs.replace("A[i] = i", "A[i] = (double)(seed % 1000) + i")
    spec = replace(spec, function=replace(spec_of(problem), inputs=half))
    assert anyio.run(sandbox_evaluator.admit, replace(problem, spec=spec)).timed


def test_inputs_made_together_differ_and_are_handed_out_once(sandbox: Sandbox) -> None:
    problem = small(GEMM)
    (shape,) = timed_shapes(problem)

    async def several() -> list[bytes]:
        source = Inputs(sandbox, problem)
        return [(await source.fresh(shape, ahead=3)).read() for _ in range(7)]

    assert len(set(anyio.run(several))) == 7


def test_what_the_first_passes_need_is_made_before_the_timing_lane_is_taken(
    sandbox: Sandbox, admitted: Admitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_lane: list[bool] = []
    plans, build = Inputs._plans, Inputs._build

    async def planned(inputs: Inputs, shape: Shape, count: int) -> list[bytes]:
        in_lane.append(lanes._timing_turns().locked())
        return await plans(inputs, shape, count)

    async def generator(inputs: Inputs) -> Blob:
        in_lane.append(lanes._timing_turns().locked())
        return await build(inputs)

    async def work() -> Timing:
        assert admitted.original.artefact is not None
        side = RaceSide(admitted.original.artefact, {})
        field = RaceInputs(sandbox, admitted.problem, Calls(Inputs(sandbox, admitted.problem)))
        return await race(field, {"original": side, "candidate": side}, admitted.timed, replace(SHORT, most=2))

    monkeypatch.setattr(Inputs, "_plans", planned)
    monkeypatch.setattr(Inputs, "_build", generator)
    assert anyio.run(work).pairs == 2
    assert in_lane[:2] == [False, False], "the generator, and the first inputs"


def test_inputs_may_be_asked_for_by_several_tasks_at_once(sandbox: Sandbox) -> None:
    """A verdict on a kept admission makes fresh inputs beside the race, and both need the generator first."""
    problem = small(GEMM)
    (shape,) = timed_shapes(problem)

    async def together() -> list[float]:
        inputs, found = Inputs(sandbox, problem), []

        async def one() -> None:
            found.append(await inputs.ready_s(shape))
            (await inputs.fresh(shape)).close()

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(one)
        return found

    assert len(anyio.run(together)) == 3


@pytest.mark.slow
def test_a_size_both_checked_and_timed_and_calls_one_by_one_are_no_trouble(
    sandbox_evaluator: ProgramEvaluator,
) -> None:
    problem = small(GEMM)
    twice = replace(
        spec_of(problem), calls=1, checked=((200, 200, 200), (9, 9, 9), (9, 9, 9)), timed=((200, 200, 200),)
    )
    problem = replace(problem, spec=replace(problem.spec, function=twice))
    found = anyio.run(sandbox_evaluator.evaluate, problem, Action(problem.program.with_text(IKJ)))
    assert found.outcome is Outcome.CORRECT, found.feedback


def test_one_wrong_element_of_many_is_seen_and_nan_never_passes(admitted: Admitted) -> None:
    shape = Shape(spec_of(admitted.problem), (2, 2, 2), 1)
    right = struct.pack("4d", 1, 2, 3, 4)
    assert disagreement(shape, right, struct.pack("4d", 1, 2, 3, 4 + 1e-12)) is None
    assert "relative error" in (disagreement(shape, right, struct.pack("4d", 1, 2, 3, 4 + 1e-7)) or "")
    assert "nan" in (disagreement(shape, right, struct.pack("4d", 1, 2, float("nan"), 4)) or "")
    assert "bytes" in (disagreement(shape, right, right[:-8]) or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("const double A[m*k]", "const double A[m*z]"), "cannot compute 'm\\*z'"),
        (("int m", "float m"), "must be int or long"),
        (("double C[m*n]", "const double C[m*n]"), "a result array"),
        (("2*m*n*k", "2*m*n*k**3"), "cannot compute"),
        (("2*m*n*k", "2if m else n"), "`2if` is not a whole number"),
        (('flop = "2*m*n*k"', 'flop = "2*m*n*k"\nbytes = "8*z"'), "cannot compute '8\\*z'"),
        (('flop = "2*m*n*k"', 'flop = "2*m*n*k"\nbytes = "0-8*m"'), "flop or bytes is below 0"),
        (('header = "gemm.h"', 'header = "none.h"'), "cannot read"),
        (("{ m = 7, n = 17, k = 5 }", "{ m = 7, n = 17 }"), "must give a value to each"),
        (('name = "gemm"', 'nam = "gemm"'), "did you mean 'name'"),
        (('kind = "function"', 'kind = "program"'), "belongs to kind"),
        (('"const double A[m*k]", "const double B[k*n]", "double C', '"double C'), "an array that is read"),
        (('kind = "function"', 'kind = "function"\npermitted = ["tilling"]'), "did you mean 'tiling'"),
    ],
)
def test_a_description_that_cannot_be_used_names_what_to_change(
    change: tuple[str, str], words: str, tmp_path: Path
) -> None:
    for name in ("gemm.c", "gemm.h"):
        (tmp_path / name).write_text((GEMM / name).read_text())
    text = (GEMM / "problem.toml").read_text()
    assert change[0] in text
    (tmp_path / "problem.toml").write_text(text.replace(change[0], change[1]))
    with pytest.raises(InputError, match=words):
        load(tmp_path)
