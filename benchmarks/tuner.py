"""Does a prior fitted to measured gains beat the priors of `kernels` on kernels that it has not seen?

    python benchmarks/tuner.py [--nests 16] [--chains 10] [--at 4 8 16] [--seeds 0] [--held-out FOLDER|SUITE:NAME ...]
                               [--out runs/tuner]

    generated nests -> random schedules by the hand-set priors, every program measured -> weights (`learning/prior.py`)
    kernels held out -> `elites+maxcode` with the hand-set and with the fitted priors, equal distinct kernels measured

No kernel that is tested on is fitted on.  OUT/weights.json holds the weights, OUT/table.json all figures.  Every cell
is a file in OUT/cells; the same command resumes, and one with other settings needs another OUT.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from learning.arms import Tried, measured, searched
from learning.cells import Row, Setting, kept, mark_of
from learning.held_out import Arm, Test, compared, held_out, table
from learning.nests import written
from learning.prior import Chain, Fitted, choices, fitted, log_likelihood, walked
from learning.transfer import placed
from maxcode.cli.train_grpo import TrainProgress
from maxcode.core.roles import Policy
from maxcode.core.types import Problem
from maxcode.evaluate.target import LocalMachine
from maxcode.policy.rules.kernels.policy import Kernels
from maxcode.train import pipeline
from maxcode.train.evaluators import TargetEvaluators
from maxcode.train.prompts import steps_on_one_core

HERE = Path(__file__).parent
EXAMPLES, MORE = HERE.parent / "examples", HERE / "more_kernels"
HELD_OUT = [*(EXAMPLES / name for name in ("gemm", "stencil", "trsm", "threemm", "correlation")),
            *(MORE / name for name in ("atax", "gemm_tn", "jacobi", "syrk"))]  # fmt: skip
DEMO = Path(pipeline.__file__).parent / "demo" / "demo.toml"  # its problems are replaced
STEPS = 4


def loaded(setting: Setting, sources: Sequence[str]) -> list[Problem]:
    """The admitted problems of folders and names."""
    return setting.bench.problems(setting.config({"problems": list(sources), "grpo.prompts": len(sources)}))


def measured_chains(setting: Setting, problem: Problem, count: int, seed: int) -> Row:
    """Random schedules by the hand-set priors, with the gain of every program on the way."""
    draw, may = random.Random(f"{seed} {problem.id}"), steps_on_one_core(problem, templates=True)
    walks = [[*walked(problem, may, draw, STEPS, {})] for _ in range(count)]
    texts = list(dict.fromkeys([problem.program.text, *(made for walk in walks for _, _, made in walk)]))
    rates = {one.text: one.rate for one in measured(setting.bench, problem, texts)}
    original = rates[problem.program.text]
    chains = [
        {
            "labels": [label for label, _, _ in walk],
            "before": [before for _, before, _ in walk],
            "gains": [rates[made] / original for _, _, made in walk],
        }
        for walk in walks
        if walk
    ]
    return {"problem": problem.id, "language": problem.language, "chains": chains, "measured": len(texts)}


def weights_of(rows: Sequence[Row], problems: Mapping[str, Problem]) -> Row:
    """The fit to all chains, and what fits without a problem explain of its chains, over the hand-set priors."""
    may = {name: steps_on_one_core(problem, templates=True) for name, problem in problems.items()}
    by_problem = {row["problem"]: choices(chains_of([row]), may) for row in rows}
    every = [one for found in by_problem.values() for one in found]
    weights = fitted(every)
    left_out = []
    for name in sorted(by_problem)[::4]:
        others = fitted([one for other, found in by_problem.items() if other != name for one in found])
        left_out.append(log_likelihood(by_problem[name], others) - log_likelihood(by_problem[name], {}))
    return {"weights": weights, "decisions": len(every), "nats left out": left_out}


def chains_of(rows: Sequence[Row]) -> list[Chain]:
    """The chains in cells."""
    return [
        Chain(row["problem"], row["language"], tuple(one["labels"]), tuple(one["before"]), tuple(one["gains"]))
        for row in rows
        for one in row["chains"]
    ]


def arms(setting: Setting, weights: Mapping[str, float], most: int, seed: int) -> dict[str, Arm]:
    """The search with the fitted and with the hand-set priors."""
    policies: dict[str, Policy] = {"fitted": Fitted(weights), "by hand": Kernels()}

    def arm(policy: Policy) -> Callable[[Problem], list[Tried]]:
        return lambda problem: searched(setting.bench, problem, policy, most, seed)

    return {name: arm(policy) for name, policy in policies.items()}


def given(problem: Problem, options: argparse.Namespace) -> Row:
    """What the schedules of a nest depend on."""
    return {"schedules": options.chains, "steps": STEPS, "nest": mark_of(problem.program.text)}


def tested(problems: Sequence[Problem], options: argparse.Namespace, seed: int, fit: Row) -> Test:
    """What is compared with one seed."""
    return Test(problems, options.at, f"test-{seed}", {"weights": mark_of(fit["weights"])})


def tuned(setting: Setting, options: argparse.Namespace) -> tuple[Row, str]:
    """All figures, and the table."""
    nests = loaded(setting, [str(path.resolve()) for path in written(setting.out / "nests", options.nests, seed=1)])
    rows = []
    for one in nests:
        made = partial(measured_chains, setting, one, options.chains, 0)
        rows.append(kept(setting, f"chains {one.id}", made, given(one, options)))
    by_id = {one.id: one for one in nests}
    fit = kept(setting, "fit", partial(weights_of, rows, by_id), {"chains": mark_of(rows)})
    (setting.out / "weights.json").write_text(json.dumps(fit["weights"], indent=1) + "\n")
    tests = loaded(setting, [placed(str(name)) for name in options.held_out])
    found = {
        seed: held_out(setting, tested(tests, options, seed, fit), arms(setting, fit["weights"], max(options.at), seed))
        for seed in options.seeds
    }
    every = [row for rows_ in found.values() for row in rows_]
    lines = [f"{fit['decisions']} decisions, {sum(row['measured'] for row in rows)} programs measured"]
    lines += [f"nats a step on nests left out, over the hand-set priors: {fit['nats left out']}"]
    lines += [*table(every, ("fitted", "by hand"), options.at), *compared(every, "fitted", ("by hand",), options.at)]
    return {"fit": fit, "tests": found}, "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nests", type=int, default=16, help="generated kernels to fit on")
    parser.add_argument("--chains", type=int, default=10, help="random schedules of each")
    parser.add_argument("--at", type=int, nargs="+", default=[4, 8, 16], help="measurements after which to compare")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--held-out", nargs="+", default=HELD_OUT, help="kernels to test on")
    parser.add_argument("--out", type=Path, default=Path("runs/tuner"))
    options = parser.parse_args()
    with TrainProgress() as progress:
        setting = Setting(DEMO, options.out, TargetEvaluators(LocalMachine()), progress.say)
        found, told = tuned(setting, options)
    print(told)
    (options.out / "table.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
