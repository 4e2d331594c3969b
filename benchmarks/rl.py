"""Variants of the training at equal numbers of distinct kernels, compared with other uses of the same measurements.

    python benchmarks/rl.py [--config CONFIG.toml] [--completion schedule] [--problem FOLDER] [--seeds 0 1 2]
                            [--variants max@k+archive plain ...] [--beside corpus search ...] [--set KEY=VALUE ...]
                            [--out runs/rl]
    python benchmarks/rl.py --held-out FOLDER|SUITE:NAME ... [--nests 8] [--at 4 8 16] ...     (learning/transfer.py)

All share one corpus and one pre-trained policy (seed 0).  Every variant is trained with the first seed, the first of
`--variants` and those of `NAMED` with all seeds.  A policy's figures are those of new answers, measured apart from
training (`maxcode/train/assess.py`).

The others, at as many distinct kernels as the first variant measured with that seed (those with which its archive
began count): kernels of the corpus and new draws of its generator, both of random legal schedules; best of N answers of
the pre-trained policy; the search `elites+maxcode` of `maxcode optimize`, by the policy `kernels` with the same
transformations.  "best" is the fastest of each in a last race of one sitting (`learning/finals.py`), so that no lucky
value counts, and "RL over" is the ratio there.

Every cell is a file in OUT/cells; the same command resumes, and one with other settings needs another OUT.
OUT/table.json holds all figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from learning.arms import (
    Tried,
    answers,
    fastest,
    first_measured,
    from_corpus,
    from_generator,
    in_training,
    searched,
)
from learning.cells import Row, Setting, interval, kept, mark_of
from learning.finals import FINALISTS, over, raced
from learning.transfer import Held, summary, transferred
from maxcode.cli.common import parse_changes
from maxcode.cli.train_grpo import TrainProgress
from maxcode.core.stats import geometric_mean
from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.target import LocalMachine
from maxcode.policy.rules.kernels.policy import Kernels
from maxcode.train import pipeline
from maxcode.train.assess import stages_to_ask
from maxcode.train.config import TrainConfig
from maxcode.train.evaluators import TargetEvaluators

DEMO = Path(pipeline.__file__).parent / "demo" / "demo.toml"
DEFAULT = "max@k+archive"
PLAIN = {"advantage.kind": "plain", "diversity.archive": False, "diversity.promotion": False}
MAX = {**PLAIN, "advantage.kind": "max_at_k"}
SQD = {"diversity.archive": True, "diversity.promotion": True}
ARCHIVE = {"diversity.archive": True}
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {**MAX, **ARCHIVE},
    "plain": PLAIN,
    "plain+SQD": {**PLAIN, **SQD},
    "leave-one-out": {**PLAIN, "advantage.kind": "leave_one_out"},
    "entropic": {**PLAIN, "advantage.kind": "entropic"},
    "max@k": MAX,
    "max@k, not mixed": {**MAX, "advantage.mix": 0.0},
    "max@k+SQD": {**MAX, **SQD},
    "max@k+stages": {**MAX, "diversity.promotion": True},
    "max@k+archive, gated reward": {**MAX, **ARCHIVE, "reward.kind": "gated"},
}
EXPLORE = {"grpo.generations": 6, "grpo.explore": 2}  # as many measurements as `configs/schedule.toml` has in a step
GO_ON, ELITES = {"diversity.go_on": True}, {"imitation.elites": True}
NAMED: dict[str, dict[str, Any]] = {
    f"{DEFAULT}+explore": {**VARIANTS[DEFAULT], **EXPLORE},
    f"{DEFAULT}+go on": {**VARIANTS[DEFAULT], **GO_ON},
    f"{DEFAULT}+elites": {**VARIANTS[DEFAULT], **ELITES},
    f"{DEFAULT}+explore+go on": {**VARIANTS[DEFAULT], **EXPLORE, **GO_ON},
    f"{DEFAULT}+explore+go on+elites": {**VARIANTS[DEFAULT], **EXPLORE, **GO_ON, **ELITES},
    "without imitation": {**VARIANTS[DEFAULT], "imitation.updates": 0},
    "with repeats": {**VARIANTS[DEFAULT], "grpo.distinct": False},
    "shown evenly": {**VARIANTS[DEFAULT], "diversity.favour": 1.0},
}
"""The default variant with more than `configs/schedule.toml`, or without a part of it: trained only if they are named,
and then with all seeds."""
BESIDE = ("corpus", "generator", "best-of-N", "search")
SECONDS = ("generate", "evaluate", "compile", "queue", "measure", "learn")

# ------------------------------------------------------------------------------------------------------------ variants


def base(setting: Setting) -> Row:
    """Corpus, pre-trained policy and its assessment."""
    config = setting.config({"grpo.steps": 0})
    found = pipeline.run(config, setting.base, setting.bench, setting.say)
    return {"variant": "pre-trained", "seed": config.seed, "policy": found.before, "kernels": 0}


def trained(setting: Setting, variant: str, seed: int) -> Row:
    """A variant trained with a seed; ``kernels`` are the distinct ones that it measured."""
    config = setting.config({**changes_of(variant), "seed": seed, "assess.before": False})
    out = setting.begun(f"{variant}-{seed}")
    found = pipeline.run(config, out, setting.bench, setting.say)
    tried = in_training(config, out, only(setting, config))
    steps = [json.loads(line) for line in (out / "grpo" / "steps.jsonl").read_text().splitlines()]
    return {
        "variant": variant,
        "seed": seed,
        "policy": found.after,
        **figures(tried),
        "samples": sum(one["samples"] for one in steps),
        "timings": sum(one["fresh"] for one in steps),
        "step": {name: sum(one[f"{name}_s"] for one in steps) / len(steps) for name in SECONDS},
        "per_minute": 60 * sum(one["fresh"] for one in steps) / max(1e-9, sum(one["evaluate_s"] for one in steps)),
    }


def changes_of(variant: str) -> dict[str, Any]:
    """The keys that a variant sets."""
    return {**VARIANTS, **NAMED}[variant]


def only(setting: Setting, config: TrainConfig) -> Problem:
    """The problem of a comparison."""
    problem, *more = setting.bench.problems(config)
    if more:
        raise InputError(f"{setting.path} names {1 + len(more)} kernels; a comparison is of one: name it by --problem")
    return problem


def figures(tried: Sequence[Tried]) -> Row:
    """What an arm measured: distinct kernels, their mean and validity, and the fastest, by the measurement on the
    way."""
    count = max(1, len(tried))
    return {
        "kernels": len({one.code for one in tried}),
        "valid": sum(one.rate > 0 for one in tried) / count,
        "mean": sum(one.rate for one in tried) / count,
        "finalists": fastest(tried, FINALISTS),
    }


def beside(setting: Setting, kind: str, count: int, seed: int) -> Row:
    """``count`` distinct kernels of another source, each measured once as in training."""
    config = setting.config({"seed": seed})
    problem = only(setting, config)
    if kind == "search":
        policy = Kernels(templates=config.corpus.templates)
        tried = searched(setting.bench, problem, policy, count, seed)
    else:
        tried = first_measured(setting.bench, problem, proposals(setting, config, problem, kind), count)
    return {"variant": kind, "seed": seed, **figures(tried)}


def proposals(setting: Setting, config: TrainConfig, problem: Problem, kind: str) -> Iterator[str]:
    """The kernels of a source, without end if it has none."""
    if kind == "best-of-N":
        return answers(config, setting.base / "pretrained", stages_to_ask([problem], config.rules.stages))
    if kind == "corpus":
        return from_corpus(setting, problem, config.seed)
    return from_generator(config, problem, config.seed)


def race(setting: Setting, found: Sequence[Row], seed: int) -> Row:
    """The last race of all that was found with a seed."""
    problem = only(setting, setting.config({}))
    arms = {row["variant"]: [one["text"] for one in row["finalists"]] for row in found}
    return raced(setting.bench, problem, arms, seed)


# --------------------------------------------------------------------------------------------------------------- table


def rows(
    setting: Setting, variants: Sequence[str], seeds: Sequence[int], kinds: Sequence[str] = BESIDE
) -> dict[str, list[Row]]:
    """All cells, finished ones from their files: the arms, and the last race of each seed."""
    found = [kept(setting, "base", lambda: base(setting))]
    for variant in variants:
        for seed in seeds if variant in (variants[0], *NAMED) else seeds[:1]:
            train = partial(trained, setting, variant, seed)
            found.append(kept(setting, f"{variant}-{seed}", train, {"variant": changes_of(variant)}))
    for seed, count in [(row["seed"], row["kernels"]) for row in found if row["variant"] == variants[0]]:
        for kind in kinds:
            found.append(kept(setting, f"{kind}-{seed}", partial(beside, setting, kind, count, seed), {"count": count}))
    races = []
    for seed in seeds:
        arms = [row for row in found if row["seed"] == seed and "finalists" in row]
        raced_too = [(row["variant"], [one["text"] for one in row["finalists"]]) for row in arms]
        name = f"race-{seed}-{mark_of(raced_too)}"  # with another variant it is run again
        races.append(kept(setting, name, partial(race, setting, arms, seed)))
    return {"rows": found, "races": races}


def best_of(found: Mapping[str, Sequence[Row]], row: Row) -> dict[str, float] | None:
    """The best of an arm in the last race of its seed."""
    for one in found["races"]:
        if one["seed"] == row["seed"] and "finalists" in row:
            best: dict[str, float] | None = one["best"].get(row["variant"])
            return best
    return None


def shown(found: Mapping[str, Sequence[Row]], row: Row) -> str:
    """A row of the table as text."""
    told = f"{row['variant']:28} {row['seed']:4} {row['kernels']:8}"
    policy, best = row.get("policy", {}).get("all"), best_of(found, row)
    if policy:
        mean, eight = policy["mean"], policy["best_of"]["8"]
        share = f"{mean['value'] / best['value']:5.0%}" if best else "    -"
        told += f"  {interval(mean)}  {share}  {interval(eight)}  {policy['valid']['value']:5.0%}"
        told += f"  {policy['unique']:5.0%}"
    elif "mean" in row:
        told += f"  {row['mean']:6.2f} of what it measured {' ' * 30}{row['valid']:5.0%}       "
    else:
        told += " " * 69
    return told + (f"  {interval(best)}" if best else "       -")


HEAD = (
    f"{'variant':28} {'seed':>4} {'measured':>8}  {'mean of new answers':21}  /best  {'best of 8':21}  valid  unique  "
    "best found, in the last race"
)


def by_stage(row: Row) -> Iterator[str]:
    """The figures of a policy at each stage."""
    for place, one in row.get("policy", {}).items():
        if place != "all":
            unique = round(one["unique"] * one["answers"])
            told = f"mean {interval(one['mean'])}, valid {one['valid']['value']:.0%}, best {one['best']:.2f}"
            yield f"{row['variant']:28} {row['seed']:4}  {place}: {unique} of {one['answers']} unique, {told}"


def ratios(found: Mapping[str, Sequence[Row]], first: str, arms: Sequence[str]) -> Iterator[str]:
    """The best of the first variant over that of each other arm, by seed and over the seeds."""
    for arm in arms:
        known = [(one["seed"], ratio) for one in found["races"] if (ratio := over(one, first, arm)) is not None]
        if known:
            each = ", ".join(f"seed {seed} {interval(ratio)}" for seed, ratio in known)
            mean = geometric_mean([ratio["value"] for _, ratio in known])
            yield f"RL over {arm:28} {mean:5.2f}   ({each})"


def table(found: Mapping[str, Sequence[Row]]) -> str:
    """All rows, the ratios of the last races, the stages, and the time of the parts of the steps."""
    arms = list(dict.fromkeys(row["variant"] for row in found["rows"] if "finalists" in row))
    lines = [HEAD, *(shown(found, row) for row in found["rows"]), ""]
    lines += [*ratios(found, arms[0], arms[1:]), ""]
    lines += [line for row in found["rows"] for line in by_stage(row)] + [""]
    for row in found["rows"]:
        if "step" in row:
            parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["step"].items())
            told = f"seconds a step: {parts}; {row['per_minute']:.0f} evaluations a minute; "
            told += f"{row['samples']} answers, {row['timings']} timings, {row['kernels']} distinct kernels"
            lines.append(f"{row['variant']:28} {row['seed']:4}  {told}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=DEMO, help="a configuration of a model from scratch")
    parser.add_argument("--problem", help="the folder of the kernel, in place of the configuration's")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=[*VARIANTS, *NAMED])
    parser.add_argument("--beside", nargs="+", default=list(BESIDE), choices=BESIDE, help="other uses")
    parser.add_argument("--completion", default="text", choices=["text", "schedule"], help="what the policy writes")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="keys of the configuration")
    parser.add_argument("--held-out", nargs="+", default=[], help="kernels to test on; trains on all others")
    parser.add_argument("--nests", type=int, default=8, help="with --held-out: generated kernels to train on as well")
    parser.add_argument("--at", type=int, nargs="+", default=[4, 8, 16], help="with --held-out: measurements")
    parser.add_argument("--out", type=Path, default=Path("runs/rl"))
    options = parser.parse_args()
    with TrainProgress() as progress:
        setting = Setting(options.config, options.out, TargetEvaluators(LocalMachine()), progress.say, changed(options))
        found, told = compared(setting, options)
    print(told)
    (options.out / "table.json").write_text(json.dumps(found, indent=1) + "\n")


def compared(setting: Setting, options: argparse.Namespace) -> tuple[Any, str]:
    """All figures of a comparison, or of the kernels that are held out, and their table."""
    if not options.held_out:
        found = rows(setting, options.variants, options.seeds, options.beside)
        return found, table(found)
    held = Held(tuple(options.held_out), tuple(options.at), options.nests)
    cells = [transferred(setting, held, seed) for seed in options.seeds]
    return cells, summary(cells)


def changed(options: argparse.Namespace) -> dict[str, Any]:
    """The changes of the configuration that the options ask for."""
    problem = {"problems": [str(Path(options.problem).resolve())]} if options.problem else {}
    parameter: Callable[..., dict[str, Any]] = parse_changes
    given = parameter(None, None, tuple(options.set))
    return {"completion": options.completion, **problem, **given}


if __name__ == "__main__":
    main()
