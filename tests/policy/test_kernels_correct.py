"""Whatever steps are taken on a kernel, it computes what the original computes, and writes nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import pytest

import maxcode
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import fenced
from maxcode.core.types import (
    Action,
    Evaluation,
    Observation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    Section,
    State,
    Step,
)
from maxcode.evaluate.ladder.build import Builder
from maxcode.policy.rules.kernels.policy import propose
from maxcode.policy.rules.kernels.schedule import after
from maxcode.policy.rules.kernels.steps import ALL
from maxcode.sandbox.sandbox import Blob, Job, Sandbox
from tests.policy.test_kernels_declines import taken
from tests.support.drawn_kernels import sample
from tests.support.selection import some

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MORE = Path(__file__).parent / "kernels"
SIZES = (0, 1, 2, 3, 7, 17, 33, 64, 65)
FLAGS = ("-std=gnu17", "-O1", "-march=native", "-fopenmp-simd", "-w")
CALLS = {  # size a, b, c -> the values of three inputs, the length of the output, and the call
    "gemm": ("a * c", "c * b", "a * b", "(a, b, c, x, y, out)"),
    "stencil": ("a * a * a", "1", "a * a * a", "(a, x, out)"),
    "trsm": ("a * a", "a * b", "a * b", "(a, b, x, y, out)"),
    "threemm": ("a * a", "a * a", "3 * a * a", "(a, x, y, x + 1, y, out, out + a * a, out + 2 * a * a)"),
    "correlation": ("a * b", "1", "b * b", "(a, b, x, out)"),
    "triangle": ("a * b", "1", "a * a", "(a, b, x, out)"),
    "sweep": ("1", "1", "a * a", "(a, out)"),
    "scaled": ("a * c", "c * b", "a * b", "(a, b, c, x, y, out)"),
    "falling": ("a * c", "c * b", "a * b", "(a, b, c, x, y, out)"),
    "upper": ("a * a", "1", "a * b + a * a", "(a, b, x, out, out + a * b)"),
    "columns": ("1", "1", "a * b + b * b + b", "(a, b, out, out + a * b, out + a * b + b * b)"),
    "factors": ("a * a", "1", "3 * a * a", "(a, x, out, out + a * a, out + 2 * a * a)"),
    "sides": (
        "a * a",
        "a * (a + b)",
        "2 * a * b + b + 2 * a",
        "(a, b, x, y, out, out + a * b, out + 2 * a * b, out + 2 * a * b + b, out + 2 * a * b + b + a)",
    ),
    "paths": ("a * a", "1", "2 * a * a", "(a, x, out)"),
    "filters": ("a * b", "1", "2 * a * b", "(a, b, x, out, out + a * b)"),
    "waves": ("c", "1", "3 * a * b", "(a, b, c, x, out, out + a * b, out + 2 * a * b)"),
    "heat": ("1", "1", "2 * a * a * a", "(a, b, out, out + a * a * a)"),
}
MAIN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "@NAME@.h"
#undef @NAME@
enum { GUARD = 64 };
static double *filled(long size, int seed) {
    double *made = malloc((size + 2 * GUARD) * sizeof(double));
    for (long i = 0; i < size + 2 * GUARD; i++) made[i] = ((i * 7919 + seed * 104729) % 2003) / 1001.0 - 1.0;
    return made;
}
typedef void (*Kernel)@TYPES@;
@DECLARED@
static Kernel kernels[] = {@LISTED@};
static double worst(Kernel kernel, int a, int b, int c) {
    double *x = filled(@X@ + 1, 1), *y = filled(@Y@ + 1, 2), *expected = filled(@OUT@, 3), *got = filled(@OUT@, 3);
    if (@DIAGONAL@) for (long i = 0; i < a; i++) x[i * a + i] = 2.0 + a;
    double *out = expected + GUARD;
    original@CALL@;
    out = got + GUARD;
    kernel@CALL@;
    double error = 0.0;
    for (long i = 0; i < @OUT@ + 2 * GUARD; i++) {
        double apart = fabs(got[i] - expected[i]) / (1e-3 + fabs(expected[i]));
        if (got[i] != expected[i] && !(apart <= error)) error = apart;
    }
    free(x), free(y), free(expected), free(got);
    return error;
}
int main(void) {
    int sizes[][3] = {@SIZES@};
    for (int k = 1; k < @COUNT@; k++) {
        double error = 0.0;
        for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
            double here = worst(kernels[k], sizes[s][0], sizes[s][1], sizes[s][2]);
            if (!(here <= error)) error = here;
        }
        printf("%.3g\n", error);
    }
}
"""

