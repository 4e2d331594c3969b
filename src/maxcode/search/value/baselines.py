"""Baselines for value models: a constant, a random number, the best so far, and the throughput estimate of machine
code."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import msgspec

from maxcode.core.types import MachineCode, Outcome
from maxcode.search.value.classes import CLASSES, PRESETS, Edges
from maxcode.search.value.situation import Situation

_NOTHING = ""  # baselines read no features


class Constant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="constant"):
    """Predicts the mean class of the training data for everything."""

    mean: float
    reads: str = _NOTHING

    def needs(self) -> str:
        return _NOTHING

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The same class for every situation."""
        return [self.mean] * len(situations)


class Random(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="random"):
    """Predicts a pseudo-random number: a hash of ``seed`` and the situation, so the same question gives the same
    answer."""

    seed: int = 0
    reads: str = _NOTHING

    def needs(self) -> str:
        return _NOTHING

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """A class between the first and the last for every situation."""
        return [self._drawn(one) for one in situations]

    def _drawn(self, one: Situation) -> float:
        told = f"{self.seed}/{one.depth}/{one.reading}/{one.parent}/{one.program}"
        number = int.from_bytes(hashlib.sha256(told.encode("utf-8", "surrogateescape")).digest()[:8])
        return (CLASSES - 1) * number / 2**64


class _Classing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A baseline that turns speed-ups into classes."""

    bounds: tuple[float, ...]
    reads: str = _NOTHING

    def __post_init__(self) -> None:
        Edges("", self.bounds)

    def needs(self) -> str:
        return _NOTHING


class FastestSoFar(_Classing, frozen=True, forbid_unknown_fields=True, tag="fastest-so-far"):
    """The class of u, plus a tenth of the class of the last reward, which separates equals: the rule of a greedy
    search.

    A candidate before execution has its parent's reward.
    """

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The class, with a fraction, of what the path has reached."""
        edges = Edges("", self.bounds)
        return [0.9 * edges.position(one.u) + 0.1 * edges.position(_reward(one)) for one in situations]


class BusiestLoop(_Classing, frozen=True, forbid_unknown_fields=True, tag="busiest-loop"):
    """The class of the estimated speed-up of the busiest loop: its estimated work in a cycle over the original's.

    It needs no training (``--value busiest-loop``).  Beyond the last class every doubling adds a little, so that there
    are no ties.  It predicts the first class if the machine code is not known, or if the program was run and is not
    correct.
    """

    bounds: tuple[float, ...] = PRESETS["kernelbench-l1"].bounds

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The class, with a fraction, of the estimated speed-up of every situation."""
        edges = Edges("", self.bounds)
        gains = [_promised(one) for one in situations]
        return [edges.position(gain) + 1e-3 * math.log2(1 + gain) for gain in gains]


def _promised(one: Situation) -> float:
    if one.step is not None and one.step.evaluation.outcome is not Outcome.CORRECT:
        return 0.0
    original = _rate(one.original_code)
    return _rate(one.code) / original if original else _rate(one.code)


def _rate(code: MachineCode | None) -> float:
    return code.bodies[0].rate if code is not None and code.bodies else 0.0


def _reward(one: Situation) -> float:
    if one.step is not None:
        return one.step.reward
    return one.previous.reward if one.previous is not None else 1.0
