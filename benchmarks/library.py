"""Compares a gemm with OpenBLAS: the harness calls both, on one core, in the same passes.

    python benchmarks/library.py runs/gemm/best/gemm.c [--sizes 256 1024] [--json FILE]

Needs OpenBLAS (`apt install libopenblas-dev`).  The candidate's sandbox never holds a BLAS; here the library is one
side of the race, in a sandbox that contains it.  The share is OpenBLAS's seconds over the program's: 1 is equally fast.
Rates are in GFLOPS.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from maxcode.core.stats import median_interval
from maxcode.core.types import Problem, Program
from maxcode.evaluate.function.calls import Calls, calls_of
from maxcode.evaluate.function.function import Inputs, spec_of
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Side, Track
from maxcode.evaluate.machine.roofline import peak_gflops
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

GEMM = Path(__file__).parent.parent / "examples" / "gemm"
PAIRS = 21
BLAS = """#include <cblas.h>
#include "gemm.h"
void gemm(int m, int n, int k, const double *A, const double *B, double *C) {
    static int is_single;
    if (!is_single++) openblas_set_num_threads(1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, A, k, B, n, 0.0, C, n);
}
"""
LIBRARIES = ("libopenblas.so.0", "libgfortran.so.5", "libquadmath.so.0")


def sized(problem: Problem, n: int) -> Problem:
    """The same problem with only n x n x n, and as many calls as fit into a pass of about 0.2 s."""
    calls = max(2, min(40, round(2e9 / (2 * n**3))))
    function = replace(spec_of(problem), timed=((n, n, n),), checked=(), calls=calls)
    return replace(problem, spec=replace(problem.spec, function=function))


async def with_library() -> Sandbox:
    """The sandbox, with OpenBLAS among the runtime libraries."""
    sandbox = await Sandbox.open()
    found = {f"/usr/lib/x86_64-linux-gnu/{name}": Path(f"/usr/lib/x86_64-linux-gnu/{name}") for name in LIBRARIES}
    missing = [name for name, path in found.items() if not path.exists()]
    if missing:
        sys.exit(f"OpenBLAS is not here ({', '.join(missing)}): apt install libopenblas-dev")
    return replace(sandbox, runtime={**sandbox.runtime, **{name: path.resolve() for name, path in found.items()}})


async def compared(text: str, n: int) -> dict[str, object]:
    sandbox = await with_library()
    builder = Builder(sandbox, sandbox.cache)
    problem = sized(load(GEMM).problem, n)
    linked = replace(problem, spec=replace(problem.spec, flags=(*problem.spec.flags, "-lopenblas")))
    entries: dict[Side, RaceSide] = {}
    for side, program, how in (("original", text, problem), ("candidate", BLAS, linked)):
        built = await builder.build(how, Program({"gemm.c": program}), final=True)
        if built.artefact is None:
            sys.exit(f"{side} does not build: {built.reason}\n{built.diagnostics}")
        entries[side] = RaceSide(built.artefact, {})  # type: ignore[index]
    inputs = Inputs(sandbox, problem)
    timed = await calls_of(problem, inputs)
    track = Track(RaceInputs(sandbox, problem, Calls(inputs)), entries, timed)
    pairs = [await track.pair() for _ in range(PAIRS)]
    work = sum(given.workload.flop for given in timed)
    share = median_interval([pair.ratio("candidate", "original") for pair in pairs])
    rates = {
        side: median_interval([work / pair.total(side) / 1e9 for pair in pairs]) for side in ("original", "candidate")
    }
    peak = await peak_gflops(sandbox, spec_of(problem))
    shown = {name: f"{x.value:.1f} [{x.low:.1f}, {x.high:.1f}]" for name, x in rates.items()}
    return {
        "size": n,
        "calls a pass": spec_of(problem).calls,
        "program": shown["original"],
        "OpenBLAS": shown["candidate"],
        "share of OpenBLAS": f"{share.value:.2f} [{share.low:.2f}, {share.high:.2f}]",
        "roofline": round(peak, 1),
        "share of roofline": round(rates["original"].value / peak, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="a gemm.c")
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--json", type=Path, default=Path("runs/library.json"))
    options = parser.parse_args()
    rows = [anyio.run(compared, options.program.read_text(), n) for n in options.sizes]
    for row in rows:
        print("  ".join(f"{key}: {value}" for key, value in row.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
