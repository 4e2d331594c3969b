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
from maxcode.core.types import Outcome, State, StateId
from maxcode.search.ranking import By, expected

WIDENING = 2.0


@final
@dataclass(slots=True, eq=False)
class _Node:
    """The statistics of one state.

    ``visits``  1 + the number of states below; in a batch also the picks whose path leads here
    ``opened``  the new children that this batch asks for
    ``peak``    the largest worth of the subtree; None if nothing in it is correct
    """

    visits: int = 0
    opened: int = 0
    peak: float | None = None
    children: list[_Node] = field(default_factory=list)

    def may_widen(self) -> bool:
        """Whether it may get one more child."""
        return len(self.children) + self.opened < WIDENING * math.sqrt(self.visits)


@final
@dataclass(slots=True)
class _Counted:
    """The statistics of the tree.  ``low``, ``high``: of the worths of all states."""

    by: By
    nodes: dict[StateId, _Node] = field(default_factory=dict)
    low: float = math.inf
    high: float = -math.inf

    def add(self, state: State) -> None:
        worth = self._worth(state)
        self.nodes[state.id] = here = _Node()
        if state.parent is not None:
            self.nodes[state.parent.id].children.append(here)
        for above in state.ancestry:
            self.nodes[above.id].visits += 1
        if worth is not None:
            self.low, self.high = min(self.low, worth), max(self.high, worth)
            self._raise(state, worth)

    def _raise(self, state: State, worth: float) -> None:
        for above in state.ancestry:
            node = self.nodes[above.id]
            if node.peak is not None and node.peak >= worth:
                return
            node.peak = worth

    def replace(self, before: State, after: State) -> bool:
        return self._worth(before) == self._worth(after)

    def _worth(self, state: State) -> float | None:
        return _worth(state) if self.by == "reward" else expected(state)

    def scores(self, node: _Node, exploration: float) -> list[float]:
        """What each child is worth: the best of its subtree, scaled to [0, 1] (0 if nothing in it is correct), and the
        bonus.  A loop of its own, because a node of a long run has hundreds of children."""
        low, span, root = self.low, self.high - self.low, math.sqrt
        weight = exploration * root(math.log(node.visits))
        if span == 0:
            return [(one.peak is not None) + weight / root(one.visits) for one in node.children]
        return [
            (0.0 if one.peak is None else (one.peak - low) / span) + weight / root(one.visits) for one in node.children
        ]


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """``width`` picks a batch, one after another.  Each pick counts as a visit of its path, so that the next may
    differ.

    A correct state is worth the logarithm of its reward, scaled to [0, 1] over the run; any other is worth 0.
    ``exploration`` is the weight of the bonus.  Only the budget ends the search.  The statistics are kept as the run
    grows: O(depth) for a new state, O(path * children) for a pick.  With ``by="value"`` any state with an expected
    class is worth that, scaled to [0, 1] likewise, and the root is worth 0.
    """

    width: int = 8
    exploration: float = 0.5
    by: By = "reward"

    def select(self, reached: Reached) -> list[State]:
        counted = reached.summary(_Counted, self.by)
        path: list[_Node] = []
        opened: list[_Node] = []
        try:
            return [self._pick(counted, reached, path, opened) for _ in range(self.width)]
        finally:
            for node in path:
                node.visits -= 1
            for node in opened:
                node.opened = 0

    def _pick(self, counted: _Counted, reached: Reached, path: list[_Node], opened: list[_Node]) -> State:
        """The next state to expand; its path and itself are noted, so that the counts can be taken back."""
        state, node = reached.root, counted.nodes[reached.root.id]
        node.visits += 1
        path.append(node)
        while node.children and (not node.may_widen() or reached.is_closed(state)):
            at = _child(counted.scores(node, self.exploration), reached.children(state), reached)
            if at is None:
                break
            state, node = reached.children(state)[at], node.children[at]
            node.visits += 1
            path.append(node)
        node.opened += 1
        opened.append(node)
        return state


def _child(scores: Sequence[float], children: Sequence[State], reached: Reached) -> int | None:
    """The index of the best child with an open state in its subtree; None if there is none."""
    best = scores.index(max(scores))
    if _has_open(children[best], reached):
        return best
    others = sorted(range(len(scores)), key=lambda at: -scores[at])
    return next((at for at in others if _has_open(children[at], reached)), None)


def _has_open(state: State, reached: Reached) -> bool:
    """Whether a state of the subtree is open."""
    left = [state]
    while left:
        if not reached.is_closed(one := left.pop()):
            return True
        left += reached.children(one)
    return False


def _worth(state: State) -> float | None:
    """The logarithm of a correct state's reward.  A reward of 0 or less, which other reward functions may give, counts
    as not correct."""
    reward = state.reward
    return math.log(reward) if reward > 0 and state.outcome is Outcome.CORRECT else None
