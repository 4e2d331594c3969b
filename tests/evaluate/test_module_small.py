"""Elements of a module's output that are too small beside the others for the tolerance to see."""

from __future__ import annotations

import struct
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Outcome
from maxcode.evaluate.function.comparing import lost, unequal
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.staging import LOST
from maxcode.problems import load
from maxcode.run.certificate.doubts import findings_of
from maxcode.sandbox.sandbox import Sandbox

REFERENCE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(10 * x, dim=1)

def get_inputs():
    return [torch.randn(128, 512)]

def get_init_inputs():
    return []
"""
HEAD = "import torch\nimport torch.nn as nn\nclass ModelNew(nn.Module):\n    def forward(self, x):\n"
HONEST = """
        y = 10 * x
        e = torch.exp(y - y.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)
"""
ZEROED = HONEST.replace("e / e.sum", "torch.where(e < 1e-9, 0.0, e) / e.sum")


def judged(sandbox: Sandbox, body: str, folder: Path) -> Evaluation:
    (folder / "reference.py").write_text(REFERENCE)
    problem = load(folder / "reference.py").problem
    evaluator = ModuleEvaluator(sandbox, RaceRule(most=9))
    return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(HEAD + body)))


def test_small_elements_left_out_are_a_doubt(sandbox: Sandbox, tmp_path: Path) -> None:
    found = judged(sandbox, ZEROED, tmp_path)
    assert found.outcome is Outcome.CORRECT, found.feedback
    (doubt,) = findings_of(found)
    assert doubt.startswith(f"{LOST}: ")


@pytest.mark.slow
def test_neither_side_is_profiled_where_no_prompt_is_written(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    problem = load(tmp_path / "reference.py").problem
    harness = make_harness(problem, sandbox, builder, HarnessTerms(single=True))

    async def judge() -> tuple[Admitted, Evaluation]:
        found = await harness.admit(problem)
        return found, await harness.evaluate(problem, Action(problem.program.with_text(HEAD + HONEST)))

    admitted, found = anyio.run(judge)
    assert found.outcome is Outcome.CORRECT and found.timing is not None
    assert admitted.baseline.profile == found.profile == ()


@pytest.mark.slow
def test_small_elements_worked_out_in_another_order_are_none(sandbox: Sandbox, tmp_path: Path) -> None:
    found = judged(sandbox, HONEST, tmp_path)
    assert (found.outcome, findings_of(found)) == (Outcome.CORRECT, ())


def test_whole_numbers_differ_where_the_reference_has_the_exact_ones() -> None:
    exact, reference, got = [1.0, 2.0, 3.0, 2.0**60], [1, 2, 4, 2**60], [1, 3, 5, 2**60 + 1]
    for ctype, code, count in (("int", "3i", 1), ("long", "4q", 2)):
        many = int(code[0])
        arrays = struct.pack(f"{many}d", *exact[:many]), *(struct.pack(code, *one[:many]) for one in (reference, got))
        assert unequal(ctype, *arrays) == count
        assert unequal(ctype, arrays[0], arrays[1], arrays[1]) == 0
    with pytest.raises(ValueError, match="cannot be compared"):
        unequal("int", *arrays)


def test_elements_are_lost_where_the_reference_has_them_right() -> None:
    exact = [1.0, 1e-6, 1e-6, 1e-6, 0.0, 1e-40]
    reference = [1.0, 1e-6, 0.0, 1.0001e-6, 0.0, 0.0]
    got = [1.0, 0.0, 0.0, 0.9e-6, 1e-6, 1.0]
    arrays = struct.pack("6d", *exact), struct.pack("6f", *reference), struct.pack("6f", *got)
    assert lost("float", *arrays) == 1
    assert lost("float", arrays[0], arrays[1], arrays[1]) == 0
    with pytest.raises(ValueError, match="cannot be compared"):
        lost("double", *arrays)
