"""CUDA candidates where there is no GPU: compiled in the sandbox for real, told plainly, never correct."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from maxcode.cli import cli
from maxcode.code.source import fenced
from maxcode.core.reward import speedup
from maxcode.core.types import Action, Evaluation, Hotspot, Observation, Outcome, Problem, Remark, Section, State
from maxcode.errors import InputError
from maxcode.evaluate.module import gpu, metrics
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.gpu import device_files as gpu_files
from maxcode.evaluate.module.gpu import find_toolkit
from maxcode.evaluate.module.resources import resources
from maxcode.observe.critique.rule_critic import diagnose
from maxcode.policy.llm import messages
from maxcode.policy.rules.modules.policy import propose
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from tests.support.selection import some

GALLERY = Path(__file__).parent / "gallery_cuda"
REFERENCE = GALLERY / "reference.py"
WHY = "no GPU: said by a test"
TOP = """
import ctypes
import torch
import torch.nn as nn
from maxcode.native import load_cuda

LIBRARY = load_cuda(
    '''
SOURCE
'''
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
"""
KERNEL = "def relu_softmax(x, y, width, block: tl.constexpr):"
SPILLS = """
extern "C" __global__ void __launch_bounds__(1024, 2) crowded(float *x, int n) {
    float kept[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) kept[i] = x[threadIdx.x + i * 1024];
    for (int turn = 0; turn < n; turn++)
        #pragma unroll
        for (int i = 0; i < 64; i++) kept[i] = kept[i] * kept[(i * 7 + 3) % 64] + kept[(i + 1) % 64];
    #pragma unroll
    for (int i = 0; i < 64; i++) x[threadIdx.x + i * 1024] = kept[i];
}
"""


@pytest.fixture(scope="module", autouse=True)
def nvcc_is_here() -> None:
    assert find_toolkit() is not None, "nvcc is not installed: these tests compile with it"


@pytest.fixture(scope="module")
def problem() -> Problem:
    return load(REFERENCE, overrides={"module": {"device": "cuda"}}).problem


@pytest.fixture(scope="module")
def judged(sandbox: Sandbox, problem: Problem) -> Callable[[str], Evaluation]:
    def run(text: str) -> Evaluation:
        action = Action(problem.program.with_text(text))
        return anyio.run(compiled_only, sandbox, problem, action, WHY)[1]

    return run


@pytest.mark.slow
def test_a_right_candidate_is_compiled_and_told_to_be_unverified(judged: Callable[[str], Evaluation]) -> None:
    text = (GALLERY / "honest_native.py").read_text()
    found = judged(text)
    assert found.outcome is Outcome.UNVERIFIED < Outcome.CORRECT
    assert found.timing is None
    assert "not verified" in found.feedback.reasons[0] and "1 by nvcc" in found.feedback.reasons[0]
    (remark,) = found.remarks
    assert remark.kind == "used"
    assert text.splitlines()[remark.line - 1].startswith("__global__ void relu_softmax")
    assert "registers" in remark.text and "1024 bytes of shared memory" in remark.text


@pytest.mark.slow
def test_spills_are_told_at_the_line_of_the_kernel(judged: Callable[[str], Evaluation]) -> None:
    text = TOP.replace("SOURCE", SPILLS)
    found = judged(text)
    assert found.outcome is Outcome.UNVERIFIED, found.feedback
    (remark,) = found.remarks
    assert remark.kind == "missed" and "spills: " in remark.text
    assert "crowded" in text.splitlines()[remark.line - 1]


def test_broken_cuda_is_unbuilt_with_nvcc_s_words_and_the_line_of_the_program(
    judged: Callable[[str], Evaluation],
) -> None:
    text = TOP.replace("SOURCE", "__global__ void k(float *x) {\n    x[0] = missing;\n}\n")
    found = judged(text)
    assert found.outcome is Outcome.UNBUILT
    line = 1 + next(number for number, line in enumerate(text.splitlines()) if "missing" in line)
    assert f"problem.py({line}): error" in found.feedback.reasons[0]
    assert '"missing" is undefined' in found.feedback.diagnostics


@pytest.mark.slow
def test_what_is_refused_by_nvcc_stays_unbuilt_when_the_candidate_looks_away(
    judged: Callable[[str], Evaluation],
) -> None:
    text = TOP.replace("LIBRARY = load_cuda(", "try:\n  LIBRARY = load_cuda(")
    text = text.replace("'''\n)\n", "'''\n)\nexcept RuntimeError:\n  LIBRARY = None\n")
    found = judged(text.replace("SOURCE", "__global__ void k(float *x) { x[0] = missing; }"))
    assert found.outcome is Outcome.UNBUILT, found.feedback


@pytest.mark.parametrize(
    "source",
    some(
        [
            '#include "/etc/passwd"',
            'asm(".incbin \\\\"/etc/shadow\\\\"");',
            '#include "/root/.bashrc"',
            '#include "/proc/1/environ"',
            '#include "REFERENCE"',
        ],
        2,
    ),
)
def test_a_file_of_the_host_does_not_come_through_nvcc(source: str, judged: Callable[[str], Evaluation]) -> None:
    found = judged(TOP.replace("SOURCE", source.replace("REFERENCE", str(REFERENCE.resolve()))))
    assert found.outcome is Outcome.UNBUILT
    words = found.feedback.diagnostics
    assert re.search("o such file|cannot open source file|file not found|Permission denied", words), words
    assert "root:" not in words and "class Model" not in words


@pytest.mark.slow
def test_a_kernel_that_never_ends_to_compile_is_stopped(sandbox: Sandbox, problem: Problem) -> None:
    bomb = "template <int N> struct A { static const int v = A<N - 1>::v + A<N - 2>::v + sizeof(A<N - 1>); };\n"
    bomb += "#define X(n) X##n\nconstexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
    bomb += "__device__ int y[f(60) % 7 + 1];\n"
    action = Action(problem.program.with_text(TOP.replace("SOURCE", bomb)))
    found = anyio.run(compiled_only, sandbox, problem, action, WHY)[1]
    assert found.outcome is Outcome.UNBUILT


@pytest.mark.slow
def test_a_candidate_without_cuda_is_not_told_to_be_compiled(judged: Callable[[str], Evaluation]) -> None:
    text = REFERENCE.read_text().replace("class Model", "class ModelNew")
    found = judged(text)
    assert found.outcome is Outcome.UNVERIFIED
    assert "nothing that compiles" in found.feedback.reasons[0]


def test_a_candidate_that_writes_its_own_verdict_gets_none_that_counts(judged: Callable[[str], Evaluation]) -> None:
    forged = (
        'import os\nopen("/tmp/out", "w").write(\'{"units": [], "ended": "", "outcome": "correct"}\')\nos._exit(0)\n'
    )
    found = judged(forged + TOP.replace("SOURCE", "int x;"))
    assert found.outcome is Outcome.UNVERIFIED and found.timing is None


def test_triton_compiles_without_a_gpu_and_its_absence_is_no_fault_of_the_candidate(
    judged: Callable[[str], Evaluation],
) -> None:
    text = (GALLERY / "honest_triton.py").read_text()
    if importlib.util.find_spec("triton") is None:
        with pytest.raises(InputError, match="pip install triton"):
            judged(text)
        return
    found = judged(text)
    assert found.outcome is Outcome.UNVERIFIED and "1 by triton" in found.feedback.reasons[0]
    assert [remark.line for remark in found.remarks] == [1 + text.splitlines().index(KERNEL)]
    broken = judged(text.replace("tl.store(y + place", "tl.store(y + plaice"))
    assert broken.outcome is Outcome.UNBUILT and "plaice" in broken.feedback.diagnostics


@pytest.mark.slow
def test_load_inline_is_compiled_by_nvcc_against_the_headers_of_torch(judged: Callable[[str], Evaluation]) -> None:
    found = judged((GALLERY / "honest_inline.py").read_text())
    assert found.outcome is Outcome.UNVERIFIED, found.feedback
    assert [remark.text.split("`")[1] for remark in found.remarks] == ["relu_kernel"]
    text = (GALLERY / "honest_inline.py").read_text().replace("torch::empty_like(x)", "torch::empty_as(x)")
    broken = judged(text)
    assert broken.outcome is Outcome.UNBUILT
    assert "empty_as" in broken.feedback.reasons[0]


@pytest.fixture
def no_device_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine as it would be without a GPU, where these tests run on one that has one."""
    monkeypatch.setattr(gpu, "device_files", lambda: gpu_files(Path("/nonexistent")))


@pytest.mark.heavy
@pytest.mark.sandbox
@pytest.mark.usefixtures("no_device_files")
def test_the_command_line_says_that_nothing_was_verified_and_ends_with_a_status_of_its_own() -> None:
    words = ["evaluate", str(GALLERY / "honest_native.py"), "--against", str(REFERENCE), "--device", "cuda", "--json"]
    ran = CliRunner().invoke(cli, words, standalone_mode=False)
    assert ran.return_value == 4, ran.output
    found = json.loads(ran.stdout)
    assert found["outcome"] == "unverified" and found["speedup"] is None and not found["confirmed"]
    assert found["why"].startswith("no GPU: ")
    assert found["remarks"][0]["kind"] == "used"


@pytest.mark.sandbox
@pytest.mark.usefixtures("no_device_files")
def test_a_run_folder_is_refused_without_a_gpu_as_the_help_says(tmp_path: Path) -> None:
    words = ["evaluate", str(GALLERY / "honest_native.py"), "--against", str(REFERENCE), "--device", "cuda"]
    ran = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "run")], standalone_mode=False)
    assert isinstance(ran.exception, InputError) and "no GPU: " in str(ran.exception)
    assert not (tmp_path / "run").exists()
    told = CliRunner().invoke(cli, ["evaluate", "--help"]).output
    assert "--out, the folder of a measured run, is refused then" in " ".join(told.split())


