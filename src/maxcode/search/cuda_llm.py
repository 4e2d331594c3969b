"""CUDA-LLM (arXiv 2506.09092) as MaxCode section 2 states it: a greedy beam with repair.

At a node, sample ``width`` candidates and evaluate all.  If any is correct, the fastest correct one is the next node
and the rest are dropped.  If none is correct, every candidate is refined once, in parallel, until one is correct.

Departure from MaxCode: "correct" is the outcome CORRECT, where the text explains it as a speed-up above 1.  With that
reading, a level without a speed-up would send working programs to repair, and the search would end on its first
plateau.  So here the fastest correct one is the next node even if it is slower than its parent. At most ``repairs``
rounds of refinement a level, then the level is sampled once more, then the search ends; the paper names no limit.
Repair does not count as depth, but every candidate counts to the budget.  A candidate for which the policy passes is
not refined.  Departure from CUDA-LLM itself, which samples
``width`` new candidates from the node when none is valid: here each candidate is refined, as in MaxCode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State
from maxcode.search.ranking import By, rank


@final
@dataclass(frozen=True, slots=True)
class CudaLlm:
    """``depth`` levels of ``width`` candidates; the paper's values are 8 and 8.

    ``by="value"`` is MaxCode's guided rule: the next node is the candidate with the highest expected class, correct or
    not, because a strong rewrite with one error may lead further than a weak one that works.  Its expansion is its
    repair, so there are no separate rounds of repair.
    """

    width: int = 8
    depth: int = 8
    repairs: int = 3
    by: By = "reward"

    def select(self, reached: Reached) -> list[State]:
        node, level = reached.root, 0
        while level < self.depth:
            tried = reached.children(node)
            missing = self.width - len(tried) - reached.passes(node)
            if not tried or (missing > 0 and not reached.is_closed(node)):  # a new level, or the rest of a cut batch
                return [node] * (missing if missing > 0 else self.width)
            first = self._first(tried, reached)
            node_next, open_states = self._climb(first, reached)
            if node_next is None and not open_states:
                node_next, open_states = self._again(node, tried[len(first) :], reached)
            if node_next is None:
                return open_states
            node, level = node_next, level + 1
        return []

    def _first(self, tried: Sequence[State], reached: Reached) -> Sequence[State]:
        """The first samples of a level, those before any repair; fewer than ``width`` if the policy passed."""
        repaired = min((child.id[0] for state in tried for child in reached.children(state)), default=math.inf)
        return [state for state in tried[: self.width] if state.id[0] < repaired]

    def _again(self, node: State, second: Sequence[State], reached: Reached) -> tuple[State | None, list[State]]:
        """Sample a level once more, after its repairs have failed."""
        if len(second) < self.width and not (second and reached.is_closed(node)):
            return None, [node] * (self.width - len(second))
        return self._climb(second, reached)

    def _climb(self, candidates: Sequence[State], reached: Reached) -> tuple[State | None, list[State]]:
        """The next node, or else the states to refine; neither if all repair rounds are used."""
        if self.by == "value":
            return max(candidates, key=lambda state: rank(state, self.by)), []
        for rounds in range(self.repairs + 1):
            correct = [state for state in candidates if state.outcome is Outcome.CORRECT]
            if correct:
                return max(correct, key=lambda state: state.reward), []
            unrefined = [one for one in candidates if not reached.children(one) and not reached.is_closed(one)]
            if unrefined or rounds == self.repairs:
                return None, unrefined if rounds < self.repairs else []
            candidates = [answers[0] for state in candidates if (answers := reached.children(state))]
        return None, []
