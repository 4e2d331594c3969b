"""Tree search with upper confidence bounds on the max-reward return.

The objective is the best reward, not the sum, so the value of a node is the *maximum* over its subtree; the bonus for
exploration is UCT's (Kocsis and Szepesvari, 2006).  The set of possible proposals is unbounded, so a node may have more
children as its visits grow (progressive widening: at most ``2 * sqrt(1 + visits)``; the factor and the root are ours).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State
from maxcode.search.ranking import By, expected

WIDENING = 2.0


@final
@dataclass(slots=True)
class _Counted:
    """The statistics of the tree.

    ``visits``  1 + the number of states below
    ``peaks``   the largest log-reward of the subtree; None if nothing in it is correct
    ``opened``  the children that this batch has asked for
    """

    visits: dict[State, int]
    peaks: dict[State, float]
    low: float
    span: float
    opened: dict[State, int] = field(default_factory=dict)

    def may_widen(self, node: State, children: int) -> bool:
        """Whether ``node`` may get one more child."""
        return children + self.opened.get(node, 0) < WIDENING * math.sqrt(self.visits[node])

    def value(self, node: State) -> float:
        """The best of the subtree, scaled to [0, 1]; 0 if nothing in it is correct."""
        peak = self.peaks.get(node)
        return 0.0 if peak is None else 1.0 if self.span == 0 else (peak - self.low) / self.span


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """``width`` picks a batch, one after another.  Each pick counts as a visit of its path, so that the next may
    differ.

    A correct state is worth the logarithm of its reward, scaled to [0, 1] over the run; any other is worth 0.
    ``exploration`` is the weight of the bonus.  Only the budget ends the search.  The statistics are computed at every
    call in one pass: O(states + width * path * children).  With ``by="value"`` any state with an expected class is
    worth that, scaled to [0, 1] likewise, and the root is worth 0.
    """

    width: int = 8
    exploration: float = 0.5
    by: By = "reward"

    def select(self, reached: Reached) -> list[State]:
        counted = _count(reached, self.by)
        return [self._pick(counted, reached) for _ in range(self.width)]

    def _pick(self, counted: _Counted, reached: Reached) -> State:
        node = reached.root
        counted.visits[node] += 1
        while (children := reached.children(node)) and not counted.may_widen(node, len(children)):
            node = self._highest(node, children, counted)
            counted.visits[node] += 1
        counted.opened[node] = counted.opened.get(node, 0) + 1
        return node

    def _highest(self, node: State, children: Sequence[State], counted: _Counted) -> State:
        weight = self.exploration * math.sqrt(math.log(counted.visits[node]))
        return max(children, key=lambda child: counted.value(child) + weight / math.sqrt(counted.visits[child]))


def _count(reached: Reached, by: By) -> _Counted:
    visits = dict.fromkeys(reached, 1)
    worth_of = _worth if by == "reward" else expected
    peaks = {state: worth for state in reached if (worth := worth_of(state)) is not None}
    low, high = min(peaks.values(), default=0.0), max(peaks.values(), default=0.0)
    for state in reached.newest():  # children come after their parents, so every subtree is complete when it is added
        parent = state.parent
        if parent is not None:
            visits[parent] += visits[state]
            peak = peaks.get(state)
            if peak is not None and peak > peaks.get(parent, -math.inf):
                peaks[parent] = peak
    return _Counted(visits, peaks, low, high - low)


def _worth(state: State) -> float | None:
    """The logarithm of a correct state's reward.  A reward of 0 or less, which other reward functions may give, counts
    as not correct."""
    reward = state.reward
    return math.log(reward) if reward > 0 and state.outcome is Outcome.CORRECT else None
