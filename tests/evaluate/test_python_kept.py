"""What the admission of a Python function found out: a later command finds it again, and draws inputs of its own."""

from __future__ import annotations

import secrets
import shlex
import venv
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Outcome, Problem
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.kept_admissions import AGAIN, NOT_AGAIN, KeptAdmissions
from maxcode.evaluate.python import admission
from maxcode.evaluate.python.admission import FOLDER, Staged
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.problems import load
from maxcode.problems.recording.capture import capture
from maxcode.run.evaluation_run import evaluate_into
from maxcode.run.request import Request
from maxcode.sandbox.sandbox import Sandbox
from tests.support.kept_help import admitted_by
from tests.support.python_help import problem_of

SUMS = """
def sums(n):
    return [sum(range(i)) for i in range(n)]
"""
FASTER = SUMS.replace("sum(range(i))", "i * (i - 1) // 2")
WRONG = SUMS.replace("sum(range(i))", "i * (i + 1) // 2")
NUMBERS = """
import random

def inputs(seed, size):
    return (random.Random(seed).randrange(400, 500),)
"""
TABLE = 'kind = "function"\nsource = "slow.py"\n[python]\nfunction = "sums"\ninputs = "inputs.py"\n'


@pytest.fixture
def problem() -> Problem:
    return problem_of(SUMS, NUMBERS)


def admitted(sandbox: Sandbox, problem: Problem, folder: Path, prompts: bool = False) -> tuple[Staged, int]:
    """The problem as another command admits it, and how many single runs of the original that took."""
    return admitted_by(PythonStages(sandbox, prompts, KeptAdmissions(folder, reads=True)), problem)


def test_a_later_command_runs_no_original_for_it(
    sandbox: Sandbox, problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, runs = admitted(sandbox, problem, tmp_path / FOLDER)
    assert runs == 2 and first.admitted.saved_s == 0 and first.admitted.notes == (), "described, and profiled"
    again, runs = admitted(sandbox, problem, tmp_path / FOLDER)
    assert runs == 0 and again.admitted.saved_s > 0
    (note,) = again.admitted.notes
    assert note.startswith(NOT_AGAIN.format("nothing has changed since 20"))
    assert again.layout == first.layout and again.shown == first.shown
    assert again.admitted.baseline == first.admitted.baseline and again.admitted.facts == first.admitted.facts
    monkeypatch.setattr(admission, "libraries", lambda: iter(("another library",)))
    anew, runs = admitted(sandbox, problem, tmp_path / FOLDER)
    assert runs == 2 and anew.admitted.notes[0].startswith(AGAIN.format("a compiler or another file of the system"))


def test_a_candidate_is_judged_on_a_kept_admission_as_on_a_new_one(
    sandbox: Sandbox, problem: Problem, tmp_path: Path
) -> None:
    admitted(sandbox, problem, tmp_path / FOLDER, prompts=True)
    evaluator = RoundsEvaluator(sandbox, PythonStages(sandbox, False, KeptAdmissions(tmp_path / FOLDER, reads=True)))

    async def judged(text: str) -> Outcome:
        found = await evaluator.evaluate(problem, Action(problem.program.with_text(text)))
        assert found.outcome != Outcome.CORRECT or (found.timing is not None and found.timing.speedup.low > 1.5)
        return found.outcome

    assert anyio.run(judged, FASTER) == Outcome.CORRECT
    assert anyio.run(judged, WRONG) == Outcome.WRONG
    assert anyio.run(evaluator.admit, problem).notes, "what a search has kept was used"


def test_recorded_calls_that_are_held_out_are_not_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SUMS)
    (tmp_path / "use.py").write_text("from slow import sums\n\nfor n in range(40):\n    sums(400 + n)\n")
    command = f"/usr/bin/python3 {shlex.quote(str(tmp_path / 'use.py'))}"
    anyio.run(capture, command, "slow:sums", tmp_path / "problem")
    problem = load(tmp_path / "problem").problem
    first, _ = admitted(sandbox, problem, tmp_path / FOLDER)
    again, runs = admitted(sandbox, problem, tmp_path / FOLDER)
    assert runs == 0 and again.shown == first.shown != b"" and again.same_calls == first.same_calls != ""
    held = problem.spec.python_spec.calls
    assert held is not None and len(again.shown) < len(held.content)


def test_another_package_in_the_environment_is_noticed(sandbox: Sandbox, problem: Problem, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    spec = replace(problem.spec.python_spec, venv=str(tmp_path / "env"))
    problem = replace(problem, spec=replace(problem.spec, python=spec))
    admitted(sandbox, problem, tmp_path / FOLDER)
    (package,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    (package / "new.py").write_text("")
    anew, runs = admitted(sandbox, problem, tmp_path / FOLDER)
    assert runs == 2 and anew.admitted.notes[0].startswith(AGAIN.format("a file of the virtual environment"))


def test_nothing_is_kept_for_a_certificate_nor_found_for_another_original(
    sandbox: Sandbox, problem: Problem, tmp_path: Path
) -> None:
    own = replace(sandbox, cache=tmp_path)

    def notes(problem: Problem, keeps: bool) -> tuple[str, ...]:
        harness = make_harness(problem, own, Builder(own, own.cache), HarnessTerms(single=True, keeps=keeps))
        return anyio.run(harness.admit, problem).notes

    assert notes(problem, False) == () and not (tmp_path / FOLDER).exists()
    assert notes(problem, True) == () and len(list((tmp_path / FOLDER).iterdir())) == 1
    other = SUMS.replace("range(i)", "range(i + 1)")
    assert notes(replace(problem, program=problem.program.with_text(other)), True) == ()
    assert notes(problem, False) == () and notes(problem, True) != ()


@pytest.mark.sandbox
def test_evaluate_uses_it_with_a_run_folder_too(tmp_path: Path) -> None:
    own = f"{SUMS}# {secrets.token_hex()}\n"  # nothing is kept of it yet
    for name, text in (("slow.py", own), ("inputs.py", NUMBERS), ("faster.py", FASTER)):
        (tmp_path / name).write_text(text)
    (tmp_path / "problem.toml").write_text(TABLE)
    request = Request(tmp_path, certificate=False)
    first, again = (evaluate_into(tmp_path / "faster.py", replace(request, out=tmp_path / out)) for out in "ab")
    assert first.confirmed and again.confirmed
    used = [[note for note in found.notes if note.startswith(NOT_AGAIN[:40])] for found in (first, again)]
    assert list(map(len, used)) == [0, 1]
    assert not (tmp_path / "b" / "certificate.json").exists()
    evaluate_into(tmp_path / "faster.py", replace(request, out=tmp_path / "b", certificate=True))
    assert (tmp_path / "b" / "certificate.json").exists(), "the same call makes what was left out"
