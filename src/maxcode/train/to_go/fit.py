"""The settings for fitting a value model, and the situations to fit it on."""

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
    """The settings for fitting.  ``folder``: for a network and its checkpoint; ``base``: its weights; ``shape``: of a
    small one; ``context``: most tokens of a prompt; ``say`` is called with the progress.  ``kept``: a folder for the
    predictions of an evaluation, which takes them up again; None: they are made anew."""

    folder: Path
    seed: int = 0
    base: str = SMALL
    say: Callable[[str], None] = lambda words: None
    shape: NetworkShape = field(default_factory=NetworkShape)
    context: int = SMALL_CONTEXT
    kept: Path | None = None


def rows(data: Dataset, pairs: tuple[Pair, ...]) -> tuple[list[Situation], list[int]]:
    """Situations and labels for each state: after execution, before execution, and, if its machine code is known,
    before its build, for a model without a compiler."""
    seen, labels = [], []
    for pair in pairs:
        after = pair.situation
        readings = [after, after.unseen(), *([after.unseen().unbuilt()] if after.code is not None else [])]
        seen += readings
        labels += [data.label(pair)] * len(readings)
    return seen, labels
