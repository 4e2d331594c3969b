"""Shrinking: what comes out fits, runs, and keeps what belongs together.  Runs torch in the sandbox."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError
from maxcode.evaluate.module.shrink import Shrunk, shrink
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.problems import load
from maxcode.problems.shape_tables import read_shapes
from maxcode.sandbox.sandbox import Sandbox
from tests.support.selection import some

MB = 2**20


@pytest.fixture(autouse=True, scope="module")
def torch_here() -> None:
    """These tests run torch; they fail, and are never skipped, where there is none."""
    try:
        find_runtime()
    except InputError as error:
        pytest.fail(str(error))


def module(init: str, forward: str, constants: str, inputs: str, given: str = "") -> str:
    """A file in the KernelBench contract."""
    names = "".join(f", {name}" for name in given.split(", ") if name)
    return (
        f"import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def __init__(self{names}):\n"
        f"        super().__init__()\n        {init}\n\n    def forward(self, *x):\n        return {forward}\n\n"
        f"{constants}\n\ndef get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return [{given}]\n"
    )


SCALED = module("pass", "x[0] * 2", "rows = 65536 * 2\ncolumns = 65536", "torch.rand(rows, columns)")
PRODUCT = module("pass", "x[0] @ x[1]", "M = 65536\nN = 32", "torch.rand(M, N), torch.rand(N, M)")
TIED = module(
    "pass",
    "torch.mean(x[0] * x[1])",
    "batch_size = 32768\ninput_shape = (32768,)",
    "torch.rand(batch_size, *input_shape), torch.rand(batch_size)",
)
NORMED = module(
    "self.norm = nn.LayerNorm(features); self.scale = nn.Parameter(torch.randn(1))",
    "self.norm(nn.functional.interpolate(x[0], scale_factor=2.0)) * self.scale",
    "batch_size = 64\nfeatures = 512\nheight, width = 256, 256",
    "torch.rand(batch_size, 3, height, width)",
    "features",
)
GROUPED = module(
    "self.norm = nn.GroupNorm(num_groups, channels); self.pool = nn.AvgPool1d(kernel_size)",
    "self.pool(self.norm(x[0]))",
    "batch_size = 1024\nchannels = 64\nlength = 65536\nkernel_size = 64\nnum_groups = 64",
    "torch.rand(batch_size, channels, length)",
    "num_groups, channels, kernel_size",
)
FIXED = module("pass", "x[0] + 1", "rows = 8192", "torch.rand(rows, 8192 * 512)")


def shrunk(folder: Path, text: str, sandbox: Sandbox, limit_mb: float = 4.0) -> Shrunk:
    (folder / "problem.py").write_text(text)
    return anyio.run(shrink, sandbox, load(folder / "problem.py").problem, limit_mb)


def given_bytes(found: Shrunk) -> int:
    return found.contract.input_bytes + sum(one.bytes for one in found.contract.weights)


@pytest.mark.parametrize(
    "text", some([SCALED, PRODUCT, TIED, NORMED], 1), ids=["expression", "product", "tied", "normed"]
)
def test_what_comes_out_fits_and_runs_and_is_not_needlessly_small(text: str, tmp_path: Path, sandbox: Sandbox) -> None:
    found = shrunk(tmp_path, text, sandbox)
    assert 0 < given_bytes(found) <= 4 * MB
    assert found.contract.output_bytes <= 16 * MB
    assert found.degenerate == ()
    assert found.constants
    assert given_bytes(found) >= MB / 4


@pytest.mark.slow
def test_constants_that_belong_together_stay_so(tmp_path: Path, sandbox: Sandbox) -> None:
    tied = shrunk(tmp_path, TIED, sandbox).constants
    assert tied["batch_size"] == tied["input_shape[0]"]
    normed = {"features": 512, "width": 256} | shrunk(tmp_path, NORMED, sandbox).constants
    assert normed["features"] == 2 * normed["width"]


@pytest.mark.slow
def test_kinds_are_kept_and_a_shape_that_makes_the_problem_degenerate_is_passed_over(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    found = shrunk(tmp_path, GROUPED, sandbox)
    assert not found.constants.keys() & {"kernel_size", "num_groups"}
    assert found.contract.outputs[0].shape[1] == 64
    assert found.contract.outputs[0].shape[2] == math.floor(found.contract.inputs[0].shape[2] / 64)


@pytest.mark.slow
def test_a_problem_that_is_small_stays_as_it_is(tmp_path: Path, sandbox: Sandbox) -> None:
    text = SCALED.replace("65536 * 2", "64").replace("65536", "32")
    assert shrunk(tmp_path, text, sandbox).constants == {}


@pytest.mark.slow
def test_shapes_by_hand_come_first_where_they_fit_and_run(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "problem.py").write_text(TIED)
    problem = load(tmp_path / "problem.py").problem
    untied, large, right = ({"batch_size": rows, "input_shape[0]": 300} for rows in (200, 30000, 300))
    assert anyio.run(shrink, sandbox, problem, 4.0, [untied, large, right]).constants == right


def test_what_cannot_fit_is_refused_with_a_cure(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(InputError, match="--constant NAME=NUMBER"):
        shrunk(tmp_path, FIXED, sandbox)


@pytest.mark.slow
def test_the_command_makes_a_table_that_evaluate_takes(tmp_path: Path) -> None:
    (tmp_path / "scaled.py").write_text(SCALED)
    (tmp_path / "new.py").write_text(SCALED.replace("class Model", "class ModelNew").replace("* 2\n\n", "* 2.0\n\n"))
    table = tmp_path / "shapes.toml"
    told = maxcode("problems", "shrink", tmp_path / "scaled.py", "--out", table, "--limit-mb", "0.25", "--json")
    row = json.loads(told)[0]
    assert row["input_bytes"] <= MB / 4
    assert read_shapes(table).of(SCALED) is not None
    verdict = json.loads(
        maxcode("evaluate", tmp_path / "new.py", "--against", tmp_path / "scaled.py", "--shapes", table, "--json")
    )
    assert verdict["outcome"] == "correct"
    assert any(f"rows = {row['shape']['constants']['rows']}" in note for note in verdict["notes"])


def maxcode(*arguments: object) -> str:
    command = [sys.executable, "-m", "maxcode", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout
