"""MAP-Elites over the techniques a kernel uses: quality within a cell, diversity across cells.

The archive is not kept, it is read off what was reached: one cell per behaviour descriptor (``techniques.cell``: which
techniques, and their sizes to a power of two), in it the correct program with the highest reward.  It is one
half of Staged Quality-Diversity (arXiv 2602.12049), whose archive and selection rule are not published: both are ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from maxcode import techniques
from maxcode.reached import Reached
from maxcode.types import Outcome, Program, State


@final
@dataclass(frozen=True, slots=True)
class Elites:
    """``width`` parents a batch, drawn uniformly (with repeats) over the filled cells.  It never finishes: the budget
    does.  A draw is a hash of how many states there are and of the slot, so nothing is remembered."""

    width: int = 8

    def select(self, reached: Reached) -> list[State]:
        archive = list(elites(reached).values())
        return [archive[_draw(len(reached), slot) % len(archive)] for slot in range(self.width)]


def elites(reached: Reached) -> dict[tuple[str, ...], State]:
    """The correct state with the highest reward in every filled cell.  The root is correct, so there is always one."""
    return techniques.elites(reached.root.problem.language, _correct(reached))


def _correct(reached: Reached) -> Iterator[tuple[State, Program, float]]:
    for state in reached:
        step = state.step
        if step is None:
            yield state, state.problem.program, state.reward
        elif step.evaluation.outcome is Outcome.CORRECT and step.action.program is not None:
            yield state, step.action.program, step.reward


def _draw(reached: int, slot: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{reached}/{slot}".encode()).digest()[:8])
