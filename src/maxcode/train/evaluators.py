"""The evaluators of a training: three settings of one evaluator.

Any object with the methods of ``TrainTarget`` can replace ``TargetEvaluators`` (docs/how-to/train-on-a-cluster.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, final

import anyio

from maxcode.core.roles import Evaluator
from maxcode.core.stats import RaceRule
from maxcode.core.types import Machine, Problem
from maxcode.errors import InputError
from maxcode.evaluate.cluster import ClusterRequest
from maxcode.evaluate.harness_protocol import MeasureOptions, SearchHarness
from maxcode.evaluate.target import Target, where
from maxcode.problems import load
from maxcode.train.config import TrainConfig
from maxcode.train.grpo import processes, rank
from maxcode.train.measuring import TRAINING_RULE

ASSESS_RULE = RaceRule(most=6)  # six pairs have a 95 % interval
TRAINING = MeasureOptions(TRAINING_RULE.most, profiles=False)
AFRESH = MeasureOptions(TRAINING_RULE.most, remembers=False, profiles=False)
ASSESSING = MeasureOptions(ASSESS_RULE.most, remembers=False, profiles=False)


class TrainTarget(Protocol):
    """The place on which ``pipeline.run`` measures.  ``problems`` is called first."""

    @property
    def machine(self) -> Machine:
        """The machine of the measurements."""
        ...

    def problems(self, config: TrainConfig) -> list[Problem]:
        """The admitted problems of a configuration; raises InputError for one that cannot be timed."""
        ...

    @property
    def training(self) -> Evaluator:
        """For answers in training; remembers its timings."""
        ...

    @property
    def afresh(self) -> Evaluator:
        """Times a program again at each request."""
        ...

    @property
    def assessing(self) -> Evaluator:
        """For figures: more pairs, and no memory."""
        ...


@final
class TargetEvaluators:
    """The three evaluators on this machine or on a cluster; ``problems`` opens them."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._harness: SearchHarness | None = None
        self._measuring: dict[MeasureOptions, SearchHarness] = {}

    @property
    def machine(self) -> Machine:
        """The machine of the measurements, after the problems are admitted."""
        return self._target.machine(self._opened)

    @property
    def training(self) -> Evaluator:
        """For answers in training."""
        return self._in(TRAINING)

    @property
    def afresh(self) -> Evaluator:
        """Times a program again at each request."""
        return self._in(AFRESH)

    @property
    def assessing(self) -> Evaluator:
        """For figures."""
        return self._in(ASSESSING)

    def problems(self, config: TrainConfig) -> list[Problem]:
        """The admitted problems of a configuration; raises InputError for one that cannot be timed."""
        loaded = [(path, load(path).problem) for path in config.paths]
        if self._harness is None:
            self._harness = anyio.run(self._target.open, [problem for _, problem in loaded])
        found = []
        for path, problem in loaded:
            admitted = anyio.run(self._in(TRAINING).admit, problem)
            if not admitted.timed:
                raise InputError(f"{path} cannot be trained on: {admitted.notes[-1] if admitted.notes else 'untimed'}")
            found.append(admitted.problem)
        return found

    @property
    def _opened(self) -> SearchHarness:
        assert self._harness is not None, "ask for the problems first"
        return self._harness

    def _in(self, options: MeasureOptions) -> SearchHarness:
        if options not in self._measuring:
            self._measuring[options] = self._opened.measuring(options)
        return self._measuring[options]


@contextmanager
def train_target(config: TrainConfig, out: Path) -> Iterator[TrainTarget]:
    """The place that measures the answers of a configuration; it is open inside the block."""
    asked = ClusterRequest(config.bench.cluster, config.bench.shared_cores) if config.bench.cluster else None
    if asked is not None and asked.is_here and processes() > 1:
        raise InputError(
            f"{processes()} processes would each hold the cores of {asked.spec}; start a scheduler with nodes, and "
            "name it (tcp://HOST:PORT)"
        )
    with where(asked, out if not rank() else None) as target:
        yield TargetEvaluators(target)