Errors = Callable[[str, list[str]], list[float]]


def file(name: str) -> str:
    """What is in NAME.c or NAME.h of an example or of the kernels here."""
    folder = MORE if (MORE / name).exists() else EXAMPLES / name.partition(".")[0]
    return (folder / name).read_text(encoding="utf-8")


def original(name: str) -> str:
    return file(f"{name}.c")


def sizes(name: str) -> Iterable[tuple[int, int, int]]:
    """Cubes, and mixed triples; correlation needs two observations, and boxes grow."""
    found = [(s, s, s) for s in SIZES] + [(SIZES[k], SIZES[-k], SIZES[(3 * k) % 9]) for k in range(1, 9)]
    least, most = 2 if name == "correlation" else 0, 39 if name in ("stencil", "heat") else SIZES[-1]
    return [(a, b, c) for a, b, c in found if least <= a <= most]


def driver(name: str, count: int) -> str:
    x, y, out, call = CALLS[name]
    header = file(f"{name}.h")
    types = header[header.index(f"{name}(") + len(name) : header.rindex(";")]
    names = ["original", *(f"kernel_{k}" for k in range(1, count))]
    filled = {
        "NAME": name, "TYPES": types, "X": x, "Y": y, "OUT": out, "CALL": call, "COUNT": str(count),
        "DECLARED": "".join(f"void {one}{types};\n" for one in names), "LISTED": ", ".join(names),
        "SIZES": ", ".join(f"{{{a}, {b}, {c}}}" for a, b, c in sizes(name)), "DIAGONAL": str(int(name == "trsm")),
    }  # fmt: skip
    text = MAIN
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    return text


@pytest.fixture(scope="session")
def errors(sandbox: Sandbox, builder: Builder) -> Errors:
    """The largest relative error of each candidate against the original, over all sizes: (name, texts) -> errors."""

    async def job(name: str, texts: list[str]) -> list[float]:
        header = file(f"{name}.h")
        files = {"main.c": driver(name, len(texts) + 1), f"{name}.h": header}
        for number, text in enumerate([original(name), *texts]):
            files[f"k{number}.c"] = f"#define {name} {f'kernel_{number}' if number else 'original'}\n{text}"
        program = Program(files)
        problem = Problem(name, "program", "c", program, ProgramSpec(flags=FLAGS))
        built = await builder.build(problem, program, final=True)
        assert built.artefact is not None, f"{built.reason}\n{built.diagnostics}"
        nothing = Blob.of(b"")
        async with sandbox.session([built.artefact, nothing]) as session:
            ran = await session.run(
                Job(
                    argv=("{artefact}",),
                    artefact=built.artefact,
                    stdin=nothing,
                    cpu_s=60,
                    wall_s=200,
                    memory_mb=1024,
                    output_mb=1,
                    processes=8,
                )
            )
        assert ran.ok, f"{ran.ending} {ran.code}: {ran.stderr[:500]!r}"
        return [float(line) for line in ran.stdout.decode().split()]

    return lambda name, texts: anyio.run(job, name, texts)


def chained(name: str, draw: int, depth: int) -> list[str]:
    """The programs along a path of proposals, each made from the one before, as a search would."""
    problem = Problem(name, "program", "c", Program({f"{name}.c": original(name)}), ProgramSpec())
    state, found = State(problem), list[str]()
    for level in range(depth):
        told = (Section("Program", fenced(state.program.text, "c")),)
        action: Action = propose(Observation(told, state, draw * 1000 + level))
        assert action.program is not None
        found.append(action.program.text)
        state = State(problem, state, Step(action, Evaluation(Outcome.CORRECT), 1.0), (level + 1, draw))
    return found


