"""What stands in a run folder is about one winner: that of the last command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from maxcode.code.source import paths_of
from maxcode.core.types import Program
from maxcode.run.run_folder import diff_of, remove_best, write_best

BASE = Program({"a.c": "int a = 1;\n", "b.c": "int b = 1;\n"})
OF_A = Program({**BASE.files, "a.c": "int a = 2;\n", "new/c.c": "int c;\n"})
OF_B = Program({**BASE.files, "b.c": "int b = 2;\n"})


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or not any(path.iterdir())}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder whose winner changed a.c."""
    write_best(tmp_path, BASE, OF_A, is_patch=True)
    for name in ("PR.md", "certificate.json", "events.jsonl"):
        (tmp_path / name).write_text("of a.c")
    return tmp_path


def test_best_holds_nothing_of_an_earlier_winner(folder: Path) -> None:
    write_best(folder, BASE, OF_B, is_patch=True)
    assert files(folder) == {"best/b.c", "best.diff", "events.jsonl"}
    assert "a.c" not in (folder / "best.diff").read_text()


def test_the_same_winner_keeps_its_certificate(folder: Path) -> None:
    before = files(folder)
    write_best(folder, BASE, OF_A, is_patch=True)
    assert files(folder) == before


def test_a_winner_that_was_refuted_leaves_nothing(folder: Path) -> None:
    remove_best(folder, BASE, is_patch=True)
    assert files(folder) == {"events.jsonl"}


def test_a_folder_that_no_run_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / "best").mkdir()
    (tmp_path / "best/mine").write_text("")
    remove_best(tmp_path, BASE)
    assert files(tmp_path) == {"best/mine"}


OTHERS = ("best/__pycache__/a.pyc", "best/new/a.out", "best/b.c.mine")


def put(folder: Path, names: tuple[str, ...] = OTHERS) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\xff of the user")


def test_what_others_left_in_best_is_no_other_winner(folder: Path) -> None:
    put(folder)
    before = files(folder)
    write_best(folder, BASE, OF_A, is_patch=True)
    assert files(folder) == before > set(OTHERS)


def test_only_what_maxcode_wrote_is_removed(folder: Path) -> None:
    put(folder)
    (folder / "best/b.c").symlink_to(folder / "best/b.c.mine")
    remove_best(folder, BASE)
    assert files(folder) == {"events.jsonl", "best/b.c", *OTHERS}


def test_a_whole_program_leaves_nothing_of_its_own(tmp_path: Path) -> None:
    write_best(tmp_path, BASE, OF_A)
    put(tmp_path)
    remove_best(tmp_path, BASE)
    assert files(tmp_path) == set(OTHERS)


def test_a_line_that_looks_like_a_path_removes_nothing(tmp_path: Path) -> None:
    tricky = Program({**BASE.files, "a.c": "++ b/mine.c\n@@ -0,0 +1 @@\n++ b/../mine.c\n"})
    write_best(tmp_path, BASE, tricky, is_patch=True)
    put(tmp_path, ("best/mine.c", "mine.c"))
    remove_best(tmp_path, BASE, is_patch=True)
    assert files(tmp_path) == {"best/mine.c", "mine.c"}


def test_a_difference_has_new_files_without_a_line_too(tmp_path: Path) -> None:
    new = {"__init__.py": "", "d.c": "int d;\n", "p q/e.py": ""}
    diff = diff_of(BASE, Program({**BASE.files, **new}))
    assert set(paths_of(diff)) == set(new)
    (tmp_path / "best.diff").write_text(diff)
    subprocess.run(["git", "apply", "best.diff"], cwd=tmp_path, check=True)
    assert all((tmp_path / name).read_text() == text for name, text in new.items())


@pytest.mark.parametrize("mark", ["\f", "\v", "\x1c", "\x85", "\u2028", "\r", "\r\n"])
def test_git_applies_the_difference_whatever_a_line_holds(mark: str, tmp_path: Path) -> None:
    before = f"int a;\n{mark}\nint b{mark};\nint c = 1;\nint last{mark};"
    after = before.replace("c = 1", "c = 2")
    (tmp_path / "best.diff").write_bytes(diff_of(Program({"a.c": before}), Program({"a.c": after})).encode())
    (tmp_path / "a.c").write_bytes(before.encode())
    subprocess.run(["git", "apply", "best.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.c").read_bytes() == after.encode()
