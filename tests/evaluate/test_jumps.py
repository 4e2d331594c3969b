"""Values at which an original's answer jumps: `<` in place of `<=` is a doubt about a winner, and no wrong answer."""

from __future__ import annotations

import struct
from pathlib import Path

import anyio

from maxcode.core.types import Evaluation, Outcome, Problem
from maxcode.evaluate.function.function import Inputs, Shape, plan_bytes, read_arrays, spec_of
from maxcode.evaluate.function.habits import GRID
from maxcode.evaluate.inputs.beyond import jump_shapes
from maxcode.evaluate.inputs.fresh import AT_JUMPS, FreshInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.run.certificate.doubts import findings_of
from maxcode.sandbox.sandbox import Sandbox

TOML = """
kind = "function"
source = "bins.c"
flags = ["-std=gnu17", "-O3", "-march=native"]
[function]
name = "bins"
header = "bins.h"
arguments = ["int n", "const double x[n]", "int y[n]"]
timed = [{{ n = 4000 }}]
checked = [{{ n = 1 }}, {{ n = 700 }}]
flop = "n"
{more}
"""
HEADER = "void bins(int n, const double *x, int *y);\n"
ORIGINAL = "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < 64; j++) y[i] += (j - 32) / 32.0 <= x[i]; }"
BY_FLOOR = (
    "for (int i = 0; i < n; i++) { const double at = floor(32 * x[i]) + 33; "
    "y[i] = at < 0 ? 0 : at > 64 ? 64 : (int)at; }"
)
# Numbers above 0 that are an edge are taken for smaller ones; of edges up to 0 other inputs tell.
BELOW = BY_FLOOR.replace("floor(32 * x[i]) + 33", "x[i] > 0 ? ceil(32 * x[i]) + 32 : floor(32 * x[i]) + 33")


def text_of(body: str) -> str:
    return f'#include <math.h>\n#include "bins.h"\n{HEADER.rstrip()[:-1]} {{ {body} }}\n'


def problem_of(folder: Path, body: str = ORIGINAL, more: str = "") -> Problem:
    (folder / "bins.h").write_text(HEADER)
    (folder / "bins.c").write_text(text_of(body))
    (folder / "problem.toml").write_text(TOML.format(more=more))
    return load(folder).problem


def doubt(bench: ProgramEvaluator, problem: Problem, body: str, sandbox: Sandbox, builder: Builder) -> str:
    async def asked() -> str:
        admitted = await bench.admit(problem)
        built = await builder.build(problem, problem.program.with_text(text_of(body)), final=True)
        assert built.artefact is not None, built.diagnostics
        fresh = FreshInputs(sandbox, builder)
        assert await fresh.failure(admitted, built.artefact, harsh=True) is None  # no verdict depends on it
        again = (await fresh.made(admitted, harsh=True)).inputs
        assert all(one.seconds > 0 for one in again)  # the limits of a re-check are those of a verification
        return await fresh.given_kind_only(admitted, built.artefact)

    return anyio.run(asked)


def test_less_in_place_of_at_most_is_a_doubt(
    sandbox_evaluator: ProgramEvaluator, sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    assert BELOW != BY_FLOOR
    problem = problem_of(tmp_path)
    found = doubt(sandbox_evaluator, problem, BELOW, sandbox, builder)
    assert found.startswith(f"{AT_JUMPS}: wrong on ") and "in place of" in found
    assert findings_of(Evaluation(Outcome.CORRECT, warnings=(found,))) == (found,)
    assert doubt(sandbox_evaluator, problem, BY_FLOOR, sandbox, builder) == ""


def test_no_number_comes_twice_and_values_that_cannot_come_are_not_asked(sandbox: Sandbox, tmp_path: Path) -> None:
    """Which of two equal numbers comes first is another question, which honest programs answer in other ways."""
    problem = problem_of(tmp_path)
    shape = Shape(spec_of(problem), (700,), 2, 0, (GRID, "u"), 1, GRID)
    plan = anyio.run(Inputs(sandbox, problem).fresh, shape).read()
    for _, part in read_arrays(shape, plan_bytes(shape)):
        found = struct.unpack("700d", plan[part])
        assert len(set(found)) == 700
        assert sum((32 * one).is_integer() for one in found) > 150
    assert {one.sizes for one in jump_shapes(problem, frozenset())} == {(4000,), (1,), (700,)}
    assert jump_shapes(problem_of(tmp_path, more='domain = { x = "drawn" }'), frozenset()) == ()
