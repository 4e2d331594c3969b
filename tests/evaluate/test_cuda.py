"""Modules on a GPU: the gallery, timing error, problems end to end.  Where there is none: what holds without one.

Every candidate compiles here, on any machine; what needs the GPU is skipped with the reason "no GPU".
"""

from __future__ import annotations

import importlib.util
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome, Problem, State, Step
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.clocks import disagreement, early, is_usual, reported, slowed, without_copy
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.gpu import NO_GPU, device_files, find_gpu
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

GALLERY = Path(__file__).parent / "gallery_cuda"
CANDIDATES = sorted(path for path in GALLERY.glob("*.py") if path.stem != "reference")
PAIRS = Path(__file__).parents[2] / "benchmarks" / "cuda_pairs"
KNOWN = (PAIRS.parent / "cuda_known" / "reference.py").read_text()
PROBLEMS = sorted(PAIRS.iterdir())
COMPILED = ("native", "triton") if importlib.util.find_spec("triton") is not None else ("native",)
VERDICTS = {*(outcome.value for outcome in Outcome), "not-faster"}
needs_gpu = pytest.mark.skipif(not device_files(), reason=NO_GPU)
ON_CUDA = {"module": {"device": "cuda"}}


def header(path: Path, key: str) -> str:
    found = re.search(rf"^# {key} (.+)$", path.read_text(), re.MULTILINE)
    assert found is not None, f"{path} has no line `# {key} ...`"
    return found[1]


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> ModuleEvaluator:
    return ModuleEvaluator(sandbox)


@pytest.fixture(scope="module")
def admitted(evaluator: ModuleEvaluator) -> Admitted:
    problem = load(GALLERY / "reference.py", overrides=ON_CUDA).problem
    problem = replace(problem, spec=replace(problem.spec, limits=replace(problem.spec.limits, run_s=5.0)))
    return anyio.run(evaluator.admit, problem)


@pytest.fixture(scope="module")
def compiled(sandbox: Sandbox) -> Callable[[Path, Path], Evaluation]:
    def run(reference: Path, candidate: Path) -> Evaluation:
        problem = load(reference, overrides=ON_CUDA).problem
        action = Action(problem.program.with_text(candidate.read_text()))
        return anyio.run(compiled_only, sandbox, problem, action, NO_GPU)[1]

    return run


def confirmed(evaluator: ModuleEvaluator, problem: Problem, text: str) -> Evaluation:
    """What a candidate comes to after a race and, where it wins, a confirmation."""

    async def run() -> Evaluation:
        known = (await evaluator.admit(problem)).problem
        action = Action(known.program.with_text(text))
        found = await evaluator.evaluate(known, action)
        if found.timing is None or not found.timing.significant:
            return found
        state = State(known, State(known), Step(action, found, 1.0), (1, 0))
        return (await evaluator.settle(known, [state], None))[state.id]

    return anyio.run(run)


# ------------------------------------------------------------------------------------------- on every machine


def test_every_candidate_says_what_must_become_of_it_and_why() -> None:
    assert sum(not path.stem.startswith("honest") for path in CANDIDATES) >= 15
    assert sum(path.stem.startswith("honest") for path in CANDIDATES) >= 6
    for path in CANDIDATES:
        assert set(header(path, "VERDICT").split()) <= VERDICTS, path
        assert (header(path, "VERDICT") == "correct") == path.stem.startswith("honest"), path
        assert header(path, "WHY").endswith("."), path


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPILED)
@pytest.mark.parametrize("folder", PROBLEMS, ids=lambda path: path.name)
def test_the_kernels_of_every_problem_compile(
    folder: Path, kind: str, compiled: Callable[[Path, Path], Evaluation]
) -> None:
    found = compiled(folder / "reference.py", folder / f"{kind}.py")
    assert found.outcome is Outcome.UNVERIFIED, found.feedback
    (remark,) = found.remarks
    assert remark.kind == "used" and f"`{folder.name}`" in remark.text


def test_there_are_five_problems_with_both_kinds_of_candidates() -> None:
    assert len(PROBLEMS) >= 5
    for folder in PROBLEMS:
        assert {"reference.py", "native.py", "triton.py"} <= {path.name for path in folder.iterdir()}


