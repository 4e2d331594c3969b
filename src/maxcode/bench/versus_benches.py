"""Two benches: every method against itself in the other one, on the problems and seeds that both have finished.

What may differ is what is compared: the policy, the critic, the budget.  What may not: a problem's digest, and the
version, machine and sandbox that the speed-ups come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from maxcode.bench.folder import Planned, planned, read_bench
from maxcode.bench.rows import Row
from maxcode.bench.table import Asked, Table, adjusted_together, table
from maxcode.bench.versus import Difference
from maxcode.errors import InputError

FIRST, SECOND = "first ", "second "


@final
@dataclass(frozen=True, slots=True)
class Benches:
    """``tables``: one for every method that both have, its two columns and their contrast, adjusted for all of them;
    ``differences`` keep the figures from meaning the same; ``terms``: what the two were run with, where that is not the
    same."""

    tables: tuple[Table, ...]
    differences: tuple[Difference, ...]
    terms: tuple[Difference, ...]


def versus_benches(first: Path, second: Path) -> Benches:
    """InputError where they have no problem or no method in common."""
    one, other = planned(first), planned(second)
    rows, others = read_bench(first, one).rows, read_bench(second, other).rows
    methods = [name for name in _methods(one) if name in _methods(other)]
    shared = one.digests.keys() & other.digests.keys()
    if not methods or not shared:
        what = "problem" if methods else "method"
        raise InputError(f"{first} and {second} have no {what} in common, so there is nothing to compare")
    tables = [_of_method(name, rows, others, Asked(together=len(methods))) for name in methods]
    return Benches(
        adjusted_together(tables),
        (*_changed(one, other, shared), *_places(rows, others)),
        _unlike(one.terms, other.terms),
    )


def _methods(plan: Planned) -> list[str]:
    return list(dict.fromkeys(cell.method for cell in plan.cells))


def _of_method(name: str, rows: Sequence[Row], others: Sequence[Row], asked: Asked) -> Table:
    found = table([*_labelled(rows, FIRST, name), *_labelled(others, SECOND, name)], asked)
    if found.contrasts:
        return found
    return Table(
        (), (), 0, 0, found.cells + found.left_out, (f"{name}: no problem and seed of it is finished in both",)
    )


def _labelled(rows: Sequence[Row], label: str, method: str) -> list[Row]:
    return [replace(row, cell=replace(row.cell, method=label + method)) for row in rows if row.cell.method == method]


def _changed(one: Planned, other: Planned, shared: set[str]) -> list[Difference]:
    cure = "bench the problem again in one of them"
    pairs = [(name, one.digests[name], other.digests[name]) for name in sorted(shared)]
    return [Difference(f"problem {name} (its digest)", a[:12], b[:12], cure) for name, a, b in pairs if a != b]


def _places(rows: Sequence[Row], others: Sequence[Row]) -> list[Difference]:
    here, there = sorted({row.where for row in rows}), sorted({row.where for row in others})
    cure = "run both benches with one version, on one machine"
    return [Difference("where it was run", "; ".join(here), "; ".join(there), cure)] if here != there else []


def _unlike(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[Difference, ...]:
    keys = sorted(one.keys() | other.keys())
    found = [(key, one.get(key), other.get(key)) for key in keys]
    return tuple(Difference(key, repr(a), repr(b), "") for key, a, b in found if a != b)
