"""Functions under the shim's clock: honest ones are timed in GFLOPS, cheats gain nothing or are told what they did."""

from __future__ import annotations

import array
import math
import random
import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError
from maxcode.evaluate import function
from maxcode.evaluate.build import Builder
from maxcode.evaluate.comparing import distance
from maxcode.evaluate.examine import Examiner
from maxcode.evaluate.floor import empty_pass_s
from maxcode.evaluate.function import Shape, disagreement, spec_of
from maxcode.evaluate.judging import with_timing
from maxcode.evaluate.prepare import Admitted
from maxcode.evaluate.program import ProgramEvaluator
from maxcode.evaluate.racing import Entry, Field, Side, on_one_core
from maxcode.evaluate.roofline import Memory, memory_of
from maxcode.evaluate.sandbox import Sandbox
from maxcode.evaluate.unseen import Unseen
from maxcode.problems import load
from maxcode.types import Action, Evaluation, Harsher, Interval, Outcome, Problem, State, Step, Timing

GEMM = Path(__file__).parents[2] / "examples" / "gemm"
NAIVE = (GEMM / "gemm.c").read_text()
IKJ = """#include <string.h>
#include "gemm.h"
void gemm(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}
"""


def small(folder: Path) -> Problem:
    problem = load(folder).problem
    function = replace(
        spec_of(problem), calls=40, timed=((120, 120, 120),), checked=((1, 1, 1), (7, 17, 5), (33, 8, 64))
    )
    return replace(problem, spec=replace(problem.spec, function=function))


@pytest.fixture(scope="module")
def admitted(sandbox_evaluator: ProgramEvaluator) -> Admitted:
    return anyio.run(sandbox_evaluator.admit, small(GEMM))


@pytest.fixture(scope="module")
def judge(sandbox_evaluator: ProgramEvaluator, admitted: Admitted) -> Callable[[str], Evaluation]:
    def judged(text: str) -> Evaluation:
        action = Action(admitted.problem.program.with_text(text))
        return anyio.run(sandbox_evaluator.evaluate, admitted.problem, action)

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


def test_the_original_is_measured_in_gflops_below_the_roofline(admitted: Admitted) -> None:
    assert [given.name for given in admitted.timed] == ["m=120 n=120 k=120"]
    assert {given.origin for given in admitted.inputs} == {"seen", "generated"}
    assert 1 < admitted.peak_gflops < 2000


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
    function = replace(spec_of(problem), calls=6)
    flags = (*problem.spec.flags, "-fopenmp")
    spec = replace(problem.spec, flags=flags, function=function, shared_cores=True)
    return anyio.run(sandbox_evaluator.admit, replace(problem, spec=spec, goal="wall"))


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
    sides: dict[Side, Entry] = {
        "original": Entry(walled.original.artefact, {}),
        "candidate": Entry(built.artefact, {}),
    }
    field = Field(sandbox, walled.problem, walled.source)
    assert anyio.run(on_one_core, field, sides, walled.timed) is None


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
        "a held-out test failed",
    ),
    "skipped tail rows": (gemm("", honest="honest(m - m % 8, n, k, A, B, C);"), "C at m=1 n=1 k=1"),
    "float in place of double": (
        IKJ.replace("C[i * n + j] += A", "C[i * n + j] += (double)((float)A").replace(
            "B[p * n + j];", "(float)B[p * n + j]);"
        ),
        "relative error",
    ),
    "nothing written": (gemm("", honest=""), "relative error nan"),
    "only the sizes it was told of": (
        gemm("if (!(m == 120 || m == 1 || (m == 7 && n == 17) || (m == 33 && n == 8))) return;"),
        "a held-out test failed",
    ),
    "just beyond the output": (gemm("C[m * n] = 1;"), "outside its output"),
    "into an input": (gemm("((double *)(size_t)A)[0] = 1;"), "wrote to an input"),
}

