"""A repeated command whose problem has changed is told what has changed, in words, and where a new run may go."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maxcode.core.types import Problem
from maxcode.errors import RecordError
from maxcode.problems import digest, load
from maxcode.run.changes import parts_of
from maxcode.run.record import check_header, read_header
from maxcode.run.run_folder import unused_compilers
from tests.support import repositories as repos
from tests.support.counting import SLOW

MAY_CHANGE = frozenset({"parts"})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    add(tmp_path, 1, 2)
    return tmp_path


def add(place: Path, *numbers: int) -> None:
    for number in numbers:
        (place / "tests" / f"{number:02}.in").write_text(f"{number}\n")
        (place / "tests" / f"{number:02}.out").write_text(f"{number * (number - 1) // 2}\n")


def header(place: Path, **overrides: Any) -> dict[str, Any]:
    """The part of run.toml that a problem decides."""
    problem = load(place / "slow.c", place / "tests", overrides).problem
    return {
        "digest": digest(problem),
        "flags": list(problem.spec.flags),
        "goal": problem.goal,
        "parts": parts_of(problem),
    }


def refusal(place: Path, **overrides: Any) -> str:
    with pytest.raises(RecordError) as refused:
        check_header(place / "run", header(place, **overrides), MAY_CHANGE)
    assert not re.search(r"[0-9a-f]{12}", str(refused.value).replace(str(place), "")), "a hash tells nobody anything"
    return str(refused.value)


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "added": (lambda place: add(place, 3, 4), "tests changed since that run: added 03, 04"),
    "removed": (
        lambda place: list(map(os.unlink, (place / "tests").glob("01.*"))),
        "tests changed since that run: removed 01",
    ),
    "changed": (
        lambda place: (place / "tests" / "02.in").write_text("2 \n"),
        "tests changed since that run: changed 02",
    ),
    "source": (
        lambda place: (place / "slow.c").write_text(SLOW + "// more\n"),
        "sources changed since that run: changed slow.c",
    ),
}


@pytest.mark.parametrize("which", CHANGES)
def test_changed_tests_and_sources_are_named(place: Path, which: str) -> None:
    check_header(place / "run", header(place), MAY_CHANGE)
    check_header(place / "run", header(place), MAY_CHANGE)
    change, told = CHANGES[which]
    change(place)
    assert f"({told}); give --out {place / 'run-2'} for a new run, or repeat the first command" in refusal(place)
    (place / "run-2").mkdir()
    assert f"give --out {place / 'run-3'} " in refusal(place)


def test_changed_options_are_named_with_both_values(place: Path) -> None:
    check_header(place / "run", header(place, flags=["-O2"]), MAY_CHANGE)
    said = refusal(place, flags=["-O3", "-g"], limits={"run_s": 100.0})
    assert "limits.run_s was 10.0, now 100.0; --flags were -O2, now -O3 -g)" in said
    assert "--goal was cpu, now wall)" in refusal(place, flags=["-O2"], goal="wall")
    assert "tolerances.rel_tol was 1e-09, now 0.5)" in refusal(
        place, flags=["-O2"], checker={"kind": "tokens", "rel_tol": 0.5}
    )


def test_a_run_of_version_0_1_kept_no_parts_and_is_refused_in_general_words(place: Path) -> None:
    old = header(place)
    del old["parts"]
    check_header(place / "run", old, MAY_CHANGE)
    add(place, 3)
    assert "(the problem has changed since: its program, tests, checker, limits or flags)" in refusal(place)
    (place / "tests" / "03.in").unlink()
    (place / "tests" / "03.out").unlink()
    check_header(place / "run", header(place), MAY_CHANGE)
    assert "parts" in (place / "run" / "run.toml").read_text()


def with_compilers(folder: Path, problem: Problem, **versions: str) -> str:
    """What a run that goes on is told with other compilers than C's, C++'s and Python's 1; empty if it goes on."""
    began = {"c": "gcc 1", "cpp": "g++ 1", "python": "Python 1"}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    check_header(folder, {"machine": {"cores": 2, "compilers": began}}, frozenset())
    now = {name: version for name, version in {**began, **versions}.items() if version}
    try:
        may_change = unused_compilers(problem, read_header(folder))
        check_header(folder, {"machine": {"cores": 2, "compilers": now}}, may_change)
    except RecordError as error:
        return str(error)
    return ""


def test_only_compilers_that_the_run_may_have_used_must_be_the_same(place: Path) -> None:
    problem, run = load(place / "slow.c", place / "tests").problem, place / "run"
    assert with_compilers(run, problem, go="go1.19.8", python="Python 2") == ""
    assert tomllib.loads((run / "run.toml").read_text())["machine"]["compilers"]["go"] == "go1.19.8"
    assert "(machine.compilers.c was gcc 1, now gcc 2)" in with_compilers(run, problem, c="gcc 2", go="go1.19.8")
    assert "machine.compilers.cpp was g++ 1, now none" in with_compilers(run, problem, cpp="")
    in_go = replace(problem, language="go")
    assert "(machine.compilers.go was none, now go1.19.8)" in with_compilers(run, in_go, go="go1.19.8", rust="rustc 1")
    elsewhere = {"machine": {"cores": 4, "compilers": {"c": "gcc 1", "cpp": "g++ 1"}}}
    with pytest.raises(RecordError, match=r"\(machine.cores was 2, now 4\)"):
        check_header(run, elsewhere, unused_compilers(problem, elsewhere))


def test_commands_may_have_used_any_compiler_that_was_there(place: Path) -> None:
    repository = repos.problem_of(repos.made(place / "sums", repos.C_FILES, repos.C_TOML))
    plain = load(place / "slow.c", place / "tests").problem
    program = replace(plain, spec=replace(plain.spec, generator=("inputs.py",)))
    for problem in (repository, program):
        assert with_compilers(place / "run", problem, go="go1.19.8") == ""
        told = with_compilers(place / "run", problem, go="go1.19.8", python="Python 2")
        assert "(machine.compilers.python was Python 1, now Python 2)" in told


def test_a_folder_of_another_problem_is_refused_by_that_alone(tmp_path: Path) -> None:
    check_header(tmp_path / "run", {"problem": "gemm", "source": "gemm.c", "method": "elites"}, MAY_CHANGE)
    with pytest.raises(RecordError, match=r"holds another run \(problem was gemm, now caesar\); give --out "):
        check_header(tmp_path / "run", {"problem": "caesar", "source": "slow.c", "method": "beam"}, MAY_CHANGE)
