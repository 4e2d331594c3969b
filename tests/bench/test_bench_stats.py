"""Ranks, resamples and adjusted p-values against worked examples."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.stats import (
    all_resamples,
    cluster_draws,
    holm,
    mean_interval,
    mean_ranks,
    random_resamples,
    sign_flip_p,
)


def test_ties_share_the_mean_rank() -> None:
    assert mean_ranks([3.0, 1.0, 3.0, 2.0]) == [1.5, 4.0, 1.5, 3.0]
    assert mean_ranks([1.0, 1.0, 1.0]) == [2.0, 2.0, 2.0]
    assert mean_ranks([]) == []


@given(st.lists(st.integers(1, 4).map(float), max_size=12))
def test_ranks_add_up_and_follow_the_values(values: list[float]) -> None:
    ranks = mean_ranks(values)
    assert sum(ranks) == len(values) * (len(values) + 1) / 2
    for value, rank in zip(values, ranks, strict=True):
        above = sum(other > value for other in values)
        assert above < rank <= above + values.count(value)


def test_holm_is_the_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_flipping_signs_is_the_worked_example() -> None:
    assert sign_flip_p([3.0, 2.0, -1.0]) == 4 / 8  # |sum| is 4 or more for +++, ++- and their mirror images
    assert sign_flip_p([3.0, 0.0, -1.0, 2.0]) == 4 / 8, "what does not differ counts for neither"
    assert sign_flip_p([0.1] * 3 + [-0.1] * 3) == 1.0
    assert (sign_flip_p([]), sign_flip_p([0.0, 0.0]), sign_flip_p([5.0])) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("problems", range(1, 15))
def test_the_least_p_is_that_of_the_sign_test(problems: int) -> None:
    assert sign_flip_p([1.0 + at for at in range(problems)]) == 2.0 ** (1 - problems)


def test_random_flips_say_what_all_flips_say() -> None:
    generator = random.Random(1)
    for _ in range(5):
        gaps = [generator.gauss(0.3, 1) for _ in range(17)]
        every = [abs(sum(map(mul, gaps, (1.0, *signs)))) for signs in product((1.0, -1.0), repeat=16)]
        exact = sum(one >= abs(sum(gaps)) - 1e-9 for one in every) / len(every)
        assert sign_flip_p(gaps) == pytest.approx(exact, abs=0.02)
        assert sign_flip_p(gaps) == sign_flip_p([*gaps, 0.0])
    assert sign_flip_p([1.0] * 30, draws=1999) == 1 / 2000


def test_an_interval_of_a_mean_is_student_s() -> None:
    found = mean_interval([1.0, 2.0, 3.0])
    assert (found.value, found.low) == pytest.approx((2.0, 2 - 4.30265 / 3**0.5), rel=1e-4)
    assert found.low + found.high == pytest.approx(4.0)


def test_resamples_are_all_ways_or_as_many_as_asked() -> None:
    assert Counter(all_resamples(2)) == Counter([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert len(set(all_resamples(3))) == 27
    drawn = random_resamples(5, 64, random.Random(0))
    assert len(drawn) == 64
    assert {len(way) for way in drawn} == {5}
    assert {at for way in drawn for at in way} == set(range(5))


def test_draws_take_clusters_and_their_resamples_evenly() -> None:
    draws = list(cluster_draws(clusters=4, variants=3, draws=3000, seed=1))
    assert {len(draw) for draw in draws} == {4}
    counts = Counter(at for draw in draws for at in draw)
    assert set(counts) == set(range(12))
    assert max(counts.values()) < 1.2 * min(counts.values())
    assert draws == list(cluster_draws(4, 3, 3000, 1))
