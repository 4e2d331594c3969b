"""A repository from somebody else: nothing that its configuration or its files name is started on the host."""

from __future__ import annotations

import difflib
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from maxcode.bench.versions.side_copy import copy_side
from maxcode.bench.versions.version_side import VersionSide, dirt_of
from maxcode.bench.versions.worktrees import scratch
from maxcode.cli.ask import tell
from maxcode.cli.compare import compare
from maxcode.cli.verify import verify
from maxcode.core.confined import runs_setup, without_setup
from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.repo.base_tree import base_tree
from maxcode.evaluate.repo.git import export
from maxcode.problems.patches import patched
from maxcode.run.proposal import refuse_branch
from tests.support import repositories as repos

LIBRARY = "src/words/__init__.py"
HOOKS = ("post-checkout", "post-index-change", "reference-transaction")
NAMED = ("filter.x.smudge", "filter.x.clean", "diff.x.textconv", "diff.external", "core.sshCommand", "gpg.program")


def leaves(place: Path, name: str) -> str:
    return f"touch {place}/pwned/{name}"


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """The problem.toml of a repository that tries all ways; each leaves a file in ``pwned`` beside the repository."""
    (tmp_path / "pwned").mkdir()
    files = {**repos.PYTHON_FILES, ".gitattributes": "* filter=x diff=x\n"}
    toml = repos.made(tmp_path / "evil", files, repos.PYTHON_TOML)
    folder = toml.parent
    repos.git(folder, "branch", "taken")
    (folder / LIBRARY).write_text(repos.WORDS.replace("best", "tops"))  # as long: git must read it to compare
    for name in HOOKS:
        (folder / ".git/hooks" / name).write_text(f"#!/bin/sh\n{leaves(tmp_path, name)}\n")
        (folder / ".git/hooks" / name).chmod(0o755)
    for key in NAMED:
        repos.git(folder, "config", key, f"sh -c '{leaves(tmp_path, key)}; exec cat' --")
    repos.git(folder, "config", "log.showSignature", "true")
    repos.git(folder, "config", "core.fsmonitor", f"sh -c '{leaves(tmp_path, 'core.fsmonitor')}' --")
    return toml


def held(toml: Path) -> list[str]:
    return os.listdir(toml.parents[1] / "pwned")


def as_worktree(toml: Path, problem: Problem) -> None:
    with scratch() as place:
        found = place.worktree(toml.parent, problem.spec.repo_spec.commit, "base")
        assert (found / LIBRARY).read_text() == repos.WORDS


def with_dirt(toml: Path, problem: Problem) -> None:
    commit = problem.spec.repo_spec.commit
    side = VersionSide("base", "HEAD", toml.parent, ("true",), commit)
    assert "changes in 1 files" in dirt_of({"base": side, "head": side})


def as_copy(toml: Path, problem: Problem) -> None:
    with scratch() as place:
        found = place.place("base")
        copy_side(toml.parent, found)
        assert (found / LIBRARY).read_bytes() == (toml.parent / LIBRARY).read_bytes()


def with_a_diff(toml: Path, problem: Problem) -> None:
    before, after = repos.WORDS.splitlines(True), repos.WORDS.replace("Counts", "Numbers").splitlines(True)
    toml.with_name("p.diff").write_text("".join(difflib.unified_diff(before, after, f"a/{LIBRARY}", f"b/{LIBRARY}")))
    assert "Numbers words" in patched(toml.with_name("p.diff"), problem).text


def with_a_branch(toml: Path, problem: Problem) -> None:
    with pytest.raises(InputError, match="has a branch taken already"):
        refuse_branch(problem, "taken")