CRASHED = {
    "arrays at the start of a page": gemm("if ((size_t)A % 4096) abort();"),
    "far beyond the output": gemm("C[(m * n + 511) / 512 * 512] = 1;"),
    "leaving before the last call": gemm("static int calls; if (m > 100 && calls++ == 3) exit(0);"),
    "a word too many, then the work": gemm(
        'if (write(6, "d", 1) != 1) return; struct timespec t = {0, 20000000}; nanosleep(&t, 0);'
    ),
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
    assert any(words in reason for reason in found.feedback.reasons), found.feedback.reasons


@pytest.mark.parametrize("name", CRASHED)
def test_a_function_that_breaks_its_process_has_crashed(name: str, judge: Callable[[str], Evaluation]) -> None:
    assert judge(CRASHED[name]).outcome is Outcome.CRASHED


@pytest.mark.parametrize("name", REJECTED)
def test_a_library_is_refused_before_anything_is_built(name: str, judge: Callable[[str], Evaluation]) -> None:
    found = judge(REJECTED[name])
    assert found.outcome is Outcome.REJECTED
    assert "line" in found.feedback.reasons[0]


@pytest.mark.parametrize("name", VAIN)
def test_a_cheat_that_is_not_to_be_had_gains_nothing(name: str, judge: Callable[[str], Evaluation]) -> None:
    honest, found = judge(IKJ).timing, judge(VAIN[name])
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None
    assert honest is not None
    assert found.timing.speedup.value < 1.3 * honest.speedup.value


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


def test_work_after_the_word_done_is_charged_or_missing(judge: Callable[[str], Evaluation]) -> None:
    """Whatever is done until the shim has read the clock is charged; the rest is not among the outputs."""
    found = judge(
        gemm('static int real = -1; if (real < 0) { real = dup(6); dup2(1, 6); } if (write(real, "d", 1) != 1) return;')
    )
    honest = judge(IKJ).timing
    assert honest is not None
    if found.outcome is not Outcome.WRONG:
        assert found.outcome is Outcome.CORRECT
        assert found.timing is not None
        assert found.timing.speedup.value < 1.3 * honest.speedup.value


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


def test_the_roofline_is_made_of_independent_chains() -> None:
    """A compiler that sees through them keeps one, and the roof comes out too high."""
    source = Path(function.__file__).with_name("peak.c")
    code = subprocess.run(
        ["gcc", "-O3", "-march=native", "-S", "-o", "-", source], capture_output=True, text=True, check=True
    ).stdout
    chains = int(source.read_text().split("#define CHAINS ")[1].split()[0])
    assert len(re.findall(r"\tv?(?:fn?m?add|mul)\w*pd\s|\tfmla\s|\tfmul\s", code)) >= chains


def test_more_than_the_machine_can_do_is_rejected(admitted: Admitted) -> None:
    rate = Interval(1.2 * admitted.peak_gflops, 1.15 * admitted.peak_gflops, 1.25 * admitted.peak_gflops)
    timing = Timing("cpu", Interval(90, 89, 91), True, "faster", 9, gflops=rate)
    found = with_timing(Evaluation(Outcome.CORRECT), timing, admitted)
    assert found.outcome is Outcome.REJECTED
    assert found.timing is None
    assert "more than this machine can do" in found.feedback.reasons[0]


def test_more_bytes_than_the_machine_can_move_are_rejected(sandbox: Sandbox, admitted: Admitted) -> None:
    spec = replace(spec_of(admitted.problem), moved="8*(m*k+k*n+m*n)")
    given = replace(admitted.timed[0], shape=Shape(spec, (120, 120, 120), 40))
    assert given.shape is not None
    memory = anyio.run(memory_of, sandbox, [given.shape])
    assert memory is not None
    assert memory.far == 0  # all of it fits into a cache
    roof = memory.near / 1e9
    assert 5 < roof < 5000
    held = replace(admitted, inputs=(given,), memory=memory)
    timing = Timing("cpu", Interval(9, 9, 9), True, "faster", 9, inputs=(given.name,))
    slow = replace(timing, gbytes=Interval(0.9 * roof, 0.9 * roof, 0.9 * roof))
    kept = with_timing(Evaluation(Outcome.CORRECT), slow, held)
    assert kept.timing is not None
    assert kept.timing.memory_roof == pytest.approx(roof)
    fast = replace(timing, gbytes=Interval(2 * roof, 1.6 * roof, 2.1 * roof))
    found = with_timing(Evaluation(Outcome.CORRECT), fast, held)
    assert (found.outcome, found.timing) == (Outcome.REJECTED, None)
    assert "GB/s is more than this machine can move" in found.feedback.reasons[0]


def test_arrays_that_fit_into_no_cache_must_come_out_of_memory_but_for_what_a_cache_holds() -> None:
    spec = replace(spec_of(small(GEMM)), moved="8*m*k")
    shape = Shape(spec, (1000, 1, 1000), 3)  # 8 MB of A, a little of B and C, in each of three rounds
    roomy, tight = Memory(1e11, 1e10, 1 << 24), Memory(1e11, 1e10, 4_016_000)
    assert shape.held == 8_016_000
    assert roomy.least_s(shape) == pytest.approx(24e6 / 1e11)
    assert tight.least_s(shape) == pytest.approx(12e6 / 1e10)
    assert tight.roof([shape]) == pytest.approx(20)
    assert replace(tight, far=0.0).roof([shape]) == pytest.approx(100)


def test_a_function_that_gives_its_bytes_has_its_bandwidth_beside_the_roof(
    sandbox_evaluator: ProgramEvaluator,
) -> None:
    problem = small(GEMM)
    spec = replace(problem.spec, function=replace(spec_of(problem), moved="8*(m*k+k*n+m*n)"))
    problem = replace(problem, spec=spec)
    assert spec_of(problem).said.keys() - spec_of(small(GEMM)).said.keys() == {"moved"}
    found = anyio.run(sandbox_evaluator.evaluate, problem, Action(problem.program.with_text(IKJ)))
    assert found.timing is not None and found.timing.gbytes is not None and found.timing.gflops is not None
    moved, work = 3 * 8 * 120 * 120, 2 * 120**3
    assert found.timing.gbytes.value == pytest.approx(found.timing.gflops.value * moved / work)
    assert 0 < found.timing.gbytes.high < found.timing.memory_roof


def test_calls_that_do_nothing_cost_something_and_less_than_honest_ones(sandbox: Sandbox, admitted: Admitted) -> None:
    least = anyio.run(empty_pass_s, sandbox, admitted)
    assert 1e-7 < least < min(given.seconds for given in admitted.timed)


@pytest.mark.parametrize(("share", "outcome"), [(0.4, Outcome.REJECTED), (0.6, Outcome.CORRECT)])
def test_a_function_faster_than_calls_that_do_nothing_is_rejected(
    share: float, outcome: Outcome, sandbox: Sandbox, builder: Builder, admitted: Admitted
) -> None:
    examiner = Examiner(sandbox, builder, Unseen(sandbox, builder))
    least = anyio.run(examiner.nothing_s, admitted)
    samples = tuple((9 * share * least, share * least) for _ in range(15))
    timing = Timing("cpu", Interval(9, 9, 9), True, "faster", 15, True, samples=samples)
    found = Evaluation(Outcome.CORRECT, timing=timing)
    program, original = admitted.problem.program, admitted.original.artefact
    assert original is not None
    seen = anyio.run(examiner.examined, admitted, program, original, found)
    assert seen.outcome is outcome
    assert (seen.timing is None) is (outcome is Outcome.REJECTED)
    assert ("its work was not seen" in "".join(seen.feedback.reasons)) is (outcome is Outcome.REJECTED)


def test_a_winner_with_suspicious_code_is_verified_at_sizes_that_nobody_was_told_of(
    sandbox: Sandbox, builder: Builder, admitted: Admitted
) -> None:
    """The second one is wrong at a single size between those of `checked`, which it knows."""
    unseen = Unseen(sandbox, builder)
    further = anyio.run(unseen.made, admitted, True).inputs
    assert len(further) > 6
    sizes = further[0].shape.sizes if further[0].shape is not None else ()
    here = " && ".join(f"{name} == {size}" for name, size in zip("mnk", sizes, strict=True))
    honest = IKJ + 'static void unused(void) { __asm__ volatile(""); }\nvoid (*used)(void) = unused;\n'
    wrong = honest.replace("    memset", f"    if ({here}) {{ memset(C, 0, 8ul * m * n); return; }}\n    memset")
    examiner = Examiner(sandbox, builder, unseen)
    samples = tuple((8 * admitted.timed[0].seconds, admitted.timed[0].seconds) for _ in range(15))
    timing = Timing("cpu", Interval(8, 8, 8), True, "faster", 15, True, samples=samples)

    async def looked_at(text: str) -> Evaluation:
        program = admitted.problem.program.with_text(text)
        built = await builder.build(admitted.problem, program, final=True)
        assert built.artefact is not None, built.diagnostics
        return await examiner.examined(admitted, program, built.artefact, Evaluation(Outcome.CORRECT, timing=timing))

    seen = anyio.run(looked_at, honest)
    assert seen.outcome is Outcome.CORRECT
    assert seen.harsher == Harsher(("inline assembly (gemm.c, line 9)",), len(further), True)
    fallen = anyio.run(looked_at, wrong)
    assert (fallen.outcome, fallen.timing) == (Outcome.WRONG, None)
    assert fallen.harsher is not None
    assert fallen.harsher.result == f"FAILED on {len(further)} further inputs"


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


@pytest.mark.parametrize("ctype", ["double", "float", "int", "long"])
def test_distances_of_arrays_are_those_that_python_computes(ctype: str) -> None:
    code = {"double": "d", "float": "f", "int": "i", "long": "l"}[ctype]
    draw = random.Random(5)
    want = array.array(code, [draw.randint(-1000, 1000) for _ in range(1001)])
    have = array.array(code, [value + draw.randint(-2, 2) for value in want])
    zeros = array.array(code, [0] * 1001)
    assert distance(ctype, want.tobytes(), have.tobytes()) == pytest.approx(math.dist(want, have), rel=1e-12)
    assert distance(ctype, want.tobytes(), None) == pytest.approx(math.dist(want, zeros), rel=1e-12)
    assert distance(ctype, want.tobytes(), want.tobytes()) == 0
    assert distance(ctype, b"", b"") == 0


@pytest.mark.parametrize(("value", "found"), [(1e300, 1e300), (1e-300, 1e-300), (5e-324, 5e-324), (0.0, 0.0)])
def test_distances_neither_overflow_nor_vanish(value: float, found: float) -> None:
    assert distance("double", struct.pack("3d", 0, value, 0), None) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_distance_to_what_is_no_number_is_none_either(value: float) -> None:
    zeros = struct.pack("3d", 0, 0, 0)
    assert not math.isfinite(distance("double", zeros, struct.pack("3d", 0, value, 0)))
    assert not math.isfinite(distance("double", struct.pack("3d", value, 0, 1e300), None))


def test_arrays_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="8 and 16 bytes"):
        distance("double", bytes(8), bytes(16))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("const double A[m*k]", "const double A[m*z]"), "cannot compute 'm\\*z'"),
        (("int m", "float m"), "must be int or long"),
        (("double C[m*n]", "const double C[m*n]"), "not const"),
        (("2*m*n*k", "2*m*n*k**3"), "cannot compute"),
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
