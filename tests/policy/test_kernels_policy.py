"""The kernel policy reads the sections of its observation, and nothing but them and the draw."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import anyio
import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import fenced, fences
from maxcode.code.techniques import used
from maxcode.core.history import Reached
from maxcode.core.types import Action, Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.llm.clients import Model
from maxcode.observe import compose, program, statement
from maxcode.policy.rules.kernels import STEPS, Kernels
from maxcode.policy.rules.kernels.nest import Loop
from maxcode.policy.rules.kernels.policy import HEADER, LOOPS_HEADER
from maxcode.policy.rules.kernels.reading import read
from maxcode.policy.rules.kernels.templates import fit
from maxcode.problems import load
from maxcode.run.names import policy
from tests.support.drawn_kernels import sample

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NAMES = ("correlation", "gemm", "stencil", "threemm", "trsm")
LABEL = re.compile(r"^- (\w+\([^()]*\)): ", re.MULTILINE)
GEMM = (EXAMPLES / "gemm" / "gemm.c").read_text(encoding="utf-8")
TUNED = """#include "gemm.h"

enum { TILE_J = 64 }; /* of a step */
void gemm(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int j0 = 0; j0 < n; j0 += TILE_J) {
        for (int i = 0; i < m; i++) {
            for (int j = j0; j < (j0 + TILE_J < n ? j0 + TILE_J : n); j++) {
                double sum = 0.0;
                for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
                C[i * n + j] = sum;
            }
        }
    }
}
"""


def observed(
    *sections: Section,
    text: str = GEMM,
    draw: int = 1,
    permitted: frozenset[str] | None = None,
    wall: bool = False,
    flags: tuple[str, ...] = ("-O3",),
) -> Observation:
    flags = (*flags, "-fopenmp") if wall else flags
    files = Program({"gemm.c": GEMM})
    problem = Problem(
        "p", "program", "c", files, ProgramSpec(flags=flags), goal="wall" if wall else "cpu", permitted=permitted
    )
    state = State(problem)
    told = compose(statement(), program())(state, Reached(state))
    rest = tuple(part if part.title != "Program" else Section("Program", fenced(text, "c")) for part in told)
    return Observation((*rest, *sections), state, draw)


def propose(observation: Observation) -> Action:
    return anyio.run(Kernels().propose, observation)


def labels(*sections: Section, text: str = GEMM, draws: int = 40, **rest: object) -> Counter[str]:
    """How often each step is proposed over many draws."""
    found: Counter[str] = Counter()
    for draw in range(draws):
        found.update(LABEL.findall(propose(observed(*sections, text=text, draw=draw * 7919, **rest)).completion))  # type: ignore[arg-type]
    return found


def loop_until(test: str) -> str | None:
    """The bound below which a loop with this test is read to run."""
    unit = Unit("c", f"void f(int n) {{ for (int i = 0; {test}; i++) x[i] = 0; }}")
    (function,) = unit.functions
    (loop,) = read(function.body)
    return loop.high if isinstance(loop, Loop) else None


def by_step(found: Counter[str]) -> Counter[str]:
    steps: Counter[str] = Counter()
    for label, count in found.items():
        steps[label.split("(")[0]] += count
    return steps


# ------------------------------------------------------------------------------------------------------ the proposal


def test_a_proposal_is_notes_and_one_whole_program() -> None:
    action = propose(observed())
    assert action.completion.splitlines()[0] == HEADER
    assert 1 <= len(LABEL.findall(action.completion)) <= 3
    assert action.program is not None
    assert action.program.name == "gemm.c"
    assert [block.body for block in fences(action.completion)] == [action.program.text]
    assert action.program.text != GEMM


def test_the_notes_say_which_step_was_taken_where_and_why() -> None:
    notes = [line for line in propose(observed()).completion.splitlines() if line.startswith("- ")]
    assert all(re.fullmatch(r"- \w+\(.*\): line \d+: .+ \(.+\)", line) for line in notes)


def test_the_policy_is_known_by_name() -> None:
    assert policy("kernels", no_models) == Kernels()
    assert policy("loops", no_models) == Kernels(templates=False)


def no_models(name: str) -> Model:
    raise AssertionError(f"asked for the model {name}")


def test_the_same_draw_gives_the_same_proposal() -> None:
    assert propose(observed(draw=5)) == propose(observed(draw=5))


def test_every_step_says_what_it_does() -> None:
    assert all(len(line) > 20 and line.endswith(".") for line in STEPS.values())


@pytest.mark.slow
@pytest.mark.heavy
def test_there_are_hundreds_of_distinct_kernels() -> None:
    assert len({propose(observed(draw=draw * 31)).completion for draw in range(40)}) > 30
    assert len({sample(GEMM, "c", draw) for draw in range(260)}) >= 200


@pytest.mark.slow
@pytest.mark.heavy
def test_a_constant_of_a_kernel_is_the_first_thing_to_change() -> None:
    found = by_step(labels(text=TUNED))
    assert found["retune"] > 15
    change = next(label for label in labels(text=TUNED) if label.startswith("retune(TILE_J"))
    value = int(re.findall(r"value=(\d+)", change)[0])
    assert value in (32, 48, 96, 128)


@pytest.mark.heavy
def test_now_and_then_it_starts_at_the_original_again() -> None:
    told = [propose(observed(text=TUNED, draw=draw)).completion for draw in range(40)]
    assert 1 < sum("starts at the original" in one for one in told) < 30


@pytest.mark.parametrize(("language", "text"), [("c", "int x;\n"), ("python", "print(1)\n")])
def test_where_no_step_applies_the_program_stays_and_the_notes_say_so(language: str, text: str) -> None:
    problem = Problem("p", "program", language, Program({"slow": text}), ProgramSpec())
    action = propose(Observation((), State(problem), 1))
    assert action.program == problem.program
    assert "No step applies" in action.completion


# ------------------------------------------------------------------------------------------------- without templates

LOOPS = Kernels(templates=False)


@pytest.mark.parametrize(
    ("bound", "below"),
    [
        ("n - 1", "n"),
        ("n-2", "n - 1"),
        ("m", "m + 1"),
        ("n + 3", "n + 4"),
        ("m * n - 1", "m * n"),
        ("n / 2", "(n / 2) + 1"),
        ("n * -1", "(n * -1) + 1"),
        ("n << 1", "(n << 1) + 1"),
        ("x[k - 1]", "(x[k - 1]) + 1"),
    ],
)
def test_a_loop_that_holds_its_last_number_is_one_that_ends_before_the_next(bound: str, below: str) -> None:
    assert loop_until(f"i <= {bound}") == below
    assert loop_until(f"i < {bound}") == bound


@pytest.mark.parametrize(
    "test", ["i < n && x[i]", "i <= n, i", "i <= n == 0", "i <= n < k", "i <= (n < k ? n : k)", "i != n", "n >= i"]
)
def test_a_loop_with_another_end_is_kept_as_it_stands(test: str) -> None:
    assert loop_until(test) is None


@pytest.mark.heavy
def test_without_templates_loops_are_only_transformed() -> None:
    for name in NAMES:
        problem = load(EXAMPLES / name).problem
        state, text = State(problem), problem.program.text
        for draw in range(25):
            section = Section("Program", fenced(text, "c"))
            action = anyio.run(LOOPS.propose, Observation((section,), state, draw * 101))
            assert action.program is not None
            assert action.completion.splitlines()[0] == LOOPS_HEADER
            steps = {label.split("(")[0] for label in LABEL.findall(action.completion)}
            assert not steps & {"product", "half", "block", "pack", "prefetch"}
            text = action.program.text
        assert "product(" not in text


@pytest.mark.heavy
def test_without_templates_the_steps_of_a_good_order_are_all_offered() -> None:
    text, taken = GEMM, list[str]()
    for draw in range(90):
        action = anyio.run(LOOPS.propose, observed(text=text, draw=draw * 31, wall=True))
        assert action.program is not None
        taken += [label.split("(")[0] for label in LABEL.findall(action.completion)]
        text = action.program.text if len(action.program.text) < 4000 else GEMM
    assert {"accumulate", "interchange", "tile", "jam", "unroll", "simd", "restrict", "retune"} <= set(taken)


def test_both_kernel_policies_are_pure_and_apart() -> None:
    told = [anyio.run(LOOPS.propose, observed(draw=draw)) for draw in (3, 3)]
    assert told[0] == told[1]
    assert told[0] != propose(observed(draw=3))


# --------------------------------------------------------------------------------------------------- what is allowed


@pytest.mark.heavy
@pytest.mark.parametrize(
    "permitted",
    [
        frozenset[str](),
        frozenset({"tiling"}),
        frozenset({"simd", "restrict"}),
        frozenset({"unrolling", "tiling"}),
        frozenset({"simd", "tiling", "unrolling"}),
        frozenset({"simd", "tiling", "unrolling", "packing"}),
    ],
    ids=lambda names: "+".join(sorted(names)) or "nothing",
)
def test_only_permitted_techniques_are_used(permitted: frozenset[str]) -> None:
    for draw in range(12):
        found = propose(observed(draw=draw * 13, permitted=permitted)).program
        assert found is not None
        assert used("c", found.text) <= permitted
    for name in NAMES:
        text = (EXAMPLES / name / f"{name}.c").read_text(encoding="utf-8")
        for draw in range(3):
            assert used("c", sample(text, "c", draw, permitted)) <= permitted | used("c", text)


def test_what_is_permitted_is_read_from_the_statement() -> None:
    base = observed(permitted=frozenset({"tiling"}))
    state = State(Problem("p", "program", "c", Program({"gemm.c": GEMM}), ProgramSpec()))
    found = [propose(Observation(base.sections, state, draw)).program for draw in range(30)]
    assert all(one is not None and used("c", one.text) <= {"tiling"} for one in found)


@pytest.mark.heavy
@pytest.mark.parametrize(("sets", "lanes"), [("avx2, fma", 4), ("avx2, avx512f", 8)])
def test_templates_suit_the_vectors_of_the_machine(sets: str, lanes: int) -> None:
    machine = Section("Machine", f"Some processor, 2 cores\ninstruction sets: {sets}\n")
    widths = re.compile(r"product\(.*VL=(\d)")
    native = [widths.search(one) for one in labels(machine, flags=("-O3", "-march=native"), draws=80)]
    plain = [widths.search(one) for one in labels(machine, draws=80)]
    shares = [
        sum(int(one[1]) == lanes for one in found if one) / sum(one is not None for one in found)
        for found in (native, plain)
    ]
    assert shares[0] > shares[1] + 0.1
    assert fit({"MR": 8, "NV": 3, "VL": 8}, 8) == 1.0 > fit({"MR": 2, "NV": 1, "VL": 8}, 8)
    assert fit({"MR": 8, "NV": 3, "VL": 8}, 0) == fit({"value": 2}, 8) == 1.0


@pytest.mark.heavy
def test_threads_are_proposed_only_where_the_wall_clock_is_the_goal() -> None:
    assert by_step(labels())["parallel"] == 0
    assert by_step(labels(wall=True))["parallel"] > 0


@pytest.mark.heavy
def test_pragmas_that_the_flags_do_not_switch_on_are_not_proposed() -> None:
    assert not any("as=reduction" in label or "as=omp" in label for label in labels(draws=50))
    assert any("as=reduction" in label for label in labels(draws=50, wall=True))


# ------------------------------------------------------------------------------------------------------ the sections


@pytest.mark.heavy
def test_what_failed_alone_is_not_proposed_again_while_failures_are_told() -> None:
    failures = Section("Failures", "Step 1:\n- restrict(gemm): line 3: names (prior 5)\n=> wrong: test 1")
    assert by_step(labels(draws=60))["restrict"] > 0
    assert by_step(labels(failures, draws=60))["restrict"] == 0


@pytest.mark.heavy
def test_what_hurt_is_proposed_less_and_what_helped_more() -> None:
    note = "- interchange(i in gemm, inner=j): line 3: puts (prior 12)\n"
    plain = by_step(labels(draws=50))["interchange"]
    slower = by_step(labels(Section("Failures", f"{note}=> correct, speedup 0.40x [0.39, 0.41]"), draws=50))
    faster = by_step(labels(Section("Best of the run", f"{note}=> correct, speedup 3.00x [2.90, 3.10]"), draws=50))
    assert slower["interchange"] < plain < faster["interchange"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    "section",
    [
        Section("Critique", "Original program: line 6: strided loop, cache misses"),
        Section(
            "Failures", "- restrict(gemm): x (y)\n=> unbuilt: error\n\n- accumulate(j in gemm): x (y)\n=> wrong: 1"
        ),
        Section("Best of the run", "- jam(i in gemm, factor=4): x (y)\n=> correct, speedup 4.00x [3, 5]"),
        Section("Trajectory", "Step 1:\n- jam(j in gemm, factor=2): x (y)\n=> correct, speedup 0.50x [0.4, 0.6]"),
    ],
    ids=lambda section: section.title,
)
def test_switching_a_section_off_changes_the_proposals(section: Section) -> None:
    draws = [draw * 7919 for draw in range(50)]
    changed = sum(propose(observed(section, draw=d)).completion != propose(observed(draw=d)).completion for d in draws)
    assert changed > 4
