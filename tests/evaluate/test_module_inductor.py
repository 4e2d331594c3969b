"""What torch.compile keeps of a reference is found by a later command, and saves all of its compiling."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.phases import recording
from maxcode.core.types import Problem
from maxcode.evaluate.ladder.kept_builds import VARIABLE
from maxcode.evaluate.module.kept_inductor import FOLDER, KeptInductor, parted
from maxcode.evaluate.module.sides import OUT, REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

TEXT = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 2

def get_inputs():
    return [torch.randn(8, 64)]

def get_init_inputs():
    return []
"""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    path = tmp_path / "problem.py"
    path.write_text(TEXT)
    return load(path).problem


async def described(sandbox: Sandbox, problem: Problem) -> SideStarter:
    return await SideStarter(sandbox, find_runtime(), problem, 1, 5).described(reference_of(problem))


def reference_of(problem: Problem) -> ModuleSide:
    return ModuleSide(problem.program.text, REFERENCE)


def given(sandbox: Sandbox, problem: Problem, cache: Path) -> tuple[tuple[bytes, ...], int]:
    """What a new command is given, and how many compilations it took."""
    stage = anyio.run(described, sandbox, problem)
    with recording() as recorder:
        found = anyio.run(KeptInductor.below(cache, keeps=True).given, stage, reference_of(problem))
    return found, sum(one.count for one in recorder.profile().phases if one.activity == "build")


def files_in(*archives: bytes) -> set[str]:
    return {
        one.name
        for archive in archives
        for one in tarfile.open(fileobj=io.BytesIO(archive)).getmembers()
        if one.isfile()
    }


@pytest.mark.slow  # the compiler of torch takes half of a minute
def test_a_later_command_compiles_nothing_again(sandbox: Sandbox, problem: Problem, tmp_path: Path) -> None:
    first, compiled = given(sandbox, problem, tmp_path)
    assert (len(first), compiled) == (2, 1)
    assert given(sandbox, problem, tmp_path) == (first, 0)
    stage = anyio.run(described, sandbox, problem)
    again = anyio.run(stage.precompiled, reference_of(problem), first)
    assert again.ok
    assert files_in(again.files[OUT]) == files_in(*first), "inductor has found all of it"
    assert any(".main.so" in name for name in files_in(first[0]))
    assert not any(".main." in name or "fxgraph" in name for name in files_in(first[1]))
    other = replace(problem, program=problem.program.with_text(TEXT.replace("tanh", "sigmoid")))
    second, compiled = given(sandbox, other, tmp_path)
    assert compiled == 1
    assert second[0] != first[0]
    assert len(list((tmp_path / FOLDER).iterdir())) == 3, "what no graph decides is shared"


def test_nothing_is_kept_where_the_user_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KeptInductor.below(tmp_path, keeps=True).folder == tmp_path / FOLDER
    assert KeptInductor.below(tmp_path, keeps=False).folder is None
    monkeypatch.setenv(VARIABLE, "1")
    assert KeptInductor.below(tmp_path, keeps=True).folder is None


def test_an_archive_is_parted_without_a_loss() -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name in ("scratch/inductor/fxgraph/a/b", "scratch/inductor/ab/cab.so", "scratch/inductor/ab/cab.main.so"):
            archive.addfile(tarfile.TarInfo(name))
    own, shared = map(files_in, parted(whole.getvalue()))
    assert own == {"scratch/inductor/fxgraph/a/b", "scratch/inductor/ab/cab.main.so"}
    assert shared == {"scratch/inductor/ab/cab.so"}
