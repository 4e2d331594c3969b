"""A training run at toy size in a process of its own: python grpo_driver.py FOLDER [KILL_AT_STEP] -> digests on stdout.

The policy is a random model of two thousand weights over a vocabulary of bytes, the evaluator a function of the text.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from pathlib import Path

from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.testing import Table
from maxcode.train.config import TrainConfig, config_of
from maxcode.train.diversity import archive_as_json
from maxcode.train.grpo import Learner, new_judge, rank, train
from maxcode.train.judge import StepLine
from maxcode.train.measuring import Measuring
from maxcode.train.model import new_model, train_tokenizer

KERNEL = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2.0; }\n"
PROBLEM = Problem("scale", "program", "c", Program({"k.c": KERNEL}), ProgramSpec())
TABLE = {
    "problems": ["scale"],
    "model": {"scratch": {"hidden": 16, "layers": 1, "heads": 2, "vocabulary": 300}},
    "advantage": {"k": 2},
    "diversity": {"shown": 0.7, "novelty": 0.1, "promotion": True},
    "imitation": {"updates": 2, "least": 3, "batch": 2},
    "grpo": {"steps": 6, "prompts": 2, "generations": 4, "max_completion": 12, "save_steps": 2, "learning_rate": 0.01},
}


def worth(text: str) -> float | None:
    """Of random bytes: some are right, and more letters are faster."""
    letters = sum(one.isalpha() for one in text)
    return None if len(text) % 3 == 0 else 1.0 + letters


def config(**grpo: object) -> TrainConfig:
    return config_of({**TABLE, "grpo": {**TABLE["grpo"], **grpo}}, "driver")  # type: ignore[dict-item]


def learner(told: TrainConfig) -> Learner:
    tokenizer = train_tokenizer([KERNEL], told.model.scratch.vocabulary)
    return Learner(new_model(told.model.scratch, tokenizer, told.seed), tokenizer)


def main(folder: Path, kill_at: int | None) -> None:
    told = config()
    table = Table(rule=worth)
    judge = new_judge(told, [PROBLEM], Measuring(table, table, folder, rank()), folder)

    def watch(line: StepLine) -> None:
        if line.step == kill_at and rank() == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    made = learner(told)
    final = train(told, made, judge, folder, watch)
    weights = hashlib.sha256()
    for name, one in sorted(made.model.state_dict().items()):
        weights.update(name.encode() + one.numpy().tobytes())
    samples = hashlib.sha256((folder / "samples.jsonl").read_bytes())
    archive = hashlib.sha256(archive_as_json(judge.progress).encode())
    print(weights.hexdigest(), samples.hexdigest(), archive.hexdigest(), final.name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
