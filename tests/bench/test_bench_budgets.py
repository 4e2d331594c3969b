"""One budget for all runs of a bench, of whatever it counts; and what is finished can be read at any time."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from maxcode.bench import (
    BenchRow,
    BenchRun,
    BenchState,
    Cost,
    TableRequest,
    bench,
    cells,
    claim,
    curves,
    finished,
    planned,
    read_bench,
    table,
)
from maxcode.cli import cli
from maxcode.core.budget import MANY, Budget, budget_of
from maxcode.core.types import Machine
from maxcode.errors import InputError, RecordError
from maxcode.search import BestOfN
from maxcode.search.methods import method
from maxcode.search.scene import Scene
from maxcode.testing import Scripted
from tests.support.bench_help import row, runner


@pytest.mark.parametrize(
    ("words", "amount", "unit"),
    [
        ("24", 24, "candidates"),
        ("1-candidate", 1, "candidates"),
        ("200k-tokens", 200_000, "tokens"),
        ("1.5M-tokens", 1_500_000, "tokens"),
        ("0.5-dollars", 0.5, "dollars"),
        ("300-calls", 300, "calls"),
        ("90-seconds", 90, "seconds"),
        ("15-minutes", 900, "seconds"),
        ("2-hours", 7200, "seconds"),
        ("1.1-hours", 3960, "seconds"),
        ("20000M-tokens", 2e10, "tokens"),
        ("0.00001-dollars", 1e-5, "dollars"),
        ("0.000001-hours", 0.0036, "seconds"),
        ("1234567.125-dollars", 1234567.125, "dollars"),
    ],
)
def test_a_budget_is_read_as_it_is_written_and_written_as_it_is_read(words: str, amount: float, unit: str) -> None:
    found = budget_of(words)
    assert (found.amount, found.unit) == (amount, unit)
    assert budget_of(str(found)) == found
    assert "e" not in str(found).partition(" ")[0]
    assert found.candidates == (amount if unit == "candidates" else MANY)
    bounds = {name: bound for name, bound in asdict(found.caps).items() if bound is not None}
    assert bounds == ({} if unit == "candidates" else {unit: amount})


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        ("many", "give 24 (candidates), 200k-tokens"),
        ("5-tokns", "did you mean 'tokens'?"),
        ("0", "give a whole number of candidates, at least 1"),
        ("2.5", "give a whole number of candidates, at least 1"),
        ("0-seconds", "give more than 0 seconds"),
        ("-3", "give 24 (candidates)"),
    ],
)
def test_what_is_no_budget_is_refused_with_a_cure(words: str, cure: str) -> None:
    with pytest.raises(InputError) as error:
        budget_of(words)
    assert cure in str(error.value)


def ran(out: Path, budget: Budget, methods: list[str]) -> BenchState:
    return bench(cells(["one", "three"], methods, [0]), runner(out, budget, tokens=100))


@pytest.mark.parametrize("budget", [Budget(1000, "tokens"), Budget(10, "calls"), Budget(1.0, "dollars")])
def test_every_method_gets_the_same_of_what_the_budget_counts(budget: Budget, tmp_path: Path) -> None:
    found = ran(tmp_path, budget, ["refine", "beam"])
    assert found.failed == ()
    by_method = {row.cell.method: row for row in found.rows}
    assert by_method["beam"].candidates == 10  # at 100 tokens a candidate
    assert by_method["beam"].ended
    assert by_method["refine"].candidates == 6  # its search is finished then
    assert not by_method["refine"].ended
    assert finished(found.rows[0].cell, tmp_path / found.rows[0].cell.name, MANY) == found.rows[0]
    with pytest.raises(RecordError, match="budget is None, not 10"):
        finished(found.rows[0].cell, tmp_path / found.rows[0].cell.name, 10)
    notes = "\n".join(table(found.rows, TableRequest(budget=budget)).notes)
    assert f"finished its search before {budget} were used: refine in 2 of 2 runs" in notes


def test_curves_run_along_what_was_spent(tmp_path: Path) -> None:
    found = ran(tmp_path, Budget(1000, "tokens"), ["beam"])
    (tokens,), (dollars,) = curves(found.rows, "tokens"), curves(found.rows, "dollars")
    assert tokens.points[-1][0] == 1000
    assert dollars.points[-1][0] == pytest.approx(1.0)
    (candidates,) = curves(found.rows, "candidates")
    assert tokens.at(400).value == candidates.at(4).value
    assert tokens.points[-1][1] == dollars.points[-1][1]


def test_runs_far_above_a_budget_of_seconds_are_named_with_how_far() -> None:
    rows = [
        replace(row("p", method, seed, 2.0), cost=Cost(seconds=seconds))
        for method, seed, seconds in (("beam", 0, 111.0), ("beam", 1, 22.0), ("refine", 0, 18.0), ("refine", 1, 22.4))
    ]
    notes = table(rows, TableRequest(budget=Budget(15, "seconds"))).notes
    (told,) = [note for note in notes if "times the budget" in note]
    assert told.endswith("is finished: beam used up to 7.4 times the budget of 15 seconds in 1 of 2 runs")
    assert "times the budget" not in "\n".join(table(rows, TableRequest(budget=Budget(4))).notes)


def test_best_of_n_asks_a_model_for_no_more_at_once_than_its_width(tmp_path: Path) -> None:
    made = method("best-of-n", Scripted(["x"]), MANY, Scene(Machine("", "", 0, "", {}, ""), shape=24, asks_model=True))
    assert made.search == BestOfN(n=MANY, width=24)


def planning(out: Path, plan: tuple[BenchRun, ...], budget: str | int = 6) -> None:
    methods = list(dict.fromkeys(cell.method for cell in plan))
    seeds = list(dict.fromkeys(cell.seed for cell in plan))
    digests = {cell.problem: "d" for cell in plan}
    claim(out, {"budget": budget, "policy": ""}, digests, {"methods": methods, "seeds": seeds, "suites": ["maxcode"]})


def test_what_is_finished_is_read_without_running_anything(tmp_path: Path) -> None:
    plan = cells(["one", "three"], ["best-of-n", "cuda-llm"], range(2))
    planning(tmp_path, plan)
    run_one = runner(tmp_path)
    rows: list[BenchRow] = []
    for count, cell in enumerate(plan):
        there = planned(tmp_path)
        found = read_bench(tmp_path, there)
        assert there.cells == plan
        assert (list(found.rows), len(found.left)) == (rows, len(plan) - count)
        rows.append(run_one(cell))
    assert read_bench(tmp_path, planned(tmp_path)) == bench(plan, run_one)


def test_a_bench_that_grew_is_read_with_all_its_cells(tmp_path: Path) -> None:
    planning(tmp_path, cells(["one"], ["refine"], range(1)))
    planning(tmp_path, cells(["three"], ["cuda-llm"], range(2)))
    assert planned(tmp_path).cells == cells(["one", "three"], ["refine", "cuda-llm"], range(2))
    assert planned(tmp_path).budget == Budget(6)


def test_problems_that_could_not_be_used_are_kept_with_the_plan(tmp_path: Path) -> None:
    for names in (["gone"], ["gone", "torn"]):
        claim(tmp_path, {"budget": 6}, {}, {"methods": ["refine"], "seeds": [0], "unusable": names})
    assert planned(tmp_path).unusable == ("gone", "torn")


def test_budgets_of_other_kinds_survive_the_folder(tmp_path: Path) -> None:
    planning(tmp_path, cells(["one"], ["refine"], range(1)), str(Budget(200_000, "tokens")))
    assert planned(tmp_path).budget == Budget(200_000, "tokens")
    with pytest.raises(RecordError, match="budget was '200000 tokens', now 6"):
        planning(tmp_path, cells(["one"], ["refine"], range(1)))


def maxcode(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["bench", *map(str, arguments)], standalone_mode=False)


def test_table_only_prints_what_there_is_and_the_curve_along_the_budget(tmp_path: Path) -> None:
    plan = cells(["one", "three"], ["best-of-n", "cuda-llm"], range(1))
    planning(tmp_path, plan)
    run_one = runner(tmp_path)
    assert "no run is finished yet" in maxcode("--table-only", "--out", tmp_path).output
    for cell in plan[:3]:
        run_one(cell)
    half = maxcode("--table-only", "--out", tmp_path, "--figures", "all").output
    assert half.startswith("1 problem, 2 runs")
    assert "best after candidates" in half
    assert "kernelbench  fast_0" in half
    told = json.loads(maxcode("--table-only", "--out", tmp_path, "--json", "--csv", tmp_path / "rows.csv").output)
    assert told["open"] == [plan[3].name]
    assert {(curve["method"], curve["axis"]) for curve in told["curves"]} >= {
        ("cuda-llm", "depth"),
        ("best-of-n", "seconds"),
    }
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--methods", "nosuch", "--budget", "3", "--seeds", "1", "--at-once", "4"),
         "--methods, --seeds, --budget, --at-once;"),
        (("nosuch",), "PROBLEMS;"),
        (("--ablate", "each", "--cluster", "local:1"), "--ablate, --cluster;"),
    ],
)  # fmt: skip
def test_table_only_refuses_what_it_does_not_heed(arguments: tuple[str, ...], named: str, tmp_path: Path) -> None:
    planning(tmp_path, cells(["one"], ["refine"], range(1)))
    error = maxcode("--table-only", "--out", tmp_path, *arguments).exception
    assert isinstance(error, InputError), error
    assert f"it ignores {named} leave that out, or leave out --table-only" in str(error)
    assert error.exit_code == 2


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("--table-only",), "give the folder that `maxcode bench --out` wrote"),
        (("--table-only", "--figures", "pei"), "did you mean 'pie'?"),
        (("x", "--budget", "200k-tokens"), "give a budget of candidates, or of seconds"),
        (("x", "--budget", "15-seconds", "--at-once", "2"), "leave out --at-once, or give a budget of candidates"),
        (("x", "--budget", "5-dollars", "--max-dollars", "3"), "leave one of them out"),
        (("x", "--methods", "cuda-llm-bets"), "did you mean"),
    ],
)
def test_bad_input_has_a_cure(arguments: tuple[str, ...], cure: str, tmp_path: Path) -> None:
    problem = tmp_path / "problem"
    (problem / "tests").mkdir(parents=True)
    (problem / "problem.toml").write_text('source = "slow.c"\n')
    (problem / "slow.c").write_text("int main(void) { return 0; }")
    for name in ("1.in", "1.out", "2.in", "2.out"):
        (problem / "tests" / name).write_text("1\n")
    words = [str(problem) if word == "x" else word for word in arguments]
    error = maxcode(*words, "--out", tmp_path / "out").exception
    assert isinstance(error, InputError), error
    assert cure in str(error)
    assert not list(tmp_path.rglob("run.toml"))


def test_without_problems_it_says_what_to_give() -> None:
    assert "--table-only" in str(maxcode().exception)
