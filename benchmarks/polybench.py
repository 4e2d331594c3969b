"""PolyBench/C: the built-in policy beside compilers and polyhedral tools, all sides in the same passes.

    python benchmarks/polybench.py [gemm lu ...] [--sizes MEDIUM LARGE] [--cores 1 2] [--budget 64] [--seeds 3]
                                   [--search MEDIUM] [--minutes 25] [--clang clang-19] [--out runs/polybench] [--read]

`MAXCODE_POLYBENCH` is the folder of PolyBench/C 4.2.1 (docs/how-to/suites.md).  The policy searches once a kernel and
seed, at the size that is timed or, with --search, at another one, which is sooner done.  Its winners then run in one
session with the kernel of the suite, built by `gcc -O3 -march=native`, and with PolyBench's own text
(`anchors/texts.py`) in these builds:

    own text    gcc -O3 -march=native: what constant sizes, `restrict` and subscripts are worth
    fast math   gcc with -ffast-math: sums in any order, as the tolerance of the suite permits the policy too
    Graphite    gcc with -floop-nest-optimize; two cores: -floop-parallelize-all -ftree-parallelize-loops=2
    Polly       clang with -polly and its vectoriser; two cores: -polly-parallel
    Pluto       polycc --tile, then gcc; two cores: --parallel and -fopenmp

Every side is verified like a candidate, at all sizes that the suite checks, and in every timed pass on fresh inputs.  A
side that fails, or is not installed, says so.  With --cores 2 the goal is the wall clock, and the policy may use
threads.  Without a confirmed gain the policy counts as the suite's kernel.  The bound of a kernel is its roofline: the
time for its operations at the measured peak, or for moving its arrays once (of those that it only half needs too),
whichever is longer.  The same command resumes; rows of other options stay, and are not told.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, final

import anyio

from anchors.builds import FLAGS, anchors, built, version
from anchors.report import GCC, POLICY, chart, report
from anchors.texts import own_text
from maxcode.core.stats import geometric_mean, median_interval
from maxcode.core.types import Outcome, Problem, Program, RaceVerdict
from maxcode.errors import BoundaryError, InputError, Interrupted, RecordError
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import Pair, RaceInputs, RaceSide, Side, Track, WrongOutput, run_until
from maxcode.evaluate.ladder.verify import verify
from maxcode.evaluate.machine.machine import pressure
from maxcode.evaluate.machine.roofline import memory_of
from maxcode.problems import expanded, load
from maxcode.problems.suite import folder_of
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox
from maxcode.sandbox.selftest import open_safe
from trust.rows import Row, Rows

VARS = ("kernel", "size", "search", "cores", "budget", "seeds", "passes", "clang")
_BYTES = {"double": 8, "float": 4, "int": 4, "long": 8}


@final
@dataclass(frozen=True, slots=True)
class Task:
    """One row: a kernel at a size on so many cores, and how the policy searches."""

    kernel: str
    size: str
    search: str
    cores: int
    budget: int
    seeds: int
    passes: int
    clang: str

    @property
    def source(self) -> Path:
        return Path(f"polybench:{self.kernel}/{self.size}")

    @property
    def overrides(self) -> dict[str, Any]:
        """Two cores: the wall clock decides, and pragmas for threads have an effect."""
        return {"goal": "wall", "flags": [*FLAGS, "-fopenmp"]} if self.cores > 1 else {}

    @property
    def key(self) -> tuple[object, ...]:
        """All that its row depends on: a row of another key is not its."""
        return tuple(vars_of(self).values())

    def request(self, seed: int, out: Path) -> Request:
        """The policy's search with one seed."""
        folder = out / f"{self.kernel}-{self.search}-{self.cores}-{self.budget}-{seed}"
        return Request(
            Path(f"polybench:{self.kernel}/{self.search}"),
            policy="kernels",
            method="elites+maxcode",
            budget=self.budget,
            seed=seed,
            out=folder,
            certificate=False,
            overrides=self.overrides,
        )


def measured(task: Task, options: argparse.Namespace) -> Row:
    """A row: the policy's searches, then all sides in the same passes."""
    began = time.monotonic()
    problem = load(task.source, overrides=task.overrides).problem
    winners: dict[str, Program] = {}
    for seed in range(task.seeds):
        found = optimize_source(task.request(seed, options.out))
        if found.confirmed:
            winners[f"{POLICY} {seed}"] = found.best_program
    searched_s = time.monotonic() - began
    text = own_text(problem, next(folder_of("MAXCODE_POLYBENCH", "PolyBench/C", "").glob(f"**/{task.kernel}.c")))
    known = anyio.run(compared, problem, winners, text, task)
    return {**vars_of(task), **known, "searched_s": round(searched_s, 1), "seconds": round(time.monotonic() - began, 1)}


