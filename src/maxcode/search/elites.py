"""MAP-Elites over the techniques of a kernel, and Staged Quality-Diversity: quality within a cell, diversity across.

The archive is not stored but computed from the states reached: one cell per behaviour descriptor (``techniques.cell``:
which techniques, and their sizes to a power of two), which holds the correct program with the highest reward.  With
``stages`` it is Staged Quality-Diversity (arXiv 2602.12049).  Its archive, selection, stages and promotion are not
published: all are ours (``stages.py``, ``archive.py``; training uses the same).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, Program, State
from maxcode.search.archive import best_of_cells, draw, open_to
from maxcode.search.stages import Stages, Standing, Visit


@final
@dataclass(frozen=True, slots=True)
class Elites:
    """``width`` parents a batch, selected uniformly (with repeats) over the filled cells; only the budget ends the
    search. A draw is a hash of the number of states and of the slot, so the search needs no memory.

    With ``stages`` a batch is one visit of the problem's stage: proposals may use the techniques of the stage, and
    parents come from the cells that use no others.
    """

    width: int = 8
    stages: Stages | None = None

    def select(self, reached: Reached) -> list[State]:
        problem = reached.root.problem
        if self.stages is not None:
            problem = self.stages[standing(self.stages, reached).stage].of(problem)
        archive = open_to(problem, elites(reached))
        chosen = [archive[draw(len(reached), slot) % len(archive)] for slot in range(self.width)]
        return chosen if self.stages is None else [replace(state, problem=problem) for state in chosen]


def elites(reached: Reached) -> dict[tuple[str, ...], State]:
    """The correct state with the highest reward in every filled cell.  The root is correct, so there is always one."""
    return best_of_cells(reached.root.problem.language, _correct(reached))


def standing(stages: Stages, reached: Reached) -> Standing:
    """The stage of the problem after all batches; every batch is a visit of the stage that was current then."""
    found = Standing()
    candidates = (state for state in reached if state.step is not None)
    for _, batch in groupby(candidates, key=lambda state: state.id[0]):
        steps = [state.step for state in batch if state.step is not None]
        valid = tuple(step.reward for step in steps if step.evaluation.outcome is Outcome.CORRECT)
        found = stages.after(found, Visit(found.stage, valid, len(steps)))
    return found


def _correct(reached: Reached) -> Iterator[tuple[State, Program, float]]:
    for state in reached:
        step = state.step
        if step is None:
            yield state, state.problem.program, state.reward
        elif step.evaluation.outcome is Outcome.CORRECT and step.action.program is not None:
            yield state, step.action.program, step.reward
