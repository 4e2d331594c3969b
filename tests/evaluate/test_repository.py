"""The harness of repositories: patches of small ones are built, tested, compared and raced by their own commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome, Program
from maxcode.errors import InputError
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.race import Side, WrongOutput
from maxcode.evaluate.repo.admission import Base
from maxcode.evaluate.repo.base_tree import place_of
from maxcode.evaluate.repo.candidates import Ready, built, ready
from maxcode.evaluate.repo.evaluator import RepoEvaluator, failed_in_race
from maxcode.problems.patches import patched as candidate_of
from maxcode.run.certificate.making import winner_in
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.support import repositories as repos
from tests.support.cli import maxcode
from tests.support.rules import SHORT

Judge = Callable[..., tuple[Evaluation, bool]]
FAST = repos.WORDS.replace(repos.SLOW_LINE, repos.FAST_LINE)


@pytest.fixture(scope="module")
def python_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repos.made(tmp_path_factory.mktemp("python") / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)


@pytest.fixture(scope="module")
def c_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repos.made(tmp_path_factory.mktemp("c") / "sums", repos.C_FILES, repos.C_TOML)


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RepoEvaluator:
    return RepoEvaluator(sandbox, SHORT)


def base_of(evaluator: RepoEvaluator, toml: Path) -> Base:
    return anyio.run(evaluator.base, repos.problem_of(toml))


def judged(evaluator: RepoEvaluator, toml: Path, edits: dict[str, str], canary: bool = False) -> Evaluation:
    base = base_of(evaluator, toml)
    return anyio.run(ready, base, repos.patched(base.problem, edits), canary)[1]


@pytest.mark.sandbox
def test_a_faster_patch_is_accepted_with_its_level_of_trust_and_leaves_nothing_behind(
    python_repo: Path, tmp_path: Path
) -> None:
    folder = python_repo.parent
    (folder / "src/words/__init__.py").write_text(FAST)
    (tmp_path / "fast.diff").write_text(repos.git(folder, "diff"))
    repos.git(folder, "checkout", "-q", "src")
    done = maxcode("evaluate", tmp_path / "fast.diff", "--against", python_repo, "--json", "--fail-on", "not-faster")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["outcome"] == "correct" and found["trusted"] and found["speedup"]["low"] > 1.5
    assert found["trust"]["level"] == "outside" and "2 ran" in found["trust"]["why"]
    assert not place_of(repos.problem_of(python_repo)).exists()
    assert repos.git(folder, "worktree", "list").count("\n") == 1


def test_a_candidate_may_be_a_diff_a_folder_or_a_revision(python_repo: Path, tmp_path: Path) -> None:
    folder, problem = python_repo.parent, repos.problem_of(python_repo)
    (folder / "src/words/__init__.py").write_text(FAST)
    (tmp_path / "fast.diff").write_text(repos.git(folder, "diff"))
    repos.git(folder, "commit", "-q", "-a", "-m", "fast")
    repos.git(folder, "tag", "fast")
    repos.git(folder, "reset", "-q", "--hard", "HEAD~1")
    repos.write(tmp_path / "folder", {"src/words/__init__.py": FAST})
    wanted = Program({"src/words/__init__.py": FAST})
    for given in (tmp_path / "fast.diff", tmp_path / "folder", Path("fast")):
        assert candidate_of(given, problem) == wanted


def test_what_others_left_beside_a_winner_is_no_part_of_it(python_repo: Path, tmp_path: Path) -> None:
    name, problem = "src/words/__init__.py", repos.problem_of(python_repo)
    repos.write(tmp_path / "best", {name: FAST, "tests/test_words.py": "mine = 1\n", "src/words/mine.py": "mine = 1\n"})
    (tmp_path / "best/src/words/mine.pyc").write_bytes(b"\xff")
    assert winner_in(tmp_path / "best", problem, {name}) == Program({name: FAST})
    with pytest.raises(InputError, match=r"must stay as in base: tests/test_words\.py"):
        winner_in(tmp_path / "best", problem, {name, "tests/test_words.py"})


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tests/test_words.py", "`edit` does not match it"),
        ("src/conftest.py", "it configures the build or the tests"),
        ("src/unittest.py", "a command names it"),
        ("src/zlib.py", "the name of a module of Python"),
        ("src/unittest/__init__.py", "the name of a module of Python"),
        ("src/words", "beside src/words/__init__.py"),
        ("src/words/__init__.py/more.py", "beside src/words/__init__.py"),
        ("src/Tests/helper.py", "it belongs to the tests"),
        ("src/words.pth", "it configures"),
        ("src/words/test_more.py", "it belongs to the tests"),
        ("src/run.py", "a command names it"),
    ],
)
def test_a_patch_outside_the_allowed_paths_is_refused_before_anything_runs(
    python_repo: Path, tmp_path: Path, path: str, why: str
) -> None:
    (tmp_path / "p.diff").write_text(f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x = 1\n")
    if path.startswith("tests"):
        (tmp_path / "p.diff").write_text(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-import unittest\n+import os\n")
    with pytest.raises(InputError, match=r"must stay as in base") as refused:
        candidate_of(tmp_path / "p.diff", repos.problem_of(python_repo))
    assert why in str(refused.value)


def test_a_path_that_edit_names_in_full_may_be_changed(python_repo: Path) -> None:
    python_repo.with_name("own.toml").write_text(repos.PYTHON_TOML.replace('"src/**"', '"src/**", "bench/run.py"'))
    assert "bench/run.py" in repos.problem_of(python_repo.with_name("own.toml")).program.files


def test_a_wrong_patch_is_wrong_by_its_tests_and_by_what_the_benchmark_prints(
    evaluator: RepoEvaluator, python_repo: Path
) -> None:
    broken = judged(evaluator, python_repo, {"src/words/__init__.py": repos.WORDS.replace("+ 1", "+ 2")})
    assert broken.outcome is Outcome.WRONG and "the tests fail" in broken.feedback.reasons[0]
    assert "failing, though right in base: test_count (test_words.TestWords" in broken.feedback.reasons[0]
    assert "AssertionError: {'a': 3, 'b': 1} != {'a': 2, 'b': 1}" in broken.feedback.diagnostics
    rare = FAST.replace("    return found\n", "    return {k: v for k, v in found.items() if k != '996'}\n")
    subtle = judged(evaluator, python_repo, {"src/words/__init__.py": rare})
    assert subtle.outcome is Outcome.WRONG and "where base prints" in subtle.feedback.reasons[0]


def test_a_candidate_starts_from_the_build_tree_of_base_and_its_build_changes_nothing_else(
    evaluator: RepoEvaluator, c_repo: Path
) -> None:
    base = base_of(evaluator, c_repo)
    one, found = anyio.run(ready, base, repos.patched(base.problem, {"src/sums.c": repos.C_FAST}))
    assert found.outcome is Outcome.CORRECT and found.trust is not None and found.trust.level == "outside"
    assert one is not None
    assert base.made == {"check", "bench_sums", "src/sums.o"}
    assert 0 < one.side.further_mb < 0.2
    broken = judged(evaluator, c_repo, {"src/sums.c": "int x = ;\n"})
    assert broken.outcome is Outcome.UNBUILT and "error" in broken.feedback.diagnostics
    assert "; the first error: src/sums.c:1:9: error: " in broken.feedback.reasons[0]


LINKED = {
    "words.py": "print('base', sum(range(3_000_000)))\n",
    "link.sh": "mkdir -p made && cp words.py made/one && ln -f made/one made/two && ln -f made/one made/a\n",
}
LINKED_TOML = """kind = "repo"
edit = ["words.py"]
build = "sh link.sh"
benchmark = "python3 made/one && python3 made/two"
"""


def test_what_a_build_links_under_several_names_is_the_candidates_under_all_of_them(
    evaluator: RepoEvaluator, tmp_path: Path
) -> None:
    base = base_of(evaluator, repos.made(tmp_path / "linked", LINKED, LINKED_TOML))
    other = repos.patched(base.problem, {"words.py": "print('other')\n"})
    one = anyio.run(built, base, other)
    assert isinstance(one, Ready)
    ran = anyio.run(base.place.run, one.side, "for one in one two a; do python3 made/$one; done", 60.0)
    assert ran.stdout.split() == [b"other"] * 3


WAITS = "import time\n\ntime.sleep(1.5)\nprint(sum(range(20_000_000)))\n"


def test_a_benchmark_that_waits_may_take_ten_times_as_long_as_the_waiting_too(
    evaluator: RepoEvaluator, tmp_path: Path
) -> None:
    files = {**repos.PYTHON_FILES, "bench/run.py": WAITS}
    base = base_of(evaluator, repos.made(tmp_path / "waits", files, repos.PYTHON_TOML))
    assert base.admitted.timed[0].seconds < 1 and base.run_s > 25


MADE = {"make.py": "import os\nos.makedirs('out/inner', exist_ok=True)\n", **repos.PYTHON_FILES}
MADE_TOML = repos.PYTHON_TOML.replace('"src/**"', '"src/**", "make.py"') + 'build = "python3 make.py"\n'


def test_what_cannot_be_unpacked_over_base_is_the_candidates_failure_and_ends_no_run(
    evaluator: RepoEvaluator, python_repo: Path, tmp_path: Path
) -> None:
    made = repos.made(tmp_path / "made", MADE, MADE_TOML)
    other = "import os\nos.rmdir('out/inner')\nos.rmdir('out')\nos.close(os.open('out', os.O_CREAT))\n"
    for toml, edits in ((python_repo, {f"src/{'a' * 300}.py": "x = 1\n"}), (made, {"make.py": other})):
        found = judged(evaluator, toml, edits)
        assert found.outcome is Outcome.UNBUILT and "cannot be unpacked over base" in found.feedback.reasons[0]


BAD = [
    ('tests = "false"', "tests 'false' fail on base"),
    ('build = "exit 3"', "build 'exit 3' fails on base"),
    ('benchmark = "true"', "only runs of 20 ms or more can be timed"),
    ('benchmark = "python3 -c \'import urllib.request as u; u.urlopen(\\"http://127.0.0.1:9\\")\'"', "no network"),
    ('setup = "echo no; exit 1"', "setup 'echo no; exit 1' fails with status 1: no"),
    ('base = "nowhere"', "has no revision 'nowhere'"),
    ('edit = ["lib/**"]', "matches no file of base"),
    ('edit = ["tests/**"]', "name it in full"),
    ('benches = "x"', "benchmark"),
    ('show = ["/nowhere"]', "no folder here"),
    ('same_output = true', "prints something else each time"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "why"), BAD)
def test_bad_input_gets_one_sentence_before_anything_is_paid(
    sandbox: Sandbox, python_repo: Path, line: str, why: str
) -> None:
    key = line.split(" = ")[0]
    kept = [one for one in repos.PYTHON_TOML.splitlines() if not one.startswith(f"{key} = ")]
    path = python_repo.with_name("bad.toml")
    path.write_text("\n".join([*kept, line]))
    with pytest.raises(InputError) as refused:
        anyio.run(RepoEvaluator(sandbox, SHORT).admit, repos.problem_of(path))
    assert why in str(refused.value) and "\n" not in str(refused.value)


def test_submodules_and_pointers_of_lfs_are_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    toml = repos.made(tmp_path / "one", repos.PYTHON_FILES, repos.PYTHON_TOML)
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"
    repos.write(toml.parent, {"data.bin": pointer})
    repos.git(toml.parent, "add", "data.bin")
    repos.git(toml.parent, "commit", "-q", "-m", "lfs")
    with pytest.raises(InputError, match=r"data\.bin is a pointer of Git LFS"):
        anyio.run(RepoEvaluator(sandbox).admit, repos.problem_of(toml))
    repos.git(toml.parent, "rm", "-q", "data.bin")
    repos.git(toml.parent, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repos.git(toml.parent, "commit", "-q", "-m", "submodule")
    with pytest.raises(InputError, match="submodule sub"):
        anyio.run(RepoEvaluator(sandbox).admit, repos.problem_of(toml))


@pytest.mark.parametrize("side", ["original", "control", "candidate"])
def test_what_base_does_in_whichever_arm_is_not_the_candidates(side: Side) -> None:
    right, given = Evaluation(Outcome.CORRECT), Input("benchmark", Blob.of(b""), b"", "seen", 1.0)
    wrong = WrongOutput(side, given, "the benchmark prints '7' where base prints '8'")
    if side == "candidate":
        assert failed_in_race(right, wrong).outcome is Outcome.WRONG
        return
    with pytest.raises(InputError, match=r"benchmark of base.*prints '7'.*let it print the same"):
        failed_in_race(right, wrong)


def test_equal_versions_are_not_judged_different(evaluator: RepoEvaluator, python_repo: Path) -> None:
    problem = repos.problem_of(python_repo)
    same = repos.patched(problem, {"src/words/__init__.py": repos.WORDS.replace("Counts words", "Counts the words")})
    found = anyio.run(evaluator.evaluate, problem, Action(same))
    assert found.outcome is Outcome.CORRECT and found.timing is not None
    assert not found.timing.significant and found.timing.verdict != "slower_by_wall"