def wrong(name: str, texts: list[str], measured: list[float]) -> list[str]:
    assert len(measured) == len(texts)
    return [f"{error:g}\n{text}" for error, text in zip(measured, texts, strict=True) if not error < 1e-9]


@pytest.mark.parametrize("name", some(sorted(CALLS), 1))
def test_chained_proposals_compute_what_the_original_computes(name: str, errors: Errors) -> None:
    texts = [text for draw in range(10) for text in chained(name, draw, 4)]
    texts = list(dict.fromkeys(texts))
    assert wrong(name, texts, errors(name, texts)) == []


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        *(
            ("factors", (f"panel({spot} in factors, columns={columns}, template={template}",))
            for spot, columns, template in [("i#2", 16, "packed"), ("i#3", 32, "direct"), ("i#4", 16, "packed")]
        ),
        ("factors", ("panel(i#2", "panel(i#6", "panel(i#5", "retune(BLOCK, value=24", "jam(i#4")),
        ("sides", ("accumulate(j", "triangle(i in sides, rows=16, template=packed", "triangle(i#3")),
        ("sides", ("expand(i#2 in sides, array=S", "product(i#2 in sides, template=packed")),
        ("sides", ("interchange(i#4", "fuse(i#3", "fuse(j#4", "jam(i#3")),
        ("columns", ("left_looking(k in columns, columns=16", "jam(i#2", "retune(TILE, value=24")),
        ("triangle", ("triangle(i in triangle, rows=16, template=packed", "retune(BLOCK, value=24", "triangle(i#3")),
        ("triangle", ("triangle(i in triangle, rows=32, template=direct",)),
        ("waves", ("time_tile(t in waves, axes=2, time=4", *(f"retune(TILE_X1, value={k}" for k in (64, 32, 16)))),
        ("waves", ("time_tile(t in waves, axes=1, time=8", "retune(ROWS_X0, value=3", "retune(TIME, value=6")),
        ("heat", ("time_tile(t in heat, axes=2, time=2, size=8", "retune(ROWS_X0, value=2", "retune(TIME, value=3")),
    ],
)
def test_steps_that_belong_together_compute_what_the_original_computes(
    name: str, labels: tuple[str, ...], errors: Errors
) -> None:
    texts = [taken(original(name), *labels[:count]) for count in range(1, len(labels) + 1)]
    assert wrong(name, texts, errors(name, texts)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CALLS))
def test_samples_compute_what_the_original_computes(name: str, errors: Errors) -> None:
    for start in range(0, 400, 40):
        texts = list({sample(original(name), "c", draw) for draw in range(start, start + 40)})
        assert wrong(name, texts, errors(name, texts)) == []


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("paths", ("pivots", "right_looking", "index_split", "promote")),
        ("filters", ("rowwise", "scan", "divide_once", "expand")),
        ("sweep", ("scan", "shorten", "carry")),
        ("waves", ("time_tile",)),
        ("heat", ("time_tile",)),
    ],
)
def test_every_edit_of_steps_for_waiting_values_and_time_computes_what_the_original_computes(
    name: str, steps: tuple[str, ...], errors: Errors
) -> None:
    unit = Unit("c", original(name))
    texts = [after(unit, edit) for step in ALL if step.rule.name in steps for edit in step.rule.edits(unit)]
    texts += [more for text in texts for more in next_edits(text, steps)]
    assert len(texts) > len(steps)
    assert wrong(name, texts, errors(name, texts)) == []


def next_edits(text: str, steps: tuple[str, ...]) -> list[str]:
    """The programs after the first edit of each of these steps."""
    unit = Unit("c", text)
    edits = [next(iter(step.rule.edits(unit)), None) for step in ALL if step.rule.name in steps]
    return [after(unit, edit) for edit in edits if edit is not None]


def test_a_wrong_kernel_is_found_out(errors: Errors) -> None:
    text = original("gemm")
    off = [text.replace("p < k", "p < k - 1"), f"{text.rstrip().removesuffix('}')}    C[m * n] = 1.0;\n}}\n"]
    assert all(not error < 1e-9 for error in errors("gemm", off))


def test_the_examples_are_found() -> None:
    assert maxcode.__file__
    assert all(original(name) for name in CALLS)
