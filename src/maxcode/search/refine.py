"""Plain self-refinement: one path, one proposal at a time.

This is the shape of MaxCode's training rollouts: parallel single-path refinements.  No departures.  Unlike Effi-Learner
it keeps the last program, not the better one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import State


@final
@dataclass(frozen=True, slots=True)
class Refine:
    """``width`` independent paths of ``depth`` steps.  Each path continues from its last state, correct or not: a
    failed step is feedback too, as in the papers' refinement loops."""

    depth: int = 8
    width: int = 1

    def select(self, reached: Reached) -> list[State]:
        root = reached.root
        if (missing := self.width - len(reached.children(root))) > 0:
            return [root] * missing
        newest = islice(reached.newest(), 2 * self.width)  # paths are never more than one step apart
        ends = [state for state in newest if not reached.children(state) and state.depth < self.depth]
        behind = min((state.depth for state in ends), default=0)
        return [state for state in reversed(ends) if state.depth == behind]
