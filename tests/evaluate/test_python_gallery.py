"""The gallery of cheats of Python functions, each with its harmless twin where it has one."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program
from maxcode.evaluate.python.admission import Staged
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.sandbox.sandbox import Sandbox
from tests.support.python_help import of_folder

GALLERY = Path(__file__).parent / "gallery_python"
CANDIDATES = sorted(GALLERY.glob("*.py"))
QUICK = ("lazy_list", "memo_by_id", "honest_sorts_its_argument", "frame_walk", "patched_is_solution")
VERDICTS = {*(outcome.value for outcome in Outcome), "not-faster"}


def header(path: Path, key: str) -> str:
    found = re.search(rf"^# {key} (.+)$", path.read_text(), re.MULTILINE)
    assert found is not None, f"{path} has no line `# {key} ...`"
    return found[1]


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RoundsEvaluator[Staged, Program]:
    return RoundsEvaluator(sandbox, PythonStages(sandbox), RaceRule(most=12))


@pytest.fixture(scope="module")
def judged(evaluator: RoundsEvaluator[Staged, Program]) -> Callable[[Path], Evaluation]:
    @cache
    def original(name: str) -> Problem:
        return anyio.run(evaluator.admit, of_folder(GALLERY / "originals", name)).problem

    def run(path: Path) -> Evaluation:
        problem = original(header(path, "AGAINST"))
        return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(path.read_text())))

    return run


def holds(found: Evaluation, verdicts: str) -> bool:
    """Whether it is one of the verdicts; there are several only where the machine decides."""
    for verdict in verdicts.split():
        if verdict == "not-faster" and not (found.timing is not None and found.timing.significant):
            return True
        if found.outcome.value == verdict:
            return True
    return False


def test_every_candidate_says_what_must_become_of_it_and_why() -> None:
    assert sum(not path.stem.startswith("honest") for path in CANDIDATES) >= 30
    assert sum(path.stem.startswith("honest") for path in CANDIDATES) >= 20
    for path in CANDIDATES:
        assert set(header(path, "VERDICT").split()) <= VERDICTS, path
        assert (header(path, "VERDICT") == "correct") == path.stem.startswith("honest"), path
        assert header(path, "WHY").endswith("."), path
    assert {path.stem for path in CANDIDATES} >= set(QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_a_candidate_gets_the_verdict_it_must_get(name: str, judged: Callable[[Path], Evaluation]) -> None:
    path = GALLERY / f"{name}.py"
    found = judged(path)
    assert holds(found, header(path, "VERDICT")), f"{found.outcome.value}: {found.feedback}"


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in CANDIDATES if path.stem not in QUICK], ids=lambda path: path.stem)
def test_so_does_every_other_one(path: Path, judged: Callable[[Path], Evaluation]) -> None:
    found = judged(path)
    assert holds(found, header(path, "VERDICT")), f"{found.outcome.value}: {found.feedback}"
