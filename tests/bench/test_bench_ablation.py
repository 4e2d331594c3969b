"""What a method shows, switched off part by part: columns with names that a resume knows again."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.bench import BenchRun, TableRequest, ablated, finished, pairs_of, parted, table
from maxcode.errors import RecordError
from maxcode.observe import PARTS
from maxcode.search import methods
from tests.support.bench_help import row, runner


def shown(column: str) -> set[str]:
    name, off = parted(column)
    return set(methods.recipe(name, frozenset(off)).parts)


def test_the_paper_s_grid_is_every_subset_of_best_trajectory_and_critiques() -> None:
    full, *grid = ablated("cuda-llm+maxcode", "observe")
    assert full == "cuda-llm+maxcode"
    assert shown(full) == shown("cuda-llm+maxcode")
    base = shown(full) - {"best", "run_best", "trajectory", "critiques", "failures", "branches"}
    seen = [frozenset(shown(column) - base) for column in grid]
    best, path, critic = {"best", "run_best"}, {"trajectory"}, {"critiques"}
    expected = [best | path | critic, path | critic, best | critic, best | path, critic, path, best, set()]
    assert seen == list(map(frozenset, expected))


def test_a_method_that_shows_one_of_them_has_two_columns_and_one_that_shows_none_has_one() -> None:
    assert ablated("cuda-llm", "observe") == ["cuda-llm", "cuda-llm-trajectory"]
    assert ablated("best-of-n", "observe") == ["best-of-n"]


def test_each_part_is_switched_off_alone_but_for_the_question_itself() -> None:
    full, *grid = ablated("cuda-llm+maxcode", "each")
    off = [shown(full) - shown(column) for column in grid]
    assert all(len(one) == 1 for one in off)
    assert set().union(*off) == shown(full) - {"statement", "program", "task"}


def test_names_are_taken_apart_as_they_were_put_together() -> None:
    for name in methods.names():
        assert parted(name) == (name, ())
        for part in PARTS:
            assert parted(f"{name}-{part}-task") == (name, (part, "task"))
    assert parted("beam+maxcode+value-best") == ("beam+maxcode+value", ("best",))
    assert parted("nonsense-best") == ("nonsense", ("best",))


def test_a_column_has_a_folder_of_its_own_that_a_resume_finds_and_no_other_may_use(tmp_path: Path) -> None:
    plain, bare = BenchRun("one", "cuda-llm", 0), BenchRun("one", "cuda-llm-trajectory", 0)
    rows = [runner(tmp_path)(cell) for cell in (plain, bare)]
    assert len({cell.name for cell in (plain, bare)}) == 2
    assert [finished(cell, tmp_path / cell.name, 6) for cell in (plain, bare)] == rows
    with pytest.raises(RecordError, match="it shows trajectory"):
        finished(bare, tmp_path / plain.name, 6)


def test_what_is_left_of_a_method_is_held_against_the_whole_of_it_and_methods_against_one_another() -> None:
    grid = ablated("cuda-llm+maxcode", "observe")
    assert pairs_of(grid) == tuple((grid[0], column) for column in grid[1:])
    assert pairs_of(["beam", "beam-feedback", "tree", "tree-feedback"]) == (
        ("beam", "beam-feedback"),
        ("beam", "tree"),
        ("tree", "tree-feedback"),
    )
    assert pairs_of(["beam-feedback", "tree"]) == (("beam-feedback", "tree"),)


def test_only_the_pairs_that_were_asked_for_are_compared() -> None:
    columns = ["m", "m-best", "m-critiques"]
    rows = [row(p, m, 0, 1.0 + n) for n, m in enumerate(columns) for p in "pqrstu"]
    found = table(rows, TableRequest(pairs=(("m", "m-best"), ("m", "m-critiques"), ("m", "m-not-run-yet"))))
    assert [(pair.first, pair.second) for pair in found.contrasts] == [("m", "m-best"), ("m", "m-critiques")]
    assert len(table(rows).contrasts) == 3
