"""Advantages are centred, None stays out of them, and max@k is what its definition says."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.types import Evaluation, Interval, Outcome
from maxcode.errors import InputError
from maxcode.testing import exact_timing
from maxcode.train.advantages import (
    Advantage,
    Kind,
    best_of,
    entropic,
    grouped,
    half_width,
    leave_one_out,
    max_at_k,
    plain,
    shrunk,
)
from maxcode.train.rewards import Paper, Shaped, rate

scores = st.lists(st.floats(-1, 1), min_size=1, max_size=8)
with_none = st.lists(st.one_of(st.none(), st.floats(-1, 1)), min_size=1, max_size=8)


def marginal(values: list[float], k: int) -> list[float]:
    """The definition, subset by subset."""
    found = []
    for at, one in enumerate(values):
        others = values[:at] + values[at + 1 :]
        drawn = min(k - 1, len(others))
        gains = [max(0.0, one - max(rest)) for rest in combinations(others, drawn)] if drawn else [0.0]
        found.append(sum(gains) / len(gains))
    return found


@given(scores, st.integers(2, 6))
def test_the_closed_form_of_max_at_k_is_its_definition(values: list[float], k: int) -> None:
    assert max_at_k(values, k) == pytest.approx(marginal(values, k), abs=1e-9)


@given(scores, st.integers(1, 9))
def test_the_best_of_k_is_the_mean_over_all_draws(values: list[float], k: int) -> None:
    drawn = [max(some) for some in combinations(values, min(k, len(values)))]
    assert best_of(values, k) == pytest.approx(sum(drawn) / len(drawn), abs=1e-9)


def test_twins_of_the_best_share_almost_nothing_under_max_at_k() -> None:
    alone, twins = max_at_k([0.9, 0.1, 0.1, 0.1, 0.1], 4), max_at_k([0.9, 0.9, 0.9, 0.9, 0.1], 4)
    assert alone[0] == pytest.approx(0.8)
    assert max(twins) < 0.1
    assert plain([0.9, 0.9, 0.9, 0.9, 0.1])[0] == pytest.approx(0.447, abs=0.01), "plain GRPO goes on pushing"


@given(with_none, st.sampled_from(["plain", "leave_one_out", "max_at_k", "entropic"]))
def test_every_advantage_is_centred_and_none_stays_none(values: list[float | None], kind: Kind) -> None:
    found = Advantage(kind)(values)
    assert [one is None for one in found] == [one is None for one in values]
    assert sum(one for one in found if one is not None) == pytest.approx(0.0, abs=1e-6)


@given(with_none, st.sampled_from(["plain", "leave_one_out", "max_at_k", "entropic"]))
def test_an_answer_that_the_machine_failed_changes_nobodys_advantage(values: list[float | None], kind: Kind) -> None:
    with_failures = Advantage(kind)(values)
    without = Advantage(kind)([one for one in values if one is not None])
    assert [one for one in with_failures if one is not None] == pytest.approx(without)


@given(scores)
def test_leave_one_out_is_the_distance_from_the_mean_of_the_others(values: list[float]) -> None:
    for at, found in enumerate(leave_one_out(values)):
        others = values[:at] + values[at + 1 :]
        assert found == pytest.approx(values[at] - sum(others) / len(others) if others else 0.0, abs=1e-9)


@given(st.lists(st.integers(-1000, 1000), min_size=3, max_size=8, unique=True))
def test_entropic_shares_are_ln_2_away_from_equal_ones_and_grow_with_the_score(thousandths: list[int]) -> None:
    values = [one / 1000 for one in thousandths]
    shares = [(one or 0.0) / len(values) + 1 / len(values) for one in entropic(values)]
    away = sum(one * math.log(one * len(values)) for one in shares if one > 1e-12)
    assert sum(shares) == pytest.approx(1.0)
    assert away == pytest.approx(math.log(2), abs=1e-3)
    assert [share for _, share in sorted(zip(values, shares, strict=True))] == sorted(shares)


def test_entropic_pays_the_right_tail_and_twins_of_the_best_share_it() -> None:
    alone, twins = entropic([0.9, 0.3, 0.2, 0.1, 0.1]), entropic([0.9, 0.9, 0.9, 0.9, 0.1])
    assert alone[0] is not None and twins[0] is not None and alone[0] > 5 * twins[0] > 0
    assert twins == pytest.approx([0.25, 0.25, 0.25, 0.25, -1.0]), "they have all of it"
    assert entropic([0.5, 0.5, None]) == [0.0, 0.0, None]


def test_mixing_with_the_plain_reward_tells_a_broken_kernel_from_a_slow_one() -> None:
    broken_slow_fast = [-0.2, 0.3, 0.5, 0.9]
    pure = Advantage("max_at_k", k=2, mix=0.0)(broken_slow_fast)
    mixed = Advantage("max_at_k", k=2, mix=2.0)(broken_slow_fast)
    assert pure[0] is not None and pure[1] is not None and mixed[0] is not None and mixed[1] is not None
    assert mixed[1] - mixed[0] == pytest.approx(pure[1] - pure[0] + 2.0 * 0.5)


def test_what_max_at_k_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="leave_one_out"):
        Advantage(k=1)
    with pytest.raises(InputError, match="did you mean 'max_at_k'"):
        Advantage("max_k")  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------------- noise


def test_scores_inside_each_others_intervals_come_together_and_others_stay() -> None:
    found = shrunk([0.50, 0.51, 0.90, None, -0.2], [0.05, 0.05, 0.05, 0.0, 0.0])
    assert found[3] is None
    assert found[4] == -0.2
    assert found[0] is not None and found[1] is not None and found[2] is not None
    assert 0 < found[1] - found[0] < 0.001
    assert found[2] == pytest.approx(0.90, abs=0.001)


@given(with_none)
def test_without_noise_nothing_shrinks(values: list[float | None]) -> None:
    assert shrunk(values, [0.0] * len(values)) == values


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.3)), min_size=1, max_size=8))
def test_shrinking_never_leaves_the_range_of_the_scores(rows: list[tuple[float, float]]) -> None:
    values = [value for value, _ in rows]
    for one in shrunk(values, [width for _, width in rows]):
        assert one is not None
        assert min(values) - 1e-9 <= one <= max(values) + 1e-9


def test_the_width_of_a_reward_follows_the_interval_of_the_rate() -> None:
    timing = replace(exact_timing(2.0), gflops=Interval(10.0, 8.0, 12.0), roofline=60.0)
    found = Evaluation(Outcome.CORRECT, timing=timing)
    assert half_width(Paper(), found) == pytest.approx(2.0)
    assert 0 < half_width(Shaped(), found) < 0.1
    assert half_width(Shaped(), Evaluation(Outcome.WRONG)) == half_width(Shaped(), None) == 0.0


def test_the_width_of_a_rate_that_another_clock_cuts_is_cut_once() -> None:
    """It sleeps: twice as fast by CPU time, half as fast by the wall clock, so a quarter of its rate counts."""
    asleep = replace(exact_timing(2.0), elapsed=Interval(0.5, 0.5, 0.5))
    counted = Evaluation(Outcome.CORRECT, timing=replace(asleep, gflops=Interval(40.0, 32.0, 48.0), roofline=60.0))
    found = rate(counted)
    assert found is not None and (found.value, found.low, found.high) == (10.0, 8.0, 12.0)
    assert half_width(Paper(), counted) == pytest.approx(2.0)
    by_ratio = Evaluation(Outcome.CORRECT, timing=replace(asleep, speedup=Interval(2.0, 1.6, 2.4)))
    assert half_width(Paper(), by_ratio) == pytest.approx(0.1)


def test_groups_are_changed_apart() -> None:
    values = [1.0, 3.0, 10.0, 30.0]
    assert grouped(values, [7, 7, 8, 8], lambda group: leave_one_out(group)) == [-2.0, 2.0, -20.0, 20.0]
