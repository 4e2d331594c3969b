"""The suite ``algotune``, on a folder of our own in AlgoTune's layout."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from maxcode.core.types import Outcome
from maxcode.errors import InputError
from maxcode.problems import expanded, load
from maxcode.problems.algotune import VARIABLE, VENV
from maxcode.run.evaluation import evaluate_source
from maxcode.run.request import Request
from tests.support.algotune_help import TASK, write_algotune

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(write_algotune(tmp_path / "AlgoTune")))
    monkeypatch.delenv(VENV, raising=False)
    return tmp_path / "AlgoTune"


def test_a_task_is_a_python_function_with_its_own_generator_and_check(place: Path) -> None:
    problem = load(Path("algotune:pair_sums"), None, {}).problem
    spec = problem.spec.python_spec
    assert (problem.kind, spec.function, spec.size, spec.venv) == ("python", "Solver.solve", 700, "")
    assert problem.program.text.startswith(TASK.rstrip())
    assert problem.program.text.endswith("Solver = PairSums\n")
    assert (problem.spec.limits.run_s, problem.spec.limits.memory_mb) == (60, 4096)
    assert "generate_problem" in spec.inputs and "is_solution" in spec.check
    assert [name for name, _ in spec.beside] == ["algotune_task.py", "AlgoTuneTasks/base.py"]


def test_the_environment_is_that_of_the_checkout_or_the_one_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / ".venv").mkdir()
    assert load(Path("algotune:pair_sums"), None, {}).problem.spec.python_spec.venv == str(place / ".venv")
    monkeypatch.setenv(VENV, str(place / "other"))
    assert load(Path("algotune:pair_sums"), None, {}).problem.spec.python_spec.venv == str(place / "other")


def test_all_tasks_are_listed_and_what_cannot_be_used_has_its_reason(place: Path) -> None:
    found = expanded([Path("algotune:all")])
    assert [str(one.path) for one in found.sources] == ["algotune:pair_sums"]
    assert [(one.name, one.why) for one in found.left_out] == [
        ("algotune:broken", "the task broken has no class with @register_task")
    ]


def test_a_task_of_another_size_is_another_problem(place: Path) -> None:
    assert [str(one.path) for one in expanded([Path("algotune:pair_sums@50/Fast One")]).sources] == [
        "algotune:pair_sums@50/Fast One"
    ]
    loaded = load(Path("algotune:pair_sums@50"), None, {})
    assert (loaded.problem.id, loaded.problem.spec.python_spec.size) == ("algotune-pair_sums-50", 50)


def test_a_solver_of_several_files_finds_files_of_the_same_names_in_the_original(place: Path) -> None:
    """A candidate may not add files, and the text of its files must not reach the maker of inputs or the check."""
    loaded = load(Path("algotune:pair_sums/two-files"), None, {})
    assert loaded.reference is not None
    assert list(loaded.reference.files) == list(loaded.problem.program.files) == ["solver.py", "beside.py"]
    assert loaded.problem.program.files["beside.py"] == ""
    assert loaded.problem.program.files["solver.py"].startswith(TASK.rstrip())


def test_a_problem_comes_as_algotune_stores_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many numbers in lists are an array of float64, numpy scalars are Python's, and digits in keys are numbers."""
    spec = load(Path("algotune:pair_sums"), None, {}).problem.spec.python_spec
    assert spec.own_arguments
    made = {"rows": [[1, 2]] * 7000, "few": [1, 2], "7": np.float64(2), 3: (True, [np.int32(4)]), "w": ["a"] * 20000}
    task = SimpleNamespace(generate_problem=lambda size, random_seed: made)
    monkeypatch.setitem(sys.modules, "algotune_task", SimpleNamespace(Solver=lambda: task))
    known: dict[str, Any] = {}
    exec(spec.inputs, known)
    (found,) = known["inputs"](2**31 + 5, 700)
    rows = found.pop("rows")
    assert rows.dtype == np.float64 and rows.shape == (7000, 2) and (rows == [1, 2]).all()
    assert found == {"few": [1, 2], 7: 2.0, 3: (True, [4]), "w": ["a"] * 20000}
    assert [type(one) for one in (found[7], found[3][1][0], found["few"])] == [float, int, list]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("algotune:pair_sum", "unknown task of AlgoTune: 'pair_sum'; did you mean 'pair_sums'"),
        ("algotune:pair_sums/Fast Two", "unknown model of AlgoTune: 'Fast Two'; did you mean 'Fast One'"),
        ("algotune:pair_sums/built-one-high", r"must be built first \(core.pyx\)"),
        ("algotune:pair_sums@few", "the size 'few' is no whole number above 0"),
        ("algotune:all", "stands for all tasks; name one of them"),
    ],
)
def test_a_wrong_name_is_one_sentence_with_its_cure(place: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(Path(name), None, {})


def test_a_checkout_that_is_not_here_is_told_with_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=r"clone https://github\.com/oripress/AlgoTune and set MAXCODE_ALGOTUNE"):
        expanded([Path("algotune:all")])


@pytest.mark.sandbox
def test_published_solvers_are_the_reference_and_are_judged_by_the_tasks_check(place: Path) -> None:
    """A result that differs from the original's is right where the task says so; one that the task refuses is wrong."""
    fast = evaluate_source(None, Request(Path("algotune:pair_sums/two-files")))
    assert fast.outcome is Outcome.CORRECT, fast.reasons
    assert fast.speedup is not None and fast.speedup.low > 2
    wrong = evaluate_source(None, Request(Path("algotune:pair_sums/Wrong One")))
    assert wrong.outcome is Outcome.WRONG, wrong.reasons


def test_the_page_of_judged_solvers_has_the_tables_of_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    verdicts = importlib.import_module("solvers.verdicts")
    rows = [json.loads(line) for line in (ROOT / "benchmarks/solvers/judged.jsonl").read_text().splitlines()]
    page = (ROOT / "docs/explanation/published-solvers.md").read_text()
    assert verdicts.report(rows) in page and verdicts.by_task(rows) in page
    assert f"{len(rows)} solvers of six models for {len({row['task'] for row in rows})} tasks" in page
