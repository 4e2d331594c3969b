"""Training on the real evaluator: kernels are built, verified and timed in the sandbox, leaders twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Problem
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from maxcode.train import pipeline
from maxcode.train.advantages import Advantage
from maxcode.train.diversity import ArchiveProgress, Diversity
from maxcode.train.evaluators import AFRESH
from maxcode.train.judge import Judge, Rules
from maxcode.train.measuring import TRAINING_RULE, Measuring
from maxcode.train.prompts import Compact
from maxcode.train.rewards import Shaped

pytestmark = pytest.mark.sandbox

DEMO = Path(pipeline.__file__).parent / "demo" / "gemm"
FASTER = """#include "gemm.h"
void gemm(int m, int n, int k, const double *A, const double *B, double *C) {
for (int i = 0; i < m; i++) {
for (int j = 0; j < n; j++) C[i * n + j] = 0.0;
for (int p = 0; p < k; p++)
for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}
}
"""
UNROLLED = FASTER.replace("for (int p = 0", "#pragma GCC unroll 4\nfor (int p = 0")


@pytest.fixture(scope="module")
def training(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, TRAINING_RULE).measuring(MeasureOptions(profiles=False))


@pytest.fixture(scope="module")
def problem(training: ProgramEvaluator) -> Problem:
    return anyio.run(training.admit, load(DEMO).problem).problem


def test_a_step_is_judged_by_the_real_machine(training: ProgramEvaluator, problem: Problem) -> None:
    progress = ArchiveProgress([problem], 1, Diversity(promotion=False, shown=0.0))
    rules = Rules(Compact(), Shaped(), Advantage())
    judge = Judge(progress, Measuring(training, training.measuring(AFRESH)), rules)
    judge.begin()
    wrong = FASTER.replace("+= A", "-= A")
    completions = [problem.program.text, FASTER, UNROLLED, wrong, "int x;", FASTER]
    found = judge.judge([0] * 6, completions)  # the first stage: restrict and simd
    line = judge.finish()
    slow, fast, refused, bad, unbuilt, twin = found.scores
    assert slow is not None and fast is not None and slow > 0 and fast > 0
    assert (refused, bad, unbuilt, twin) == (-0.25, -0.05, -0.20, fast)
    assert line is not None
    assert line.fresh == 6, "five kernels, and the leader once more"
    assert line.valid == 0.5
    assert line.compile_s > 0 and line.measure_s > 0 and line.evaluate_s > 0
    assert {one.program.text for one in progress.archive("gemm")} == {problem.program.text, FASTER}


def test_what_is_asked_afresh_is_timed_again_and_what_is_not_is_remembered(
    training: ProgramEvaluator, problem: Problem
) -> None:
    ask = replace(problem, permitted=None), Action(problem.program.with_text(FASTER))
    one, same = (anyio.run(training.evaluate, *ask) for _ in range(2))
    again = anyio.run(training.measuring(AFRESH).evaluate, *ask)
    assert one.timing is not None and same.timing is not None and again.timing is not None
    assert one.timing.samples == same.timing.samples
    assert one.timing.samples != again.timing.samples
    assert one.profile == (), "training has no use for profiles"
    assert one.timing.gflops is not None and one.timing.pairs == TRAINING_RULE.most
