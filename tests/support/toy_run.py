"""A whole training run at toy size on a machine that is a table of rates; shared by the tests of runs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from maxcode.code.techniques import used
from maxcode.core.types import Action, Evaluation, Interval, Machine, Outcome, Problem
from maxcode.problems import load
from maxcode.testing import exact_timing
from maxcode.train import corpus as kernels
from maxcode.train.config import TrainConfig, config_of

DEMO = Path(kernels.__file__).parent / "demo"
TABLE = {
    "problems": ["gemm"],
    "model": {"scratch": {"hidden": 32, "layers": 1, "heads": 2, "vocabulary": 400}},
    "corpus": {"kernels": 300, "steps": 2, "verified": 3, "most_tokens": 100},
    "pretrain": {"steps": 60, "batch": 8, "save_steps": 20, "learning_rate": 0.01},
    "grpo": {"steps": 3, "prompts": 2, "generations": 4, "max_completion": 60, "save_steps": 1},
    "assess": {"samples": 4},
}


def toy(**changes: object) -> TrainConfig:
    return config_of({**TABLE, **changes}, "toy", DEMO)


class Died(Exception):
    """What no run expects."""


@dataclass
class Rated:
    """An evaluator that rates kernels by their loops: those that look like one, of a ``function``, are right."""

    function: str = "gemm"
    asked: list[str] = field(default_factory=list)
    dies_after: int = 10**9

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        if action.program is None:
            return Evaluation(Outcome.UNPARSED)
        text = action.program.text
        self.asked.append(text)
        if len(self.asked) > self.dies_after:
            raise Died("the power went off")
        if problem.permitted is not None and not used("c", text) <= problem.permitted:
            return Evaluation(Outcome.REJECTED)
        if not re.search(rf"void {self.function}\(.*for \(", text, re.DOTALL) or "*" not in text:
            return Evaluation(Outcome.UNBUILT)
        rate = 1.0 + math.log(len(text))
        timing = replace(exact_timing(rate), gflops=Interval(rate, rate, rate), roofline=60.0)
        return Evaluation(Outcome.CORRECT, timing=timing)


@dataclass
class TableBench:
    """A machine that is a table."""

    training: Rated = field(default_factory=Rated)
    afresh: Rated = field(default_factory=Rated)
    assessing: Rated = field(default_factory=Rated)
    machine: Machine = field(default_factory=lambda: Machine("", "", 1, "", {}, "none: a table"))

    def problems(self, config: TrainConfig) -> list[Problem]:
        return [load(path).problem for path in config.paths]
