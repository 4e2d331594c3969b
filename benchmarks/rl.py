"""Variants of the training at equal numbers of samples, compared with other uses of the same measurements.

    python benchmarks/rl.py [--config CONFIG.toml] [--seeds 0 1 2] [--variants max@k plain ...] [--out runs/rl]
                            [--completion schedule]

All share one corpus and one pre-trained policy (seed 0).  Every variant is trained with seed 0, and the default one
(max@k) with all seeds.  A policy's figures are those of new answers, measured apart from training
(`maxcode/train/assess.py`).

The others, at as many distinct kernels as the default variant measured with that seed: kernels of the corpus, new
samples of its generator, best of N answers of the pre-trained policy, and the search `elites+maxcode` with the built-in
policy that has the same transformations (`loops`; `kernels` if the corpus has templates).  "best" is the fastest of
each, chosen by the first measurement and then measured again, so that no lucky value counts.

Every cell is a file in OUT/cells; the same command resumes.  OUT/table.json holds all figures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from maxcode.cli.train_grpo import TrainProgress
from maxcode.code.source import fingerprint
from maxcode.core.types import Action, Evaluation, Problem, Program
from maxcode.evaluate.target import LocalMachine
from maxcode.policy.rules.kernels import Kernels
from maxcode.run.optimize import Run, optimize
from maxcode.search import methods
from maxcode.search.scene import Scene
from maxcode.train import corpus as kernels
from maxcode.train import pipeline
from maxcode.train.assess import generator, stages_to_ask
from maxcode.train.config import TrainConfig, read_config
from maxcode.train.decoding import kept_legal
from maxcode.train.evaluators import TargetEvaluators, TrainTarget
from maxcode.train.grpo import Learner, prompts_of
from maxcode.train.measuring import MeasureRequest, Measuring
from maxcode.train.model import load_model, load_tokenizer
from maxcode.train.pipeline import Note
from maxcode.train.rewards import rate

DEMO = Path(pipeline.__file__).parent / "demo" / "demo.toml"
DEFAULT = "max@k+archive"
PLAIN = {"advantage.kind": "plain", "diversity.archive": False, "diversity.promotion": False, "diversity.novelty": 0.0}
MAX = {**PLAIN, "advantage.kind": "max_at_k"}
SQD = {"diversity.archive": True, "diversity.promotion": True, "diversity.novelty": 0.05}
ARCHIVE = {"diversity.archive": True, "diversity.novelty": 0.05}
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
BESIDE = ("corpus", "generator", "best-of-N", "search")
FINALISTS = 5  # measured afresh, in the order of what was read on the way

Row = dict[str, Any]
Say = Callable[[Note], None]


@dataclass(frozen=True)
class Setting:
    """The settings of all cells."""

    path: Path
    out: Path
    bench: TrainTarget
    say: Say
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the configuration, in every cell

    @property
    def base(self) -> Path:
        """The run that made the corpus and the pre-trained policy."""
        return self.out / "base"

    def config(self, changes: dict[str, Any]) -> TrainConfig:
        """The configuration of a cell: the pre-trained policy, no second assessment of it."""
        given = {"model.path": str((self.base / "pretrained").resolve()), "assess.before": False}
        return read_config(self.path, {**self.changes, **given, **changes})


def kept(setting: Setting, name: str, make: Callable[[], Row]) -> Row:
    """The row in a cell's file, which is made if it is missing."""
    path = setting.out / "cells" / f"{name}.json"
    if not path.exists():
        print(name, file=sys.stderr, flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        row = make()
        scratch = path.with_suffix(".new")
        scratch.write_text(json.dumps({**row, "seconds": round(time.monotonic() - started, 1)}, indent=1) + "\n")
        scratch.replace(path)
    found: Row = json.loads(path.read_text())
    return found


# ------------------------------------------------------------------------------------------------------------ variants


def base(setting: Setting) -> Row:
    """Corpus, pre-trained policy and its assessment."""
    config = read_config(setting.path, {**setting.changes, "grpo.steps": 0})
    found = pipeline.run(config, setting.base, setting.bench, setting.say)
    return {"variant": "pre-trained", "seed": config.seed, "policy": found.before, "kernels": 0, "best": None}


def trained(setting: Setting, variant: str, seed: int) -> Row:
    """A variant trained with a seed."""
    config = setting.config({**VARIANTS[variant], "seed": seed})
    out = setting.out / "runs" / f"{slug(variant)}-{seed}"
    found = pipeline.run(config, out, setting.bench, setting.say)
    best = [found.best.low, found.best.value, found.best.high] if found.best is not None else None
    steps = [json.loads(line) for line in (out / "grpo" / "steps.jsonl").read_text().splitlines()]
    return {
        "variant": variant,
        "seed": seed,
        "policy": found.after,
        "kernels": found.kernels,
        "best": best,
        "samples": sum(one["samples"] for one in steps),
        "step": {name: sum(one[f"{name}_s"] for one in steps) / len(steps) for name in SECONDS},
        "per_minute": 60 * sum(one["fresh"] for one in steps) / max(1e-9, sum(one["evaluate_s"] for one in steps)),
        "best_by_stage": seen_best(out),
    }


SECONDS = ("generate", "evaluate", "compile", "queue", "measure", "learn")


def seen_best(out: Path) -> dict[str, float]:
    """The fastest answer at each stage during training, by the measurement at that time."""
    found: dict[str, float] = {}
    for line in (out / "grpo" / "samples.jsonl").read_text().splitlines():
        one = json.loads(line)
        if one["rate"] is not None:
            place = f"{one['problem']}/{one['stage']}"
            found[place] = max(found.get(place, 0.0), one["rate"]["value"])
    return found


def slug(variant: str) -> str:
    """A variant's name as a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in variant)


# -------------------------------------------------------------------------------------- the same measurements otherwise


def beside(setting: Setting, kind: str, count: int, seed: int) -> Row:
    """``count`` distinct kernels of one source, measured as in training; the fastest few are measured again."""
    config = setting.config({"seed": seed})
    problems = setting.bench.problems(config)
    if kind == "search":
        measured = searched(setting, config, problems[0], count, seed)
    else:
        measured = anyio.run(all_of, setting.bench, take(proposals(setting, config, problems, kind, seed), count))
    finalists = sorted(measured, key=lambda entry: -speed(entry[1]))[:FINALISTS]
    again = anyio.run(all_of, replaced(setting.bench), [one for one, evaluation in finalists if speed(evaluation)])
    best = max((found for _, one in again if (found := rate(one)) is not None), key=lambda x: x.value, default=None)
    valid = sum(speed(one) > 0 for _, one in measured) / max(1, len(measured))
    mean = sum(speed(one) for _, one in measured) / max(1, len(measured))
    told = [best.low, best.value, best.high] if best is not None else None
    return {"variant": kind, "seed": seed, "kernels": len(measured), "best": told, "valid": valid, "mean": mean}


def replaced(bench: TrainTarget) -> TrainTarget:
    """The same machine, with the evaluator for figures also for training."""
    return Figures(bench)  # type: ignore[return-value]


@dataclass(frozen=True)
class Figures:
    """A place that measures for figures."""

    bench: TrainTarget

    @property
    def training(self) -> Any:
        return self.bench.assessing


def speed(evaluation: Evaluation | None) -> float:
    found = rate(evaluation)
    return found.value if found is not None else 0.0


async def all_of(bench: TrainTarget, asked: Sequence[MeasureRequest]) -> list[tuple[MeasureRequest, Evaluation | None]]:
    """Measures like the answers of a step."""
    batch = await Measuring(bench.training).measure(0, asked, range(len(asked)))
    return list(zip(asked, batch.evaluations, strict=True))


def take(asked: Iterator[MeasureRequest], count: int) -> list[MeasureRequest]:
    """The first ``count`` distinct ones; fewer if ten times as many proposals in a row add no new one."""
    found: dict[str, MeasureRequest] = {}
    idle = 0
    for one in asked:
        assert one.action.program is not None
        key = f"{one.problem.id} {fingerprint(one.action.program.files, one.problem.language)}"
        idle = 0 if found.setdefault(key, one) is one else idle + 1
        if len(found) == count or idle > 10 * count:
            break
    return list(found.values())


def proposals(
    setting: Setting, config: TrainConfig, problems: Sequence[Problem], kind: str, seed: int
) -> Iterator[MeasureRequest]:
    """Kernels of the corpus in random order, new samples of its generator, or answers of the pre-trained policy."""
    by_id = {problem.id: problem for problem in problems}
    if kind == "best-of-N":
        yield from answers(setting, config, problems)
        return
    if kind == "corpus":
        found = kernels.distinct(kernels.load(setting.base / "corpus.jsonl"))
        made: Iterator[kernels.Example] = iter(random.Random(seed).sample(found, len(found)))
    else:
        endless = replace(config.corpus, kernels=10**9)
        made = kernels.examples(problems, endless, seed=1_000_000 + seed)
    for one in made:
        problem = by_id[one.problem]
        yield MeasureRequest(problem, Action(problem.program.with_text(one.kernel)))


def answers(setting: Setting, config: TrainConfig, problems: Sequence[Problem]) -> Iterator[MeasureRequest]:
    """Answers of the pre-trained policy, the stages in turn."""
    path = config.model.path
    learner = Learner(load_model(path, config.model), load_tokenizer(path, config.model.prompts))
    learner = kept_legal(config, learner, problems)
    ask, prompts = generator(config, learner), prompts_of(config)
    number = 0
    while True:
        for problem, stage in stages_to_ask(problems, config.rules.stages):
            for completion in ask(
                prompts.ask(problem), config.assess.at_once, 10_000 * config.seed + 31 * number + stage
            ):
                action = prompts.read(problem, completion)
                if action.program is not None:
                    yield MeasureRequest(problem, action)
        number += 1


def searched(
    setting: Setting, config: TrainConfig, problem: Problem, count: int, seed: int
) -> list[tuple[MeasureRequest, Evaluation | None]]:
    """The search's own proposals, each measured by its own race; its budget counts every proposal."""
    scene = Scene(setting.bench.machine)
    policy = Kernels(templates=config.corpus.templates)
    method = methods.method("elites+maxcode", policy, count, scene)
    result = optimize(problem, method, setting.bench.training, Run(count, seed, machine=setting.bench.machine))
    found: dict[str, tuple[MeasureRequest, Evaluation | None]] = {}
    for state in result.reached:
        if state.step is not None and state.step.action.program is not None:
            key = fingerprint(state.step.action.program.files, problem.language)
            program = Program(state.step.action.program.files)
            found.setdefault(key, (MeasureRequest(problem, Action(program)), state.step.evaluation))
    return list(found.values())


# --------------------------------------------------------------------------------------------------------------- table


def rows(setting: Setting, variants: Sequence[str], seeds: Sequence[int]) -> list[Row]:
    """All cells, finished ones from their files."""
    found = [kept(setting, "base", lambda: base(setting))]
    for variant in variants:
        for seed in seeds if variant == DEFAULT else seeds[:1]:
            found.append(kept(setting, f"{slug(variant)}-{seed}", partial(trained, setting, variant, seed)))
    counts = {row["seed"]: row["kernels"] for row in found if row["variant"] == DEFAULT}
    for seed, count in counts.items():
        for kind in BESIDE:
            found.append(kept(setting, f"{kind}-{seed}", partial(beside, setting, kind, count, seed)))
    return found


def shown(row: Row) -> str:
    """A row of the table as text."""
    told = f"{row['variant']:28} {row['seed']:4} {row['kernels']:8}"
    policy = row.get("policy", {}).get("all")
    if policy:
        mean, eight, sixteen = policy["mean"], policy["best_of"]["8"], policy["best_of"]["16"]
        told += f"  {interval(mean)}  {policy['median']['value']:6.1f}  {interval(eight)}  {interval(sixteen)}"
        told += f"  {policy['best']:6.1f}  {policy['valid']['value']:5.0%}  {policy['unique']:5.0%}"
    else:
        told += " " * 86
    best = row["best"]
    return told + (f"  {best[1]:6.1f} [{best[0]:.1f}, {best[2]:.1f}]" if best else "       -")


def interval(found: dict[str, float]) -> str:
    return f"{found['value']:6.1f} [{found['low']:5.1f}, {found['high']:5.1f}]"


HEAD = (
    f"{'variant':28} {'seed':>4} {'measured':>8}  {'mean':22}  {'median':6}  {'best of 8':22}  {'best of 16':22}  "
    f"{'best':>6}  valid  unique  best found, measured afresh"
)


def table(found: Sequence[Row]) -> str:
    """All rows, and the time of the parts of the steps."""
    lines = [HEAD, *map(shown, found), ""]
    for row in found:
        if "step" in row:
            parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["step"].items())
            told = f"seconds a step: {parts}; {row['per_minute']:.0f} evaluations a minute"
            lines.append(f"{row['variant']:28} {row['seed']:4}  {told}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=DEMO, help="a configuration of a model from scratch")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--completion", default="text", choices=["text", "schedule"], help="what the policy writes")
    parser.add_argument("--out", type=Path, default=Path("runs/rl"))
    options = parser.parse_args()
    with TrainProgress() as progress:
        changes = {"completion": options.completion}
        setting = Setting(options.config, options.out, TargetEvaluators(LocalMachine()), progress.say, changes)
        found = rows(setting, options.variants, options.seeds)
    print(table(found))
    (options.out / "table.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
