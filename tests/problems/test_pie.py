"""PIE's rows become problems: both spellings, named by their own ids, with the tests that they name and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maxcode.core.types import Case, Checker
from maxcode.errors import InputError
from maxcode.problems import LeftOut, digest, expanded, load
from maxcode.problems.pie import VARIABLE
from tests.support.pie_help import FAST, SLOW, data, newer, older, write_split, write_tests


@pytest.fixture
def pie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return data(tmp_path)


def names(*sources: str) -> list[str]:
    return [str(one.path) for one in expanded(map(Path, sources)).sources]


def left_out(source: str) -> dict[str, LeftOut]:
    return {one.name: one for one in expanded([Path(source)]).left_out}


def indices(name: str) -> set[str]:
    spec = load(Path(name)).problem.spec
    return {case.name for case in (*spec.seen, *spec.held_out)}


@pytest.mark.usefixtures("pie")
def test_a_split_stands_for_its_rows_in_the_order_of_the_file() -> None:
    assert names("pie:test") == [
        "pie:test/p00001/s1-s1001",
        "pie:test/p00001/s2-s1002",
        "pie:test/p00002/s3-s1003",
        "pie:test/p00002/s4-s1004",
    ]
    assert names("pie:test/p00002") == ["pie:test/p00002/s3-s1003", "pie:test/p00002/s4-s1004"]
    assert names("pie:test/p00002/s4", "pie:test/3", "pie:train") == [
        "pie:test/p00002/s4-s1004",
        "pie:test/p00002/s3-s1003",
        "pie:train/p00002/s5-s1005",
    ]


@pytest.mark.usefixtures("pie")
@pytest.mark.parametrize("name", ["pie:test/p00001/s1-s1001", "pie:test/p00001/s1", "pie:test/1"])
def test_a_row_of_the_older_spelling_is_a_problem_with_all_tests_and_a_reference(name: str) -> None:
    loaded = load(Path(name))
    problem = loaded.problem
    assert problem.program.files == {"slow.cpp": SLOW}
    assert loaded.reference is not None
    assert loaded.reference.files == {"slow.cpp": FAST}
    assert FAST not in str(problem)
    assert (problem.id, problem.kind, problem.language) == ("pie-test-p00001-s1-s1001", "program", "cpp")
    assert problem.spec.flags == ("-O3", "-std=c++17")
    assert indices(name) == {"0", "4", "10"}
    assert loaded.origin is not None
    assert loaded.origin.as_table() | {"sha256": ""} == {
        "suite": "pie",
        "file": "test/p00001/s1-s1001",
        "sha256": "",
        "split": "test",
        "problem": "p00001",
        "slow": "s1",
        "fast": "s1001",
    }


@pytest.mark.usefixtures("pie")
def test_a_row_of_the_iclr_spelling_is_run_on_the_tests_that_it_names() -> None:
    assert indices("pie:test/p00002/s3") == {"0", "7"}
    assert indices("pie:test/p00002/s4") == {"7", "12"}


def test_tests_may_be_written_as_a_text(pie: Path) -> None:
    write_split(pie, "test", [newer(1, tests="[0, '12']"), newer(2, tests=[]), newer(3, tests=None)])
    assert indices("pie:test/p00002/s1") == {"0", "12"}
    assert indices("pie:test/p00002/s3") == {"0", "7", "12", "30"}
    assert "names no tests" in left_out("pie:test")["pie:test/p00002/s2-s1002"].why


@pytest.mark.usefixtures("pie")
def test_inputs_and_outputs_of_a_test_belong_together(pie: Path) -> None:
    spec = load(Path("pie:test/p00002/s3")).problem.spec
    folder = pie / "tests" / "p00002"
    case = Case("7", str(folder / "input.7.txt"), str(folder / "output.7.txt"))
    assert case in (*spec.seen, *spec.held_out)


@pytest.mark.usefixtures("pie")
def test_the_verdict_is_ours_and_what_pie_says_is_asked_beside_whatever_the_user_chooses() -> None:
    name = Path("pie:test/1")
    spec = load(name).problem.spec
    assert (spec.checker, spec.checker_beside) == (Checker("float", 1e-6, 1e-6), "pie")
    chosen = load(name, None, {"checker": {"kind": "pie"}, "flags": ["-O2"]}).problem.spec
    assert (chosen.checker.kind, chosen.checker_beside, chosen.flags) == ("pie", "pie", ("-O2",))


def test_a_row_keeps_its_name_when_the_file_is_filtered_and_sorted(pie: Path) -> None:
    before = digest(load(Path("pie:test/p00002/s4-s1004")).problem)
    write_split(pie, "test", [newer(4, tests=["7", 12]), older(9)])
    assert digest(load(Path("pie:test/p00002/s4-s1004")).problem) == before
    assert names("pie:test") == ["pie:test/p00002/s4-s1004", "pie:test/p00001/s9-s1009"]


def test_rows_without_ids_are_named_by_their_programs(pie: Path) -> None:
    bare = {"problem_id": "p00002", "src_code": SLOW, "tgt_code": FAST}
    write_split(pie, "test", [bare, {**bare, "tgt_code": FAST + "//"}])
    found = names("pie:test")
    assert len(set(found)) == 2
    assert all(len(name.rpartition("/")[2]) == 12 for name in found)
    write_split(pie, "test", [bare])
    assert names("pie:test") == found[:1]
    assert load(Path(found[0])).problem.program.text == SLOW


def test_line_ends_of_windows_are_kept_in_programs_and_tests(pie: Path) -> None:
    crlf = SLOW.replace("\n", "\r\n")
    write_split(pie, "test", [newer(1, src_code=crlf, tests=[99])])
    folder = write_tests(pie / "tests", "p00002", {99: 3})
    (folder / "output.99.txt").write_bytes(b"1\r\n2\r\n3\r\n")
    problem = load(Path("pie:test/p00002/s1")).problem
    assert problem.program.text == crlf
    assert problem.spec.seen[0].expected == str(folder / "output.99.txt")


def test_what_cannot_be_used_is_listed_with_its_line_and_the_reason(pie: Path) -> None:
    (pie / "tests" / "p00002" / "output.12.txt").unlink()
    rows: list[dict[str, Any] | str] = [
        newer(1),
        '{"problem_id": "p00002", "src_code": ',
        '{"problem_id": 5}',
        newer(2, tests=[3, -1, "x"]),
        newer(3, tests=[12]),
        newer(4, problem_id="p77777"),
        newer(5, problem_id="../p00002"),
        newer(6, src_code=" "),
        newer(7, tgt_code=SLOW),
        older(8, language="Java"),
        "",
        newer(1, tests=[7]),
        newer(1, src_code=SLOW + "//"),
    ]
    file = write_split(pie, "test", rows)
    found = expanded([Path("pie:test")])
    assert names("pie:test") == ["pie:test/p00002/s1-s1001"]
    told = {one.where: one.why for one in found.left_out}
    for line, words in (
        (2, "cannot be read"),
        (3, "problem_id"),
        (4, "3 of its 3 tests have no input or no output"),
        (5, "1 of its 1 tests"),
        (6, "p77777"),
        (7, "is not a folder name"),
        (8, "no program"),
        (9, "same text"),
        (10, "Java"),
        (12, "repeats line 1"),
        (13, "the same ids as, but other programs than, line 1"),
    ):
        assert words in told[f"{file}, line {line}"], line
    assert len(told) == len(rows) - 2


def test_tests_that_are_missing_are_named_and_the_others_used(pie: Path) -> None:
    write_split(pie, "test", [newer(1, tests=[0, 7, 3])])
    loaded = load(Path("pie:test/1"))
    assert indices("pie:test/1") == {"0", "7"}
    assert "1 of its 3 tests have no input or no output" in " ".join(loaded.notes)


@pytest.mark.parametrize("folder", ["merged_test_cases", "public_test_cases"])
def test_the_folders_of_pies_archives_are_found_by_their_names(pie: Path, folder: str) -> None:
    (pie / "tests").rename(pie / folder)
    assert indices("pie:test/1") == {"0", "4", "10"}


def unset(_: Path, patched: pytest.MonkeyPatch) -> None:
    patched.delenv(VARIABLE)


def gone(place: Path, patched: pytest.MonkeyPatch) -> None:
    patched.setenv(VARIABLE, str(place / "gone"))


def without_splits(place: Path, _: pytest.MonkeyPatch) -> None:
    for path in place.glob("*.jsonl"):
        path.unlink()


def without_tests(place: Path, _: pytest.MonkeyPatch) -> None:
    (place / "tests").rename(place / "elsewhere")


@pytest.mark.parametrize("damage", [unset, gone, without_splits, without_tests])
@pytest.mark.parametrize("use", [lambda path: load(path), lambda path: expanded([path])], ids=["load", "expanded"])
def test_what_is_missing_of_the_data_is_said_with_where_to_get_it_and_how_to_lay_it_out(
    pie: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[..., None], use: Callable[[Path], object]
) -> None:
    damage(pie, monkeypatch)
    with pytest.raises(InputError, match=r"LearningOpt/pie.*MAXCODE_PIE.*tests/PROBLEM_ID/input\.K\.txt"):
        use(Path("pie:test/p00001/s1-s1001"))


@pytest.mark.usefixtures("pie")
@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("pie:tset", "did you mean 'test'"),
        ("pie:test/p00003", "maxcode problems list pie:test"),
        ("pie:test/p00001/s1-s1002", "did you mean 'p00001/s2-s1002'"),
        ("pie:test/9", "has no row '9'"),
        ("pie:test/p00001", "stands for 2 problems"),
        ("pie:", "Known: test, train"),
    ],
)
def test_a_name_that_is_not_one_row_gets_one_sentence_with_a_cure(name: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure) as caught:
        load(Path(name))
    assert len(str(caught.value)) < 600
