"""The searches on the five kernels with the built-in policy `kernels`, at equal budget: which climbs highest?

    python benchmarks/kernels.py [--budget 64] [--seeds 0 1 2] [--methods best-of-n+maxcode elites+maxcode ...]
                                 [--problems gemm ...] [--out runs/kernels]

Every figure is the run's own confirmed rate in GFLOPS with its 95 % interval; runs resume, so repeat the command.  The
last lines compare methods: the geometric mean over problems and seeds of the rate as a share of the best that any
method reached on that problem, with a bootstrap interval over problems and seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

from maxcode.cli.progress import Progress
from maxcode.errors import Interrupted
from maxcode.run import Request, optimize_source
from maxcode.stats import bootstrap, geometric_mean

EXAMPLES = Path(__file__).parent.parent / "examples"
PROBLEMS = ("gemm", "stencil", "trsm", "threemm", "correlation")
METHODS = ("best-of-n", "refine", "cuda-llm", "beam", "tree", "elites")


def one(problem: str, method: str, seed: int, options: argparse.Namespace) -> dict[str, object]:
    out = options.out / f"{problem}-{method}-{options.budget}-{seed}"
    request = Request(EXAMPLES / problem, policy="kernels", method=method, budget=options.budget, seed=seed, out=out,
                      certificate=False)  # fmt: skip
    print(f"\n{problem} {method} seed {seed}", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        with Progress(options.budget) as progress:
            found = json.loads(optimize_source(request, progress.watch, progress.admitted).as_json())
    except Interrupted:
        sys.exit("interrupted; repeat the command to resume")
    return {
        "problem": problem,
        "method": method,
        "seed": seed,
        "seconds": round(time.monotonic() - started, 1),
        **{key: found.get(key) for key in ("speedup", "gflops", "candidates", "outcomes")},
    }


def shown(row: dict[str, object]) -> str:
    speedup, rate = row["speedup"], row["gflops"]
    assert isinstance(speedup, dict)
    told = f"{speedup['value']:8.2f}x [{speedup['low']:.2f}, {speedup['high']:.2f}]"
    if isinstance(rate, dict):
        told += f"  {rate['value']:7.2f} GFLOPS [{rate['low']:.2f}, {rate['high']:.2f}] {rate['share']:.0%} of roofline"
    return f"{row['problem']:12} {row['method']:20} {row['seed']:4} {told}  {row['seconds']} s  {row['outcomes']}"


def compare(rows: list[dict[str, object]]) -> dict[str, str]:
    """Method -> its mean share of the best speed-up per problem, with an interval."""
    gains = {(r["problem"], r["method"], r["seed"]): r["speedup"]["value"] for r in rows}  # type: ignore[index]
    best: dict[object, float] = defaultdict(float)
    for (problem, _, _), gain in gains.items():
        best[problem] = max(best[problem], gain)
    shares: dict[str, list[float]] = defaultdict(list)
    for (problem, method, _), gain in gains.items():
        shares[str(method)].append(gain / best[problem])
    found = {method: bootstrap(values, geometric_mean) for method, values in shares.items()}
    ordered = sorted(found.items(), key=lambda entry: -entry[1].value)
    return {method: f"{x.value:.3f} [{x.low:.3f}, {x.high:.3f}]" for method, x in ordered}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--methods", nargs="+", default=[f"{name}+maxcode" for name in METHODS])
    parser.add_argument("--budget", type=int, default=64)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/kernels"))
    options = parser.parse_args()
    rows = [one(p, m, s, options) for s in options.seeds for p in options.problems for m in options.methods]
    print("\n".join(map(shown, rows)))
    shares = compare(rows)
    print("\nshare of the best speed-up reached on each problem, geometric mean with a bootstrap interval")
    print("\n".join(f"{method:20} {told}" for method, told in shares.items()))
    (options.out / f"table-{options.budget}.json").write_text(
        json.dumps({"rows": rows, "shares": shares}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
