"""The sides of ``maxcode race``: what of a folder is raced, three sides of one kind, builds, and equal sides."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest

from maxcode.bench.versions import RaceAsked, worktrees
from maxcode.bench.versions.side_copy import copy_side
from maxcode.bench.versions.version_side import changed_files, sides_of, with_caches
from maxcode.bench.versions.worktrees import scratch
from tests.support.cli import maxcode, maxcode_here
from tests.support.races import TRUST, commit, git, raced

READS = ("--", "sh", "-c", 'echo METRIC row="$(cat value)"')


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit with ``value``; git ignores ``*.o``."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("*.o\n")
    commit(folder, "value", "5\n", "first")
    return folder


def kept_by(folder: Path, to: Path) -> set[str]:
    return {os.path.relpath(path, to) for path in to.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_of_a_work_tree_is_raced_what_a_commit_could_hold(repository: Path, tmp_path: Path) -> None:
    for name in ("gone", "below/kept", "below/changed"):
        (repository / name).parent.mkdir(exist_ok=True)
        commit(repository, name, "committed", name.replace("/", "-"))
    (repository / "gone").unlink()
    (repository / "below/changed").write_text("edited")
    (repository / "below/kept").chmod(0o700)
    os.utime(repository / "below/kept", (1000, 2000))
    for name in ("new", "made.o", "below/made.o", "__pycache__/a.pyc"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(name)
    (repository / "link").symlink_to("/nosuch")
    to = tmp_path / "copy"
    to.mkdir()
    assert sorted(copy_side(repository, to)) == ["below/made.o", "made.o"]
    assert kept_by(repository, to) == {".gitignore", "value", "below/kept", "below/changed", "new", "link"}
    assert (to / "below/changed").read_text() == "edited" and (to / "link").is_symlink()
    about = (to / "below/kept").stat()
    assert (about.st_mode & 0o777, about.st_mtime) == (0o755, 2000)


def test_a_file_behind_a_link_is_taken_for_a_deleted_one(repository: Path, tmp_path: Path) -> None:
    (repository / "below").mkdir()
    commit(repository, "below/file", "committed", "below")
    (repository / "below/file").unlink()
    (repository / "below").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("another")
    (repository / "below").symlink_to(tmp_path / "elsewhere")
    to = tmp_path / "copy"
    to.mkdir()
    copy_side(repository, to)
    assert kept_by(repository, to) == {".gitignore", "value", "below"}
    assert (tmp_path / "elsewhere/file").read_text() == "another"


def test_a_folder_that_is_in_no_repository_or_that_git_ignores_is_raced_as_it_is(repository: Path) -> None:
    (repository / "all.o/below").mkdir(parents=True)
    (repository / "all.o/below/made.o").write_text("made")
    (repository / "all.o/__pycache__").mkdir()
    (repository / "all.o/__pycache__/a.pyc").write_text("old")
    for folder in (repository / "all.o", repository.parent / "plain"):
        if not folder.exists():
            (repository / "all.o").rename(folder)
        to = repository.parent / f"copy-of-{folder.name}"
        to.mkdir()
        assert copy_side(folder, to) == ()
        assert kept_by(folder, to) == {"below/made.o"}


@pytest.mark.heavy
def test_what_git_ignores_is_no_change_and_neither_side_has_it(repository: Path) -> None:
    """Head would read the caches that the user's last run left, and base would not."""
    for name in ("made.o", "__pycache__/work.cpython-311.pyc"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text("old")
    refused = maxcode_here("race", TRUST, "HEAD", ".", *READS, cwd=repository)
    assert refused.returncode == 2 and "have the same files" in refused.stderr
    (repository / "value").write_text("4\n")
    command = ("--", "sh", "-c", "echo METRIC row=$(($(cat value) + $(ls | wc -l)))")
    found = raced(repository, "--read", "metric", "--pairs", "9", "HEAD", ".", *command)
    assert (found["rows"][0]["base"], found["rows"][0]["head"]) == (6, 5)
    assert found["exercise"] == {"changed": 1, "base": ["value"], "head": ["value"], "why_not": ""}


def test_a_benchmark_that_needs_an_ignored_file_is_told_the_cure(repository: Path) -> None:
    (repository / "bench.o").write_text("#!/bin/sh\n")
    (repository / "value").write_text("4\n")
    done = maxcode_here("race", TRUST, "HEAD", ".", "--", "sh", "bench.o", cwd=repository)
    assert done.returncode == 2
    assert ". is raced without what git ignores (bench.o): let --build or --setup make" in done.stderr


@pytest.mark.parametrize("kind", ["revisions", "folders", "files"])
def test_the_three_sides_are_of_one_kind_with_a_folder_each_whose_path_is_equally_long(
    repository: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "value", "6\n", "second")
    for name in ("one", "two"):
        (repository.parent / name).mkdir()
        (repository.parent / name / "value").write_text(name)
    base, head = {
        "revisions": ("first", "second"), "folders": ("../one", "../two"), "files": ("../one/value", "../two/value"),
    }[kind]  # fmt: skip
    monkeypatch.chdir(repository)
    with scratch() as place:
        sides = sides_of(RaceAsked(base, head, ("cat", "{}")), place)
        folders = [side.folder for side in sides.values()]
        assert list(sides) == ["base", "head", "control"] and len(set(folders)) == 3
        assert len({len(str(folder)) for folder in folders}) == 1
        assert changed_files(sides["base"].folder, sides["head"].folder) == ["value"]
        assert changed_files(sides["base"].folder, sides["control"].folder) == []
        assert sides["control"].words == sides["base"].words
        assert place.folder.parent.stat().st_mode & 0o777 == 0o711
        (sides["head"].folder / "value").write_text("changed")
    assert (repository.parent / "two/value").read_text() == "two"
    assert git(repository, "worktree", "list").count("\n") == 1


@pytest.mark.heavy
def test_the_control_finds_that_a_build_alone_makes_a_difference(repository: Path) -> None:
    """Every build is slower than the one before, whatever it builds."""
    commit(repository, "value", "6\n", "second")
    count = repository.parent / "builds"
    build = f"echo >>{count}; wc -l <{count} >value"
    found = raced(repository, "--read", "metric", "--pairs", "12", "--build", build, "first", "second", *READS)
    assert count.read_text() == "\n\n\n"
    assert (found["verdict"], found["doubt"]) == ("undecided", True)
    assert any("base against itself differs in row" in note for note in found["notes"])


MAKEFILE = "all: {names}\n%.out: %.in\n\tcp $< $@\n"


@pytest.mark.sandbox
@pytest.mark.parametrize("tier", ["1", "2"])
def test_a_build_in_the_sandbox_keeps_times_so_that_make_makes_what_is_out_of_date(tmp_path: Path, tier: str) -> None:
    names = [f"part{number}" for number in range(40)]
    for side in ("base", "head"):
        (tmp_path / side / "below").mkdir(parents=True)
        (tmp_path / side / "below/link").symlink_to("../Makefile")
        (tmp_path / side / "Makefile").write_text(MAKEFILE.format(names=" ".join(f"{name}.out" for name in names)))
        for name in names:
            (tmp_path / side / f"{name}.out").write_text("stale\n")
            (tmp_path / side / f"{name}.in").write_text(f"{side}\n")
            os.utime(tmp_path / side / f"{name}.out", (1000, 1000))
    counts = "echo METRIC stale=$((1 + $(cat *.out | grep -c stale)))"
    done = maxcode(
        *("race", "--sandbox", tier, "--build", "make", "--read", "metric", "--pairs", "9", "--json"),
        *("base", "head", "--", "sh", "-c", counts), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["base"], row["head"]) == (1, 1)


def test_a_source_counts_as_used_where_python_reads_what_it_compiled_of_it(tmp_path: Path) -> None:
    for side, text in (("one", "A = 1\n"), ("two", "A = 2\n")):
        (tmp_path / side / "pkg").mkdir(parents=True)
        (tmp_path / side / "pkg/mod.py").write_text(text)
        subprocess.run(["python3", "-m", "compileall", "-q", tmp_path / side], check=True)
    changed = changed_files(tmp_path / "one", tmp_path / "two")
    assert changed == ["pkg/mod.py"]
    watched = with_caches(tmp_path / "one", changed)
    assert set(watched.values()) == {"pkg/mod.py"}
    assert len(watched) == 2 and any("__pycache__" in path for path in watched)


def test_equal_sides_are_refused_with_the_reason(repository: Path) -> None:
    (repository / "value").write_text("4\n")
    done = maxcode_here("race", TRUST, "first", "HEAD", *READS, cwd=repository)
    assert done.returncode == 2
    assert "have the same files" in done.stderr and "give `.` as HEAD" in done.stderr


def test_a_commit_that_moves_a_submodule_alone_is_told(repository: Path) -> None:
    for number, tag in ((1, "one"), (2, "two")):
        git(repository, "update-index", "--add", "--cacheinfo", f"160000,{number:040x},lib")
        git(repository, "commit", "-q", "-m", tag)
        git(repository, "tag", tag)
    done = maxcode_here("race", TRUST, "one", "two", *READS, cwd=repository)
    assert done.returncode == 2
    assert "differ in the submodule lib, which is not checked out" in done.stderr


def test_equal_sides_are_a_result_if_the_user_says_so(repository: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    words = ("race", TRUST, "--allow-equal", "--markdown", page, "--fail-on", "slower,undecided,not-exercised")
    done = maxcode_here(*words, "first", "HEAD", *READS, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "verdict    nothing differs" in done.stdout and "nothing differs" in page.read_text()
    assert maxcode_here("race", TRUST, "--allow-equal", "--fail-on", "not-faster", "first", "HEAD", *READS,
                        cwd=repository).returncode == 1  # fmt: skip


@pytest.mark.parametrize("side", ["first", "."])
def test_a_repository_that_git_refuses_is_told_in_its_words(repository: Path, side: str) -> None:
    others = {
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    done = maxcode_here("race", TRUST, side, "../repository", *READS, cwd=repository, **others)
    assert done.returncode == 2
    assert "detected dubious ownership" in done.stderr and "safe.directory" in done.stderr


def test_a_race_that_removes_its_own_folder_is_not_disturbed_by_another_that_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("left", "unlocked", "held"):
        (tmp_path / name / "base").mkdir(parents=True)
    for name in ("", "left", "held"):
        (tmp_path / name / "lock").touch()
    found = {}
    monkeypatch.setattr(worktrees, "_remove", lambda folder: found.update({folder.name: sorted(os.listdir(folder))}))
    with (tmp_path / "held/lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        worktrees.sweep(tmp_path)
    assert found == {"left": ["base", "lock"], "unlocked": ["base"]}  # no lock is made in a folder that is going
