"""What stands in a run folder is about one winner: that of the last command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

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
    remove_best(folder)
    assert files(folder) == {"events.jsonl"}


def test_a_folder_that_no_run_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / "best").mkdir()
    (tmp_path / "best/mine").write_text("")
    remove_best(tmp_path)
    assert files(tmp_path) == {"best/mine"}


@pytest.mark.parametrize("mark", ["\f", "\v", "\x1c", "\x85", "\u2028", "\r", "\r\n"])
def test_git_applies_the_difference_whatever_a_line_holds(mark: str, tmp_path: Path) -> None:
    before = f"int a;\n{mark}\nint b{mark};\nint c = 1;\nint last{mark};"
    after = before.replace("c = 1", "c = 2")
    (tmp_path / "best.diff").write_bytes(diff_of(Program({"a.c": before}), Program({"a.c": after})).encode())
    (tmp_path / "a.c").write_bytes(before.encode())
    subprocess.run(["git", "apply", "best.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.c").read_bytes() == after.encode()
