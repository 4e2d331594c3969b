"""What a maintainer gets: a description that measures the same, and a branch that is replaced only where it is ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.types import Machine, Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.problems import load
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.proposal import Proposal, refuse_branch, toml_of, write_branch
from maxcode.run.result import Paid, RunResult
from tests.support import repositories as repos

TOML = """kind = "repo"
edit = ["src/**"]
language = "c++"
setup = "echo 'a\\tb' \\\\ > made"
build = "make"
tests = "make check"
benchmark = '''printf "%s\\n" "a"'''
show = ["/opt"]
same_output = true
goal = "wall"
env = { PATH = "{repo}/bin:/usr/bin:/bin", WORDS = 'a "b"' }
"""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return repos.problem_of(repos.made(tmp_path / "sums", repos.C_FILES, TOML))


def proposal(problem: Problem, note: str) -> Proposal:
    program = Program({path: f"{text}// {note}\n" for path, text in problem.program.files.items()})
    measured = CandidateResult(Outcome.CORRECT, (), None, None, {}, 0, Machine("", "", 0, "", {}, ""))
    here = Path(problem.spec.folder)
    return Proposal(
        problem, RunResult(measured, 1, {}, here, program, here, here, Paid(0.0, 0, 0, 0, None)), None, note
    )


def test_the_described_problem_is_the_same(problem: Problem, tmp_path: Path) -> None:
    assert problem.language == "cpp"  # most of its files are C
    repos.git(tmp_path, "clone", "-q", problem.spec.folder, "clone")
    clone = tmp_path / "clone"
    (clone / "problem.toml").write_text(toml_of(problem))
    again = load(clone / "problem.toml", None, {}).problem
    spec = replace(problem.spec, folder=str(clone), repo=replace(problem.spec.repo_spec, folder=str(clone)))
    assert again == replace(problem, spec=spec, id="clone")


def test_a_branch_is_replaced_only_as_maxcode_made_it(problem: Problem) -> None:
    top, name = Path(problem.spec.folder), "faster/sums"
    for note in ("one", "two"):
        refuse_branch(problem, name)
        made = write_branch(proposal(problem, note), name)
        assert repos.git(top, "rev-parse", name).strip() == made
    repos.git(top, "checkout", "-q", name)
    repos.git(top, "commit", "-q", "--amend", "--allow-empty", "-m", "in my words")
    amended = repos.git(top, "rev-parse", name)
    with pytest.raises(InputError, match="has a branch faster/sums already"):
        refuse_branch(problem, name)
    with pytest.raises(InputError, match="cannot make the branch"):
        write_branch(proposal(problem, "three"), name)
    assert repos.git(top, "rev-parse", name) == amended
