"""The race keeps its promise, and intervals cover what they claim."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.bets import most_wealth
from maxcode.core.stats import (
    LOOKS,
    RaceRule,
    bootstrap,
    decide,
    decide_sittings,
    differ,
    geometric_mean,
    interval_of,
    is_faster,
    is_settled,
    median_interval,
    student,
)
from maxcode.core.types import Interval
from tests.support.rules import SHORT

RULE = RaceRule()


def race(ratio: float, noise: float, seed: int) -> tuple[str, int]:
    generator = random.Random(seed)
    ratios: list[float] = []
    while True:
        ratios.append(ratio * math.exp(generator.gauss(0, noise)))
        if (verdict := decide(ratios, RULE)) is not None:
            return verdict, len(ratios)


@pytest.mark.heavy
@pytest.mark.parametrize("noise", [0.005, 0.05, 0.3])
def test_equal_programs_are_called_faster_at_most_one_time_in_a_hundred(noise: float) -> None:
    false = sum(race(1.0, noise, seed)[0] == "faster" for seed in range(3000))
    assert false <= 45  # alpha = 1 % of 3000 is 30; 45 is its 99.5 % binomial bound


def test_real_gains_are_found_and_gross_losers_cost_two_pairs() -> None:
    assert sum(race(1.2, 0.05, seed)[0] == "faster" for seed in range(200)) >= 195
    assert sum(race(1.05, 0.02, seed)[0] == "faster" for seed in range(200)) >= 180
    assert {race(0.5, 0.05, seed) for seed in range(50)} == {("slower", 2)}


def test_a_gain_below_the_margin_is_not_a_gain() -> None:
    assert sum(race(1.005, 0.001, seed)[0] == "faster" for seed in range(200)) == 0


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40))
def test_every_race_ends_and_the_interval_holds_the_median(ratios: list[float]) -> None:
    interval = median_interval(ratios)
    assert interval.low <= interval.value * (1 + 1e-12)
    assert interval.value <= interval.high * (1 + 1e-12)
    assert decide([1.0] * RULE.most, RULE) is not None


def test_few_pairs_admit_their_confidence() -> None:
    assert median_interval([1.0, 2.0]).confidence == 0.5
    assert median_interval([1.0, 1.1, 1.2, 1.3, 1.4]).confidence == pytest.approx(0.9375)
    assert median_interval([1.0] * 6).confidence == 0.95


def test_the_interval_of_a_skewed_sample_covers_its_median_as_often_as_it_says() -> None:
    generator = random.Random(7)
    covered = 0
    for _ in range(1000):
        interval = median_interval([generator.expovariate(1.0) + 0.1 for _ in range(15)])
        covered += interval.low <= math.log(2) + 0.1 <= interval.high
    assert covered >= 940


@pytest.mark.parametrize(
    ("freedom", "confidence", "t"),
    [(1, 0.95, 12.7062), (2, 0.98, 6.9646), (3, 0.95, 3.1824), (4, 0.95, 2.7764), (4, 0.98, 3.7469), (9, 0.99, 3.2498)],
)
def test_the_quantiles_of_student_are_those_of_the_tables(freedom: int, confidence: float, t: float) -> None:
    assert math.isclose(student(freedom, confidence), t, rel_tol=1e-4)


def sat(ratio: float, processes: float, noise: float, generator: random.Random) -> list[float]:
    """Eight sittings of six pairs; what a process was given by chance is in all pairs of its sitting."""
    found = []
    for _ in range(8):
        bias = generator.gauss(0, processes) - generator.gauss(0, processes)
        found += [ratio * math.exp(bias + generator.gauss(0, noise)) for _ in range(6)]
    return found


def confirmed(ratios: list[float]) -> tuple[bool, bool, int]:
    """Whether a confirmation by sittings says faster, whether it holds 1, and after how many sittings it ended."""
    for count in LOOKS:
        verdict = decide_sittings(ratios[: 6 * count], (6,) * count, RULE)
        if verdict is not None:
            break
    found = interval_of(ratios[: 6 * count], (6,) * count)
    return verdict == "faster", found.low <= 1 <= found.high, count


@pytest.mark.heavy
def test_sittings_show_what_a_process_was_given_by_chance_and_pairs_do_not() -> None:
    generator = random.Random(0)
    equal = [sat(1.0, 0.03, 0.005, generator) for _ in range(3000)]
    assert sum(is_faster(ratios[:6] * 5, RULE) for ratios in equal) > 900, "one sitting would mislead"
    told = [confirmed(ratios) for ratios in equal]
    assert sum(faster for faster, _, _ in told) <= 45  # as above: alpha = 1 %
    assert 0.93 * 3000 <= sum(held for _, held, _ in told) <= 0.97 * 3000
    gains = [confirmed(sat(1.1, 0.03, 0.02, generator)) for _ in range(200)]
    assert sum(faster for faster, _, _ in gains) >= 180
    assert sum(count for _, _, count in (confirmed(sat(2.0, 0.03, 0.02, generator)) for _ in range(50))) == 4 * 50


def test_between_looks_nothing_is_said() -> None:
    assert is_faster([2.0, 2.1] * 4, RULE, (2,) * 4)
    assert not is_faster([2.0, 2.1] * 5, RULE, (2,) * 5)
    assert decide_sittings([2.0, 2.1] * 4, (2,) * 4, RULE) == "faster"
    assert decide_sittings([0.5, 0.6] * 4, (2,) * 4, RULE) == "slower"
    assert decide_sittings([2.0, 2.1] * 5, (2,) * 5, RULE) is None
    assert decide_sittings([], (), RULE) is None


@pytest.mark.parametrize("sittings", [(4,), (2, 1), (4, 0)])
def test_sittings_that_are_none_are_refused(sittings: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="give at least two sessions"):
        interval_of([1.0] * 4, sittings)


def test_a_confirmation_ends_when_it_is_narrow_or_long_enough() -> None:
    narrow, wide = [1.2, 1.21] * 10, [1.0, 1.5] * 10
    assert (RULE.confirm_target, RULE.confirm_least, RULE.confirm_most) == (0.02, 9, 60)
    assert is_settled(narrow, RULE)
    assert not is_settled(narrow[:8], RULE)
    assert not is_settled(wide, RULE)
    assert is_settled(wide * 3, RULE)
    assert is_faster(narrow, RULE)
    assert not is_faster(wide, RULE)


def test_a_proven_gain_that_will_not_be_narrow_in_time_ends_at_half_of_its_pairs() -> None:
    wide = [1.1, 1.5]
    assert not is_settled(wide * 14, RULE)
    assert is_settled(wide * 15, RULE)
    assert not is_settled([1.0, 1.5] * 15, RULE)  # which is not proven
    assert not is_settled([1.1 * 0.976, 1.1, 1.1 * 1.024] * 10, RULE)  # 60 such pairs would be within 2 %


def test_a_confirmation_does_not_end_while_it_shows_a_gain_that_is_not_proven() -> None:
    shown = [1.015] * 9 + [1.005]  # above 1, and one pair is not won by more than the margin
    assert median_interval(shown).low > 1
    assert not is_faster(shown, RULE)
    assert not is_settled(shown, RULE)
    assert is_settled([1.015] * 9, RULE)
    assert is_settled([0.995] * 9, RULE)


@pytest.mark.parametrize(("gain", "reach", "settled"), [
    (1.05, 0.03, False), (1.2, 0.03, True), (1.2, 0.045, False), (1.5, 0.075, True), (1.5, 0.09, False),
    (2.0, 0.095, True), (0.5, 0.095, True), (10.0, 0.09, True), (10.0, 0.11, False),
])  # fmt: skip
def test_a_large_gain_may_have_a_wider_interval(gain: float, reach: float, settled: bool) -> None:
    assert is_settled([gain * (1 - reach), gain, gain * (1 + reach)] * 5, RULE) is settled


@pytest.mark.parametrize("most", [2, 3, 6, 7])
@pytest.mark.parametrize("ratio", [1.5, 1.0, 0.995])
def test_a_race_of_too_few_pairs_to_prove_anything_makes_them_all(most: int, ratio: float) -> None:
    """Training measures with three pairs, an assessment with six."""
    rule = replace(RULE, most=most, futile_share=0.0, narrow=0.0)
    assert [decide([ratio] * pairs, rule) for pairs in range(1, most)].count("tie") == 0
    assert decide([1.5] * most, RaceRule(most=most)) == "tie"


@pytest.mark.parametrize("losses", range(12))
def test_a_race_ends_when_winning_all_the_rest_would_prove_nothing(losses: int) -> None:
    ratios = [1.2, 0.995] * losses + [1.2] * 3  # a loss by less than "slower" asks for
    gaps, least = [math.log(ratio) for ratio in ratios], math.log1p(RULE.margin)
    can_win = most_wealth(gaps, least, RULE.most - len(gaps)) >= 1 / RULE.alpha
    assert (decide(ratios, RULE) == "tie") is not can_win


def test_an_evident_gain_goes_on_to_its_confirmation_after_two_pairs() -> None:
    rule = replace(RULE, evident=0.25)
    assert decide([1.3], rule) is None
    assert decide([1.3, 1.26], rule) == "faster"
    assert decide([1.3, 1.26], RULE) is None
    assert decide([1.3, 1.24], rule) is None
    assert not is_faster([1.3, 1.26], rule)  # the confirmation needs its own evidence


def test_nine_pairs_that_are_all_won_are_the_fewest_that_prove_a_gain() -> None:
    assert (SHORT.alpha, SHORT.confirm_least, SHORT.confirm_most) == (RULE.alpha, 9, 9)
    assert is_faster([1.5] * 9, SHORT)
    assert not is_faster([1.5] * 8, SHORT)
    assert not is_faster([1.5] * 8 + [1.0], SHORT)


def test_the_bootstrap_brackets_the_statistic() -> None:
    values = [1.0, 1.2, 1.5, 2.0, 3.0]
    interval = bootstrap(values, geometric_mean)
    assert interval.low < interval.value < interval.high
    assert interval == bootstrap(values, geometric_mean)


def test_two_ratios_differ_by_the_interval_of_their_difference() -> None:
    assert differ(Interval(1.355, 1.29, 1.42), Interval(1.26, 1.21, 1.31)), "though the intervals overlap"
    assert not differ(Interval(2.0, 1.9, 2.1), Interval(2.2, 2.0, 2.4))
    assert not differ(Interval(1.355, 1.29, 1.42, 0.875), Interval(1.26, 1.21, 1.31)), "extremes must lie apart"
    assert differ(Interval(1.355, 1.32, 1.42, 0.875), Interval(1.26, 1.21, 1.31))


def test_equal_programs_differ_by_chance_in_one_comparison_of_twenty() -> None:
    generator = random.Random(3)
    draws = 1500

    def measured(ratio: float) -> Interval:
        return interval_of([ratio * math.exp(generator.gauss(0, 0.04)) for _ in range(24)])

    equal = sum(differ(measured(1.3), measured(1.3)) for _ in range(draws)) / draws
    pairs = [(measured(1.3), measured(1.35)) for _ in range(draws)]
    apart = sum(differ(*pair) for pair in pairs) / draws
    overlap = sum(one.high < other.low for one, other in pairs) / draws
    assert equal < 0.06 and apart > overlap + 0.15
