"""Rollouts for a value model: problems x methods x seeds become run folders that `maxcode train to-go` reads.

    python benchmarks/rollouts.py [--problems gemm gemm-wide readings ...] [--methods refine+maxcode ...]
                                  [--seeds 2] [--budget 24] [--at-once 2] [--out runs/rollouts] [--value FOLDER]
    python benchmarks/rollouts.py --list

Problems are the examples in this repository: the kernels, the same kernels in other sizes and shapes (a copy of the
example with another `timed` size, under OUT/problems) and some more (benchmarks/more_kernels), and the programs.
Single paths (`refine`) are the paper's rollouts; the searches measure the shift from these to searches; --value with
methods `+value` or `+rerank` gives the on-policy round.  All of it runs through `maxcode bench`, whose table it prints;
the same command resumes, and finished runs are not repeated.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from maxcode.problems import load

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


def run_bench(options: argparse.Namespace) -> int:
    """`maxcode bench` on the problems; its exit status."""
    folders = [str(source(name, options.out)) for name in options.problems]
    settings = [f"--methods={','.join(options.methods)}", f"--seeds={options.seeds}", f"--budget={options.budget}"]
    guided = [f"--value={options.value}", f"--draw={options.draw}"] if options.value is not None else []
    command = [sys.executable, "-m", "maxcode", "bench", *folders, *settings, *guided]
    return subprocess.run([*command, f"--at-once={options.at_once}", f"--out={options.out}"], check=False).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=names(), choices=names(), metavar="PROBLEM")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=1, help="counted from 0")
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--value", type=Path, help="a value model, for methods +value and +rerank")
    parser.add_argument("--draw", type=int, default=4)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/rollouts"))
    parser.add_argument("--list", action="store_true", help="name the problems and their kinds, and run nothing")
    options = parser.parse_args()
    if not options.list:
        sys.exit(run_bench(options))
    for name in options.problems:
        print(f"{name:18} {load(source(name, options.out)).problem.kind}")


if __name__ == "__main__":
    main()
