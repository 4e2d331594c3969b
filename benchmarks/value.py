"""Compares value models on recorded runs, with every problem held out in turn: do their predictions save measurements?

    python benchmarks/value.py --from runs/rollouts [--models blend trees random perfect ...] [--seeds 3]
                               [--folds 5] [--target max] [--edges quantile] [--unbuilt] [--out runs/value.json]

Nothing is measured: runs are replayed with the model (``train/to_go/model_figures.py`` describes each figure).
`random` is the mean over all orders, at equal measurements; `perfect` knows the result.  Every figure is mean [lowest,
highest] over the seeds, which set the folds and the models.  `--unbuilt` hides the figures from machine code, as for a
model without a compiler.

The second table shows the shift from training to use: trained on single paths (`refine`, `best-of-n`) and used in
searches that choose (`beam`, `cuda-llm`, `tree`, `elites`; also the guided ones, if any), then after one round of
retraining in which the searches of the *training* problems are added.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from maxcode.train.to_go.dataset import families
from maxcode.train.to_go.evaluation import PERFECT, Plan, evaluate, summary, table, transferred
from maxcode.train.to_go.fit import Fit
from maxcode.train.to_go.fitting import BASELINES, MODELS
from maxcode.train.to_go.pairs import Pair, read_pairs, run_folders

SINGLE = ("refine", "best-of-n", "effi-learner")


def is_single(pair: Pair) -> bool:
    """Whether a pair comes from paths without a selection."""
    return pair.method.partition("+")[0] in SINGLE and not pair.guided


def shift(pairs: list[Pair], plan: Plan) -> dict[str, Any]:
    """Trained and used on single paths; used in searches; used in searches after retraining with those."""
    guided = any(pair.guided for pair in pairs)

    def is_used(pair: Pair) -> bool:
        return pair.guided if guided else not is_single(pair)

    kinds = {
        "single -> single": (is_single, is_single),
        "single -> searches": (is_single, is_used),
        "single + searches -> searches": (lambda pair: is_single(pair) or is_used(pair), is_used),
    }
    found = {}
    for name, (train, put) in kinds.items():
        for model, row in summary(transferred(train, put, pairs, plan)).items():
            found[f"{name}: {model}"] = row
    return found


def wide(found: dict[str, Any]) -> str:
    """The table with a line above each model's figures, for long names."""
    lines = table({name.rpartition(": ")[2]: row for name, row in list(found.items())[:1]}).splitlines()[:1]
    for name, row in found.items():
        lines += [name, table({name.rpartition(": ")[2]: row}).splitlines()[1]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="runs", type=Path, nargs="+", required=True)
    parser.add_argument(
        "--models", nargs="+", default=["blend", "trees", *BASELINES, PERFECT], choices=[*MODELS, PERFECT]
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--target", choices=["max", "mean"], default="max")
    parser.add_argument("--edges", default="quantile")
    parser.add_argument("--unbuilt", action="store_true", help="show no model any machine code")
    parser.add_argument("--no-shift", action="store_true", help="leave the second table out")
    parser.add_argument("--out", type=Path, default=Path("runs/value.json"))
    options = parser.parse_args()
    started = time.monotonic()
    pairs = read_pairs(run_folders(options.runs), options.target)
    if options.unbuilt:
        pairs = [replace(pair, situation=pair.situation.unbuilt()) for pair in pairs]
    how = Fit(Path(), say=lambda words: print(words, file=sys.stderr, flush=True))
    plan = Plan(tuple(options.models), tuple(range(options.seeds)), options.edges, options.folds, how)
    told: dict[str, Any] = {
        "states": len(pairs),
        "runs": len({pair.run for pair in pairs}),
        "by problem": dict(Counter(pair.problem for pair in pairs)),
        "by method": dict(Counter(pair.method for pair in pairs)),
        "families": [sorted(one) for one in families(pairs)],
        "models": summary(evaluate(pairs, plan)),
    }
    print(f"{told['states']} states of {told['runs']} runs, {len(told['by problem'])} problems, "
          f"{len(told['families'])} families; folds {options.folds}, seeds {options.seeds}\n")  # fmt: skip
    print(table(told["models"]))
    if not options.no_shift and any(map(is_single, pairs)) and not all(map(is_single, pairs)):
        models = tuple(
            name for name in options.models if name in ("blend", "trees", "generative", "fastest-so-far", "random")
        )
        told["shift"] = shift(pairs, Plan(models, plan.seeds, plan.edges, plan.folds, how))
        print(f"\n{wide(told['shift'])}")
    told["seconds"] = round(time.monotonic() - started, 1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
