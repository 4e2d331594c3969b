"""Compares the searches on the five kernels with the built-in policy `kernels`, at equal budget.

    python benchmarks/kernels.py [--budget 64] [--seeds 3] [--methods best-of-n,elites+maxcode] [--at 24 64]
                                 [--problems gemm ...] [--at-once 2] [--out runs/kernels] [--read]

Runs `maxcode bench`, whose table compares the methods, and then reads the rates from its folder: for every problem and
method the confirmed rate in GFLOPS of the best of the first k candidates, and its ratio to the original.  A figure is
the geometric mean over seeds.  In brackets are the lowest and the highest end of the seeds' 95 % intervals, because
three seeds are too few for their own interval.  The same command resumes the runs; `--read` runs nothing.  A batch that
goes beyond k is cut there, so a run with the budget k could have confirmed another candidate of its last batch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from maxcode.bench.bench_runs import BenchRun, cells
from maxcode.core.stats import geometric_mean
from maxcode.core.types import Evaluation, Interval, StateId, Timing
from maxcode.run.record import Evaluated, Settled, Stopwatch, read_events

EXAMPLES = Path(__file__).parent.parent / "examples"
PROBLEMS = ("gemm", "stencil", "trsm", "threemm", "correlation")
METHODS = ("best-of-n", *(f"{name}+maxcode" for name in ("best-of-n", "refine", "cuda-llm", "beam", "tree", "elites")))


def run_bench(options: argparse.Namespace) -> None:
    """Runs `maxcode bench` on the kernels; ends this process with its exit status if it fails or is interrupted."""
    problems = [str(EXAMPLES / name) for name in options.problems]
    settings = [f"--methods={','.join(options.methods)}", f"--seeds={options.seeds}", f"--budget={options.budget}"]
    command = [sys.executable, "-m", "maxcode", "bench", *problems, *settings, "--policy=kernels"]
    ended = subprocess.run([*command, f"--at-once={options.at_once}", f"--out={options.out}"], check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


def best_of_first(folder: Path, counts: Sequence[int]) -> dict[int, Timing | None]:
    """For every k, the confirmed best of the first k candidates of a finished run; None if there is none."""
    words: dict[StateId, Evaluation] = {}
    for line in read_events(folder):
        if isinstance(line, Evaluated):
            words[line.at] = line.evaluation
        elif isinstance(line, Settled):
            words |= {(line.batch, slot): evaluation for slot, evaluation in line.evaluations.items()}
            words |= dict([line.champion] if line.champion is not None else [])
    timings = [words[at].timing for at in sorted(words)]
    return {k: _best([one for one in timings[:k] if one is not None]) for k in counts}


def _best(timings: Sequence[Timing]) -> Timing | None:
    leading = [one for one in timings if one.confirmed and one.significant]
    return max(leading, key=lambda one: one.speedup.low, default=None)


def pace(folder: Path) -> tuple[int, float]:
    """(candidates, seconds of work) of a run."""
    watch, count = Stopwatch(), 0
    for line in read_events(folder):
        watch.see(line)
        count += isinstance(line, Evaluated)
    return count, watch.seconds


def over_seeds(intervals: Sequence[Interval]) -> Interval:
    """Their geometric mean, with the lowest and the highest of all ends."""
    return Interval(
        geometric_mean([one.value for one in intervals]),
        min(one.low for one in intervals),
        max(one.high for one in intervals),
    )


def row(out: Path, problem: str, method: str, done: Sequence[BenchRun], counts: Sequence[int]) -> dict[str, object]:
    """The figures of one method on one problem, over the seeds that are finished."""
    runs = [best_of_first(out / cell.name, counts) for cell in done]
    roofs = [one.roofline for run in runs for one in run.values() if one is not None]
    found: dict[str, object] = {"problem": problem, "method": method, "seeds": len(runs), "roofline": max(roofs)}
    for k in counts:
        known = [one for run in runs if (one := run[k]) is not None]
        if len(known) < len(runs):
            found[f"best of {k}"] = f"confirmed in {len(known)} of {len(runs)}"
            continue
        rates = over_seeds([one.gflops for one in known if one.gflops is not None])
        gains = over_seeds([one.speedup for one in known])
        found[f"best of {k}"] = {"gflops": _told(rates), "speedup": _told(gains), "share": rates.value / max(roofs)}
    return found


def _told(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def shown(found: dict[str, object], counts: Sequence[int]) -> str:
    """A row of the table."""
    words = [f"{found['problem']:12} {found['method']:20} {found['seeds']}"]
    for figures in (found[f"best of {k}"] for k in counts):
        if not isinstance(figures, dict):
            words.append(f"{figures:>60}")
            continue
        rate, gain = (
            f"{one['value']:6.2f} [{one['low']:.2f}, {one['high']:.2f}]"
            for one in (figures["gflops"], figures["speedup"])
        )
        words.append(f"{rate:>22} {figures['share']:4.0%} {gain:>24}x")
    return "  ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--methods", type=lambda names: names.split(","), default=METHODS)
    parser.add_argument("--budget", type=int, default=64)
    parser.add_argument("--at", type=int, nargs="+", help="numbers of candidates to read off; default: the budget")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/kernels"))
    parser.add_argument("--read", action="store_true", help="run nothing, read what is finished")
    options = parser.parse_args()
    if not options.read:
        run_bench(options)
    counts = options.at or [options.budget]
    planned = cells(options.problems, options.methods, range(options.seeds))
    done = [cell for cell in planned if (options.out / cell.name / "result.json").exists()]
    of = Counter((cell.problem, cell.method) for cell in done)
    rows = [row(options.out, p, m, [c for c in done if (c.problem, c.method) == (p, m)], counts) for p, m in sorted(of)]
    print("\nproblem, method, seeds; GFLOPS, share of the roofline and speed-up of the best of the first", *counts)
    print("\n".join(shown(found, counts) for found in rows))
    paces = [pace(options.out / cell.name) for cell in done]
    rate = 60 * sum(count for count, _ in paces) / max(1e-9, sum(seconds for _, seconds in paces))
    print(f"\n{rate:.1f} evaluations a minute and run, {options.at_once} at once; {len(done)} of {len(planned)} runs")
    figures = {"at": counts, "rows": rows, "evaluations a minute and run": rate, "runs": len(done)}
    (options.out / "kernels.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