def vars_of(task: Task) -> Row:
    return {name: getattr(task, name) for name in VARS}


def key_of(row: Row) -> tuple[object, ...]:
    """The key of the task that a row is of."""
    return tuple(row.get(name) for name in VARS)


# ------------------------------------------------------------------------------------------------------------ racing


async def compared(problem: Problem, winners: Mapping[str, Program], text: str, task: Task) -> Row:
    """The sides that are right, in the same passes, and why the others have no part in them."""
    sandbox = await open_safe()
    builder = Builder(sandbox, sandbox.cache)
    admitted = await make_harness(problem, sandbox, builder, HarnessTerms(goes_on=True)).admit(problem)
    right = Right(sandbox, admitted)
    for name, program in winners.items():
        made = await builder.build(problem, program, final=True)
        await right.add(name, made.artefact or f"does not build: {made.reason}")
    for anchor in anchors(task.clang):
        await right.add(anchor.name, await built(sandbox, problem, text, anchor, task.cores))
    pairs = await right.race(task.passes)
    bound_s = await bound(sandbox, admitted) / task.cores
    return {**figures(pairs, right, task.seeds), **shares(pairs, bound_s, admitted, task.seeds), "pressure": pressure()}


@final
class Right:
    """The sides whose outputs are right, and what is wrong with the others."""

    def __init__(self, sandbox: Sandbox, admitted: Admitted) -> None:
        assert admitted.original.artefact is not None
        self._sandbox, self._admitted = sandbox, admitted
        self.sides = {GCC: admitted.original.artefact}
        self.without: dict[str, str] = {}

    async def add(self, name: str, artefact: Blob | str) -> None:
        """A side, after what a candidate must pass; a text in place of an artefact is the reason why there is none."""
        wrong = artefact if isinstance(artefact, str) else await self._wrong(artefact)
        if isinstance(artefact, str) or wrong:
            self.without[name] = wrong
        else:
            self.sides[name] = artefact

    async def _wrong(self, artefact: Blob) -> str:
        async with build_lane():
            found = await verify(self._sandbox, self._admitted.problem, artefact, self._admitted.inputs)
        if found.outcome is not Outcome.CORRECT:
            first = next(one for one in found.results if one.outcome is not Outcome.CORRECT)
            return f"{first.outcome.value} at {first.name} {first.detail}".rstrip()
        return ""

    async def race(self, count: int) -> list[Pair]:
        """Passes by all sides; one that is wrong in a timed pass leaves, and the passes begin anew."""
        field = RaceInputs(self._sandbox, self._admitted.problem, self._admitted.source)

        def end(pairs: list[Pair]) -> RaceVerdict | None:
            return "tie" if len(pairs) >= count else None

        while True:
            entries = {_as_side(name): RaceSide(artefact, {}) for name, artefact in self.sides.items()}
            try:
                return (await run_until(end, Track(field, entries, self._admitted.timed))).pairs
            except WrongOutput as wrong:
                name = GCC if wrong.side == "original" else str(wrong.side)
                if name == GCC:
                    raise
                self.without[name] = str(wrong)
                del self.sides[name]


def _as_side(name: str) -> Side:
    """Its name in a race, whose outputs are compared with those of the side "original"."""
    return "original" if name == GCC else name  # type: ignore[return-value]


async def bound(sandbox: Sandbox, admitted: Admitted) -> float:
    """The least seconds of a pass on one core."""
    spec = admitted.problem.spec.function_spec
    arrays = [one for one in spec.arrays if one.access != "scratch"]
    moved = " + ".join(f"{_BYTES[one.ctype]}*({one.extent})" for one in arrays)
    problem = replace(admitted.problem, spec=replace(admitted.problem.spec, function=replace(spec, moved=moved)))
    shapes = timed_shapes(problem)
    memory = await memory_of(sandbox, shapes)
    moving_s = sum(memory.least_s(shape) for shape in shapes) if memory is not None else 0.0
    flop = sum(shape.flop for shape in shapes)
    return max(moving_s, flop / admitted.peak_gflops / 1e9 if admitted.peak_gflops else 0.0)


# ----------------------------------------------------------------------------------------------------------- figures


def took(pair: Pair, name: str, seeds: int) -> float:
    """Seconds of a side in a pass; of the policy the geometric mean over its seeds, where one without a winner counts
    as the suite's kernel."""
    if name != POLICY:
        return pair.total(_as_side(name))
    names = [_as_side(f"{POLICY} {seed}") for seed in range(seeds)]
    held = [pair.total(one if one in pair.seconds else "original") for one in names]
    return held[0] if len(set(held)) == 1 else geometric_mean(held)


