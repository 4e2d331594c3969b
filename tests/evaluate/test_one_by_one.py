"""A function that works on several calls together is doubted: alone it must save about as much a call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from maxcode.core.types import Outcome, Problem
from maxcode.evaluate.function.calls import Calls
from maxcode.evaluate.function.function import Inputs
from maxcode.evaluate.function.second_look import shape_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.one_by_one import doubt_about_calls
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.ladder.verify import verify
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

GALLERY = Path(__file__).parent / "gallery"


def held(original: float, candidate: float, noise: float = 0.0) -> Pair:
    return Pair({"original": {"calls": original}, "candidate": {"calls": candidate + noise}}, {})


def test_what_is_saved_alone_must_be_about_what_is_saved_together() -> None:
    honest = [(held(10e-3, 5e-3, noise), held(40e-3, 35e-3, 2 * noise)) for noise in (0, 1e-3, 8e-3)]
    assert doubt_about_calls(honest, 100) == ""
    together = [(held(10e-3, 5e-3, noise), held(40e-3, 39.8e-3, noise)) for noise in (0, 1e-3)]
    assert "saves 50.00 us a call where several calls come together, but 2.00 us" in doubt_about_calls(together, 100)
    assert doubt_about_calls([(held(10e-3, 9.5e-3), held(40e-3, 40e-3))], 100) == "", "too little to doubt"
    assert doubt_about_calls([(held(10e-3, 11e-3), held(40e-3, 60e-3))], 100) == "", "not faster at all"


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
