"""What the judge says of a faster program that is slower on tests that were not timed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maxcode.core.types import Evaluation, Interval, Outcome, Problem, Program, ProgramSpec, Timing
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.judge import ELSEWHERE, with_timing
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.sandbox.sandbox import Blob

SECONDS = {"timed": 0.3, "sorted": 0.25, "few values": 0.25, "tiny": 0.001}
FASTER = Timing("cpu", Interval(2, 1.9, 2.1), True, "faster", 9, inputs=("timed",), samples=((0.3, 0.15),) * 9)


def admitted() -> Admitted:
    problem = Problem("sort", "program", "cpp", Program({"a.cpp": ""}), ProgramSpec())
    inputs = tuple(Input(name, Blob.of(b""), b"", "held_out", seconds) for name, seconds in SECONDS.items())
    return Admitted(problem, inputs, inputs[:1], Built(None), Evaluation(Outcome.CORRECT))


def doubts(timing: Timing, **seconds: float) -> tuple[str, ...]:
    measures = {**SECONDS, **{name.replace("_", " "): one for name, one in seconds.items()}}
    found = with_timing(Evaluation(Outcome.CORRECT, measures=measures), timing, admitted())
    return tuple(words for words in found.warnings if words.startswith(ELSEWHERE))


def test_a_gain_on_the_timed_test_that_others_pay_for_is_doubted() -> None:
    (doubt,) = doubts(FASTER, sorted=2.5, few_values=0.2)
    assert doubt.endswith("2.70 s on 2 other tests, 0.50 s for the original")


@pytest.mark.parametrize("seconds", [{}, {"sorted": 0.4}, {"timed": 9.0}, {"tiny": 0.5}])
def test_noise_the_timed_tests_and_short_ones_are_no_doubt(seconds: dict[str, float]) -> None:
    assert doubts(FASTER, **seconds) == ()


def test_a_machine_that_is_slower_than_at_the_admission_is_no_doubt_and_a_faster_one_hides_none() -> None:
    throttled = replace(FASTER, samples=((0.6, 0.3),) * 9)
    assert doubts(throttled, sorted=0.5, few_values=0.5) == ()
    assert doubts(replace(FASTER, samples=((0.15, 0.075),) * 9), sorted=0.25, few_values=0.25)


def test_nothing_is_doubted_of_what_is_not_faster_or_may_use_all_cores() -> None:
    assert doubts(replace(FASTER, significant=False, verdict="tie"), sorted=2.5) == ()
    assert doubts(replace(FASTER, clock="wall"), sorted=2.5) == ()
