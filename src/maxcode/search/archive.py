"""The diverse half of Staged Quality-Diversity: the best kernel of every cell, for one problem.

A cell is a behaviour descriptor (``techniques.cell``: which techniques a kernel uses, and their sizes to a power of
two).  MAP-Elites (Mouret and Clune, 2015) gives the shape; SQD (arXiv 2602.12049) publishes neither descriptor nor
selection, so both are our reconstruction: quality within a cell, uniform draws over the filled ones.

An archive knows *when* each elite was made (a batch of a search, a step of training), so that it can be asked how it
was at an earlier time: what is drawn must not depend on how far ahead somebody has fetched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

from maxcode.techniques import TECHNIQUES, used
from maxcode.types import Problem, Program

Cell = tuple[str, ...]
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Elite:
    """A correct kernel that was the best of its cell when it was ``made``; ``quality``: GFLOPS or a speed-up."""

    program: Program
    quality: float
    made: int


@final
class Archive:
    """The elites of one problem, in the order in which their cells were first filled."""

    def __init__(self, cells: Iterable[tuple[Cell, Sequence[Elite]]] = ()) -> None:
        self._cells: dict[Cell, list[Elite]] = {cell: list(history) for cell, history in cells}

    def __len__(self) -> int:
        return len(self._cells)

    def offer(self, cell: Cell, elite: Elite) -> bool:
        """Keep the elite if it is the first of its cell, or better than the best there; whether it was kept."""
        history = self._cells.setdefault(cell, [])
        if history and elite.quality <= history[-1].quality:
            return False
        history.append(elite)
        return True

    def correct(self, cell: Cell, program: Program, quality: float) -> None:
        """Replace what is held of a program, whose quality was measured anew; its place in time stays."""
        history = self._cells.get(cell, [])
        kept = [
            Elite(one.program, quality, one.made) if one.program.digest == program.digest else one for one in history
        ]
        best: list[Elite] = []
        for one in kept:
            if not best or one.quality > best[-1].quality:
                best.append(one)
        if best:
            self._cells[cell] = best

    def elites(self, before: int | None = None) -> dict[Cell, Elite]:
        """The best of every cell; with ``before``, as it was when nothing of that time or later had been made."""
        found = {}
        for cell, history in self._cells.items():
            then = [one for one in history if before is None or one.made < before]
            if then:
                found[cell] = then[-1]
        return found

    @property
    def best(self) -> Elite | None:
        """The best elite of all; of equals the first."""
        return max(self.elites().values(), key=lambda one: one.quality, default=None)

    def history(self) -> dict[Cell, tuple[Elite, ...]]:
        """All that was ever an elite, by cell; ``Archive(history.items())`` is this archive again."""
        return {cell: tuple(history) for cell, history in self._cells.items()}


def techniques_in(cell: Cell) -> frozenset[str]:
    """The techniques of a cell, without its sizes."""
    return frozenset(cell) & frozenset(TECHNIQUES)


def open_to(problem: Problem, cells: Mapping[Cell, T]) -> list[T]:
    """What lies in cells that use nothing but what the problem permits, or its original uses."""
    if problem.permitted is None:
        return list(cells.values())
    own = (used(problem.language, text) for text in problem.program.files.values())
    permitted = problem.permitted.union(*own)
    return [value for cell, value in cells.items() if techniques_in(cell) <= permitted]


def draw(*words: object) -> int:
    """A 64-bit hash of the words, in the place of a random number: the same words give the same draw."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, words)).encode()).digest()[:8])
