"""The bets are fair for equal programs whatever the times are, and stakes that follow the times find more."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.bets import _known_purses, level_of, most_wealth, wealth
from maxcode.run.certificate.earlier_formats import wealth_by_sizes
from tests.support.two_speeds import two_speeds

SIZES = st.lists(st.floats(1e-6, 10.0) | st.just(0.01), min_size=1, max_size=9)
LEVELS = st.lists(st.floats(-5.0, 5.0) | st.just(1.0), min_size=9, max_size=9)


def all_signs(sizes: list[float]) -> list[list[float]]:
    """The gaps of equal programs: each size has either sign equally often."""
    return [list(gaps) for gaps in itertools.product(*[(size, -size) for size in sizes])]


@given(SIZES)
def test_the_wealth_is_1_on_average_for_equal_programs_whatever_the_sizes(sizes: list[float]) -> None:
    outcomes = [wealth(gaps) for gaps in all_signs(sizes)]
    assert math.isclose(sum(outcomes) / len(outcomes), 1.0, rel_tol=1e-9)


@given(st.lists(st.floats(1e-6, 10.0) | st.just(0.01), min_size=5, max_size=7), LEVELS, st.floats(0.0, 0.1))
def test_so_it_is_whatever_the_two_times_of_each_pair_are(
    sizes: list[float], levels: list[float], least: float
) -> None:
    levels = levels[: len(sizes)]
    outcomes = [wealth(gaps, levels=levels) for gaps in all_signs(sizes)]
    assert math.isclose(sum(outcomes) / len(outcomes), 1.0, rel_tol=1e-9)
    assert all(wealth(gaps, least, levels) <= wealth(gaps, 0.0, levels) * (1 + 1e-12) for gaps in all_signs(sizes[:5]))


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


def test_nor_do_they_more_often_where_earlier_pairs_tell_the_two_speeds() -> None:
    """All ways to give the times of 13 pairs to the sides."""
    pairs = two_speeds(random.Random(4), 13, 1.0)
    levels = [level_of(*pair) for pair in pairs]
    orders = all_signs([math.log(a / b) for a, b in pairs])
    reached = sum(any(wealth(gaps[:count], levels=levels[:count]) >= 20 for count in (5, 9, 13)) for gaps in orders)
    assert 0 < reached / 2**13 <= 1 / 20


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


def test_a_gain_where_a_machine_has_two_speeds_is_found_by_the_times_and_less_by_the_gaps() -> None:
    generator = random.Random(6)
    found = by_gaps = by_sizes = 0
    for _ in range(40):
        pairs = two_speeds(generator, 40, 1.02)
        gaps = [math.log(a / b) for a, b in pairs]
        found += wealth(gaps, levels=[level_of(*pair) for pair in pairs]) >= 100
        by_gaps += wealth(gaps) >= 100
        by_sizes += wealth_by_sizes(gaps) >= 100
    assert found >= 38 > by_gaps and by_sizes <= 24


def test_what_is_remembered_of_earlier_pairs_changes_nothing() -> None:
    generator = random.Random(3)
    gaps, levels = ([generator.gauss(0.01, 0.1) for _ in range(100)] for _ in range(2))
    grown = [wealth(gaps[:pairs], 0.01, levels[:pairs]) for pairs in range(101)]
    for pairs in (31, 32, 33, 65, 100):
        _known_purses.cache_clear()
        assert wealth(gaps[:pairs], 0.01, levels[:pairs]) == grown[pairs]


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=40), st.floats(-300, 300))
def test_no_pair_ruins_or_makes_a_fortune_and_every_wealth_is_a_number(gaps: list[float], level: float) -> None:
    levels = [level] * len(gaps)
    before, after = wealth(gaps[:-1], 0.0, levels[:-1]), wealth(gaps, 0.0, levels)
    assert 0.05 * before * (1 - 1e-9) <= after <= 1.95 * before * (1 + 1e-9)
    assert math.isfinite(wealth([gap * 1e-310 for gap in gaps], 0.0, levels))


def test_a_tie_among_gaps_says_nothing() -> None:
    gaps = [0.1, -0.1, 0.2, 0.1, -0.3, 0.1]
    assert wealth([*gaps, 0.0, 0.1]) != wealth([*gaps, 0.1])  # it counts among the sizes
    assert math.isclose(wealth([*gaps, 0.0]), wealth(gaps))


def test_gaps_of_nothing_are_losses() -> None:
    assert wealth([]) == 1.0
    assert wealth([0.0] * 20) < 1e-3
