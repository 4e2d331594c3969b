"""``folder:PATH`` is every problem below a folder, each with an id of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.problems import expanded, load
from tests.support.folders import problem
from tests.support.kernelbench_help import HALF


def ids(top: Path) -> dict[str, str]:
    listing = expanded([Path(f"folder:{top}")])
    found = {str(one.path.relative_to(top)): load(one.path, None, one.options).problem.id for one in listing.sources}
    assert len(set(found.values())) == len(found)
    return found


def test_every_problem_below_the_folder_is_found_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("p10", "p9", "deep/er/p1"):
        problem(tmp_path / name)
    problem(tmp_path / "p9" / "below")
    problem(tmp_path / ".hidden" / "p0")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "half.py").write_text(HALF)
    (tmp_path / "kernels" / "helper.py").write_text("def model(): pass\n")
    assert list(ids(tmp_path)) == ["deep/er/p1", "kernels/half.py", "p9", "p10"]


def test_problems_whose_folders_have_one_name_are_called_after_their_paths(tmp_path: Path) -> None:
    problem(tmp_path / "a" / "sum")
    problem(tmp_path / "b" / "sum")
    problem(tmp_path / "c" / "other")
    problem(tmp_path / "d" / "sum", 'id = "mine"')
    assert ids(tmp_path) == {"a/sum": "a-sum", "b/sum": "b-sum", "c/other": "other", "d/sum": "mine"}


def test_two_files_that_claim_one_id_are_named(tmp_path: Path) -> None:
    problem(tmp_path / "a", 'id = "mine"')
    problem(tmp_path / "b", 'id = "mine"')
    with pytest.raises(InputError, match=r"a and .*b have the same id 'mine'"):
        expanded([Path(f"folder:{tmp_path}")])


def test_a_description_that_cannot_be_read_is_left_out_with_the_reason(tmp_path: Path) -> None:
    problem(tmp_path / "good")
    problem(tmp_path / "bad", "id = ")
    listing = expanded([Path(f"folder:{tmp_path}")])
    assert [one.path.name for one in listing.sources] == ["good"]
    assert [(Path(one.name).name, "not valid TOML" in one.why) for one in listing.left_out] == [("bad", True)]


def test_a_folder_that_is_none_or_holds_no_problem_gets_a_sentence_with_a_cure(tmp_path: Path) -> None:
    for name, cure in ((tmp_path / "gone", "write folder:PATH"), (tmp_path, "no problems below"), ("", "folder:PATH")):
        with pytest.raises(InputError, match=cure):
            expanded([Path(f"folder:{name}")])
    with pytest.raises(InputError, match="give one of them, by its path"):
        load(Path(f"folder:{tmp_path}"))
