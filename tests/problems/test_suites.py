"""A name in a suite stands where a path does: found in a checkout or in the data set, and refused with a cure."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.problems import digest, expanded, load
from maxcode.problems.kernelbench import VARIABLE, files
from tests.support.kernelbench_help import HALF, OTHER, checkout, rows


@pytest.fixture(params=["repository", "its folder", "data set", "current folder"])
def suite(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KernelBench, in each of the places where it is looked for."""
    monkeypatch.delenv(VARIABLE, raising=False)
    if request.param == "data set":
        monkeypatch.setenv(VARIABLE, str(rows(tmp_path / "rows.jsonl")))
        return
    folder = checkout(tmp_path / "somewhere")
    match request.param:
        case "repository":
            monkeypatch.setenv(VARIABLE, str(folder))
        case "its folder":
            monkeypatch.setenv(VARIABLE, str(folder / "KernelBench"))
        case _:
            monkeypatch.chdir(folder)


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("name", ["1/12", "level1/12", "level1/12_Other", "1/12_Other.py"])
def test_a_name_is_the_problem_wherever_the_suite_lies(name: str) -> None:
    loaded = load(Path(f"kernelbench:{name}"))
    assert loaded.problem.kind == "module"
    assert loaded.problem.program.files == {"12_Other.py": OTHER}
    assert loaded.problem.id == "kernelbench-1-12_Other"
    assert loaded.origin is not None
    assert loaded.origin.as_table() == {
        "suite": "kernelbench",
        "level": 1,
        "id": 12,
        "file": "12_Other.py",
        "sha256": hashlib.sha256(OTHER.encode()).hexdigest(),
    }
    assert loaded.origin.sha256 in " ".join(loaded.notes)


@pytest.mark.usefixtures("suite")
def test_a_level_stands_for_its_problems_in_the_order_of_their_ids() -> None:
    assert [one.path for one in expanded([Path("kernelbench:1"), Path("slow.cpp")]).sources] == [
        Path("kernelbench:1/1"),
        Path("kernelbench:1/12"),
        Path("slow.cpp"),
    ]
    assert files(1) == {1: "1_Half.py", 12: "12_Other.py"}


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("1/7", "it has 1 to 12"),
        ("1/12_Half", "is 12_Other.py, not 12_Half.py"),
        ("3/1", "git clone"),
        ("relu", "write kernelbench:LEVEL/ID"),
    ],
)
def test_a_name_that_is_none_gets_one_sentence_with_a_cure(name: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        load(Path(f"kernelbench:{name}"))


def test_where_there_is_no_suite_the_error_says_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"git clone https://.*MAXCODE_KERNELBENCH"):
        load(Path("kernelbench:1/1"))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"gone, which does not exist"):
        load(Path("kernelbench:1/1"))


def test_parquet_files_are_refused_with_a_command_that_exports_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "level_1-00000.parquet").write_bytes(b"PAR1")
    for place in (tmp_path, tmp_path / "level_1-00000.parquet"):
        monkeypatch.setenv(VARIABLE, str(place))
        with pytest.raises(InputError, match="lines=True"):
            load(Path("kernelbench:1/1"))


def test_a_damaged_row_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rows(tmp_path / "rows.jsonl")
    path.write_text(path.read_text() + '{"level": 1}\n')
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(InputError, match="line 4"):
        load(Path("kernelbench:1/1"))


def test_text_and_constants_are_part_of_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkout(tmp_path)))
    small = {"module": {"constants": {"dim": 8}}}
    sources = [Path("kernelbench:1/1"), Path("kernelbench:1/12")]
    found = [digest(load(source, None, given).problem) for source in sources for given in ({}, small)]
    assert len(set(found)) == 4
    assert digest(load(Path("kernelbench:1/1")).problem) == found[0]
    assert "dim = 8" in " ".join(load(Path("kernelbench:1/1"), None, small).notes)


def test_a_bare_file_of_the_suite_is_the_same_program(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    loaded = load(folder / "KernelBench" / "level1" / "1_Half.py")
    assert loaded.problem.program.text == HALF
    assert loaded.origin is None
