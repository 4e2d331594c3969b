"""One row of PIE, for real: built, checked and timed in the sandbox, and what PIE's own checker says beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import ROOT, Done, maxcode_here
from tests.support.pie_help import FAST, newer, older, write_split, write_tests

pytestmark = pytest.mark.sandbox

NAME = "pie:test/p00002/s1-s1001"
MORE = FAST.rstrip("}\n") + '    printf("1\\n");\n}\n'  # extra output, which PIE's checker does not see
LAID_OUT = FAST.replace('"%ld\\n"', '"%ld "')  # the same numbers on one line, which it does not accept


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pie")
    write_split(folder, "test", [newer(1, tests=[2, 5, 9, 11]), older(2)])
    write_tests(folder / "tests", "p00002", {2: 10, 5: 40_000, 9: 45_000, 11: 20, 12: 3})
    (folder / "more.cpp").write_text(MORE)
    (folder / "laid_out.cpp").write_text(LAID_OUT)
    return folder


def maxcode(place: Path, *arguments: str) -> Done:
    return maxcode_here(*arguments, cwd=ROOT, MAXCODE_PIE=str(place))


def evaluated(place: Path, *arguments: str) -> dict[str, Any]:
    done = maxcode(place, "evaluate", "--against", NAME, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_the_human_reference_of_a_row_is_measured_like_any_candidate(place: Path) -> None:
    found = evaluated(place, "--reference")
    assert (found["outcome"], found["pie_correct"]) == ("correct", True)
    assert found["speedup"]["value"] > 1
    assert found["speedup"]["significant"]
    assert found["tests"]["seen"] + found["tests"]["held_out"] == 4
    assert any("SHA-256" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("file", "by_pie"), [("more.cpp", True), pytest.param("laid_out.cpp", False, marks=pytest.mark.slow)]
)
def test_the_verdict_is_ours_and_where_pie_differs_it_is_recorded(place: Path, file: str, by_pie: bool) -> None:
    found = evaluated(place, str(place / file))
    assert found["outcome"] == ("wrong" if by_pie else "correct")
    assert found["pie_correct"] is by_pie


@pytest.mark.slow
def test_instructions_are_counted_on_the_row_s_own_tests_however_short(place: Path) -> None:
    write_split(place, "short", [newer(3, problem_id="p00003", tests=[1, 2, 3, 4])])
    write_tests(place / "tests", "p00003", {1: 300, 2: 310, 3: 320, 4: 330})
    done = maxcode(place, "evaluate", "--against", "pie:short/p00003/s3-s1003", "--reference", "--goal",
                   "instructions", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["speedup"]["clock"] == "instructions" and found["speedup"]["value"] > 1.02
    assert not any("made larger" in note or "not measurable" in note for note in found["notes"])
    assert found["inputs_timed"] == found["tests"]["held_out"] == 2


@pytest.mark.slow
def test_the_checker_of_pie_decides_where_the_user_says_so(place: Path) -> None:
    assert evaluated(place, str(place / "more.cpp"), "--checker", "pie")["outcome"] == "correct"


def test_a_row_without_tests_and_a_suite_without_a_reference_are_refused_with_a_cure(place: Path) -> None:
    done = maxcode(place, "evaluate", "--against", "pie:test/p00001/s2-s1002", "--reference")
    assert done.returncode == 2
    assert "there are no tests" in done.stderr
    done = maxcode(place, "evaluate", "--against", "examples/caesar", "--reference")
    assert done.returncode == 2
    assert "give a file as CANDIDATE" in done.stderr


def test_the_problems_of_a_suite_are_listed_with_those_that_cannot_be_used(place: Path) -> None:
    done = maxcode(place, "problems", "list", "pie:test", "--json")
    assert done.returncode == 1
    good, bad = json.loads(done.stdout)
    assert (good["name"], good["loads"], good["flags"], good["reference"]) == (NAME, True, ["-O3", "-std=c++17"], True)
    assert (good["seen"], good["held_out"]) == (2, 2)
    assert (bad["name"], bad["loads"]) == ("pie:test/p00001/s2-s1002", False)
    assert "line 2" in bad["where"]
    told = maxcode(place, "problems", "list", "pie:test").stdout
    assert "CANNOT BE USED" in told
    assert told.endswith("1 of 2 load\n")
