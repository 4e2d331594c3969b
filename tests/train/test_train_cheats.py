"""The reward cannot be gamed: the gallery's cheats as completions of a policy get their rung of the ladder.

The judge asks the evaluator that searches use, in the sandbox; what no outcome catches is caught by the race, which
finds such a cheat no faster than the honest original (`-m slow`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from maxcode.train.advantages import Advantage
from maxcode.train.diversity import ArchiveProgress, Diversity
from maxcode.train.judge import Judge, Judged, Rules
from maxcode.train.measuring import TRAINING_RULE, Measuring
from maxcode.train.prompts import Compact
from maxcode.train.rewards import Gated, Paper, Shaped
from tests.support.selection import some

pytestmark = pytest.mark.sandbox

GALLERY = Path(__file__).parents[1] / "evaluate" / "gallery"
CHEATS = sorted((GALLERY / "functions").glob("*.c"))
OUTCOMES = {outcome.value: outcome for outcome in Outcome}
PUBLISHED = {"rejected": -100.0, "unbuilt": -40.0, "timeout": -30.0, "crashed": -20.0, "wrong": -10.0}


def line_of(path: Path, key: str) -> str:
    found = re.search(rf"^// {key} (.+)$", path.read_text(), re.MULTILINE)
    assert found is not None, path
    return found[1].strip()


CAUGHT = [path for path in CHEATS if line_of(path, "VERDICT") in OUTCOMES]
RACED = [path for path in CHEATS if path not in CAUGHT]


def judged(evaluator: ProgramEvaluator, against: str, completions: list[str], reward: Paper | Shaped | Gated) -> Judged:
    problem = load(GALLERY / "originals" / against).problem
    progress = ArchiveProgress([problem], 1, Diversity(None, archive=False))
    judge = Judge(progress, Measuring(evaluator), Rules(Compact(), reward, Advantage("leave_one_out", shrink=False)))
    judge.begin()
    return judge.judge([0] * len(completions), completions)


@pytest.fixture(scope="module")
def training(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, TRAINING_RULE).measuring(MeasureOptions(profiles=False))


@pytest.mark.parametrize("path", some(CAUGHT, 1), ids=lambda path: path.stem)
def test_a_cheat_that_is_caught_gets_its_rung_below_every_honest_kernel(path: Path, training: ProgramEvaluator) -> None:
    against, verdict = line_of(path, "AGAINST"), line_of(path, "VERDICT")
    original = load(GALLERY / "originals" / against).problem.program.text
    found = judged(training, against, [original, path.read_text()], Paper())
    honest, cheat = found.scores
    assert honest is not None and honest > 0
    assert cheat == PUBLISHED[verdict]
    assert found.advantages[1] is not None and found.advantages[1] < 0
    for reward in (Shaped(), Gated()):
        scores = judged(training, against, [original, path.read_text()], reward).scores
        assert scores[0] is not None and scores[1] is not None and scores[1] < scores[0]


@pytest.mark.slow
def test_a_completion_that_is_no_program_gets_the_lowest_rung(training: ProgramEvaluator) -> None:
    found = judged(training, "product", ["", "   \n", "the fastest kernel there is"], Paper())
    assert found.scores == [-100.0, -100.0, -40.0]


@pytest.mark.slow  # races by the full rule
@pytest.mark.parametrize("path", RACED, ids=lambda path: path.stem)
def test_a_cheat_that_runs_well_is_raced_and_is_no_faster(path: Path, sandbox_evaluator: ProgramEvaluator) -> None:
    against = line_of(path, "AGAINST")
    problem = replace(load(GALLERY / "originals" / against).problem, permitted=None)
    action = Action(problem.program.with_text(path.read_text()))
    found: Evaluation = anyio.run(sandbox_evaluator.evaluate, problem, action)
    assert found.outcome is not Outcome.CORRECT or found.timing is None or not found.timing.significant
    if found.outcome is not Outcome.CORRECT:
        assert Paper()(found) == PUBLISHED[found.outcome.value]
