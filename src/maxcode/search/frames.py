"""The searches of the methods: each is made for a frame, the budget of a run and what else shapes it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.roles import Search
from maxcode.search import Beam, BestOfN, CudaLlm, EffiLearner, Elites, PerfCodeGen, Refine, Tree
from maxcode.search.ranking import By
from maxcode.search.stages import USUAL as STAGES
from maxcode.search.stages import Promotion


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """The arguments of a search: the ``budget`` in candidates, the ``shape`` (the budget that the run began with),
    whether a model is asked (its answers take long), and whether states are ranked ``by`` reward or value."""

    budget: int
    shape: int
    asks_model: bool = False
    by: By = "reward"

    @property
    def generation(self) -> int:
        """The width of a batch: the square root of the shape, at most 8."""
        return max(1, min(8, round(math.sqrt(self.shape))))


def best_of_n(frame: Frame) -> Search:
    """A batch waits for its slowest answer, so all samples of a model are one batch.  Built-in policies take small
    batches, because they avoid only duplicates of earlier batches."""
    return BestOfN(n=frame.budget, width=min(frame.budget, frame.shape) if frame.asks_model else 8)


def refine(frame: Frame) -> Search:
    return Refine(depth=frame.budget)


def effi_learner(frame: Frame) -> Search:
    return EffiLearner(rounds=frame.budget)


def perfcodegen(frame: Frame) -> Search:
    """A sample that works at once takes three candidates; one that never works takes two."""
    return PerfCodeGen(base=max(1, frame.shape // 3))


def cuda_llm(frame: Frame) -> Search:
    width = max(1, round(math.sqrt(frame.shape)))
    return CudaLlm(width=width, depth=math.ceil(frame.budget / width), by=frame.by)


def beam(frame: Frame) -> Search:
    side = max(1, round(frame.shape ** (1 / 3)))
    return Beam(width=side, children=side, by=frame.by)


def tree(frame: Frame) -> Search:
    return Tree(width=frame.generation, by=frame.by)


def elites(frame: Frame) -> Search:
    return Elites(width=frame.generation)


def sqd(frame: Frame) -> Search:
    """A batch is a visit, and a run has only about a dozen, so promotion comes sooner than in training."""
    return Elites(width=frame.generation, stages=replace(STAGES, promotion=_SOON))


_SOON = Promotion(validity=0.5, patience=1, least=2)
