"""Boosted trees as plain lists: ``train`` fits them with scikit-learn; they are read and applied here without it.

A model is data.  It is stored as JSON and checked when it is read, so a file from a stranger can be wrong but cannot
execute anything: no pickle (which runs code when it is loaded), and no loading of objects by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from maxcode.search.value.features import NAMES, VERSION, features
from maxcode.search.value.situation import Situation

_MOST_NODES = 1 << 12
_MOST_TREES = 1 << 14


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """One tree as columns over its nodes, the root first.  A leaf has feature -1.  At any other node a value of at most
    ``threshold`` goes to ``left``, a larger one to ``right``, NaN to ``missing``.  Children come after their parents,
    so every walk ends."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    missing: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def __post_init__(self) -> None:
        columns = (self.threshold, self.missing, self.left, self.right, self.value)
        size = len(self.feature)
        if not 0 < size <= _MOST_NODES or any(len(column) != size for column in columns):
            raise ValueError(f"a tree of {size} nodes; it needs 1 to {_MOST_NODES} nodes, and columns of one length")
        if not all(map(math.isfinite, (*self.threshold, *self.value))):
            raise ValueError("a threshold or a value is not finite")
        for node, feature in enumerate(self.feature):
            children = (self.missing[node], self.left[node], self.right[node])
            if feature >= 0 and not (feature < len(NAMES) and all(node < child < size for child in children)):
                raise ValueError(f"node {node} points to no later node, or its feature {feature} does not exist")

    def leaf(self, row: Sequence[float]) -> float:
        """The value of the leaf that a row of features falls into."""
        node = 0
        while (feature := self.feature[node]) >= 0:
            number = row[feature]
            if math.isnan(number):
                node = self.missing[node]
            else:
                node = self.left[node] if number <= self.threshold[node] else self.right[node]
        return self.value[node]


class Trees(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="trees"):
    """Gradient-boosted trees over ``features``.

    ``rounds``  one tree for each class of ``classes``; with two classes a single tree, for the second one
    ``start``   the initial score of every class
    """

    reads: str
    classes: tuple[int, ...]
    start: tuple[float, ...]
    rounds: tuple[tuple[Tree, ...], ...]

    def __post_init__(self) -> None:
        width = 1 if len(self.classes) == 2 else len(self.classes)
        rising = list(self.classes) == sorted(set(self.classes))
        if len(self.classes) < 2 or len(self.start) != width or not rising or self.classes[0] < 0:
            raise ValueError(f"the classes {self.classes} do not rise, or do not fit {len(self.start)} initial scores")
        if len(self.rounds) * width > _MOST_TREES or any(len(trees) != width for trees in self.rounds):
            raise ValueError("a round does not have one tree for every class, or there are too many rounds")

    def needs(self) -> str:
        """The version of the features that a model of this kind reads."""
        return VERSION

    def probabilities(self, row: Sequence[float]) -> list[float]:
        """The probability of every class of ``classes`` for a row of features."""
        raw = list(self.start)
        for trees in self.rounds:
            for at, tree in enumerate(trees):
                raw[at] += tree.leaf(row)
        if len(raw) == 1:
            raw = [0.0, raw[0]]
        top = max(raw)
        weights = [math.exp(one - top) for one in raw]
        return [weight / sum(weights) for weight in weights]

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The expected class of every situation."""
        return [self._expected(features(one)) for one in situations]

    def _expected(self, row: Sequence[float]) -> float:
        return sum(at * share for at, share in zip(self.classes, self.probabilities(row), strict=True))
