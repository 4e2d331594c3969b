"""The bets are fair for equal programs whatever the sizes of the gaps, and stakes that follow the sizes find more."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.bets import most_wealth, wealth

SIZES = st.lists(st.floats(1e-6, 10.0) | st.just(0.01), min_size=1, max_size=9)


def all_signs(sizes: list[float]) -> list[list[float]]:
    """The gaps of equal programs: each size has either sign equally often."""
    return [list(gaps) for gaps in itertools.product(*[(size, -size) for size in sizes])]


@given(SIZES)
def test_the_wealth_is_1_on_average_for_equal_programs_whatever_the_sizes(sizes: list[float]) -> None:
    outcomes = [wealth(gaps) for gaps in all_signs(sizes)]
    assert math.isclose(sum(outcomes) / len(outcomes), 1.0, rel_tol=1e-9)


@given(SIZES, st.floats(0.0, 1.0))
def test_what_must_be_exceeded_only_lowers_the_wealth(sizes: list[float], least: float) -> None:
    for gaps in all_signs(sizes[:5]):
        assert wealth(gaps, least) <= wealth(gaps) * (1 + 1e-12)


@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
def test_equal_programs_ever_reach_a_level_at_most_as_often_as_promised(spread: float) -> None:
    """Exactly, over all signs of 13 sizes; a lower level than in use, which 13 pairs can reach in many ways."""
    generator = random.Random(spread)
    sizes = [generator.lognormvariate(0, spread) for _ in range(13)]
    reached = sum(any(wealth(gaps[:pairs]) >= 20 for pairs in range(4, 14)) for gaps in all_signs(sizes))
    assert 0 < reached / 2**13 <= 1 / 20


def test_a_head_of_two_speeds_that_is_no_faster_is_rarely_called_so() -> None:
    """5 % faster or slower by its own chance, beside a steady base: the times of both differ, the median gain is 0."""
    generator = random.Random(1)
    races = 300
    reached = 0
    for _ in range(races):
        gaps = [generator.choice((-0.05, 0.05)) + generator.gauss(0, 0.002) for _ in range(60)]
        reached += any(wealth(gaps[:pairs], 0.01) >= 100 for pairs in range(8, 61))
    assert reached <= races // 100


@given(st.lists(st.floats(-1, 1), max_size=12), st.integers(0, 8), st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_no_further_pairs_give_more_than_the_most(gaps: list[float], more: int, rest: list[float]) -> None:
    assert wealth([*gaps, *rest[:more]], 0.01) <= most_wealth(gaps, 0.01, more) * (1 + 1e-12)


def test_a_small_gain_in_noise_is_found_with_fewer_pairs_than_by_signs_alone() -> None:
    generator = random.Random(5)
    found = by_signs = 0
    for _ in range(200):
        gaps = [generator.gauss(0.02, 0.03) for _ in range(60)]
        found += wealth(gaps) >= 100
        by_signs += wealth([math.copysign(1.0, gap) for gap in gaps]) >= 100
    assert found > 1.2 * by_signs > 0


def test_gaps_of_nothing_are_losses() -> None:
    assert wealth([]) == 1.0
    assert wealth([0.0] * 20) < 1e-3
