"""CUDA-LLM (arXiv 2506.09092) as MaxCode section 2 states it: a greedy beam with repair.

At a node draw ``width`` candidates and run all.  If any is correct the fastest correct one is the next node and the
rest are dropped.  If none is, every candidate is refined once, in parallel, until one is correct.

Departures from MaxCode: "correct" is the outcome CORRECT, where the text glosses it as a speed-up above 1: read that
way, a level on which nothing beats the original would send working programs to be mended, and the search would end on
its first plateau, so here the fastest correct one goes on even when it is slower than its parent.  At most ``repairs``
rounds of refinement a level, after which the level is drawn anew once and then the search ends; the paper names no
cap.  Repair is not depth, but every candidate counts to the budget.  Departure from CUDA-LLM itself, which draws
``width`` new candidates from the node when none is valid: MaxCode's refinement of each takes its place.
"""

from __future__ import annotations

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

    ``by="value"`` is MaxCode's guided rule: the candidate with the highest expected class goes on, whether it works or
    not, since a strong rewrite with one error may promise more than a pointless one that works.  To go on from it is
    to mend it, so there are no rounds of repair then.
    """

    width: int = 8
    depth: int = 8
    repairs: int = 3
    by: By = "reward"

    def select(self, reached: Reached) -> list[State]:
        node, level = reached.root, 0
        while level < self.depth:
            tried = reached.children(node)
            if len(tried) < self.width:  # none yet, or a batch that the budget had cut
                return [node] * (self.width - len(tried))
            node_next, open_states = self._climb(tried[: self.width], reached)
            if node_next is None and not open_states:
                node_next, open_states = self._again(node, tried, reached)
            if node_next is None:
                return open_states
            node, level = node_next, level + 1
        return []

    def _again(self, node: State, tried: Sequence[State], reached: Reached) -> tuple[State | None, list[State]]:
        """A level whose repairs came to nothing is drawn once more."""
        second = tried[self.width :]
        if len(second) < self.width:
            return None, [node] * (self.width - len(second))
        return self._climb(second, reached)

    def _climb(self, candidates: Sequence[State], reached: Reached) -> tuple[State | None, list[State]]:
        """The next node, or the states to refine; neither when the repair rounds are used up."""
        if self.by == "value":
            return max(candidates, key=lambda state: rank(state, self.by)), []
        for rounds in range(self.repairs + 1):
            correct = [state for state in candidates if state.outcome is Outcome.CORRECT]
            if correct:
                return max(correct, key=lambda state: state.reward), []
            unrefined = [state for state in candidates if not reached.children(state)]
            if unrefined or rounds == self.repairs:
                return None, unrefined if rounds < self.repairs else []
            candidates = [reached.children(state)[0] for state in candidates]
        return None, []
