"""What a reader of the table must know beside its figures: what is left out, and which intervals say little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from maxcode.bench.rows import Row

ENOUGH = 6  # below, no 95 % statement about problems is possible without assumptions: 2 / 2**5 > 0.05


def notes_on(
    compared: Sequence[Row], methods: Sequence[str], left_out: int, pairs: int, flat: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """One sentence each; ``flat``: (method, figure) of the intervals without width."""
    problems = len({row.cell.problem for row in compared})
    found = [_left_out(left_out), _none(problems, len(methods)), *_few(problems, compared)]
    found += [_flat(flat, len(methods)), _multiplicity(pairs), _unmeasured(compared), *_uneven(compared)]
    found += [_places(compared)]
    return tuple(note for note in found if note)


def _none(problems: int, methods: int) -> str:
    if problems:
        return ""
    if not methods:
        return "no run is finished yet"
    return "no problem and seed is finished by every method yet, so nothing can be compared: repeat the command"


def _left_out(count: int) -> str:
    if not count:
        return ""
    return f"{count} finished cell(s) are left out: not every method has finished that problem and seed"


def _few(problems: int, rows: Sequence[Row]) -> list[str]:
    notes = []
    if problems == 1:
        notes.append("one problem: the intervals cover other seeds only and say nothing about other problems")
    elif 1 < problems < ENOUGH:
        notes.append(
            f"{problems} problems: the intervals hold the truth less often than 95 % says, and no two methods can "
            f"differ significantly; take {ENOUGH} or more"
        )
    if problems and len({row.cell.seed for row in rows}) == 1:
        notes.append("one seed: how much a method varies from seed to seed is not in the intervals")
    return notes


def _flat(flat: Sequence[tuple[str, str]], methods: int) -> str:
    shown = [(method, figure) for method, figure in flat if methods > 1 or figure != "rank"]
    if not shown:
        return ""
    by_method: dict[str, list[str]] = {}
    for method, figure in shown:
        by_method.setdefault(method, []).append(figure)
    told = "; ".join(f"{method}: {', '.join(figures)}" for method, figures in by_method.items())
    return f"* an interval without width: every resample gave the same value, which is not certainty ({told})"


def _multiplicity(pairs: int) -> str:
    if not pairs:
        return ""
    return (
        f"{pairs} pair(s) of methods are compared: p is from the paired bootstrap, never below what a sign test over "
        "these problems could give; 'adjusted' is Holm's, for all pairs together"
    )


def _unmeasured(rows: Sequence[Row]) -> str:
    names = sorted({row.cell.problem for row in rows if not row.measured})
    return f"could not be timed, counted as 1.00x: {', '.join(names)}" if names else ""


def _uneven(rows: Sequence[Row]) -> list[str]:
    """Methods that used fewer candidates than others: a search may end before its budget."""
    spent: Counter[str] = Counter()
    for row in rows:
        spent[row.cell.method] += row.candidates
    most = max(spent.values(), default=0)
    short = [f"{method} {count} of {most}" for method, count in sorted(spent.items()) if count < most]
    return [f"not all methods used as many candidates: {', '.join(short)}"] if short else []


def _places(rows: Sequence[Row]) -> str:
    places = sorted({row.where for row in rows})
    if len(places) < 2:
        return ""
    return f"cells come from {len(places)} places, whose speed-ups may not compare: {'; '.join(places)}"
