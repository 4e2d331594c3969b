"""The table is the paper's arithmetic, its intervals cover what they claim, and it says where they say little."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import random

import pytest

from maxcode.bench import BenchRow, BenchState, Cost, as_csv, as_json, as_text, table
from maxcode.bench.table import Contrast, MethodTable, Summary
from maxcode.core.types import Interval
from tests.support.bench_help import row

# Speed-ups by problem for methods a and b, worked out by hand:
#   problem  a  b   ranks a, b
#   p        1  2   2, 1
#   q        4  2   1, 2
#   r        3  3   1.5, 1.5
#   s        8  1   1, 2
GAINS = {"p": (1.0, 2.0), "q": (4.0, 2.0), "r": (3.0, 3.0), "s": (8.0, 1.0)}
ROWS = [row(p, m, 0, gain) for p, gains in GAINS.items() for m, gain in zip("ab", gains, strict=True)]


def by_name(found: MethodTable) -> dict[str, Summary]:
    return {one.method: one for one in found.methods}


def test_medians_means_and_ranks_are_those_worked_out_by_hand() -> None:
    found = by_name(table(ROWS))
    assert found["a"].figures["median"].value == pytest.approx(3.5)
    assert found["b"].figures["median"].value == pytest.approx(2.0)
    assert found["a"].figures["geometric"].value == pytest.approx(96 ** (1 / 4))
    assert found["b"].figures["geometric"].value == pytest.approx(12 ** (1 / 4))
    assert found["a"].figures["rank"].value == pytest.approx((2 + 1 + 1.5 + 1) / 4)
    assert found["b"].figures["rank"].value == pytest.approx((1 + 2 + 1.5 + 2) / 4)


def test_correctness_and_fast1_are_means_over_all_generations() -> None:
    rows = [row("p", "a", 0, 2.0, (10, 5, 1)), row("q", "a", 0, 1.0, (10, 9, 0))]
    (found,) = table(rows).methods
    assert found.figures["correctness"].value == pytest.approx(0.7)
    assert found.figures["fast1"].value == pytest.approx(0.05)
    assert found.candidates == 20


def test_seeds_are_averaged_on_the_scale_of_ratios_before_problems_are() -> None:
    rows = [row("p", "a", 0, 2.0), row("p", "a", 1, 8.0), row("q", "a", 0, 1.0), row("q", "a", 1, 1.0)]
    (found,) = table(rows).methods
    assert found.figures["median"].value == pytest.approx((4 + 1) / 2)
    assert found.figures["geometric"].value == pytest.approx(2.0)


def test_a_run_without_a_candidate_counts_as_neither_correct_nor_fast() -> None:
    (found,) = table([row("p", "a", 0, 1.0, (0, 0, 0))]).methods
    assert (found.figures["correctness"].value, found.figures["fast1"].value) == (0.0, 0.0)


def test_the_pair_is_compared_problem_by_problem() -> None:
    (pair,) = table(ROWS).contrasts
    assert (pair.first, pair.second) == ("a", "b")
    assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
    assert pair.ratio.value == pytest.approx(8 ** (1 / 4))
    assert pair.p >= 2 ** (1 - 3)
    assert not pair.is_significant


def test_methods_are_judged_on_problems_and_seeds_that_all_of_them_finished() -> None:
    rows = [*ROWS, row("t", "a", 0, 1000.0), row("p", "a", 1, 1000.0)]
    found = table(rows)
    assert found.methods == table(ROWS).methods
    assert (found.cells, found.left_out) == (8, 2)
    assert any("2 finished cell(s) are left out" in note for note in found.notes)


def test_nothing_in_common_is_said_and_gives_no_figure() -> None:
    found = table([row("p", "a", 0, 2.0), row("q", "b", 0, 2.0)])
    assert found.methods == ()
    assert any("nothing can be compared" in note for note in found.notes)
    assert "nothing can be compared" in as_text(found)
    assert table([]).methods == ()
    assert as_text(table([])) == "note: no run is finished yet"


def test_the_order_in_which_cells_finished_changes_nothing() -> None:
    rows = [row(p, m, seed, gains[m == "b"] + seed) for p, gains in GAINS.items() for seed in range(3) for m in "ab"]
    shuffled = [*rows]
    random.Random(1).shuffle(shuffled)
    shuffled.sort(key=lambda one: one.cell.method)
    assert table(shuffled) == table(rows)


def sample(generator: random.Random, problems: int, methods: dict[str, float]) -> list[BenchRow]:
    """Rows of one seed, whose logarithmic speed-up is the method's, plus what is due to the problem, to what the method
    is on that problem, and to the seed."""
    rows = []
    for p in range(problems):
        ease = generator.gauss(0, 0.4)
        for name, gain in methods.items():
            suits = generator.gauss(0, 0.3)
            rows.append(row(f"p{p}", name, 0, math.exp(gain + ease + suits + generator.gauss(0, 0.1)), (8, 8, 8)))
    return rows


@pytest.mark.heavy
def test_intervals_over_problems_and_seeds_cover_the_truth_about_as_often_as_they_say() -> None:
    generator = random.Random(3)
    trials, truth, held = 120, 0.7, 0
    for _ in range(trials):
        (found,) = table(sample(generator, 20, {"a": truth})).methods
        held += found.figures["geometric"].low <= math.exp(truth) <= found.figures["geometric"].high
    assert held >= 0.88 * trials  # below 95 % by no more than chance and the bootstrap's bias at 20 problems


@pytest.mark.heavy
def test_equal_methods_are_rarely_called_different_and_different_ones_are_found() -> None:
    generator, tables, equal = random.Random(5), 120, dict.fromkeys("abc", 0.5)
    drawn = [table(sample(generator, 8, equal)).contrasts for _ in range(tables)]
    assert sum(any(pair.is_significant for pair in pairs) for pairs in drawn) <= 13  # 5 % is 6; 13 is the 99.5 % bound
    held = [pair.ratio.low <= 1 <= pair.ratio.high for pairs in drawn for pair in pairs]
    assert sum(held) >= 0.9 * len(held)
    found = {(p.first, p.second): p for p in table(sample(generator, 12, {"a": 1.3, "b": 0.5, "c": 0.5})).contrasts}
    assert found["a", "b"].is_significant
    assert found["a", "b"].adjusted >= found["a", "b"].p
    assert found["a", "b"].ratio.low > 1


def test_a_ratio_of_one_problem_has_the_interval_of_its_seeds() -> None:
    rows = [row("p", m, s, 2.0 + s + (m == "a")) for m in "ab" for s in range(3)]
    (pair,) = table(rows).contrasts
    assert pair.ratio.low < pair.ratio.value < pair.ratio.high
    assert pair.p == 1.0


def test_a_few_problems_that_all_point_one_way_prove_nothing() -> None:
    rows = [row(p, m, s, gain) for p in "pqrst" for m, gain in (("a", 2.0), ("b", 1.0)) for s in range(3)]
    found = table(rows)
    (pair,) = found.contrasts
    assert pair.p == 2**-4
    assert not pair.is_significant
    assert any("5 problems" in note and "no two can" in note for note in found.notes)


def test_notes_name_what_is_missing_from_the_intervals() -> None:
    one = table([row("p", "a", 0, 2.0), row("p", "b", 0, 3.0)])
    assert any(note.startswith("one problem") for note in one.notes)
    assert any(note.startswith("one seed") for note in one.notes)
    (flat,) = [note for note in one.notes if note.startswith("* an interval without width")]
    assert "a: median, geometric, rank, correctness, fast1; b: " in flat
    assert "2.00x [2.00, 2.00]*" in as_text(one)
    wide = table([row(f"p{n}", m, s, 1 + n + s + (m == "a")) for n in range(7) for m in "ab" for s in range(2)])
    assert not any(note.startswith(("one ", "7 problems")) for note in wide.notes)


def test_notes_name_untimed_problems_other_machines_and_uneven_spending() -> None:
    rows = [
        dataclasses.replace(row("p", "a", 0, 1.0), measured=False, where="here"),
        dataclasses.replace(row("p", "b", 0, 1.0, (3, 3, 0)), measured=False, where="there"),
    ]
    told = "\n".join(table(rows).notes)
    assert "could not be timed, counted as 1.00x: p" in told
    assert "2 places" in told
    assert "b 3 of 4" in told


def test_costs_add_up_and_one_unknown_price_makes_the_sum_unknown() -> None:
    priced = [
        dataclasses.replace(row("p", "a", seed, 2.0), cost=Cost(1.5, 2, 10, 5, dollars))
        for seed, dollars in enumerate((0.25, 0.5))
    ]
    (found,) = table(priced).methods
    assert found.cost == Cost(3.0, 4, 20, 10, 0.75)
    unpriced = [*priced, dataclasses.replace(row("p", "a", 2, 2.0), cost=Cost(1.0, 1, 1, 1, None))]
    (found,) = table(unpriced).methods
    assert found.cost.dollars is None
    assert "unknown" in as_text(table(unpriced))


def test_text_is_aligned_and_json_and_csv_hold_the_same_rows() -> None:
    found = table(ROWS)
    lines = as_text(found).splitlines()
    head = next(line for line in lines if line.startswith("method"))
    (a,) = [line for line in lines if line.startswith("a ")][:1]
    assert a.index("3.50x") == head.index("median speed-up")
    read = json.loads(as_json(found, BenchState(tuple(ROWS))))
    assert read["table"]["methods"][0]["figures"]["median"]["value"] == pytest.approx(3.5)
    lines_read = list(csv.DictReader(io.StringIO(as_csv(ROWS))))
    assert [float(line["speedup"]) for line in lines_read] == [one.best.value for one in ROWS]
    assert [line["problem"] for line in lines_read] == [one["problem"] for one in read["rows"]]


def test_a_long_list_of_pairs_shows_the_strongest_in_the_text_and_all_in_json() -> None:
    rows = [row(f"p{n}", f"m{m}", 0, 1.0 + m + n) for n in range(6) for m in range(7)]
    found = table(rows)
    assert len(found.contrasts) == 21
    assert "pairs (15 of 21)" in as_text(found)
    assert len(json.loads(as_json(found, BenchState(tuple(rows))))["table"]["contrasts"]) == 21


def test_significance_is_asked_of_the_adjusted_p() -> None:
    pair = Contrast("a", "b", Interval(1.1, 1.0, 1.2), 0.02, 0.06, 5, 0, 1)
    assert not pair.is_significant
    assert dataclasses.replace(pair, adjusted=0.04).is_significant
