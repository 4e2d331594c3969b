"""A search over patches of a repository, from the command line: killed, taken up, a smaller patch, PR.md, a branch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from maxcode.evaluate.repo.base_tree import place_of
from tests.support import repositories as repos
from tests.support.cli import maxcode
from tests.support.processes import descendants, is_alive, is_timing, wait_until

ONE = """Look the word up in the dictionary itself.

src/words/__init__.py
<<<<<<< SEARCH
        keys = list(found)
=======
        keys = found
>>>>>>> REPLACE
"""
USELESS = """
src/words/__init__.py
<<<<<<< SEARCH
        if len(word) > len(best):
            best = word
=======
        if is_longer(word, best):
            best = word
>>>>>>> REPLACE

src/words/__init__.py
<<<<<<< SEARCH
def count(text):
=======
def is_longer(one, other):
    return len(other) < len(one)


def count(text):
>>>>>>> REPLACE
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)


def answering(folder: Path, answer: str) -> str:
    """A policy that gives this answer, and writes a line each time it is asked."""
    (folder / "answer.py").write_text(
        f"import sys\nsys.stdin.read()\nopen({str(folder / 'asked')!r}, 'a').write('.')\nprint({answer!r})\n"
    )
    return f"command:{sys.executable} {folder / 'answer.py'}"


@pytest.mark.sandbox
def test_the_next_command_removes_what_a_killed_set_up_left(repository: Path, tmp_path: Path) -> None:
    repository.write_text(repos.PYTHON_TOML + 'setup = "echo here > began; sleep 60"\n')
    tree = place_of(repos.problem_of(repository))
    words = [sys.executable, "-m", "maxcode", "evaluate", "HEAD", "--against", str(repository)]
    started = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    while not (tree / "began").exists():
        assert started.poll() is None
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    assert tree.exists()
    other = repos.made(tmp_path / "other", repos.PYTHON_FILES, repos.PYTHON_TOML.replace("discover", "nothing"))
    assert maxcode("evaluate", "HEAD", "--against", other).returncode == 2
    assert not tree.exists()


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_killed_run_leaves_no_tree_and_pays_nothing_twice(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    policy = answering(tmp_path, ONE)
    words = ("optimize", repository, "--policy", policy, "--critic", "rules", "--budget", "1", "--no-certificate",
             "--branch", "faster/count", "--json", "--out", out)  # fmt: skip
    tree = place_of(repos.problem_of(repository))
    started = subprocess.Popen([sys.executable, "-m", "maxcode", *map(str, words)], stderr=subprocess.DEVNULL)
    while not ("action" in recorded(out) and is_timing(started.pid)):  # it was built and tested, and is raced
        assert started.poll() is None
        time.sleep(0.02)
    family = descendants(started.pid)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    assert family and wait_until(lambda: not any(map(is_alive, family)), 10)
    assert not tree.exists() and repos.git(repository.parent, "worktree", "list").count("\n") == 1
    kept = recorded(out)
    done = maxcode(*words, timeout=900)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["speedup"]["low"] > 1.2 and found["trust"]["level"] == "outside"
    assert (found["branch"], Path(found["proposal"])) == ("faster/count", out / "PR.md")
    assert (tmp_path / "asked").read_text() == "."
    assert "base was not built, tested and run again: nothing has changed since" in done.stderr
    assert recorded(out).startswith(kept) and recorded(out).count('"evaluation":') == 1
    assert not tree.exists() and repos.git(repository.parent, "worktree", "list").count("\n") == 1
    check_proposal(repository.parent, out)


def recorded(out: Path) -> str:
    """The whole lines of the record so far."""
    path = out / "events.jsonl"
    text = path.read_text() if path.exists() else ""
    return text[: text.rfind("\n") + 1]


def check_proposal(folder: Path, out: Path) -> None:
    """The branch has the patch on base, the work tree is as before, and PR.md says what a maintainer asks."""
    assert repos.git(folder, "status", "--porcelain").split() == ["??", "problem.toml"]
    assert repos.git(folder, "diff", "HEAD", "faster/count", "--stat").count("|") == 1
    assert repos.git(folder, "log", "-1", "--format=%s", "faster/count").strip().startswith("Look the word up")
    text = (out / "PR.md").read_text()
    for words in (
        "Speed-up",
        "Level of trust: **outside**",
        "best.diff",
        repos.git(folder, "rev-parse", "HEAD").strip(),
    ):
        assert words in text
    repos.git(folder, "apply", "--check", str(out / "best.diff"))


def test_a_branch_that_cannot_be_made_is_refused_before_the_search(repository: Path, tmp_path: Path) -> None:
    repos.git(repository.parent, "branch", "taken")
    for name, why in (
        ("taken", "has a branch taken already"),
        ("taken/too", "has a branch taken, beside which git takes no branch taken/too"),
        ("a..b", "no name of a branch"),
    ):
        done = maxcode("optimize", repository, "--policy", answering(tmp_path, ONE), "--branch", name, "--budget", "1")
        assert done.returncode == 2 and why in done.stderr
    assert not (tmp_path / "asked").exists()


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_useless_helper_goes_with_its_call_and_the_certificate_holds_in_a_clone(
    repository: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    toml = repos.PYTHON_TOML + 'setup = "touch began"\n'
    repository.write_text(toml)
    done = maxcode("optimize", repository, "--policy", answering(tmp_path, ONE + USELESS), "--critic", "rules",
                   "--budget", "1", "--out", out, timeout=900)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 of 3 changes of the patch were left out" in done.stdout
    assert "is_longer" not in (out / "best.diff").read_text()
    repos.git(tmp_path, "clone", "-q", str(repository.parent), "clone")
    (tmp_path / "clone/problem.toml").write_text(toml)
    words = ("verify", out / "certificate.json", "--problem", tmp_path / "clone/problem.toml")
    refused = maxcode(*words)
    assert refused.returncode == 2 and "setup 'touch began' was not run: it would run as you" in refused.stderr
    again = maxcode(*words, "--run-setup", timeout=900)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "trust      outside" in again.stdout