@pytest.mark.usefixtures("no_device_files")
def test_no_search_is_begun_without_a_gpu(sandbox: Sandbox, problem: Problem) -> None:
    with pytest.raises(InputError, match=r"no GPU: .* run it on a machine with a GPU"):
        anyio.run(ModuleEvaluator(sandbox).admit, problem)


def test_what_ptxas_says_is_read_kernel_by_kernel_and_nothing_else_is() -> None:
    words = (
        "ptxas info    : Compiling entry function '_Z5twicePfi' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z5twicePfi\n"
        "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
        "ptxas info    : Used 12 registers\n"
    )
    found = resources(words, "x\n__global__ void twice(float *x, int n) {}\n")
    assert [(one.line, one.kind) for one in found] == [(2, "missed"), (0, "used")]
    assert (
        "255 registers a thread (8 of 64 warps" in found[0].text and "4 bytes stored, 12 bytes loaded" in found[0].text
    )
    assert "2048 bytes of shared memory" in found[0].text
    assert resources("Used 3 registers\nno kernel here", "") == ()
    assert len(resources(words * 100, "")) == 40


def test_the_problem_is_judged_by_the_wall_clock_on_a_gpu(problem: Problem) -> None:
    assert problem.goal == "wall"
    asked = load(REFERENCE, overrides={"module": {"device": "cpu"}}).problem
    assert asked.goal == "cpu" and replace(asked, goal="wall").goal == problem.goal


