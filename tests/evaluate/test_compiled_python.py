"""What Python compiled: no part of a patch, and of a build taken only where its source is the candidate's."""

from __future__ import annotations

import io
import py_compile
import tarfile
from pathlib import Path
from py_compile import PycInvalidationMode as Mode

import pytest

from maxcode.bench.versions.version_side import changed_files, differing_caches
from maxcode.core.types import Program
from maxcode.errors import InputError
from maxcode.evaluate.repo.compiled_python import runs_unchecked, source_of
from maxcode.evaluate.repo.git import changes_of
from maxcode.evaluate.repo.layers import Edited, contents_of, made_by
from maxcode.problems.patches import patched as candidate_of
from tests.support import repositories as repos

FAST = repos.WORDS.replace(repos.SLOW_LINE, repos.FAST_LINE)
NAME, CACHE = "src/words/__init__.py", "src/words/__pycache__/__init__.cpython-311.pyc"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a/__pycache__/b.cpython-311.opt-1.pyc", "a/b.py"), ("__pycache__/b.pyc", "b.py"), ("a/b.pyc", "a/b.py"),
        ("a/b.pyo", "a/b.py"), ("a/b.so", ""), ("a/__pycache__/b.txt", ""),
    ],
)  # fmt: skip
def test_the_source_of_a_compiled_file_is_told_by_its_path(path: str, source: str) -> None:
    assert source_of(path) == source


def archive(**texts: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for path, text in {f"./{name}": text for name, text in texts.items()}.items():
            about = tarfile.TarInfo(path)
            about.type, about.size = tarfile.DIRTYPE if text == "folder" else tarfile.REGTYPE, 0
            if text != "folder":
                about.size = len(text)
            packed.addfile(about, io.BytesIO(text.encode()))
    return out.getvalue()


def test_of_a_build_no_compiled_file_takes_the_place_of_a_source_that_must_stay() -> None:
    given = {"pkg/own.py": "1", "pkg/timer.py": "1", "pkg/test.py": "1"}
    after = {
        **given, "pkg/__pycache__": "folder", "pkg/__pycache__/timer.cpython-311.pyc": "1",
        "pkg/__pycache__/own.cpython-311.pyc": "1", "out": "folder", "out/made.py": "1", "out/made.pyc": "1",
    }  # fmt: skip
    before, base = contents_of(archive(**given)), contents_of(archive(**after))
    hostile = {path: text if path in given or text == "folder" else "2" for path, text in after.items()}
    hostile |= {"pkg/__pycache__/test.cpython-311.pyc": "2", "out/new.py": "2", "out/new.pyc": "2", "out/x.so": "2"}
    edited = Edited({"pkg/own.py": "2"}, {}, 1)
    taken = contents_of(edited.archive(archive(**hostile), base, made_by(before, base)))
    assert taken.keys() == {
        "pkg/own.py", "pkg/__pycache__/own.cpython-311.pyc", "out/made.py", "out/made.pyc", "out/new.py", "out/new.pyc",
        "out/x.so",
    }  # fmt: skip


@pytest.fixture
def tracking(tmp_path: Path) -> Path:
    """A repository that tracks what Python compiled, with a revision ``fast`` in which that differs as well."""
    files = {**repos.PYTHON_FILES, "README": "words\n"}
    toml = repos.made(tmp_path / "tracking", files, repos.PYTHON_TOML)
    folder = toml.parent
    py_compile.compile(str(folder / NAME), str(folder / CACHE))
    repos.git(folder, "add", "-f", CACHE)
    repos.git(folder, "commit", "-q", "-m", "tracks what was compiled")
    (folder / NAME).write_text(FAST)
    py_compile.compile(str(folder / NAME), str(folder / CACHE))
    return toml


def test_a_patch_of_a_repository_that_tracks_compiled_files_is_its_sources_alone(
    tracking: Path, tmp_path: Path
) -> None:
    folder, problem = tracking.parent, repos.problem_of(tracking)
    for name, words in (("plain.diff", ()), ("binary.diff", ("--binary",))):
        (tmp_path / name).write_text(repos.git(folder, "diff", *words))
    repos.git(folder, "commit", "-q", "-a", "-m", "fast")
    repos.git(folder, "tag", "fast")
    repos.git(folder, "worktree", "add", "-q", str(tmp_path / "copy"), "fast")
    (tmp_path / "copy/.git").unlink()
    py_compile.compile(str(tmp_path / "copy" / NAME), str(tmp_path / "copy/src/words/__pycache__/x.cpython-312.pyc"))
    repos.git(folder, "reset", "-q", "--hard", "HEAD~1")
    for given in (tmp_path / "plain.diff", tmp_path / "binary.diff", tmp_path / "copy", Path("fast")):
        assert candidate_of(given, problem) == Program({NAME: FAST}), given
    (tmp_path / "copy/README").write_text("other\n")
    with pytest.raises(InputError, match="README"):
        candidate_of(tmp_path / "copy", problem)


def test_a_run_of_python_makes_no_change_of_a_work_tree_that_tracks_what_it_compiles(tracking: Path) -> None:
    folder = tracking.parent
    assert [line[3:] for line in changes_of(folder)] == [NAME]
    (folder / NAME).write_text(repos.WORDS)
    assert changes_of(folder) == []


def test_two_versions_differ_in_a_compiled_file_only_where_python_runs_it_whatever_its_source_says(
    tmp_path: Path,
) -> None:
    for side, text in (("one", "x = 1\n"), ("two", "x = 2\n")):
        (tmp_path / side).mkdir()
        for name, mode in (("timed", Mode.TIMESTAMP), ("hashed", Mode.CHECKED_HASH), ("free", Mode.UNCHECKED_HASH)):
            source = tmp_path / side / f"{name}.py"
            source.write_text(text)
            py_compile.compile(str(source), str(tmp_path / side / f"__pycache__/{name}.cpython-311.pyc"),
                               invalidation_mode=mode)  # fmt: skip
            source.write_text("the same\n")
    one, two, found = tmp_path / "one", tmp_path / "two", {"__pycache__/free.cpython-311.pyc"}
    assert runs_unchecked(one / "__pycache__/free.cpython-311.pyc") and not runs_unchecked(one / "timed.py")
    assert changed_files(one, two) == []
    assert differing_caches(one, two) == found
    assert changed_files(one, two, differing_caches(one, two)) == sorted(found)
    (two / "__pycache__/free.cpython-311.pyc").unlink()
    assert differing_caches(one, two) == found
