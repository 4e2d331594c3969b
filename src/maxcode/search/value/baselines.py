"""What a model has to be better than: no opinion, chance, the best so far, and one number of the machine code."""

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
    """The mean class of the training data for everything."""

    mean: float
    reads: str = _NOTHING

    def needs(self) -> str:
        """Nothing."""
        return _NOTHING

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The same class for every situation."""
        return [self.mean] * len(situations)


class Random(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="random"):
    """A number for every program by chance: a hash of ``seed`` and what is seen, so that asking again says the same."""

    seed: int = 0
    reads: str = _NOTHING

    def needs(self) -> str:
        """Nothing."""
        return _NOTHING

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """A class between the first and the last for every situation."""
        return [self._drawn(one) for one in situations]

    def _drawn(self, one: Situation) -> float:
        told = f"{self.seed}/{one.depth}/{one.reading}/{one.parent}/{one.program}"
        number = int.from_bytes(hashlib.sha256(told.encode("utf-8", "surrogateescape")).digest()[:8])
        return (CLASSES - 1) * number / 2**64


class _Classing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A baseline that makes classes of speed-ups."""

    bounds: tuple[float, ...]
    reads: str = _NOTHING

    def __post_init__(self) -> None:
        Edges("", self.bounds)

    def needs(self) -> str:
        """Nothing."""
        return _NOTHING


class FastestSoFar(_Classing, frozen=True, forbid_unknown_fields=True, tag="fastest-so-far"):
    """The class of u, and for a tenth that of the last reward, which parts equals: what a greedy search goes by.

    A candidate that was not executed has its parent's reward.
    """

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The class, with a fraction, of what is already there."""
        edges = Edges("", self.bounds)
        return [0.9 * edges.position(one.u) + 0.1 * edges.position(_reward(one)) for one in situations]


class BusiestLoop(_Classing, frozen=True, forbid_unknown_fields=True, tag="busiest-loop"):
    """The class of the speed-up that the busiest loop promises: its estimated work in a cycle over the original's.

    It learns nothing and works without training (``--value busiest-loop``).  Beyond the last class a little more for
    every doubling, so that nothing ties; the first class where the machine code is not known, or the program was run
    and does not work.
    """

    bounds: tuple[float, ...] = PRESETS["kernelbench-l1"].bounds

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The class, with a fraction, of what every situation promises."""
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
