"""Flat sampling: every candidate is sampled from the original, without the results of the others.

MaxCode's baseline with n = 64; no departures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import State


@final
@dataclass(frozen=True, slots=True)
class BestOfN:
    """``n`` samples from the root, ``width`` in a batch.  The batch size only changes when challengers are
    confirmed."""

    n: int = 64
    width: int = 8

    def select(self, reached: Reached) -> list[State]:
        left = self.n - len(reached.children(reached.root))
        return [reached.root] * min(self.width, max(0, left))
