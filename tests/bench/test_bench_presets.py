"""Presets in one bench: each method/paper keeps the budget of the paper beside methods with the bench's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.bench import BenchRun, TableRequest, ablated, planned, table
from maxcode.cli.bench_plan import BenchRequest, plan_of
from maxcode.core.budget import Budget
from maxcode.run.request import Request
from maxcode.search import methods
from tests.support.bench_help import row

TIGHT = Path(__file__).parents[2] / "examples" / "tight"
COLUMNS = ("effi-learner/paper", "cuda-llm+maxcode/paper-best", "cuda-llm")


@pytest.mark.parametrize(
    ("asked", "counts"), [(None, [2, 64, 24]), (Budget(5), [2, 5, 5]), (Budget(100), [2, 64, 100])]
)
def test_a_preset_keeps_its_budget_and_the_folder_says_so(
    asked: Budget | None, counts: list[int], tmp_path: Path
) -> None:
    shared = Request(TIGHT, policy="rewriter", budget=asked.candidates if asked else 0, out=tmp_path / "out")
    plan = plan_of(BenchRequest([TIGHT], COLUMNS, 1, asked), shared)
    for there in (plan.planned, planned(tmp_path / "out")):
        assert [there.candidates(column) for column in COLUMNS] == counts
    assert next(cell.name for cell in plan.planned.cells) == "tight-effi-learner-paper-0", "a folder, not a path"


def test_the_paper_s_ablation_is_the_eight_subsets_of_its_three_parts() -> None:
    columns = ablated("cuda-llm+maxcode/paper", "observe")
    assert len(columns) == 8
    assert columns[-1] == "cuda-llm+maxcode/paper-best-trajectory-critiques"
    bare = methods.recipe("cuda-llm+maxcode/paper", frozenset({"best", "trajectory", "critiques"}))
    assert bare.parts == methods.recipe("cuda-llm/paper").parts


def test_the_table_says_that_budgets_differ_and_calls_no_preset_early() -> None:
    rows = [row(p, m, 0, 1.0, (n, 1, 1)) for p in "pq" for m, n in (("effi-learner/paper", 2), ("cuda-llm", 24))]
    asked = TableRequest(budget=Budget(24), own={"effi-learner/paper": 2}, plan=tuple(BenchRun(p, "m", 0) for p in ""))
    told = " ".join(table(rows, asked).notes)
    assert "presets have their own budgets of candidates: effi-learner/paper 2" in told
    assert "before" not in told
