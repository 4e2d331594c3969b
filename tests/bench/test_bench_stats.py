"""Ranks, resamples and adjusted p-values against worked examples."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.stats import all_resamples, bootstrap_p, cluster_draws, holm, mean_ranks, random_resamples


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


def test_a_bootstrap_p_is_no_smaller_than_the_clusters_allow() -> None:
    sure = [1.0] * 1999
    assert bootstrap_p(sure, 20) == pytest.approx(2 / 2000)
    assert bootstrap_p(sure, 3) == 0.25
    assert bootstrap_p([0.0] * 1999, 0) == 1.0
    assert bootstrap_p([-1.0] * 50 + [1.0] * 1949, 20) == pytest.approx(2 * 51 / 2000)


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
