"""The race keeps its promise, and intervals cover what they claim."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.stats import (
    RaceRule,
    bootstrap,
    decide,
    e_value,
    geometric_mean,
    is_faster,
    is_settled,
    median_interval,
)

RULE = RaceRule()


def race(ratio: float, noise: float, seed: int) -> tuple[str, int]:
    generator = random.Random(seed)
    ratios: list[float] = []
    while True:
        ratios.append(ratio * math.exp(generator.gauss(0, noise)))
        if (verdict := decide(ratios, RULE)) is not None:
            return verdict, len(ratios)


def test_the_evidence_is_a_martingale_under_a_fair_coin() -> None:
    for pairs in range(12):
        for wins in range(pairs + 1):
            ahead = (e_value(wins + 1, pairs + 1) + e_value(wins, pairs + 1)) / 2
            assert math.isclose(ahead, e_value(wins, pairs), rel_tol=1e-12)


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


def test_a_confirmation_ends_when_it_is_narrow_or_long_enough() -> None:
    narrow, wide = [1.5, 1.51] * 10, [1.0, 2.0] * 10
    assert is_settled(narrow, 0.02, 15, 60)
    assert not is_settled(narrow[:10], 0.02, 15, 60)
    assert not is_settled(wide, 0.02, 15, 60)
    assert is_settled(wide * 3, 0.02, 15, 60)
    assert is_faster(narrow, RULE)
    assert not is_faster(wide, RULE)


def test_the_bootstrap_brackets_the_statistic() -> None:
    values = [1.0, 1.2, 1.5, 2.0, 3.0]
    interval = bootstrap(values, geometric_mean)
    assert interval.low < interval.value < interval.high
    assert interval == bootstrap(values, geometric_mean)
