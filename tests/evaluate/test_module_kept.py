"""What the admission of a module found out: a later command finds it again, and draws weights of its own."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode.core.types import Problem
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.module import learned_contract
from maxcode.evaluate.module.admission import ModuleAdmissions, Staged
from maxcode.evaluate.module.learned_contract import FOLDER
from maxcode.evaluate.module.staging import ModuleStages
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from tests.support.kept_help import admitted_by

LAYER = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.tanh(self.layer(x))

def get_inputs():
    return [torch.randn(8, 16)]

def get_init_inputs():
    return []
"""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    (tmp_path / "problem.py").write_text(LAYER)
    return load(tmp_path / "problem.py").problem


def admitted(
    sandbox: Sandbox, problem: Problem, folder: Path, reads: bool = True, prompts: bool = False
) -> tuple[Staged, int]:
    """The problem as another command admits it, and how many single runs of the reference that took."""
    return admitted_by(ModuleStages(sandbox, prompts=prompts, kept=KeptAdmissions(folder, reads)), problem)


def test_a_later_command_draws_weights_and_runs_nothing_else(
    sandbox: Sandbox, problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seconds = tmp_path / FOLDER, list[float]()
    learned = ModuleAdmissions._learned

    async def timed(*given: Any) -> Any:
        began = time.monotonic()
        found = await learned(*given)
        seconds.append(time.monotonic() - began)
        return found

    monkeypatch.setattr(ModuleAdmissions, "_learned", timed)
    first, runs = admitted(sandbox, problem, folder)
    assert runs == 1 and first.admitted.saved_s == 0, "it is described, with weights, and called in rounds"
    assert first.admitted.notes == ()
    again, runs = admitted(sandbox, problem, folder)
    assert runs == 1 and len(seconds) == 1, "weights alone"
    assert 0.9 * seconds[0] < again.admitted.saved_s <= seconds[0]
    (note,) = again.admitted.notes
    assert note.startswith("the original was not run again for its admission: nothing has changed since 20")
    assert again.stage.contract == first.stage.contract
    assert again.admitted.timed[0].seconds == first.admitted.timed[0].seconds
    assert again.admitted.problem.statement == first.admitted.problem.statement
    assert again.admitted.baseline == first.admitted.baseline
    assert again.stage.seed != first.stage.seed
    assert len(again.stage.weights) == 17 * 16 * 4 and again.stage.weights != first.stage.weights
    monkeypatch.setattr(learned_contract, "libraries", lambda: iter(("another library",)))
    anew, _ = admitted(sandbox, problem, folder)
    assert anew.admitted.saved_s == 0
    assert anew.admitted.notes[0].startswith("the original was run again for its admission: a compiler or another file")


def test_a_single_command_finds_what_a_search_has_kept_and_not_the_other_way_round(
    sandbox: Sandbox, problem: Problem, tmp_path: Path
) -> None:
    assert admitted(sandbox, problem, tmp_path / "one")[0].admitted.saved_s == 0
    searched, _ = admitted(sandbox, problem, tmp_path / "one", prompts=True)
    assert searched.admitted.saved_s == 0 and searched.admitted.baseline.profile
    for left in (tmp_path / "one").glob("*-single"):
        left.unlink()
    single, runs = admitted(sandbox, problem, tmp_path / "one")
    assert runs == 1 and single.admitted.saved_s > 0
    assert single.admitted.baseline.profile != ()


def test_nothing_is_kept_for_a_certificate_nor_found_for_another_reference(
    sandbox: Sandbox, problem: Problem, tmp_path: Path
) -> None:
    own = replace(sandbox, cache=tmp_path)
    terms = HarnessTerms(single=True, beside_compiled=False)

    def notes(problem: Problem, terms: HarnessTerms) -> tuple[str, ...]:
        harness = make_harness(problem, own, Builder(own, own.cache), terms)
        return anyio.run(harness.admit, problem).notes

    assert notes(problem, replace(terms, keeps=False)) == () and not (tmp_path / FOLDER).exists()
    assert notes(problem, terms) == () and len(list((tmp_path / FOLDER).iterdir())) == 1
    other = replace(problem, program=problem.program.with_text(LAYER.replace("tanh", "sigmoid")))
    assert notes(other, terms) == () and len(list((tmp_path / FOLDER).iterdir())) == 2
    assert notes(problem, terms) != ()
