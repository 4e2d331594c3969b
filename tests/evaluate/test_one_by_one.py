"""A function that works on several calls together is doubted: alone it must save about as much a call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Clock, Evaluation, Outcome, Problem, Program, ProgramSpec
from maxcode.evaluate.function.calls import Calls
from maxcode.evaluate.function.function import Inputs
from maxcode.evaluate.function.second_look import shape_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.inputs.fresh import FreshInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.one_by_one import OneByOne
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.ladder.verify import verify
from maxcode.evaluate.program.winner_check import ProgramCheck
from maxcode.problems import load
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

GALLERY = Path(__file__).parent / "gallery"


def held(original: float, candidate: float, noise: float = 0.0) -> Pair:
    return Pair({"original": {"calls": original}, "candidate": {"calls": candidate + noise}}, {})


def passes(several: list[Pair], alone: list[Pair], calls: int = 100) -> OneByOne:
    both = OneByOne(calls, least=len(alone))
    both.add(several, alone)
    return both


def test_what_is_saved_alone_must_be_about_what_is_saved_together() -> None:
    noises = (0.0, 1e-4, 0.0, 2e-4, 8e-3)
    honest = passes([held(10e-3, 5e-3, one) for one in noises], [held(40e-3, 35e-3, 2 * one) for one in noises])
    assert honest.doubt() == ""
    together = passes([held(10e-3, 5e-3)] * 5, [held(40e-3, 39.8e-3, one) for one in noises])
    assert "saves 50.00 us a call where several calls come together, but 1.00 us" in together.doubt()
    assert passes([held(10e-3, 9.5e-3)], [held(40e-3, 40e-3)]).doubt() == "", "too little to doubt"
    assert passes([held(10e-3, 11e-3)], [held(40e-3, 60e-3)]).doubt() == "", "not faster at all"


def test_passes_go_on_while_noise_hides_what_is_saved_alone() -> None:
    quiet, loud = held(40e-3, 35e-3), held(40e-3, 48e-3)
    both = OneByOne(100, least=10)
    assert not both.is_over()
    both.add([held(10e-3, 5e-3)] * 10, [quiet] * 5 + [loud] * 5)
    assert not both.is_over()
    both.add([held(10e-3, 5e-3)] * 20, [quiet] * 20)
    assert both.is_over() and both.doubt() == ""
    both = OneByOne(100, least=10)
    both.add([held(10e-3, 5e-3)] * 40, [quiet, loud] * 20)
    assert both.is_over(), "four times the pairs are the most"


async def outcome(sandbox: Sandbox, builder: Builder, problem: Problem, text: str) -> Outcome:
    """Of a candidate in rounds of one call."""
    source = Calls(Inputs(sandbox, problem))
    (shape,) = timed_shapes(problem)
    alone = source.one_by_one(Input(shape.name, await source.inputs.fresh(shape), None, "generated", workload=shape))
    assert alone is not None and (shape_of(alone).rounds, shape_of(alone).spec.slots) == (48 * 8, 1)
    alone = replace(alone, stdin=await source.inputs.fresh(shape_of(alone)))
    built = [await builder.build(problem, problem.program.with_text(one)) for one in (problem.program.text, text)]
    assert built[0].artefact is not None and built[1].artefact is not None
    right = (await verify(sandbox, problem, built[0].artefact, [alone])).outputs[alone.name]
    return (await verify(sandbox, problem, built[1].artefact, [replace(alone, expected=right)])).outcome


def test_in_rounds_of_one_call_nothing_can_be_put_off(sandbox: Sandbox, builder: Builder) -> None:
    problem = load(GALLERY / "originals" / "iir").problem
    late = (GALLERY / "functions" / "work_put_off.c").read_text().replace("SLOTS = 8", "SLOTS = 2")
    assert anyio.run(outcome, sandbox, builder, problem, problem.program.text) is Outcome.CORRECT
    assert anyio.run(outcome, sandbox, builder, problem, late) is Outcome.WRONG


@pytest.mark.parametrize(("goal", "waits"), [("wall", True), ("cpu", False)])
def test_a_control_by_the_wall_clock_waits_for_builds(
    sandbox: Sandbox, builder: Builder, goal: Clock, waits: bool
) -> None:
    program = Program({"a.c": "int main(void) { for (volatile int i = 0; i < 1000000; i++) ; }\n"})
    problem = Problem("short", "program", "c", program, ProgramSpec(flags=("-O1",)), goal=goal)
    given = Input("1", Blob.of(b""), b"", "generated", 0.001)

    async def pairs(limit_s: float) -> int:
        original = await builder.build(problem, program)
        admitted = Admitted(problem, (given,), (given,), original, Evaluation(Outcome.CORRECT))
        check = ProgramCheck(sandbox, builder, admitted, program, FreshInputs(sandbox, builder))
        found: list[Pair] = []
        async with build_lane():
            with anyio.move_on_after(limit_s):
                found = await check.control((2,))
        return len(found)

    assert anyio.run(pairs, 2.0 if waits else 600.0) == (0 if waits else 2)
