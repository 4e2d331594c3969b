"""A winner that was counted is told as one with fewer instructions, and pressure is told with what it spoils."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.history import Reached
from maxcode.core.types import (
    Action,
    Evaluation,
    Interval,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    Step,
    Timing,
    Usage,
)
from maxcode.run.report.headline import standing, verdict
from maxcode.run.report.run_view import RunView, Slot, Winner

SECONDS = Timing("cpu", Interval(1.3, 1.2, 1.4, 0.95), True, "faster", 20, confirmed=True)
COUNTED = Timing("instructions", Interval(2, 1.9999, 2.0001, 1), True, "fewer", 2, True, samples=((2e8, 1e8),) * 2)
ORIGINAL = Program({"a.c": "int main(void) { return 0; }\n"})


def run(timing: Timing) -> RunView:
    root = State(Problem("a", "program", "c", ORIGINAL, ProgramSpec()))
    step = Step(Action(ORIGINAL), Evaluation(Outcome.CORRECT, timing=timing), timing.speedup.value)
    reached = Reached(root)
    reached.extend([State(root.problem, root, step, (1, 0))])
    winner = Winner(ORIGINAL, step.evaluation) if reached.best is not None else None
    return RunView(Path("a"), {}, ORIGINAL, (slot(timing),), reached, (), 0.0, 0.0, 0.0, Usage(), winner)


def slot(timing: Timing) -> Slot:
    return Slot((1, 0), (0, 0), Action(ORIGINAL), Evaluation(Outcome.CORRECT, timing=timing), "", None, True)


def test_a_counted_winner_has_fewer_instructions_and_its_seconds_beside() -> None:
    told = verdict(run(replace(COUNTED, seconds=SECONDS)))
    assert (told.kind, told.headline) == ("won", "2.00x [2.00, 2.00] fewer instructions")
    assert "does not say how many seconds are saved" in told.sentence
    assert "1.30x [1.20, 1.40] (95 % interval, 20 pairs) as fast, which is significant" in told.sentence
    slower = replace(SECONDS, significant=False, verdict="tie")
    assert "which is not proved faster" in verdict(run(replace(COUNTED, seconds=slower))).sentence


@pytest.mark.parametrize(
    ("word", "shown"),
    [("not_in_cpu_time", "no gain in CPU time"), ("noisy", "noisy"), ("more", "refuted"), ("tie", "refuted")],
)
def test_what_does_not_count_says_why(word: str, shown: str) -> None:
    timing = replace(COUNTED, significant=False, verdict=word)  # type: ignore[arg-type]
    assert standing(slot(timing)) == shown
    assert verdict(run(timing)).kind == "none"


@pytest.mark.parametrize(("clock", "pressure", "told"), [("cpu", 60, True), ("cpu", 40, False), ("wall", 20, True)])
def test_pressure_is_told_where_it_matters_to_the_clock(clock: str, pressure: float, told: bool) -> None:
    timing = replace(SECONDS, clock=clock, pressure=pressure, single=Interval(1.25, 1.2, 1.3))  # type: ignore[arg-type]
    sentence = verdict(run(timing)).sentence
    assert (f"waited for a processor {pressure:.0f} %" in sentence) == told
    assert "On one core it is 1.25x" in sentence


def test_a_module_is_told_against_a_compiler_too() -> None:
    timing = replace(SECONDS, over_compiled=Interval(1.87, 1.84, 1.92))
    assert "Against torch.compile of the reference it is 1.87x [1.84, 1.92]" in verdict(run(timing)).sentence