WAYS: dict[str, Callable[[Path, Problem], object]] = {
    "export": lambda _, problem: base_tree(problem, keeps=False),
    "worktree": as_worktree,
    "copy": as_copy,
    "dirt": with_dirt,
    "diff": with_a_diff,
    "branch": with_a_branch,
    "folder": lambda toml, problem: patched(toml.parent, problem),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_repository_names_is_started(evil: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.chdir(evil.parent)
    problem = repos.problem_of(evil)
    assert problem.program.text == repos.WORDS
    WAYS[way](evil, problem)
    assert held(evil) == []


def test_what_a_partial_clone_lacks_is_not_fetched_by_its_own_command(tmp_path: Path) -> None:
    toml = repos.made(tmp_path / "evil", repos.PYTHON_FILES, repos.PYTHON_TOML)
    blob = repos.git(toml.parent, "rev-parse", f"HEAD:{LIBRARY}").strip()
    (toml.parent / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (tmp_path / "pwned").mkdir()
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "protocol.ext.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{leaves(tmp_path, 'fetched')}",
    }
    for key, value in settings.items():
        repos.git(toml.parent, "config", key, value)
    with pytest.raises(InputError, match=f"lacks the object {blob[:12]}"):
        repos.problem_of(toml)
    assert held(toml) == []


def committed(folder: Path, entries: bytes) -> str:
    """A commit whose tree has these raw entries, which git itself would not write."""
    words = ["git", "-C", str(folder), "hash-object", "-w", "--literally", "-t", "tree", "--stdin"]
    tree = subprocess.run(words, input=entries, capture_output=True, check=True).stdout.decode().strip()
    return repos.git(folder, "commit-tree", tree, "-m", "odd").strip()


def test_no_file_of_a_revision_leaves_its_folder(tmp_path: Path) -> None:
    folder = repos.made(tmp_path / "evil", repos.PYTHON_FILES, repos.PYTHON_TOML).parent
    text = bytes.fromhex(repos.git(folder, "rev-parse", f"HEAD:{LIBRARY}").strip())
    (folder / "away").symlink_to("..")
    repos.git(folder, "add", "away")
    link = bytes.fromhex(repos.git(folder, "rev-parse", ":away").strip())
    below = bytes.fromhex(repos.git(folder, "rev-parse", "HEAD:src/words").strip())
    odd = {
        "has the path '../out.py'": b"100644 ../out.py\0" + text,
        "has the path '.GIT'": b"100644 .GIT\0" + text,
        "below the link 'away'": b"120000 away\0" + link + b"40000 away\0" + below,
        "cannot be written": b"100644 " + 300 * b"n" + b"\0" + text,
    }
    for number, (why, entries) in enumerate(odd.items()):
        place = tmp_path / "out" / str(number)
        place.mkdir(parents=True)
        with pytest.raises(InputError, match=why):
            export(folder, committed(folder, entries), place)
    assert sorted(os.listdir(tmp_path / "out")) == ["0", "1", "2", "3"]


def test_a_revision_is_exported_with_its_links_modes_and_files_of_lfs(tmp_path: Path) -> None:
    folder = repos.made(tmp_path / "one", repos.PYTHON_FILES, repos.PYTHON_TOML).parent
    content = b"\x00large"
    oid = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
    repos.write(folder, {"kept.bin": pointer, "gone.bin": pointer.replace(oid, "0" * 64), "run.sh": "#!/bin/sh\n"})
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    (folder / os.fsdecode(b"n\xff")).write_text("a name that is no UTF-8")
    repos.git(folder, "add", "-A")
    repos.git(folder, "commit", "-q", "-m", "more")
    kept = folder / ".git/lfs/objects" / oid[:2] / oid[2:4]
    kept.mkdir(parents=True)
    (kept / oid).write_bytes(content)
    place = tmp_path / "out"
    place.mkdir()
    export(folder, repos.git(folder, "rev-parse", "HEAD").strip(), place)
    assert (place / "kept.bin").read_bytes() == content
    assert (place / "gone.bin").read_text() == pointer.replace(oid, "0" * 64)
    assert os.readlink(place / "link") == "run.sh" and (place / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (place / os.fsdecode(b"n\xff")).read_text() == "a name that is no UTF-8"
    assert (place / LIBRARY).read_text() == repos.WORDS and (place / LIBRARY).stat().st_mode & 0o777 == 0o644


@pytest.fixture
def with_setup(tmp_path: Path) -> tuple[Path, Path]:
    """A problem.toml with a set-up, and what that leaves."""
    setup = f'setup = "echo x >> {tmp_path}/ran"\n'
    return repos.made(tmp_path / "one", repos.PYTHON_FILES, repos.PYTHON_TOML + setup), tmp_path / "ran"


def test_a_set_up_that_nobody_allowed_runs_only_if_this_user_has_run_it_before(with_setup: tuple[Path, Path]) -> None:
    toml, ran = with_setup
    with without_setup(), pytest.raises(InputError, match="was not run: it would run as you"):
        base_tree(repos.problem_of(toml))
    assert not ran.exists()
    base_tree(repos.problem_of(toml))
    with without_setup():
        base_tree(repos.problem_of(toml), keeps=False)
    assert ran.read_text() == "x\nx\n"
    toml.write_text(toml.read_text().replace("env = {", 'env = { HOME = "/elsewhere",'))
    with without_setup(), pytest.raises(InputError, match="was not run"):
        base_tree(repos.problem_of(toml))


@pytest.mark.parametrize("verb", [verify, tell, compare])
def test_verbs_that_go_on_with_a_run_folder_ask_before_they_run_a_set_up(verb: click.Command) -> None:
    for words, allowed in ((["x"], False), (["x", "--run-setup"], True)):
        with verb.make_context("x", [*words, *["y"] * (verb is compare)]):
            assert runs_setup() is allowed
    assert runs_setup()
