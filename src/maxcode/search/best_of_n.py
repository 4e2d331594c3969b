"""Flat sampling: every candidate is drawn from the original, none sees another's fate.

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
    """``n`` proposals for the root, ``width`` at a time (the batch size changes nothing but when leaders are
    confirmed)."""

    n: int = 64
    width: int = 8

    def select(self, reached: Reached) -> list[State]:
        left = self.n - len(reached.children(reached.root))
        return [reached.root] * min(self.width, max(0, left))
