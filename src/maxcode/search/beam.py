"""Beam search: the best few states are expanded together, level by level.

Ours; it follows no paper.  The parents of a level stay in the pool from which the next level is selected.  So the beam
never gets worse, and on a plateau the same parents are expanded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State
from maxcode.search.ranking import By, rank


@final
@dataclass(frozen=True, slots=True)
class Beam:
    """Expands the ``width`` best correct states of the last level and its parents, each ``children`` times a level.

    Best is by reward, of equals the first reached; a program whose text is already in the beam is not added again.  The
    root is correct, so it alone is expanded until another state is correct.  A closed state stays, but is expanded only
    if all are closed.  The search has no end of its own: the
    budget ends it.  The levels are computed again from the root: O(states) a call, one call a level.  With
    ``by="value"`` best is by expected class, and incorrect states are in the pool too (see ``CudaLlm``).
    """

    width: int = 4
    children: int = 4
    by: By = "reward"

    def select(self, reached: Reached) -> list[State]:
        beam, used = [reached.root], Counter[State]()
        while True:
            level = [reached.children(parent)[used[parent] : used[parent] + self.children] for parent in beam]
            missing = [
                0 if reached.is_closed(parent) else self.children - len(drawn)
                for parent, drawn in zip(beam, level, strict=True)
            ]
            if any(missing):  # a new level, or the rest of a level that the budget has cut
                return [parent for parent, count in zip(beam, missing, strict=True) for _ in range(count)]
            if not any(level):  # all are closed
                return [parent for parent in beam for _ in range(self.children)]
            used.update(dict.fromkeys(beam, self.children))
            beam = self._best([*beam, *(state for drawn in level for state in drawn)])

    def _best(self, pool: Iterable[State]) -> list[State]:
        entering = [state for state in pool if self.by == "value" or state.outcome is Outcome.CORRECT]
        ranked = sorted(sorted(entering, key=lambda state: state.id), key=lambda one: rank(one, self.by), reverse=True)
        distinct: dict[tuple[str, ...], State] = {}
        for state in ranked:
            distinct.setdefault(tuple(state.program.files.values()), state)
            if len(distinct) == self.width:
                break
        return list(distinct.values())
