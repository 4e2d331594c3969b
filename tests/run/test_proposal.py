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


def proposal(problem: Problem, *notes: str) -> Proposal:
    program = Program({path: f"{text}// {notes[-1]}\n" for path, text in problem.program.files.items()})
    measured = CandidateResult(Outcome.CORRECT, (), None, None, {}, 0, Machine("", "", 0, "", {}, ""))
    here = Path(problem.spec.folder)
    return Proposal(
        problem, RunResult(measured, 1, {}, here, program, here, here, Paid(0.0, 0, 0, 0, None)), None, notes
    )


def test_the_described_problem_is_the_same(problem: Problem, tmp_path: Path) -> None:
    assert problem.language == "cpp"  # most of its files are C
    repos.git(tmp_path, "clone", "-q", problem.spec.folder, "clone")
    clone = tmp_path / "clone"
    (clone / "problem.toml").write_text(toml_of(problem))
    again = load(clone / "problem.toml", None, {}).problem
    spec = replace(problem.spec, folder=str(clone), repo=replace(problem.spec.repo_spec, folder=str(clone)))
    assert again == replace(problem, spec=spec, id="clone")


ANSWER = """Add the values once.

The sum of products is the product of sums.

src/sums.c
```c
int x;
```

src/sums.h
<<<<<<< SEARCH
int x;
=======
int y;
>>>>>>> REPLACE
"""


def test_a_maintainer_reads_the_words_of_each_step_once_and_how_to_repeat_it_without_the_run_folder(
    problem: Problem,
) -> None:
    one = proposal(problem, ANSWER)
    lines = one.text().splitlines()
    assert lines[0] == "# Add the values once." and lines.count("> Add the values once.") == 0
    assert "> The sum of products is the product of sums." in lines and "> src/sums.c" not in lines
    assert not any("SEARCH" in line or "int y" in line for line in lines)
    assert "maxcode evaluate BRANCH --against problem.toml" in lines
    assert any("`show` names folders of the machine that measured" in line for line in lines)
    several = proposal(problem, ANSWER, "Keep the sum in a register.")
    told = several.text()
    assert told.startswith("# Make sums.c, sums.h faster\n")
    assert told.index("> Step 1:\n> Add the values once.") < told.index("> Step 2:\n> Keep the sum in a register.")


def test_the_message_of_the_commit_has_no_line_that_git_takes_for_a_comment(problem: Problem) -> None:
    message = proposal(problem, ANSWER).message()
    assert message.startswith("Add the values once.\n\n2 changes in ")
    assert not any(line.startswith("#") for line in message.splitlines())
    assert "run folder" not in message and f"Base was {problem.spec.repo_spec.commit}." in message


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


def test_a_maintainer_reads_who_wrote_the_patch_what_nobody_checked_and_what_of_base_is_not_published(
    problem: Problem, tmp_path: Path
) -> None:
    told = replace(proposal(problem, ANSWER), policy="llm:some-model").text()
    assert "in the words of a language model (`some-model`), which nobody has checked" in told
    assert "- No person has read this patch" in told and "- It was not run with sanitizers." in told
    assert "no remote branch" not in told  # there is no remote
    repos.git(tmp_path, "clone", "-q", problem.spec.folder, "clone")
    (tmp_path / "clone/problem.toml").write_text(TOML)
    repos.git(
        tmp_path / "clone", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "Own"
    )
    own = proposal(load(tmp_path / "clone/problem.toml", None, {}).problem, ANSWER).text()
    assert "These commits of base are on no remote branch, push them too: `" in own and " Own`." in own


def test_the_words_of_a_command_are_not_published(problem: Problem) -> None:
    for policy, author in (
        ("command:./ask --key=s3cret", "a command"),
        ("file:/home/me/best.c", "the one who proposed it"),
    ):
        told = replace(proposal(problem, ANSWER), policy=policy).text()
        assert f"in the words of {author}, which nobody" in told and "s3cret" not in told and "/home/me" not in told


def test_only_what_was_left_out_makes_the_words_doubtful(problem: Problem) -> None:
    given = proposal(problem, ANSWER)
    stays = "parts of the patch that stay: 3, each tried alone: without 3 it is proved slower"
    left = "2 of 5 changes of the patch were left out: it is as fast without them (lines of base: a.c:1)"
    for notes, often in (((stays,), 0), ((left, stays), 1)):
        told = replace(given, result=replace(given.result, notes=notes)).text()
        assert told.count("may speak of what is gone") == often and f"{stays}." in told
