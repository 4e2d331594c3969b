"""MAP-Elites over the techniques of a kernel, and Staged Quality-Diversity: quality within a cell, diversity across.

The archive is not stored but computed from the states reached: one cell per behaviour descriptor (``techniques.cell``:
which techniques, and their sizes to a power of two), which holds the correct program with the highest reward.  With
``stages`` it is Staged Quality-Diversity (arXiv 2602.12049).  Its archive, selection, stages and promotion are not
published: all are ours (``stages.py``, ``archive.py``; training uses the same).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import final

from maxcode.core.history import Reached
from maxcode.core.stats import draw
from maxcode.core.types import Outcome, State
from maxcode.search.archive import Cell, cell_of, open_to
from maxcode.search.stages import Stages, Standing, Visit

_ID = attrgetter("id")


@final
@dataclass(frozen=True, slots=True)
class Elites:
    """``width`` parents a batch, selected uniformly (with repeats) over the filled cells; only the budget ends the
    search. A draw is a hash of the number of states and of the slot, so the search needs no memory.

    With ``stages`` a batch is one visit of the problem's stage: proposals may use the techniques of the stage, and
    parents come from the cells that use no others.  Closed states are no parents as long as another one is there.
    """

    width: int = 8
    stages: Stages | None = None

    def select(self, reached: Reached) -> list[State]:
        problem = reached.root.problem
        if self.stages is not None:
            problem = self.stages[standing(self.stages, reached).stage].of(problem)
        cells = open_to(problem, elites(reached))
        archive = [state for state in cells if not reached.is_closed(state)] or cells
        chosen = [archive[draw(len(reached), slot) % len(archive)] for slot in range(self.width)]
        return chosen if self.stages is None else [replace(state, problem=problem) for state in chosen]


def elites(reached: Reached) -> dict[Cell, State]:
    """The correct state with the highest reward in every filled cell, of equals the first; cells are in the order in
    which they were first filled.  The root is correct, so there is always one."""
    return reached.summary(_Cells, reached.root.problem.language).best()


def standing(stages: Stages, reached: Reached) -> Standing:
    """The stage of the problem after all batches; every batch is a visit of the stage that was current then."""
    return reached.summary(_Visits, stages).standing()


@final
@dataclass(slots=True)
class _Cells:
    """The correct states of every cell, in order, and the best of them."""

    language: str
    _members: dict[Cell, list[State]] = field(default_factory=dict)
    _best: dict[Cell, State] = field(default_factory=dict)

    def add(self, state: State) -> None:
        if (cell := self._cell(state)) is not None:
            self._members.setdefault(cell, []).append(state)
            if cell not in self._best or state.reward > self._best[cell].reward:
                self._best[cell] = state

    def replace(self, before: State, after: State) -> bool:
        old, new = self._cell(before), self._cell(after)
        if old is not None and old == new and before.reward == after.reward:  # it only has a critique now
            members = self._members[old]
            members[bisect_left(members, after.id, key=_ID)] = after
            self._best[old] = after if self._best[old] == after else self._best[old]
            return True
        if old is not None:
            members = self._members[old]
            del members[bisect_left(members, before.id, key=_ID)]
        if new is not None:
            insort(self._members.setdefault(new, []), after, key=_ID)
        for cell in (old, new):
            if cell in self._members:
                self._settle(cell)
        return True

    def _settle(self, cell: Cell) -> None:
        """The best of a cell after a change."""
        if members := self._members[cell]:
            self._best[cell] = max(members, key=lambda state: state.reward)
        else:
            del self._members[cell], self._best[cell]

    def _cell(self, state: State) -> Cell | None:
        """The cell of a correct state."""
        if state.outcome is not Outcome.CORRECT:
            return None
        program = state.problem.program if state.step is None else state.step.action.program
        return None if program is None else cell_of(self.language, program)

    def best(self) -> dict[Cell, State]:
        first = sorted(self._members, key=lambda cell: self._members[cell][0].id)
        return {cell: self._best[cell] for cell in first}


@final
@dataclass(slots=True)
class _Visits:
    """The standing after all batches but the last, and the last one, which may not be whole yet."""

    stages: Stages
    _before: Standing = field(default_factory=Standing)
    _number: int = 0
    _answers: int = 0
    _valid: list[float] = field(default_factory=list)

    def add(self, state: State) -> None:
        if state.step is None:
            return
        if state.id[0] != self._number:
            self._before = self.standing()
            self._number, self._answers, self._valid = state.id[0], 0, []
        self._answers += 1
        if state.outcome is Outcome.CORRECT:
            self._valid.append(state.reward)

    def replace(self, before: State, after: State) -> bool:
        return (before.outcome, before.reward) == (after.outcome, after.reward)

    def standing(self) -> Standing:
        if not self._answers:
            return self._before
        return self.stages.after(self._before, Visit(self._before.stage, tuple(self._valid), self._answers))
