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
    failed step is feedback too, as in the papers' refinement loops.  A path whose end is closed stops there, and the
    others go on."""

    depth: int = 8
    width: int = 1

    def select(self, reached: Reached) -> list[State]:
        root, paths = reached.root, len(reached.children(reached.root))
        if paths < self.width and not (paths and reached.is_closed(root)):
            return [root] * (self.width - paths)
        newest = islice(reached.newest(), 2 * self.width)  # paths are never more than one step apart
        ends = [state for state in newest if self._ends(state, reached) and not reached.is_closed(state)]
        if not ends:
            return list(islice((state for state in reached.newest() if self._ends(state, reached)), self.width))
        behind = min(state.depth for state in ends)
        return [state for state in reversed(ends) if state.depth == behind]

    def _ends(self, state: State, reached: Reached) -> bool:
        """Whether a path ends at the state before its last step."""
        return 0 < state.depth < self.depth and not reached.children(state)
