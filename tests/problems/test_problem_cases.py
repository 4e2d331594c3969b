"""Tests on disk: both schemes of names, what is refused, and who may see which test."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.types import Case
from maxcode.errors import InputError
from maxcode.problems.cases import find_cases, made_outputs, split


def put(folder: Path, **files: str) -> Path:
    """Files by name; ``__`` stands for a slash, ``_`` before the last part for a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def names(cases: tuple[Case, ...] | list[Case]) -> list[str]:
    return [case.name for case in cases]


def test_both_schemes_of_names_are_found_in_nested_folders_and_numbers_are_ordered(tmp_path: Path) -> None:
    files = {"t2_in": "", "t2_out": "", "t10_in": "", "t10_ans": "", "deep__input_3_txt": "", "deep__output_3_txt": ""}
    folder = put(tmp_path, **files, notes_md="", data_yaml="")
    assert names(find_cases(folder)) == ["deep/3", "t2", "t10"]


def test_a_case_names_the_two_files_by_absolute_path_whatever_their_line_endings(tmp_path: Path) -> None:
    (case,) = find_cases(put(tmp_path, a_in="1\r\n2", a_ans="3"))
    assert Path(case.stdin).is_absolute()
    assert Path(case.stdin).read_bytes() == b"1\r\n2"
    assert case.expected == str((tmp_path / "a.ans").resolve())


def test_hidden_files_and_folders_belong_to_no_test(tmp_path: Path) -> None:
    folder = put(tmp_path, a_in="", a_out="")
    (folder / "._a.in").write_text("")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.in").write_text("")
    assert names(find_cases(folder)) == ["a"]


def test_an_input_without_an_output_among_others_is_named_in_a_note(tmp_path: Path) -> None:
    cases = find_cases(put(tmp_path, a_in="", a_out="", b_in=""))
    assert [case.expected is None for case in cases] == [False, True]
    (note,) = made_outputs(cases, tmp_path)
    assert note.startswith(f"1 of 2 tests (b) in {tmp_path} have no expected outputs: those of the original")
    assert made_outputs(cases[:1], tmp_path) == ()


def test_inputs_alone_are_tests_whose_answers_the_original_gives(tmp_path: Path) -> None:
    assert [case.expected for case in find_cases(put(tmp_path, a_in="", b_in=""))] == [None, None]


def test_an_output_without_an_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"without an input: output\.2\.txt; add it"):
        find_cases(put(tmp_path, a_in="", a_out="", output_2_txt=""))


def test_many_lonely_outputs_are_counted_not_listed(tmp_path: Path) -> None:
    lonely = {f"t{n}_out": "" for n in range(8)}
    with pytest.raises(InputError, match=r"t4\.out and 3 more"):
        find_cases(put(tmp_path, a_in="", a_out="", **lonely))


def test_two_outputs_for_one_input_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'a' .* two files of the same kind: a\.ans and a\.out"):
        find_cases(put(tmp_path, a_in="", a_out="", a_ans=""))


@pytest.mark.parametrize(
    ("made", "said"), [("none", "does not exist"), ("file", "is a file"), ("empty", "it is empty")]
)
def test_a_folder_that_holds_no_tests_is_refused(tmp_path: Path, made: str, said: str) -> None:
    folder = tmp_path / "tests"
    if made == "file":
        folder.write_text("")
    if made == "empty":
        folder.mkdir()
    with pytest.raises(InputError, match=said):
        find_cases(folder)


def test_a_folder_of_other_files_is_refused_with_the_names_that_are_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it holds case\.txt\); name them NAME\.in with NAME\.out"):
        find_cases(put(tmp_path, case_txt=""))


def test_the_largest_input_is_held_out_and_the_sides_alternate(tmp_path: Path) -> None:
    sizes = {"a": 1, "b": 40, "c": 30, "d": 20, "e": 20}
    files = {f"{name}_in": "x" * size for name, size in sizes.items()} | {f"{name}_out": "" for name in sizes}
    parts = split(find_cases(put(tmp_path, **files)), (), ())
    assert (names(parts.held_out), names(parts.seen), parts.notes) == (["a", "b", "d"], ["c", "e"], ())


def test_a_single_test_is_seen_and_the_user_is_told(tmp_path: Path) -> None:
    parts = split(find_cases(put(tmp_path, a_in="", a_out="")), (), ())
    assert (names(parts.seen), parts.held_out) == (["a"], ())
    assert "only one test ('a')" in parts.notes[0]


@given(sizes=st.lists(st.integers(0, 3), min_size=2, max_size=9))
def test_every_test_is_on_exactly_one_side_and_neither_side_is_empty(
    sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tests")
    for number, size in enumerate(sizes):
        put(folder, **{f"{number}_in": "x" * size, f"{number}_out": ""})
    cases = find_cases(folder)
    parts = split(cases, (), ())
    assert sorted(names(parts.seen) + names(parts.held_out)) == sorted(names(cases))
    assert 0 <= len(parts.held_out) - len(parts.seen) <= 1
    again = split(list(reversed(cases)), (), ())
    assert set(names(again.held_out)) == set(names(parts.held_out))


def test_patterns_decide_where_given_and_the_rest_goes_to_the_other_side(tmp_path: Path) -> None:
    files = {f"{name}_{side}": "" for name in ("s1", "s2", "t1", "u1") for side in ("in", "out")}
    cases = find_cases(put(tmp_path, **files))
    by_seen, by_held_out = split(cases, ("s*",), ()), split(cases, (), ("t*", "u*"))
    assert by_seen == by_held_out
    assert (names(by_seen.seen), names(by_seen.held_out)) == (["s1", "s2"], ["t1", "u1"])
    both = split(cases, ("s*",), ("t*",))
    assert names(both.held_out) == ["t1"]
    assert "left out: u1" in both.notes[0]


def test_patterns_that_hold_nothing_out_are_allowed_but_noted(tmp_path: Path) -> None:
    parts = split(find_cases(put(tmp_path, a_in="", a_out="", b_in="", b_out="")), ("*",), ())
    assert (names(parts.seen), parts.held_out) == (["a", "b"], ())
    assert "no test is held out" in parts.notes[0]


def test_a_folder_of_pytest_tests_names_capture(tmp_path: Path) -> None:
    (tmp_path / "test_slow.py").write_text("def test_slow(): pass\n")
    with pytest.raises(InputError, match=r"maxcode capture 'pytest DIR' --function MODULE:NAME"):
        find_cases(tmp_path)
