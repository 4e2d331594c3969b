"""The diverse half of Staged Quality-Diversity: the best kernel of every cell, for one problem.

A cell is a behaviour descriptor (``techniques.cell``: which techniques a kernel uses, and their sizes to a power of
two).  MAP-Elites (Mouret and Clune, 2015) gives the shape; SQD (arXiv 2602.12049) publishes neither descriptor nor
selection, so both are our reconstruction: quality within a cell, uniform draws over the filled ones.

An archive keeps every kernel it was offered and knows *when* (a batch of a search, a step of training), so that it
can be asked how it was at an earlier time: what is drawn must not depend on how far ahead somebody has fetched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar, final

from maxcode.code.techniques import TECHNIQUES, cell, used
from maxcode.core.types import Problem, Program

Cell = tuple[str, ...]
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Kept:
    """A correct kernel with what it was worth (GFLOPS or a speed-up) when it was ``made``."""

    cell: Cell
    program: Program
    quality: float
    made: int


@final
class Archive:
    """All kernels of one problem, in the order in which they were offered.

    A program that is offered again with another quality was measured again: from then on that is what it is worth.
    """

    def __init__(self, kept: Sequence[Kept] = ()) -> None:
        self._kept: list[Kept] = []
        self._worth: dict[str, float] = {}
        self._then: tuple[int | None, int, dict[Cell, Kept]] = (
            None,
            0,
            {},
        )  # what was asked last: a step's rows ask alike
        for one in kept:
            self.offer(one)

    def __len__(self) -> int:
        """How many kernels there are."""
        return len(self._worth)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept)

    def offer(self, one: Kept) -> bool:
        """Keep a kernel; whether it is new to its cell, or better than all in it."""
        digest = one.program.digest
        if self._worth.get(digest) == one.quality:
            return False
        before = self.elites().get(one.cell)
        self._worth[digest] = one.quality
        self._kept.append(one)
        return before is None or one.quality > before.quality

    def elites(self, before: int | None = None) -> dict[Cell, Kept]:
        """The best of every cell, in the order in which cells were first filled, of equals the first; with ``before``,
        as it was when nothing of that time or later had been made."""
        if self._then[:2] != (before, len(self._kept)):
            self._then = (before, len(self._kept), self._elites(before))
        return self._then[2]

    def _elites(self, before: int | None) -> dict[Cell, Kept]:
        latest: dict[str, Kept] = {}
        for one in self._kept:
            if before is None or one.made < before:
                latest[one.program.digest] = one
        best: dict[Cell, Kept] = {}
        for one in latest.values():
            if one.cell not in best or one.quality > best[one.cell].quality:
                best[one.cell] = one
        return best

    @property
    def best(self) -> Kept | None:
        """The best kernel of all; of equals the first."""
        return max(self.elites().values(), key=lambda one: one.quality, default=None)


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


def best_of_cells(language: str, candidates: Iterable[tuple[T, Program, float]]) -> dict[tuple[str, ...], T]:
    """The best of every cell, of (candidate, its program, its quality); cells in the order they were first filled, of
    equals the first."""
    best: dict[tuple[str, ...], tuple[T, float]] = {}
    for candidate, program, quality in candidates:
        key = _cell(language, "\n".join(program.files.values()))
        if key not in best or quality > best[key][1]:
            best[key] = (candidate, quality)
    return {key: candidate for key, (candidate, _) in best.items()}


@lru_cache(maxsize=1 << 15)
def _cell(language: str, text: str) -> tuple[str, ...]:
    """Kept: a search asks for every program at every select; that must cost no more than the text's own (kept) hash."""
    return cell(language, text)
