"""The noise of this machine's clock: an A/A control, a race between two copies of one program."""

from __future__ import annotations

from maxcode.code.languages import language
from maxcode.core.stats import median_interval
from maxcode.core.types import Interval, Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Track
from maxcode.sandbox.lanes import timing_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

PAIRS = 15
_SPIN = """#include <stdio.h>
int main(void) {
    unsigned x = 1;
    for (int i = 0; i < 12000000; i++) x = x * 1664525u + 1013904223u;
    printf("%u\\n", x);
    return 0;
}
"""


async def control(sandbox: Sandbox, builder: Builder) -> Interval:
    """The paired ratio of a program to itself (true value: 1) with its interval."""
    row = language("c")
    program = Program({"spin.c": _SPIN})
    problem = Problem("control", "program", "c", program, ProgramSpec(flags=row.default_flags))
    built = await builder.build(problem, program, final=True)
    assert built.artefact is not None, built.diagnostics
    with Blob.of(b"") as empty:
        given = Input("spin", empty, b"2447643393\n", "held_out")
        entry = RaceSide(built.artefact, {})
        track = Track(RaceInputs(sandbox, problem), {"original": entry, "candidate": entry}, [given])
        async with timing_lane():
            pairs = [await track.pair() for _ in range(PAIRS)]
    return median_interval([pair.ratio("original", "candidate") for pair in pairs])
