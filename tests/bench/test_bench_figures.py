"""The figures of PIE and KernelBench, on small tables worked out by hand."""

from __future__ import annotations

import dataclasses
import itertools
import random
from statistics import fmean

import pytest

from maxcode.bench import SUITES, BenchRow, BenchRun, MethodTable, TableRequest, as_text, figures, table
from maxcode.bench.trace import powers_of_two
from maxcode.core.stats import expected_best
from maxcode.errors import InputError
from tests.support.bench_help import row


def asked(*suites: str, plan: tuple[BenchRun, ...] = ()) -> TableRequest:
    return TableRequest(suites, plan)


def values(found: MethodTable, method: str = "a") -> dict[str, float]:
    """By name, rounded; of one method."""
    (one,) = [one for one in found.methods if one.method == method]
    return {name: round(interval.value, 6) for name, interval in one.figures.items()}


def answer(problem: str, gain: float, fastest: float, correct: int = 1, seed: int = 0) -> BenchRow:
    return dataclasses.replace(row(problem, "a", seed, gain, (4, correct, 0)), fastest=fastest)


# problem   confirmed   fastest correct   correct
# p         2.0         2.1               yes
# q         1.05        1.06              yes
# r         1 (none)    0.7               yes
# s         1 (none)    -                 no
ROWS = [answer("p", 2.0, 2.1), answer("q", 1.05, 1.06), answer("r", 1.0, 0.7), answer("s", 1.0, 0.0, correct=0)]


def test_pie_counts_gains_of_a_tenth_clamps_at_one_and_asks_for_one_correct_sample() -> None:
    found = values(table(ROWS, asked("pie")))
    assert found["opt"] == 1 / 4
    assert found["speedup"] == (2.0 + 1.05 + 1 + 1) / 4
    assert found["correct"] == 3 / 4


def test_correct_by_pie_s_checker_stands_beside_ours() -> None:
    rows = [dataclasses.replace(one, by_pie=2 * (one.cell.problem != "r")) for one in ROWS]
    found = values(table(rows, asked("pie")))
    assert (found["correct"], found["pie_correct"]) == (3 / 4, 3 / 4)
    found = values(table([rows[2], rows[3]], asked("pie")))
    assert (found["correct"], found["pie_correct"]) == (1 / 2, 1 / 2)
    found = values(table([rows[3]], asked("pie")))
    assert (found["correct"], found["pie_correct"]) == (0, 1)


def test_correct_by_kernelbench_s_rule_is_a_column_beside_fast_p() -> None:
    rows = [dataclasses.replace(one, by_kernelbench=2 * (one.cell.problem != "r"), enlarged=True) for one in ROWS]
    found = table(rows, asked("kernelbench"))
    assert values(found)["kernelbench_correct"] == 3 / 4
    assert any(note.startswith("timed on inputs made larger than their own") for note in found.notes)


def test_kernelbench_asks_for_more_than_p_and_below_one_takes_the_fastest_correct_candidate() -> None:
    found = values(table(ROWS, asked("kernelbench")))
    expected = {"fast_0": 3, "fast_0.5": 3, "fast_0.8": 2, "fast_1": 2, "fast_1.5": 1, "fast_2": 0}
    expected["kernelbench_correct"] = 0  # these rows hold no answer of that rule
    assert found == {name: count / 4 for name, count in expected.items()}


def test_a_gain_that_was_not_confirmed_is_not_fast_1_whatever_its_race_said() -> None:
    found = values(table([answer("p", 1.0, 1.8)], asked("kernelbench")))
    assert (found["fast_0.8"], found["fast_1"]) == (1, 0)


def test_fast_p_counts_planned_runs_that_are_not_finished_as_failures() -> None:
    plan = tuple(BenchRun(problem, "a", seed) for problem in "pqrst" for seed in range(2))
    found = values(table(ROWS, asked("maxcode", "kernelbench", plan=plan)))
    assert found["fast_0"] == 3 / 10
    assert found["fast_1"] == 2 / 10
    assert found["median"] == pytest.approx((1.0 + 1.05) / 2)  # of those that are finished


