"""Boosted trees as plain lists: what ``train`` fits with scikit-learn, read and applied here without it.

A model is data.  It is kept as JSON and checked when it is read, so a stranger's file can be wrong but cannot run
anything: no pickle (which runs code when it is loaded), and no loader of objects by name.
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
    """One tree, node by node, the root first.  A leaf has feature -1; elsewhere a value of at most ``threshold`` goes
    to ``left``, a larger one to ``right``, NaN to where ``missing`` points.  Children come after their parents, so
    every walk ends."""

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
            raise ValueError(f"a tree of {size} nodes whose columns differ in length, or are too many")
        if not all(map(math.isfinite, (*self.threshold, *self.value))):
            raise ValueError("a threshold or a value that is not finite")
        for node, feature in enumerate(self.feature):
            children = (self.missing[node], self.left[node], self.right[node])
            if feature >= 0 and not (feature < len(NAMES) and all(node < child < size for child in children)):
                raise ValueError(f"node {node} points at no later node, or at feature {feature}, which there is not")

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
    """Gradient-boosted trees over ``features``: ``rounds`` hold one tree a class of ``classes``, or a single one (for
    the second class) where there are two; ``start`` is what every class begins with."""

    reads: str
    classes: tuple[int, ...]
    start: tuple[float, ...]
    rounds: tuple[tuple[Tree, ...], ...]

    def __post_init__(self) -> None:
        width = 1 if len(self.classes) == 2 else len(self.classes)
        rising = list(self.classes) == sorted(set(self.classes))
        if len(self.classes) < 2 or len(self.start) != width or not rising or self.classes[0] < 0:
            raise ValueError(f"classes {self.classes} that begin with {len(self.start)} numbers")
        if len(self.rounds) * width > _MOST_TREES or any(len(trees) != width for trees in self.rounds):
            raise ValueError("a round that has not one tree for every class, or too many rounds")

    def needs(self) -> str:
        """The version of what is read by a model of this kind."""
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
