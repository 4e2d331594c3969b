"""The reward ladders: their order, the published numbers, and that a broken machine is never a number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.types import Evaluation, Interval, Outcome
from maxcode.testing import exact_timing
from maxcode.train.rewards import REWARDS, Gated, Paper, Shaped, TrainingReward, rate

SPECIAL = (Outcome.CORRECT, Outcome.UNVERIFIED, Outcome.QUARANTINED)
FAILURES = [outcome for outcome in Outcome if outcome not in SPECIAL]
ALL = [make() for make in REWARDS.values()]
rates = st.floats(0.01, 500.0)


def correct(gflops: float, roofline: float = 60.0) -> Evaluation:
    timing = replace(exact_timing(2.0), gflops=Interval(gflops, gflops, gflops), roofline=roofline)
    return Evaluation(Outcome.CORRECT, timing=timing)


def test_the_published_ladder_is_as_published() -> None:
    told = {outcome: Paper()(Evaluation(outcome)) for outcome in FAILURES}
    assert told == {
        Outcome.UNPARSED: -100.0,
        Outcome.REJECTED: -100.0,
        Outcome.UNBUILT: -40.0,
        Outcome.TIMEOUT: -30.0,
        Outcome.CRASHED: -20.0,
        Outcome.WRONG: -10.0,
    }
    assert Paper()(correct(12.5)) == 12.5
    assert Paper(scale=0.1)(correct(12.5)) == pytest.approx(1.25)


@pytest.mark.parametrize("reward", ALL, ids=lambda reward: type(reward).__name__)
def test_every_ladder_climbs_with_the_outcome(reward: TrainingReward) -> None:
    told = [reward(Evaluation(outcome)) for outcome in FAILURES]
    numbers = [one for one in told if one is not None]
    assert len(numbers) == len(FAILURES)
    assert numbers == sorted(numbers)
    slowest = reward(correct(0.001))
    assert slowest is not None and slowest > numbers[-1]


@pytest.mark.parametrize("reward", ALL, ids=lambda reward: type(reward).__name__)
@given(slow=rates, fast=rates)
def test_the_faster_of_two_correct_kernels_is_worth_more(reward: TrainingReward, slow: float, fast: float) -> None:
    low, high = reward(correct(slow)), reward(correct(fast))
    assert low is not None and high is not None
    assert (low < high) == (slow < fast) or abs(slow - fast) < 1e-9 * fast


@pytest.mark.parametrize("reward", ALL, ids=lambda reward: type(reward).__name__)
def test_a_failure_of_the_machine_is_none_and_never_a_number(reward: TrainingReward) -> None:
    assert reward(None) is None
    assert reward(Evaluation(Outcome.CORRECT)) is None, "correct, but nothing could be timed"
    assert reward(Evaluation(Outcome.UNVERIFIED)) is None, "there is no GPU to run it on"
    assert reward(Evaluation(Outcome.QUARANTINED)) is None, "two nodes were lost with it"
    busy = replace(exact_timing(2.0), verdict="noisy")
    assert reward(Evaluation(Outcome.CORRECT, timing=busy)) is None


@given(gflops=rates)
def test_shaped_rewards_stay_in_a_range_that_a_groups_mean_can_bear(gflops: float) -> None:
    told = Shaped()(correct(gflops, roofline=500.0))
    assert told is not None and 0 < told <= 1.0
    gated = Gated()(correct(gflops, roofline=500.0))
    assert gated is not None and 0.5 < gated <= 1.0


def test_speed_counts_only_where_the_program_is_right() -> None:
    """A fast wrong program is worth less than the slowest right one, whatever its timing says."""
    wrong = replace(correct(400.0), outcome=Outcome.WRONG)
    for reward in ALL:
        told, slowest = reward(wrong), reward(correct(0.01))
        assert told is not None and slowest is not None and told < slowest
    assert rate(wrong) is None


def test_a_problem_without_a_count_of_its_work_is_rated_by_its_speed_up() -> None:
    found = Evaluation(Outcome.CORRECT, timing=exact_timing(3.0))
    assert rate(found) == Interval(3.0, 3.0, 3.0)
    assert Paper()(found) == 3.0
