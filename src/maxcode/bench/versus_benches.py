"""Compares two benches: every method with itself, on the problems and seeds that both have finished.

The policy, the critic and the budget may differ: they are compared.  In a run that both have finished, these must be
equal, as for two runs (``versus.py``): the problem's digest, the goal, flags, checker and tests, and the version,
sandbox and machine (node, processor, kernel, compilers) of the speed-ups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from maxcode.bench.bench_folder import Planned, planned, read_bench
from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.rows import BenchRow
from maxcode.bench.table import MethodTable, TableRequest, adjusted_together, table
from maxcode.bench.versus import Difference, beside_the_problem
from maxcode.errors import InputError
from maxcode.run.record import HEADER, header_in

FIRST, SECOND = "first ", "second "
_CURE = "run both benches with the same options and version, on one machine"


@final
@dataclass(frozen=True, slots=True)
class Benches:
    """``tables``: one per shared method, with its two columns and their contrast, adjusted for all of them;
    ``differences``: what makes the figures incomparable; ``terms``: the settings that differ between the two."""

    tables: tuple[MethodTable, ...]
    differences: tuple[Difference, ...]
    terms: tuple[Difference, ...]


def versus_benches(first: Path, second: Path) -> Benches:
    """Compares two benches; raises InputError if they share no problem or no method."""
    one, other = planned(first), planned(second)
    rows, others = read_bench(first, one).rows, read_bench(second, other).rows
    methods = [name for name in _methods(one) if name in _methods(other)]
    common = one.digests.keys() & other.digests.keys()
    if not methods or not common:
        what = "problem" if methods else "method"
        raise InputError(f"{first} and {second} have no {what} in common, so there is nothing to compare")
    there = {row.cell for row in others}
    shared = [row.cell for row in rows if row.cell in there]
    tables = [_of_method(name, rows, others, TableRequest(together=len(methods))) for name in methods]
    return Benches(
        adjusted_together(tables),
        (*_changed(one, other, shared), *_elsewhere(first, second, shared)),
        _unlike(one.terms, other.terms),
    )


def _methods(plan: Planned) -> list[str]:
    return list(dict.fromkeys(cell.method for cell in plan.cells))


def _of_method(name: str, rows: Sequence[BenchRow], others: Sequence[BenchRow], asked: TableRequest) -> MethodTable:
    found = table([*_labelled(rows, FIRST, name), *_labelled(others, SECOND, name)], asked)
    if found.contrasts:
        return found
    return MethodTable(
        (), (), 0, 0, found.cells + found.left_out, (f"{name}: no problem and seed of it is finished in both",)
    )


def _labelled(rows: Sequence[BenchRow], label: str, method: str) -> list[BenchRow]:
    return [replace(row, cell=replace(row.cell, method=label + method)) for row in rows if row.cell.method == method]


def _changed(one: Planned, other: Planned, shared: Sequence[BenchRun]) -> list[Difference]:
    cure = "bench the problem again in one of them"
    pairs = [(name, one.digests[name], other.digests[name]) for name in sorted({cell.problem for cell in shared})]
    return [Difference(f"problem {name} (its digest)", a[:12], b[:12], cure) for name, a, b in pairs if a != b]


def _elsewhere(first: Path, second: Path, shared: Sequence[BenchRun]) -> list[Difference]:
    """Each difference of the shared runs once, with the first cell that has it and the number of further cells."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for cell in shared:
        for it in beside_the_problem(header_in(first / cell.name / HEADER), header_in(second / cell.name / HEADER)):
            cells.setdefault((it.what, it.first, it.second), []).append(cell.name)
    return [Difference(f"{what} ({_named(names)})", a, b, _CURE) for (what, a, b), names in cells.items()]


def _named(cells: Sequence[str]) -> str:
    return f"{cells[0]} and {len(cells) - 1} more" if len(cells) > 1 else cells[0]


def _unlike(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[Difference, ...]:
    keys = sorted(one.keys() | other.keys())
    found = [(key, one.get(key), other.get(key)) for key in keys]
    return tuple(Difference(key, repr(a), repr(b), "") for key, a, b in found if a != b)
