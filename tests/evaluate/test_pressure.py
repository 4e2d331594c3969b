"""How busy the machine was while something was timed, and what that does to a figure."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Case, Interval, Problem, Program, ProgramSpec, State, Step, Timing
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.machine.machine import stalled_s
from maxcode.evaluate.machine.pressure import is_too_busy, stamps, watched
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.lanes import build_lane, no_builds, timing_lane
from maxcode.sandbox.sandbox import Sandbox
from tests.support.counting import FAST, SLOW

WORDS = "some task waited for a processor"


@contextmanager
def crowd() -> Iterator[None]:
    """Twice as many busy processes as there are cores."""
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        time.sleep(0.5)
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("tests")
    (folder / "a.in").write_text("200000000\n")
    (folder / "a.out").write_text(f"{200000000 * 199999999 // 2}\n")
    spec = ProgramSpec(flags=("-O1",), held_out=(Case("a", str(folder / "a.in"), str(folder / "a.out")),))
    return Problem("count", "program", "c", Program({"count.c": SLOW}), spec, goal="wall")


def timing(clock: str, pressure: float | None, verdict: str = "faster") -> Timing:
    found = Timing("cpu", Interval(2, 1.9, 2.1, 0.95), verdict == "faster", "faster", 15, pressure=pressure)
    return replace(found, clock=clock, verdict=verdict)  # type: ignore[arg-type]


@pytest.mark.heavy
def test_a_crowd_is_seen_while_it_is_there() -> None:
    assert stalled_s() is not None
    with crowd():
        pressure = watched()
        time.sleep(1)
        found = pressure()
    assert found is not None
    assert 10 < found <= 100


def test_wall_time_does_not_count_under_pressure_unless_the_user_says_so(problem: Problem) -> None:
    shared = replace(problem, spec=replace(problem.spec, shared_cores=True))
    assert is_too_busy(problem, 10.1)
    assert not is_too_busy(problem, 9.9)
    assert not is_too_busy(problem, None)
    assert not is_too_busy(shared, 80)
    assert not is_too_busy(replace(problem, goal="cpu"), 80)
    assert "--shared-cores" in " ".join(stamps(timing("wall", 30, "noisy")))
    assert WORDS in " ".join(stamps(timing("wall", 30)))
    assert WORDS in " ".join(stamps(timing("cpu", 51)))
    assert [*stamps(timing("cpu", 49)), *stamps(timing("wall", 9)), *stamps(timing("wall", None))] == []


@pytest.mark.slow
def test_a_winner_by_the_wall_clock_is_busy_in_a_crowd_and_stamped_where_cores_are_shared(
    sandbox: Sandbox, builder: Builder, problem: Problem
) -> None:
    evaluator = ProgramEvaluator(sandbox, builder)
    shared = replace(problem, spec=replace(problem.spec, shared_cores=True))
    action = Action(Program({"count.c": FAST}))
    with crowd():
        found = anyio.run(evaluator.evaluate, anyio.run(evaluator.admit, problem).problem, action)
        assert found.timing is not None
        assert (found.timing.verdict, found.timing.significant) == ("noisy", False)
        assert found.timing.pressure is not None
        assert found.timing.pressure > 10
        assert any("is not counted as faster" in warning for warning in found.warnings)
        taken = anyio.run(evaluator.evaluate, anyio.run(evaluator.admit, shared).problem, action)
        assert taken.timing is not None
        assert (taken.timing.verdict, taken.timing.significant) == ("faster", True)
        assert any("wall time on shared cores" in warning for warning in taken.warnings)
        root = State(shared)
        state = State(shared, root, Step(action, taken, 2.0), (1, 0))
        settled = anyio.run(evaluator.settle, shared, [state], None)[state.id]
    assert settled.timing is not None
    assert settled.timing.single is not None  # on one core, by CPU time
    assert settled.timing.pressure is not None


def test_the_wall_clock_waits_for_builds_and_builds_wait_for_it(tmp_path: Path) -> None:
    told: list[str] = []

    async def build(name: str, ready: anyio.Event) -> None:
        async with build_lane():
            ready.set()
            told.append(f"{name} begins")
            await anyio.sleep(0.05)
            told.append(f"{name} ends")

    async def together() -> None:
        first, second = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(build, "first", first)
            await first.wait()
            async with timing_lane(tmp_path / "lane"), no_builds():
                told.append("race begins")
                group.start_soon(build, "second", second)
                await anyio.sleep(0.05)
                told.append("race ends")

    anyio.run(together)
    assert told == ["first begins", "first ends", "race begins", "race ends", "second begins", "second ends"]
