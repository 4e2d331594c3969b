"""What a value model is fitted with, and on which situations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from maxcode.search.value import SMALL, NetworkShape, Situation
from maxcode.train.to_go.dataset import Dataset
from maxcode.train.to_go.pairs import Pair

SMALL_CONTEXT, CONTEXT = 384, 2048  # tokens of a prompt at most


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """What a model is fitted with.  ``folder``: where a network is made, and its checkpoint kept; ``base``: its
    weights, ``shape`` those of a small one; ``context``: tokens of a prompt at most; ``say`` hears how far it is."""

    folder: Path
    seed: int = 0
    base: str = SMALL
    say: Callable[[str], None] = lambda words: None
    shape: NetworkShape = field(default_factory=NetworkShape)
    context: int = SMALL_CONTEXT


def rows(data: Dataset, pairs: tuple[Pair, ...]) -> tuple[list[Situation], list[int]]:
    """Situations and labels in every reading: each state as it is after execution, as it was before, and, where its
    machine code is known, as it was before it was built, for a model that no compiler stands beside."""
    seen, labels = [], []
    for pair in pairs:
        after = pair.situation
        readings = [after, after.unseen(), *([after.unseen().unbuilt()] if after.code is not None else [])]
        seen += readings
        labels += [data.label(pair)] * len(readings)
    return seen, labels
