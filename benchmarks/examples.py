"""Optimises examples (or any folders with a slow program and tests) and prints one table.

    python benchmarks/examples.py                          all examples, budget 24
    python benchmarks/examples.py --budget 200 readings    one example
    python benchmarks/examples.py --max-seconds 30         no new candidate after 30 s of work on an example
    python benchmarks/examples.py --flags '-O3 -std=c++17' /path/to/case ...

Where a folder has a faster version by hand (fast.*), that is measured too, as `maxcode evaluate` does.
Every speed-up is the run's own confirmed one, with its 95 % interval.  A problem without a confirmed gain has no pairs,
so no interval.  A mean is given over five problems and more.  The same command resumes the runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from maxcode.core.budget import Caps
from maxcode.core.stats import bootstrap, geometric_mean
from maxcode.errors import Interrupted, MaxcodeError
from maxcode.run.evaluation import evaluate_source
from maxcode.run.job import optimize_source
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request
from maxcode.run.result import RunResult

FOR_A_MEAN = 5  # problems: a mean of fewer says nothing of any of them
EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", help="names of examples, or folders")
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--max-seconds", type=float, help="cap on the wall seconds of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", default="", help="the usual one of each kind of problem if not given")
    parser.add_argument("--flags")
    parser.add_argument("--out", type=Path, default=Path("runs/examples"))
    options = parser.parse_args()
    folders = [found(name) for name in options.problems] or sorted(p.parent for p in EXAMPLES.glob("*/problem.toml"))
    rows = [row(folder, options) for folder in folders]
    show(rows)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "table.json").write_text(json.dumps(rows, indent=1) + "\n")


def found(name: str) -> Path:
    return EXAMPLES / name if (EXAMPLES / name).is_dir() else Path(name)


def row(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """One problem's run as a row; for a refused problem, the reason."""
    overrides = {"flags": options.flags.split()} if options.flags else {}
    whole = (folder / "problem.toml").exists()
    source = folder if whole else next(iter(sorted(folder.glob("slow.*"))))
    out = options.out / f"{folder.name}-{options.budget}-{options.seed}"
    request = Request(
        source,
        None if whole else folder / "tests",
        method=options.method,
        budget=options.budget,
        caps=Caps(seconds=options.max_seconds),
        seed=options.seed,
        out=out,
        certificate=False,
        overrides=overrides,
    )
    print(f"\n{folder.name}", file=sys.stderr, flush=True)
    fast = next(iter(sorted(folder.glob("fast.*"))), None)
    started = time.monotonic()
    try:
        with SearchProgress(options.budget) as progress:
            verdict = optimize_source(request, progress.watch, progress.admitted)
        seconds = round(time.monotonic() - started, 1)
        human = {"by_hand": measured(fast, request)} if fast is not None else {}
    except Interrupted:
        sys.exit("interrupted; repeat the command to resume")
    except MaxcodeError as error:
        print(f"  {error}", file=sys.stderr, flush=True)
        return {"problem": folder.name, "why": str(error)}
    return {"problem": folder.name, "seconds": seconds, **told(verdict), **human}


def measured(candidate: Path, request: Request) -> dict[str, object]:
    found = json.loads(evaluate_source(candidate, request).as_json())
    return {key: found.get(key) for key in ("outcome", "speedup", "confirmed", "why")}


def told(verdict: RunResult) -> dict[str, object]:
    kept = json.loads(verdict.as_json())
    keys = ("speedup", "gflops", "why", "confirmed", "tests", "candidates", "outcomes", "best")
    return {key: kept.get(key) for key in keys}


def show(rows: list[dict[str, object]]) -> None:
    print(f"{'problem':44} {'speed-up':>9}  {'95 % interval':16} {'pairs':>5} {'cand.':>5} {'s':>6}  verdict")
    for cells in rows:
        by_hand(cells)
        speedup = cells.get("speedup")
        if not isinstance(speedup, dict) or not speedup["pairs"]:
            count, seconds = (str(cells.get(key, "-")) for key in ("candidates", "seconds"))
            print(f"{cells['problem']:44} {'-':>9}  {'-':16} {'-':>5} {count:>5} {seconds:>6}  {cells['why']}")
            continue
        interval = f"[{speedup['low']:.2f}, {speedup['high']:.2f}]"
        verdict = "confirmed" if cells["confirmed"] and speedup["significant"] else str(cells["why"])
        if isinstance(rate := cells.get("gflops"), dict):
            verdict += f", {rate['value']:.1f} GFLOPS ({rate['share']:.0%} of the roofline)"
        print(
            f"{cells['problem']:44} {speedup['value']:8.2f}x  {interval:16} {speedup['pairs']:5} "
            f"{cells['candidates']:5} {cells['seconds']:6}  {verdict}"
        )
    means(rows)


def by_hand(cells: dict[str, object]) -> None:
    if isinstance(found := cells.get("by_hand"), dict):
        print(f"{cells['problem']:44} {said(found):28} by hand")


def said(found: dict[str, object]) -> str:
    speedup = found["speedup"]
    if not isinstance(speedup, dict):
        return str(found["why"] or found["outcome"])
    return f"{speedup['value']:8.2f}x  [{speedup['low']:.2f}, {speedup['high']:.2f}]"


def means(rows: list[dict[str, object]]) -> None:
    """The geometric mean over the problems, where one without a confirmed gain counts as 1."""
    run = [row for row in rows if "candidates" in row]
    for name, of in (("geometric mean", run), ("geometric mean, by hand", [row.get("by_hand", {}) for row in run])):
        gains = [gain(one) for one in of if one and isinstance(one, dict)]
        if len(gains) >= FOR_A_MEAN:
            print(f"{name:44} {bootstrap(gains, geometric_mean)}, {len(gains)} problems")


def gain(found: dict[str, object]) -> float:
    speedup = found.get("speedup")
    return float(speedup["value"]) if isinstance(speedup, dict) and found.get("confirmed") else 1.0


if __name__ == "__main__":
    main()
