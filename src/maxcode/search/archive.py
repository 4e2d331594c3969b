"""The archive of Staged Quality-Diversity (SQD): the best kernel of every cell, for one problem.

A cell is a behaviour descriptor (``techniques.cell``: which techniques a kernel uses, and their sizes to a power of
two).  The structure is that of MAP-Elites (Mouret and Clune, 2015).  SQD (arXiv 2602.12049) publishes neither
descriptor nor selection.  Both are our reconstruction: quality within a cell, uniform selection over the filled cells.

An archive keeps every kernel it was offered, with its time (the batch of a search, or the step of a training).  So it
can return its content at an earlier time: a selection must not depend on how far ahead prompts were fetched.
"""

from __future__ import annotations

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
    """A correct kernel, its quality (GFLOPS or a speed-up), and the time ``made`` at which it was measured; the
    ``schedule`` that made it, if one did."""

    cell: Cell
    program: Program
    quality: float
    made: int
    schedule: str = ""


@final
class Archive:
    """All kernels of one problem, in the order in which they were offered.

    If a program is offered again with another quality, it was measured again, and the new quality counts from then on.
    """

    def __init__(self, kept: Sequence[Kept] = ()) -> None:
        self._kept: list[Kept] = []
        self._worth: dict[str, float] = {}
        # The last query and its answer: the rows of a step repeat it.
        self._then: tuple[int | None, int, dict[Cell, Kept]] = (None, 0, {})
        for one in kept:
            self.offer(one)

    def __len__(self) -> int:
        """The number of different kernels."""
        return len(self._worth)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept)

    def offer(self, one: Kept) -> bool:
        """Add a kernel; return whether it is the first of its cell, or better than all others in it."""
        digest = one.program.digest
        if self._worth.get(digest) == one.quality:
            return False
        before = self.elites().get(one.cell)
        self._worth[digest] = one.quality
        self._kept.append(one)
        return before is None or one.quality > before.quality

    def elites(self, before: int | None = None) -> dict[Cell, Kept]:
        """The best kernel of every cell, in the order in which cells were first filled; of equals the first.  With
        ``before``: only kernels made before that time."""
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

    def fastest(self) -> list[Kept]:
        """All kernels, each with its latest quality, the fastest first."""
        latest = {one.program.digest: one for one in self._kept}
        return sorted(latest.values(), key=lambda one: -one.quality)

    @property
    def best(self) -> Kept | None:
        """The best kernel of all cells; of equals the first."""
        return max(self.elites().values(), key=lambda one: one.quality, default=None)


def open_to(problem: Problem, cells: Mapping[Cell, T]) -> list[T]:
    """The values of the cells that use only techniques that the problem permits or that its original uses."""
    if problem.permitted is None:
        return list(cells.values())
    own = (used(problem.language, text) for text in problem.program.files.values())
    permitted = problem.permitted.union(*own)
    return [value for cell, value in cells.items() if frozenset(cell) & frozenset(TECHNIQUES) <= permitted]


def best_of_cells(language: str, candidates: Iterable[tuple[T, Program, float]]) -> dict[Cell, T]:
    """The best of every cell, from tuples (candidate, its program, its quality).  Cells are in the order in which they
    were first filled; of equals the first."""
    best: dict[Cell, tuple[T, float]] = {}
    for candidate, program, quality in candidates:
        key = cell_of(language, program)
        if key not in best or quality > best[key][1]:
            best[key] = (candidate, quality)
    return {key: candidate for key, (candidate, _) in best.items()}


def cell_of(language: str, program: Program) -> Cell:
    """The cell of a program."""
    return _cell(language, "\n".join(program.files.values()))


@lru_cache(maxsize=1 << 10)
def _cell(language: str, text: str) -> Cell:
    """Cached, because a proposal may be made twice, and a state that was added may be replaced."""
    return cell(language, text)
