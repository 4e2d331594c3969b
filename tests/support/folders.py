"""Problem folders made for a test."""

from __future__ import annotations

from pathlib import Path


def problem(folder: Path, more: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "slow.c").write_text("int main(void) { return 0; }\n")
    (folder / "problem.toml").write_text(f'source = "slow.c"\n{more}\n')
    (folder / "tests").mkdir()
    (folder / "tests" / "1.in").write_text("1\n")
    (folder / "tests" / "1.out").write_text("1\n")
    return folder
