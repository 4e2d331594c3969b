"""Rollouts for a value model: problems x methods x seeds become run folders that `maxcode train to-go` reads.

    python benchmarks/rollouts.py [--problems gemm gemm-wide readings ...] [--methods refine+maxcode ...]
                                  [--seeds 0 1] [--budget 24] [--out runs/rollouts] [--value FOLDER]
    python benchmarks/rollouts.py --list

Problems are the examples shipped here: the kernels as they are, in other sizes and shapes (a copy of the example with
another `timed` size, under OUT/problems) and some more (benchmarks/more_kernels), and the programs.  Single paths
(`refine`) are the paper's rollouts; the searches beside them measure the shift from one to the other; with --value and
methods `+value` or `+rerank` it is the on-policy round.  Runs resume, and finished ones are not run again: repeat the
command.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from maxcode import bench
from maxcode.bench import Cell
from maxcode.cli.progress import Progress
from maxcode.errors import Interrupted, MaxcodeError
from maxcode.problems import load
from maxcode.run import Request, optimize_source

HERE = Path(__file__).parent
EXAMPLES, MORE = HERE.parent / "examples", HERE / "more_kernels"
KERNELS = ("gemm", "stencil", "trsm", "threemm", "correlation")
MORE_KERNELS = ("gemm_tn", "syrk", "jacobi", "atax")
PROGRAMS = ("caesar", "delivery", "heat", "jobs", "looksay", "orbits", "partitions", "phonebook", "readings", "stream",
            "walks")  # fmt: skip
SIZES: Mapping[str, tuple[str, Mapping[str, int], int]] = {  # name -> (example, timed size, calls of a round)
    "gemm-small": ("gemm", {"m": 64, "n": 64, "k": 64}, 32),
    "gemm-wide": ("gemm", {"m": 32, "n": 512, "k": 256}, 8),
    "gemm-deep": ("gemm", {"m": 96, "n": 96, "k": 1024}, 4),
    "stencil-small": ("stencil", {"n": 32}, 32),
    "stencil-large": ("stencil", {"n": 96}, 2),
    "trsm-narrow": ("trsm", {"n": 320, "m": 64}, 8),
    "trsm-wide": ("trsm", {"n": 96, "m": 512}, 8),
    "threemm-small": ("threemm", {"n": 72}, 16),
    "correlation-long": ("correlation", {"n": 800, "m": 40}, 8),
    "correlation-wide": ("correlation", {"n": 60, "m": 160}, 8),
}
METHODS = ("refine+maxcode", "best-of-n+maxcode", "cuda-llm+maxcode", "beam+maxcode")


def names() -> list[str]:
    """All problems: kernels, kernels in other sizes, programs."""
    return [*KERNELS, *SIZES, *MORE_KERNELS, *PROGRAMS]


def source(name: str, out: Path) -> Path:
    """The folder of a problem; one in another size is written under OUT/problems."""
    if name in SIZES:
        return _resized(name, out / "problems" / name)
    return (MORE if name in MORE_KERNELS else EXAMPLES) / name


def _resized(name: str, folder: Path) -> Path:
    example, size, calls = SIZES[name]
    told = tomllib.loads((EXAMPLES / example / "problem.toml").read_text())
    told |= {"id": name, "function": {**told["function"], "timed": [dict(size)], "calls": calls}}
    text = tomli_w.dumps(told)
    if not (folder / "problem.toml").is_file() or (folder / "problem.toml").read_text() != text:
        shutil.copytree(EXAMPLES / example, folder, dirs_exist_ok=True)
        (folder / "problem.toml").write_text(text)
    return folder


def ran(cell: Cell, options: argparse.Namespace) -> dict[str, Any]:
    """The cell's result: read where it is finished, else run or resumed."""
    folder = options.out / "runs" / cell.name
    started = time.monotonic()
    if bench.finished(cell, folder, options.budget) is None:
        print(f"\n{cell.name}", file=sys.stderr, flush=True)
        request = Request(source(cell.problem, options.out), method=cell.method, budget=options.budget, seed=cell.seed,
                          out=folder, certificate=False, value=options.value, draw=options.draw)  # fmt: skip
        with Progress(options.budget) as progress:
            optimize_source(request, progress.watch, progress.admitted)
    row = bench.read_row(cell, folder)
    return {
        "problem": cell.problem,
        "method": cell.method,
        "seed": cell.seed,
        "speedup": [round(one, 4) for one in (row.best.value, row.best.low, row.best.high)],
        "candidates": row.candidates,
        "correct": row.correct,
        "seconds": round(time.monotonic() - started, 1),
    }


def line(row: Mapping[str, Any]) -> str:
    value, low, high = row["speedup"]
    counts = f"{row['correct']} of {row['candidates']} correct"
    return f"{row['problem']:18} {row['method']:28} {row['seed']:3} {value:7.2f}x [{low:.2f}, {high:.2f}]  {counts}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=names(), choices=names(), metavar="PROBLEM")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--value", type=Path, help="a value model, for methods +value and +rerank")
    parser.add_argument("--draw", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("runs/rollouts"))
    parser.add_argument("--list", action="store_true", help="name the problems and their kinds, and run nothing")
    options = parser.parse_args()
    if options.list:
        for name in options.problems:
            print(f"{name:18} {load(source(name, options.out)).problem.kind}")
        return
    rows, failed = [], []
    for cell in bench.cells(options.problems, options.methods, options.seeds):
        try:
            rows.append(ran(cell, options))
        except Interrupted:
            sys.exit("interrupted; repeat the command to resume")
        except MaxcodeError as error:  # the others go on; a repeated command tries it again
            failed.append(f"{cell.name}: {error}")
            print(failed[-1], file=sys.stderr)
    print("\n".join(map(line, rows)))
    (options.out / "rollouts.json").write_text(json.dumps({"rows": rows, "failed": failed}, indent=1) + "\n")
    if failed:
        sys.exit(f"{len(failed)} run(s) are open; repeat the command to try them again")


if __name__ == "__main__":
    main()