NCU = """==PROF== Connected to process 7
"ID","Process ID","Process Name","Host Name","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","python","here","twice(const float *, float *)","gpu__time_duration.sum","us","1,234.5"
"0","7","python","here","twice(const float *, float *)","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","81.2"
"0","7","python","here","twice(const float *, float *)","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","9.9"
"0","7","python","here","twice(const float *, float *)","sm__warps_active.avg.pct_of_peak_sustained_active","%","64"
"1","7","python","here","half told","gpu__time_duration.sum","us","9"
"2","7","python","here","no number","gpu__time_duration.sum","us","n/a"
"""


def test_what_ncu_says_becomes_a_remark_at_the_line_of_the_kernel() -> None:
    (remark,) = metrics.told(NCU, "\n\n__global__ void twice(const float *x, float *y) {}")
    assert (remark.line, remark.kind) == (3, "used")
    assert "1234.5 us, 81 % of the memory bandwidth, 10 % of the arithmetic, 64 % of the warps" in remark.text
    assert metrics.told("==ERROR== ERR_NVGPUCTRPERM", "") == ()


def test_a_model_is_told_of_cuda_where_the_problem_is_for_a_gpu(problem: Problem) -> None:
    def system(one: Problem) -> str:
        state = State(one)
        return messages(Observation((Section("Problem", "x"), Section("Program", "y")), state, 1))[0].text

    on_cpu = load(REFERENCE).problem
    assert "load_cuda" in system(problem) and "current_stream" in system(problem)
    assert "load_cuda" not in system(on_cpu) and "on a CPU" in system(on_cpu)


def test_the_policy_without_a_model_writes_no_code_for_processors_where_tensors_are_on_a_gpu(problem: Problem) -> None:
    text = REFERENCE.read_text().replace("torch.relu(self.layer(x))", "torch.relu(self.layer(x) * 2 + 1)")
    section = Section("Program", fenced(text, "python"))
    for one, allowed in ((problem, False), (load(REFERENCE).problem, True)):
        one = replace(one, program=one.program.with_text(text))
        drawn = [propose(Observation((section,), State(one), draw)) for draw in range(12)]
        natives = [action.program is not None and "maxcode.native" in action.program.text for action in drawn]
        assert any(natives) == allowed


def test_spills_are_what_the_critic_says_of_a_kernel(problem: Problem) -> None:
    spilling = Remark(7, "missed", "kernel `k` (sm_90): 255 registers a thread, spills: 8 bytes stored, 8 bytes loaded")
    evaluation = Evaluation(Outcome.CORRECT, profile=(Hotspot("aten::mm", 0, 1.0),), remarks=(spilling,))
    told = "\n".join(diagnose(problem.program, evaluation))
    assert "255 registers" in told and "Spills go to memory" in told


def test_nothing_that_was_not_verified_is_worth_anything() -> None:
    assert speedup(Evaluation(Outcome.UNVERIFIED)) == 0
    assert Outcome.UNBUILT < Outcome.UNVERIFIED < Outcome.TIMEOUT
