"""Methods with parts of their observation switched off, each a column of its own: METHOD-PART-PART.

Such a name goes wherever a method's goes in a bench; run folders carry it, so a repeated command resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from maxcode.observe import PARTS
from maxcode.search import methods

Grid = Literal["observe", "each"]

# What the paper's ablation switches (MaxCode, arXiv 2601.05475, section 4): the best of the run goes with that of the
# path.  What failed tells of all three, so it is left out of every one of these columns.
PAPER = (("best", "run_best"), ("trajectory",), ("critiques",))
TELLS_OF_ALL = "failures"
KEPT = frozenset({"statement", "program", "task"})  # without these there is no question


def parted(name: str) -> tuple[str, tuple[str, ...]]:
    """The method of a column's name, and the parts that it switches off, in the name's order."""
    off: list[str] = []
    known = methods.names()
    while name not in known and (rest := name.rpartition("-"))[2] in PARTS:
        name = rest[0]
        off.insert(0, rest[2])
    return name, tuple(off)


def ablated(name: str, grid: Grid) -> list[str]:
    """The columns of a method's ablation, the method itself first.

    ``observe``: every subset of the paper's three parts that the method shows, without the failures of the run, which
    tell of all three.  ``each``: each part alone switched off, all but the question itself.
    """
    plain, off = parted(name)
    shown = methods.recipe(plain, frozenset(off)).parts
    if grid == "each":
        return [name, *(f"{name}-{part}" for part in shown if part not in KEPT)]
    groups = [[part for part in group if part in shown] for group in PAPER]
    groups = [group for group in groups if group]
    always = [TELLS_OF_ALL] if TELLS_OF_ALL in shown else []
    subsets = (chosen for count in range(len(groups) + 1) for chosen in combinations(groups, count))
    columns = (_named(name, [*always, *(part for group in chosen for part in group)]) for chosen in subsets)
    return list(dict.fromkeys([name, *columns]))


def pairs_of(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Which columns are worth holding against one another: whole methods in pairs, and what is left of a method against
    the whole of it, where that is a column; others against everything."""
    wholes = {column: _whole(column, columns) for column in columns}
    return tuple(
        (a, b)
        for a, b in combinations(columns, 2)
        if (wholes[a] == a and wholes[b] == b) or a == wholes[b] or b == wholes[a]
    )


def _whole(column: str, columns: Sequence[str]) -> str:
    """The column that shows all of the method, the column itself where there is none."""
    name, off = parted(column)
    return next((whole for count in range(len(off)) if (whole := _named(name, [*off[:count]])) in columns), column)


def _named(name: str, off: list[str]) -> str:
    return "-".join([name, *off])
