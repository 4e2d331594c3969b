"""Cheats and look-alikes that ``benchmarks/trust/made.py`` makes mechanically get the verdict that they must get."""

from __future__ import annotations

from pathlib import Path

import pytest

from attacks import EXAMPLES, all_made, is_wrapped, rows_of
from maxcode.problems import load
from tests.support.selection import some
from trust.made import NotMade, of_program

WRAPPED = [path for path in sorted(EXAMPLES.iterdir()) if is_wrapped(path)]
QUICK = {
    "readings": {"guess_for_a_class", "memory_never_written"},
    "gemm": {"drawn_range_only", "rounded_to_single"},
}


@pytest.mark.parametrize("folder", WRAPPED, ids=lambda path: path.name)
def test_every_example_can_be_wrapped(folder: Path) -> None:
    problem = load(folder).problem
    made = all_made(problem, problem.program.text, folder)
    assert {one.wanted for one in made} - {"no use"} == {"refused", "no gain", "accepted"}
    assert len({one.text for one in made}) == len(made) >= 14
    assert all(f"honest_{problem.entry or 'main'}" in one.text for one in made)


def test_what_has_no_main_is_not_made() -> None:
    with pytest.raises(NotMade, match="0 functions are called main"):
        of_program("c", "int f(void) { return 1; }", {b"1": b"2"})


@pytest.mark.sandbox
@pytest.mark.parametrize("name", some(QUICK, 1))
def test_none_passes(name: str) -> None:
    rows = list(rows_of(EXAMPLES / name, 0, QUICK[name]))
    assert len(rows) == len(QUICK[name])
    assert [row for row in rows if row.surprise] == []


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("name", some(QUICK, 1))
def test_so_does_every_other_one(name: str) -> None:
    assert [row for row in rows_of(EXAMPLES / name, 0, set()) if row.surprise] == []
