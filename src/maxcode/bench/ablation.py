"""Methods without parts of their observation; each is a column with the name METHOD-PART-PART.

Such a name is allowed wherever a bench takes a method.  Run folders carry it, so a repeated command resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from maxcode.observe import PARTS
from maxcode.search import methods

Grid = Literal["observe", "each"]

# The parts of the paper's ablation (MaxCode, arXiv 2601.05475, section 4).  The best of the run is switched with the
# best on the path.  The failures and the other branches of the run contain parts of all three, so all these columns
# leave them out.
PAPER = (("best", "run_best"), ("trajectory",), ("critiques",))
TELLS_OF_ALL = ("failures", "branches")
KEPT = frozenset({"statement", "program", "task"})  # a prompt needs these


def parted(name: str) -> tuple[str, tuple[str, ...]]:
    """The method in a column's name, and the parts that the name leaves out, in its order."""
    off: list[str] = []
    known = methods.names()
    while name not in known and (rest := name.rpartition("-"))[2] in PARTS:
        name = rest[0]
        off.insert(0, rest[2])
    return name, tuple(off)


def ablated(name: str, grid: Grid) -> list[str]:
    """The columns of a method's ablation, the method itself first.

    ``observe``: every subset of the paper's three parts that the method shows, without the failures and the other
    branches of the run, which contain parts of all three.  ``each``: leaves out one part at a time, apart from those
    that a prompt needs.
    """
    plain, off = parted(name)
    shown = methods.recipe(plain, frozenset(off)).parts
    if grid == "each":
        return [name, *(f"{name}-{part}" for part in shown if part not in KEPT)]
    groups = [[part for part in group if part in shown] for group in PAPER]
    groups = [group for group in groups if group]
    always = [part for part in TELLS_OF_ALL if part in shown]
    subsets = (chosen for count in range(len(groups) + 1) for chosen in combinations(groups, count))
    columns = (_named(name, [*always, *(part for group in chosen for part in group)]) for chosen in subsets)
    return list(dict.fromkeys([name, *columns]))


def pairs_of(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of columns to compare: whole methods with each other, and each ablation with its whole method if that
    is a column, else with all others."""
    wholes = {column: _whole(column, columns) for column in columns}
    return tuple(
        (a, b)
        for a, b in combinations(columns, 2)
        if (wholes[a] == a and wholes[b] == b) or a == wholes[b] or b == wholes[a]
    )


def _whole(column: str, columns: Sequence[str]) -> str:
    """The column of the whole method; the column itself if there is none."""
    name, off = parted(column)
    return next((whole for count in range(len(off)) if (whole := _named(name, [*off[:count]])) in columns), column)


def _named(name: str, off: list[str]) -> str:
    return "-".join([name, *off])
