"""What no function can do is rejected: above the roofs of arithmetic and memory, below the cost of empty calls."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Interval, Outcome, Recheck, Timing
from maxcode.evaluate.function.calls import Calls
from maxcode.evaluate.function.function import Inputs, Shape, spec_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.inputs.fresh import FreshInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.judge import with_timing
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Track
from maxcode.evaluate.machine import roofline
from maxcode.evaluate.machine.roofline import Bandwidth, memory_of
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.evaluate.program.lower_bound import empty_pass_s
from maxcode.evaluate.program.plausibility import Examiner
from maxcode.sandbox.sandbox import Sandbox
from tests.support.small_gemm import GEMM, IKJ, small


@pytest.fixture(scope="module")
def admitted(sandbox_evaluator: ProgramEvaluator) -> Admitted:
    return anyio.run(sandbox_evaluator.admit, small(GEMM))


def test_the_roofline_is_made_of_independent_chains() -> None:
    """A compiler that sees through them keeps one, and the roof comes out too high."""
    source = Path(roofline.__file__).with_name("peak.c")
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
    given = replace(admitted.timed[0], workload=Shape(spec, (120, 120, 120), 40))
    memory = anyio.run(memory_of, sandbox, [given.workload])
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
    roomy, tight = Bandwidth(1e11, 1e10, 1 << 24), Bandwidth(1e11, 1e10, 4_016_000)
    assert shape.held == 8_016_000
    assert roomy.least_s(shape) == pytest.approx(24e6 / 1e11)
    assert tight.least_s(shape) == pytest.approx(12e6 / 1e10)
    assert tight.roof([shape]) == pytest.approx(20)
    assert replace(tight, far=0.0).roof([shape]) == pytest.approx(100)


@pytest.mark.slow
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
    examiner = Examiner(sandbox, builder, FreshInputs(sandbox, builder))
    least = anyio.run(examiner.lower_bound, admitted).least_s
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
    unseen = FreshInputs(sandbox, builder)
    further = anyio.run(unseen.made, admitted, True).inputs
    assert len(further) > 6
    assert isinstance(further[0].workload, Shape)
    sizes = further[0].workload.sizes
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
    assert seen.harsher is not None
    kinds = seen.harsher.kinds
    assert seen.harsher == Recheck(("inline assembly (gemm.c, line 9)",), len(further), True, kinds=kinds)
    assert sum(int(kind.split()[0]) for kind in kinds) == len(further)
    assert any("other sizes" in kind for kind in kinds) and any("beyond those drawn" in kind for kind in kinds)
    fallen = anyio.run(looked_at, wrong)
    assert (fallen.outcome, fallen.timing) == (Outcome.WRONG, None)
    assert fallen.harsher is not None
    assert fallen.harsher.result.startswith(f"FAILED on {len(further)} extra inputs: ")


def test_a_start_as_slow_as_the_originals_is_charged_to_no_side(sandbox: Sandbox, builder: Builder) -> None:
    """Not even in the first pass, in which the candidate may come first."""
    plain = small(GEMM)
    early = "__attribute__((constructor)) static void early(void) { for (volatile int i = 0; i < 12000000; i++) ; }\n"
    spec = replace(plain.spec, function=replace(spec_of(plain), calls=2))
    problem = replace(plain, spec=spec, program=plain.program.with_text(f"{plain.program.text}\n{early}"))

    async def apart() -> list[float]:
        built = await builder.build(problem, problem.program, final=True)
        assert built.artefact is not None
        side, shape, source = RaceSide(built.artefact, {}), timed_shapes(problem)[0], Calls(Inputs(sandbox, problem))
        timed = [Input(shape.name, await source.inputs.fresh(shape), None, "generated", workload=shape)]
        found = []
        for _ in range(8):
            track = Track(RaceInputs(sandbox, problem, source), {"original": side, "candidate": side}, timed)
            ran = await track._pass()
            original, candidate = ran["original", shape.name], ran["candidate", shape.name]
            later_s = max(0.0, candidate.ready_s - original.ready_s)  # what may be charged
            found.append((candidate.cpu_s - later_s) / original.ready_s)
        return found

    assert max(anyio.run(apart)) < 0.8  # the calls take a fifth of the start at most