def test_fast_p_counts_problems_that_could_not_be_used_and_the_table_names_them() -> None:
    plan = tuple(BenchRun(one.cell.problem, "a", 0) for one in ROWS)
    found = table(ROWS, TableRequest(("maxcode", "kernelbench"), plan, unusable=("t", "u", "v", "w")))
    assert values(found)["fast_1"] == 2 / 8
    assert values(found)["median"] == values(table(ROWS))["median"]
    assert any("4 problem(s)" in note and "(t, u, v, w)" in note for note in found.notes)


def test_a_problem_that_only_one_method_finished_is_a_failure_of_the_other() -> None:
    rows = [*ROWS, *(dataclasses.replace(one, cell=BenchRun(one.cell.problem, "b", 0)) for one in ROWS[:2])]
    found = table(rows, asked("maxcode", "kernelbench"))
    assert (values(found)["fast_1"], values(found, "b")["fast_1"]) == (2 / 4, 2 / 4)
    assert (values(found)["fast_0"], values(found, "b")["fast_0"]) == (3 / 4, 2 / 4)
    assert found.cells == 4


def test_the_expected_best_of_k_is_the_mean_over_all_ways_to_draw_k() -> None:
    worths = [1.0, 1.0, 3.0, 2.0, 5.0]
    for k in range(1, 6):
        assert expected_best(worths, k) == pytest.approx(fmean(map(max, itertools.combinations(worths, k))))


def test_the_expected_best_of_k_has_no_bias() -> None:
    generator = random.Random(2)
    estimates = [expected_best([generator.expovariate(1) for _ in range(8)], 4) for _ in range(4000)]
    assert fmean(estimates) == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4, abs=0.05)  # of four exponentials


def test_best_at_k_keeps_what_a_run_has_where_it_ended_sooner() -> None:
    assert powers_of_two(6) == [1, 2, 4, 6]
    assert powers_of_two(0) == []
    long = dataclasses.replace(row("p", "a", 0, 4.0, (8, 8, 8)), best_of=((1, 1.0), (2, 2.0), (4, 3.0), (8, 4.0)))
    short = dataclasses.replace(row("q", "a", 0, 2.0, (3, 3, 3)), best_of=((1, 1.0), (2, 2.0), (3, 2.0)))
    found = values(table([long, short], asked("pie")))
    assert [found[f"best@{k}"] for k in (1, 2, 4, 8)] == [1.0, 2.0, 2.5, 3.0]
    assert found["best@8"] == found["speedup"]


def test_it_is_said_of_which_methods_best_at_k_is_unbiased() -> None:
    rows = [dataclasses.replace(row("p", m, 0, 2.0), exchangeable=m == "a") for m in "ab"]
    (told,) = [note for note in table(rows, asked("pie")).notes if note.startswith("Best@k")]
    assert "mean over all draws of k candidates (they are exchangeable): a;" in told
    assert "first k (later ones depend on earlier ones): b" in told


def test_the_text_has_a_block_for_every_paper_and_says_where_ours_departs() -> None:
    found = table(ROWS, asked(*SUITES))
    text = as_text(found)
    heads = [line.split("  ")[0] for line in text.splitlines() if line.split("  ")[0] in ("method", *SUITES)]
    assert heads == ["method", "pie", "kernelbench"]
    for suite in SUITES.values():
        assert f"note: {suite.departs}" in text
    assert [column.name for column in found.columns] == list(found.methods[0].figures)


def test_an_unknown_kind_of_figures_is_refused_with_the_nearest_spelling() -> None:
    with pytest.raises(InputError, match="did you mean 'kernelbench'"):
        figures(["kernelbenhc"], 8)