def figures(pairs: Sequence[Pair], right: Right, seeds: int) -> Row:
    """The gain of every side over gcc, and that of the policy over every other."""
    others = [name for name in right.sides if name != GCC and not name.startswith(POLICY)]

    def ratios(over: str, under: str) -> dict[str, float]:
        found = median_interval([took(pair, over, seeds) / took(pair, under, seeds) for pair in pairs])
        return {"value": found.value, "low": found.low, "high": found.high}

    return {
        "gains": {name: ratios(GCC, name) for name in (*others, POLICY)},
        "over": {name: ratios(name, POLICY) for name in (GCC, *others)},
        "each seed": {name: ratios(GCC, name) for name in right.sides if name.startswith(f"{POLICY} ")},
        "won": sum(name.startswith(f"{POLICY} ") for name in right.sides),
        "without": right.without,
        "pairs": len(pairs),
    }


def shares(pairs: Sequence[Pair], bound_s: float, admitted: Admitted, seeds: int) -> Row:
    """Milliseconds of a pass, rates, and the share of its bound that the policy reaches."""
    flop = sum(one.workload.flop for one in admitted.timed)
    usual = {name: median_interval([took(pair, name, seeds) for pair in pairs]).value for name in (GCC, POLICY)}
    return {
        "ms": round(1e3 * usual[GCC], 2),
        "peak": round(admitted.peak_gflops, 1),
        "gflops": {name: flop / seconds / 1e9 for name, seconds in usual.items()} if flop else {},
        "bound": {name: bound_s / seconds for name, seconds in usual.items()} if flop else {},
    }


# -------------------------------------------------------------------------------------------------------------- main


def tell(rows: Sequence[Row], options: argparse.Namespace) -> None:
    """Prints and writes what is known of each size and number of cores."""
    names = [one.name for one in anchors(options.clang)]
    told = {tool: version(tool) or "not installed" for tool in ("gcc", *(one.tool for one in anchors(options.clang)))}
    parts = []
    for (size, cores), some in groupby(sorted(rows, key=_group), key=_group):
        held = list(some)
        lines = list(report(held, names))
        parts.append({"size": size, "cores": cores, "report": lines, "rows": held})
        print("\n".join(["", f"{size}, {cores} core(s), {len(held)} kernels", *lines]))
        if any("gains" in row for row in held):
            (options.out / f"{size}-{cores}.svg").write_text(chart(held, names))
    (options.out / "polybench.json").write_text(json.dumps({"tools": told, "parts": parts}, indent=1) + "\n")


def _group(row: Row) -> tuple[str, int]:
    return row["size"], row["cores"]


def tasks(options: argparse.Namespace) -> list[Task]:
    """What is asked for; all kernels at one size and number of cores before the next."""
    names = options.kernels or [str(one.path).partition(":")[2] for one in expanded([Path("polybench:all")]).sources]
    return [
        Task(
            name.partition("/")[0],
            size,
            options.search or size,
            cores,
            options.budget,
            options.seeds,
            options.pairs,
            options.clang,
        )
        for size in options.sizes
        for cores in options.cores
        for name in names
    ]


def row_of(task: Task, options: argparse.Namespace) -> Row:
    """The row of a task; of one that maxcode refuses, the reason.  What the machine or an old folder hinders has no
    row."""
    try:
        return measured(task, options)
    except (Interrupted, KeyboardInterrupt):
        sys.exit("interrupted; repeat the command to resume")
    except (BoundaryError, RecordError) as error:
        sys.exit(f"{task.kernel}: {error}; then repeat the command to resume")
    except InputError as error:
        return {**vars_of(task), "why": str(error)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="names of kernels; default: all")
    parser.add_argument("--sizes", nargs="+", default=["MEDIUM", "LARGE"])
    parser.add_argument("--search", help="the size of the policy's searches; default: the one that is timed")
    parser.add_argument("--cores", nargs="+", type=int, choices=(1, 2), default=[1, 2])
    parser.add_argument("--budget", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=15, help="passes of all sides")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no further kernel after so many")
    parser.add_argument("--clang", default="clang", help="name of the clang that has Polly")
    parser.add_argument("--out", type=Path, default=Path("runs/polybench"))
    parser.add_argument("--read", action="store_true", help="run nothing, tell what is there")
    options = parser.parse_args()
    rows, until = Rows(options.out / "rows.jsonl"), time.monotonic() + 60 * options.minutes
    wanted = tasks(options)
    for at, task in enumerate(wanted, 1):
        held = {key_of(row) for row in rows.found}
        if options.read or task.key in held or time.monotonic() > until:
            continue
        rows.add(row_of(task, options))
        print(f"{at} of {len(wanted)}: {rows.found[-1]['kernel']}", file=sys.stderr, flush=True)
    keys = {task.key for task in wanted}
    tell([row for row in rows.found if key_of(row) in keys], options)


if __name__ == "__main__":
    main()
