"""The max-reward arithmetic keeps its identities for every sequence and discount."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.reward import bank, banked, max_return, reward_to_go, speedup
from maxcode.core.types import Action, Evaluation, Interval, Outcome, RaceVerdict, Step
from maxcode.testing import exact_timing
from maxcode.train.rewards import rate

rewards = st.lists(st.floats(0, 100), max_size=12)
gammas = st.floats(0.1, 1.0)


@given(rewards, gammas)
def test_the_first_reward_to_go_is_the_max_return(sequence: list[float], gamma: float) -> None:
    to_go = reward_to_go(sequence, gamma)
    assert len(to_go) == len(sequence)
    if sequence:
        assert math.isclose(to_go[0], max_return(sequence, gamma), rel_tol=1e-12)


@given(rewards.filter(bool), gammas, st.floats(0, 100))
def test_banking_then_looking_ahead_equals_looking_ahead_then_banking(
    sequence: list[float], gamma: float, u: float
) -> None:
    now, ahead = reward_to_go(sequence, gamma)[0], ([*reward_to_go(sequence, gamma), 0.0])[1]
    assert math.isclose(max(u, now), gamma * max(bank(u, sequence[0], gamma), ahead), rel_tol=1e-9)


@given(rewards, gammas, st.floats(0, 100))
def test_u_at_the_end_of_a_path_is_the_banked_maximum_in_the_units_of_the_end(
    sequence: list[float], gamma: float, start: float
) -> None:
    steps = [Step(Action(None), Evaluation(Outcome.CORRECT), reward) for reward in sequence]
    expected = max([start, *(gamma**k * reward for k, reward in enumerate(sequence))]) / gamma ** len(sequence)
    assert math.isclose(banked(steps, gamma, start), expected, rel_tol=1e-9)


def test_max_return_is_a_maximum_and_not_a_sum() -> None:
    assert max_return([1.0, 3.0, 2.0]) == 3.0
    assert max_return([1.0, 3.0, 2.0], gamma=0.5) == 1.5
    assert max_return([]) == 0.0


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.CORRECT])
def test_nothing_but_a_correct_program_earns(outcome: Outcome) -> None:
    assert speedup(Evaluation(outcome, timing=exact_timing(9.0))) == 0.0


def test_a_correct_program_earns_its_speedup_and_an_untimed_one_nothing() -> None:
    assert speedup(Evaluation(Outcome.CORRECT, timing=exact_timing(1.7))) == 1.7
    assert speedup(Evaluation(Outcome.CORRECT)) == 0.0


def test_the_outcomes_are_one_ordered_ladder() -> None:
    names = [outcome.value for outcome in sorted(Outcome)]
    unknown = ["unverified", "quarantined"]
    assert names == ["unparsed", "rejected", "unbuilt", *unknown, "timeout", "crashed", "wrong", "correct"]
    assert Outcome.WRONG < Outcome.CORRECT
    assert Outcome.TIMEOUT >= Outcome.UNBUILT


def test_what_another_clock_contradicts_earns_what_that_one_says() -> None:
    timing = exact_timing(8.0)
    slept = replace(timing, verdict="slower_by_wall", significant=False, elapsed=Interval(0.5, 0.4, 0.6))
    assert speedup(Evaluation(Outcome.CORRECT, timing=slept)) == pytest.approx(0.5)
    counted = replace(
        timing, clock="instructions", verdict="not_in_cpu_time", significant=False, seconds=exact_timing(0.9)
    )
    assert speedup(Evaluation(Outcome.CORRECT, timing=counted)) == pytest.approx(0.9)
    rates = replace(slept, gflops=Interval(16.0, 15.0, 17.0))
    assert rate(Evaluation(Outcome.CORRECT, timing=rates)) == Interval(1.0, 0.9375, 1.0625)
    as_fast = replace(rates, verdict="faster", elapsed=Interval(8.0, 7.0, 9.0))
    assert rate(Evaluation(Outcome.CORRECT, timing=as_fast)) == rates.gflops


@pytest.mark.parametrize("verdict", ["tie", "dominated", "slower_by_wall"])
def test_who_sleeps_earns_what_the_wall_clock_says_however_its_race_ended(verdict: RaceVerdict) -> None:
    slept = replace(exact_timing(8.0), verdict=verdict, significant=False, elapsed=Interval(0.5, 0.4, 0.6))
    assert speedup(Evaluation(Outcome.CORRECT, timing=slept)) == pytest.approx(0.5)
    by_count = replace(slept, clock="instructions", verdict="not_in_cpu_time", elapsed=None, seconds=slept)
    assert speedup(Evaluation(Outcome.CORRECT, timing=by_count)) == pytest.approx(0.5)
    on_all_cores = replace(slept, clock="wall")  # there the clock that decides has said so itself
    assert speedup(Evaluation(Outcome.CORRECT, timing=on_all_cores)) == pytest.approx(8.0)