def test_the_clocks_of_a_round_must_agree() -> None:
    assert disagreement(0.010, 0.0098) == ""
    assert disagreement(0.010, 0.0115) == ""
    for events_s in (0.001, 0.020, 0.0, float("nan"), float("inf"), -1.0):
        told = disagreement(0.010, events_s)
        assert "10.000 ms" in told and f"{events_s * 1e3:.3f} ms" in told


def test_one_round_of_a_busy_machine_rejects_nobody_and_most_rounds_do() -> None:
    assert not is_usual([True]) and not is_usual([True, True])
    assert not is_usual([False] * 4 + [True] * 3)
    assert is_usual([True] * 3) and is_usual([False, False, True, True, True])


def test_a_known_ratio_is_of_programs_that_compute_the_same(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    found = []
    for times in (8, 24):
        text = KNOWN.replace("TIMES = 8", f"TIMES = {times}")
        space: dict[str, Any] = {}
        exec(compile(text, "reference.py", "exec"), space)
        found.append(space["Model"]()(x, y))
    assert torch.equal(*found) and not any(torch.equal(found[0], one) for one in (x, y, x + y))


def test_a_copy_is_subtracted_and_never_makes_a_round_free() -> None:
    assert without_copy(0.010, 0.004) == pytest.approx(0.006)
    assert without_copy(0.004, 0.004) == pytest.approx(0.0002)
    assert without_copy(0.001, 0.004) == pytest.approx(0.0002)


def test_work_before_the_clock_and_a_slowed_reference_are_told_with_both_figures() -> None:
    assert early(0.012, 0.010) == "" and slowed(0.001, 0.0014) == ""
    assert "30.0 ms, 10.0 ms for the reference" in early(0.030, 0.010)
    assert "2.000 ms a call beside it, and 1.000 ms alone" in slowed(0.001, 0.002)


def test_reports_are_taken_out_of_the_outputs_slot_by_slot() -> None:
    first, second = struct.pack("<2d", 0.5, 0.25), struct.pack("<2d", 9.0, 9.0)
    found = reported(b"abcd" + first + b"efgh" + second, 2)
    assert (found.outputs, found.events_s, found.copy_s) == (b"abcdefgh", 0.5, 0.25)


# --------------------------------------------------------------------------------------------------- on a GPU


@needs_gpu
def test_the_gpu_is_described(sandbox: Sandbox) -> None:
    problem = load(GALLERY / "reference.py", overrides=ON_CUDA).problem
    found = anyio.run(find_gpu, sandbox, problem)
    assert not isinstance(found, str), found
    assert found.sms > 0 and found.memory_mb > 0 and found.arch.startswith("sm_")


@needs_gpu
@pytest.mark.parametrize("path", CANDIDATES, ids=lambda path: path.stem)
def test_a_candidate_gets_the_verdict_it_must_get(path: Path, evaluator: ModuleEvaluator, admitted: Admitted) -> None:
    found = confirmed(evaluator, admitted.problem, path.read_text())
    allowed = header(path, "VERDICT").split()
    faster = found.timing is not None and found.timing.significant
    held = found.outcome.value in allowed or ("not-faster" in allowed and not faster)
    assert held, f"{found.outcome.value}: {found.feedback}, {found.timing}"


@needs_gpu
@pytest.mark.parametrize("kind", ["native", "triton"])
@pytest.mark.parametrize("folder", PROBLEMS, ids=lambda path: path.name)
def test_a_kernel_of_ours_is_faster_and_confirmed(folder: Path, kind: str, evaluator: ModuleEvaluator) -> None:
    problem = load(folder / "reference.py", overrides=ON_CUDA).problem
    found = confirmed(evaluator, problem, (folder / f"{kind}.py").read_text())
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None and found.timing.confirmed and found.timing.clock == "wall"
    assert any("registers" in remark.text for remark in found.remarks)


@needs_gpu
@pytest.mark.parametrize("times", [2, 4])
def test_a_known_ratio_lies_near_its_interval(times: int, evaluator: ModuleEvaluator, tmp_path: Path) -> None:
    text = KNOWN.replace("TIMES = 8", f"TIMES = {8 * times}")
    (tmp_path / "reference.py").write_text(text)
    problem = load(tmp_path / "reference.py", overrides=ON_CUDA).problem
    found = confirmed(evaluator, problem, KNOWN.replace("class Model", "class ModelNew"))
    assert found.timing is not None, found.feedback
    interval = found.timing.speedup
    assert interval.low * 0.95 <= times <= interval.high * 1.05, interval
