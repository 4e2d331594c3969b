"""The two-sided judgement: exact error rates by enumeration, intervals, and the joint judgement of many rows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.two_sided import TwoSidedRule, e_bh, evidence, interval_at_any_time, judge, judge_rows

RULE = TwoSidedRule()


def test_the_three_words_and_the_least_pairs_that_prove_one() -> None:
    assert RULE.least == 9
    for ratio, word in ((1.05, "faster"), (0.95, "slower"), (1.001, "no change")):
        assert judge([ratio] * RULE.least, RULE) == word
        assert judge([ratio] * (RULE.least - 1), RULE) == "undecided"
    assert judge([1.1, 0.9] * 30, RULE) == "undecided"


def test_slower_by_a_share_is_false_at_most_one_time_in_a_hundred_of_a_little_less() -> None:
    generator, rule, said = random.Random(2), replace(RULE, slower_guard=0.05), 0
    for _ in range(200):
        ratios = [generator.lognormvariate(0, 0.05) / 1.045 for _ in range(60)]
        said += any(judge(ratios[:pairs], rule) == "slower" for pairs in range(9, 61, 3))
    assert said <= 7  # 1 % of 200 is 2; 7 is its 99.5 % binomial bound


def test_slower_by_a_share_needs_more_than_that_share() -> None:
    rule = replace(RULE, slower_guard=0.05)
    assert judge([0.97] * 20, rule) == "undecided"
    assert judge([0.94] * 20, rule) == "slower"


def test_no_change_is_refused_while_the_ratio_may_lie_at_the_margin() -> None:
    around_the_margin = [1.04 if pair % 2 else 1.0 for pair in range(60)]
    assert evidence(around_the_margin, RULE).same < 1 / RULE.alpha


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_a_change_of_the_margin_is_called_none_at_most_one_time_in_a_hundred(noise: float) -> None:
    generator, races = random.Random(noise), 300
    said = 0
    for _ in range(races):
        ratios = [1.02 * generator.lognormvariate(0, noise) for _ in range(RULE.most)]
        said += any(judge(ratios[:pairs], RULE) == "no change" for pairs in range(RULE.least, RULE.most + 1, 3))
    assert said <= 9  # 1 % of 300 is 3; 9 is its 99.5 % binomial bound


def test_the_interval_holds_the_true_ratio_whenever_one_looks() -> None:
    generator, missed = random.Random(4), 0
    for _ in range(200):
        ratios = [1.1 * generator.lognormvariate(0, 0.05) for _ in range(40)]
        found = [interval_at_any_time(ratios[:pairs]) for pairs in range(8, 41, 4)]
        missed += any(not one.low <= 1.1 <= one.high for one in found)
    assert missed <= 18  # 5 % of 200 is 10; 18 is its 99.5 % binomial bound


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=60))
def test_an_interval_agrees_with_the_word(ratios: list[float]) -> None:
    interval, word = interval_at_any_time(ratios), judge(ratios, RULE)
    assert interval.low <= interval.value <= interval.high
    if word == "faster":
        assert interval.low > 1
    if word == "slower":
        assert interval.high < 1
    if word == "no change":
        assert interval.low > 1 / 1.02 and interval.high < 1.02


def test_e_bh_takes_the_largest_set_that_passes() -> None:
    assert e_bh([], 0.05) == []
    assert e_bh([1.0, 59.0, 0.5], 0.05) == []
    assert e_bh([1.0, 61.0, 0.5], 0.05) == [1]
    assert e_bh([31.0, 31.0, 0.5], 0.05) == [0, 1]  # neither alone


def test_the_least_pairs_that_flag_one_row_follow_from_the_number_of_rows() -> None:
    assert [RULE.least_among(rows) for rows in (1, 2, 62)] == [RULE.least, 11, 16]
    for pairs, word in ((15, "undecided"), (16, "slower")):
        rows = {str(row): [1.0] * pairs for row in range(61)} | {"slow": [0.1] * pairs}
        assert judge_rows(rows, RULE)["slow"] == word


def test_sixty_two_equal_rows_are_rarely_flagged_but_one_at_a_time_they_are() -> None:
    generator = random.Random(7)
    suites = 60
    flagged = alone = 0
    for _ in range(suites):
        rows = {str(row): [generator.lognormvariate(0, 0.05) for _ in range(30)] for row in range(62)}
        flagged += any(word in ("faster", "slower") for word in judge_rows(rows, RULE).values())
        alone += any(
            judge(ratios[:pairs], RULE) in ("faster", "slower") for ratios in rows.values() for pairs in (9, 30)
        )
    assert flagged <= 2  # 60 suites at 1 %
    assert alone > flagged


def test_one_changed_row_among_sixty_is_found() -> None:
    generator = random.Random(1)
    rows = {str(row): [generator.lognormvariate(0, 0.01) for _ in range(30)] for row in range(60)}
    rows["changed"] = [ratio / 1.1 for ratio in rows["0"]]
    found = judge_rows(rows, RULE)
    assert [name for name, word in found.items() if word != "no change" and word != "undecided"] == ["changed"]
    assert found["changed"] == "slower"
