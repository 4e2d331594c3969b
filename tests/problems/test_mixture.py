"""A suite.toml mixes suites: chosen by patterns, drawn by a seed, with options of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.problems import expanded, load
from maxcode.problems.kernelbench import VARIABLE as KERNELBENCH
from maxcode.problems.pie import VARIABLE as PIE
from maxcode.run.request import Request, of_source
from tests.support.folders import problem
from tests.support.kernelbench_help import checkout
from tests.support.pie_help import data, newer, write_split


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PIE, KernelBench and a folder of problems; the current folder is another one."""
    monkeypatch.setenv(PIE, str(data(tmp_path / "pie")))
    monkeypatch.setenv(KERNELBENCH, str(checkout(tmp_path / "kernels")))
    for name in ("own/a", "own/b", "alone"):
        problem(tmp_path / name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def suite(place: Path, text: str) -> Path:
    path = place / "suite.toml"
    path.write_text(text)
    return path


def names(place: Path, text: str) -> list[str]:
    found = [str(one.path) for one in expanded([suite(place, text)]).sources]
    return [name.replace(f"{place}/", "") for name in found]


def test_it_mixes_suites_folders_and_paths_in_the_order_of_its_entries(place: Path) -> None:
    text = """
[[problems]]
source = "kernelbench:2"
[[problems]]
source = "folder:own"
[[problems]]
source = "pie:test/p00001"
[[problems]]
source = "alone"
"""
    assert names(place, text) == [
        "kernelbench:2/3",
        "own/a",
        "own/b",
        "pie:test/p00001/s1-s1001",
        "pie:test/p00001/s2-s1002",
        "alone",
    ]


def test_problems_are_chosen_by_patterns_and_a_limit(place: Path) -> None:
    assert names(place, '[[problems]]\nsource = "pie:test"\nonly = ["*/p00002/*"]\nlimit = 1') == [
        "pie:test/p00002/s3-s1003"
    ]
    assert names(place, '[[problems]]\nsource = "pie:test"\nskip = ["*/s1-*", "*/s4-*"]') == [
        "pie:test/p00001/s2-s1002",
        "pie:test/p00002/s3-s1003",
    ]


def test_a_sample_is_drawn_by_its_seed_and_stays_when_rows_are_added(place: Path) -> None:
    write_split(place / "pie", "many", [newer(number) for number in range(200)])
    draw = '[[problems]]\nsource = "pie:many"\nsample = 20\nseed = {}'
    first = names(place, draw.format(0))
    assert len(first) == 20
    assert names(place, draw.format(0)) == first
    assert names(place, draw.format(1)) != first
    numbers = [int(name.split("/s")[1].split("-")[0]) for name in first]
    assert numbers == sorted(numbers)
    write_split(place / "pie", "many", [newer(number) for number in (*range(200), 777)])
    assert len(set(names(place, draw.format(0))) - set(first)) <= 1


def test_options_reach_the_problem_and_what_the_user_says_of_all_wins(place: Path) -> None:
    text = """
[[problems]]
source = "pie:test/p00001/s1"
flags = ["-O2"]
checker = { kind = "pie" }
limits = { run_s = 3.0 }
tags = ["paper", "small"]
[[problems]]
source = "kernelbench:1/1"
shapes = "tables/small.toml"
[[problems]]
source = "kernelbench:1/12"
shapes = "small"
"""
    row, table, small = expanded([suite(place, text)]).sources
    assert row.tags == ("paper", "small")
    assert (table.shapes, small.shapes) == (str(place / "tables" / "small.toml"), "small")
    request = of_source(Request(Path("suite.toml"), overrides={"flags": ["-O1"], "limits": {"memory_mb": 99}}), row)
    spec = load(request.source, None, request.overrides).problem.spec
    assert (spec.flags, spec.checker.kind) == (("-O1",), "pie")
    assert (spec.limits.run_s, spec.limits.memory_mb) == (3.0, 99)
    assert of_source(Request(Path("suite.toml"), shapes="other.toml"), small).shapes == "other.toml"


def test_what_cannot_be_used_is_left_out_unless_it_was_not_asked_for(place: Path) -> None:
    write_split(place / "pie", "test", [newer(1), newer(2, tests=[99]), newer(3, tests=[98])])
    listing = expanded([suite(place, '[[problems]]\nsource = "pie:test"\nskip = ["*/s3-*"]')])
    assert [one.name for one in listing.left_out] == ["pie:test/p00002/s2-s1002"]


def test_a_problem_is_taken_once_and_two_ways_of_one_are_refused(place: Path) -> None:
    twice = '[[problems]]\nsource = "alone"\n[[problems]]\nsource = "alone"\n'
    assert names(place, twice) == ["alone"]
    with pytest.raises(InputError, match="twice, with different options"):
        names(place, twice + 'flags = ["-O1"]')


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ('[[problems]]\nsuorce = "alone"', "did you mean 'source'"),
        ('[[problems]]\nsource = "alone"\nchecker = { kind = "flaot" }', "did you mean 'float'"),
        ('[[problems]]\nsource = "alone"\nflag = ["-O2"]', "did you mean 'flags'"),
        ('[[problems]]\nsource = "alone"\n[[problem]]\nsource = "alone"', "did you mean 'problems'"),
        ('[[problems]]\nonly = ["a"]', "entry 1 of .* has no source"),
        ('[[problems]]\nsource = "pie:test"\nonly = ["*/p9/*"]', r"no problem of pie:test matches '\*/p9/\*'"),
        ('[[problems]]\nsource = "pie:test"\nsample = 9', "sample is 9, and there are 4"),
        ('[[problems]]\nsource = "pie:test"\nlimit = 0', "limit is 0"),
        ('[[problems]]\nsource = "pie:test"\nlimit = "two"', "`limit`: expected a whole number"),
        ('[[problems]]\nsource = "suite.toml"', "cannot be part of another"),
        ("problems = []", "names no problems"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named_with_the_cure(place: Path, text: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        names(place, text)


def test_one_problem_is_wanted_where_one_is_worked_on(place: Path) -> None:
    with pytest.raises(InputError, match="maxcode bench"):
        load(suite(place, '[[problems]]\nsource = "alone"'))
