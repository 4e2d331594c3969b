"""Notes for the reader of the table: what is left out, and which intervals say little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.bench.figures import SUITES
from maxcode.bench.rows import BenchRow
from maxcode.core.budget import Budget, Unit

EQUAL = 0.95  # a share of others' use that counts as equal: candidates that run at the end of a budget are finished
OVER = 1.5  # times a budget of seconds that is more than one candidate too many
SHOWN = 5  # names in a note
ENOUGH = 6  # with fewer problems no 95 % statement is possible without assumptions: 2 / 2**5 > 0.05


@final
@dataclass(frozen=True, slots=True)
class Noted:
    """The input of the notes.

    ``compared``, ``methods``, ``left_out``  the compared rows, their methods, and the number of rows left out
    ``pairs``     of methods
    ``flat``      (method, figure) of the intervals without width
    ``suites``    whose figures are shown
    ``budget``    of every run; ``own``: the candidates of methods that have a budget of their own
    ``unusable``  problems of the suites
    """

    compared: Sequence[BenchRow]
    methods: Sequence[str]
    left_out: int
    pairs: int = 0
    flat: Sequence[tuple[str, str]] = ()
    suites: Sequence[str] = ()
    budget: Budget | None = None
    unusable: Sequence[str] = ()
    own: Mapping[str, int] = field(default_factory=dict)


def notes_on(of: Noted) -> tuple[str, ...]:
    """One sentence each."""
    rows, problems = of.compared, len({row.cell.problem for row in of.compared})
    found = [_left_out(of.left_out), _unusable(of.unusable), _none(problems, len(of.methods)), *_few(problems, rows)]
    found += [_flat(of.flat, len(of.methods)), _multiplicity(of.pairs), _unmeasured(rows), _enlarged(rows)]
    theirs = [row for row in rows if row.cell.method not in of.own]
    found += [_early(theirs, of.budget), _over(rows, of.budget), *_uneven(rows, of.budget), _places(rows)]
    found += [_presets(of)]
    found += [SUITES[name].departs for name in of.suites if rows]
    found += [_sampled(rows)] if "pie" in of.suites else []
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


def _unusable(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = [*names[:SHOWN], *([f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else [])]
    return (
        f"{len(names)} problem(s) that the suites list could not be used: failures in fast_p, which is a share of all "
        f"problems, and in no other figure ({', '.join(shown)})"
    )


def _few(problems: int, rows: Sequence[BenchRow]) -> list[str]:
    notes = []
    if problems == 1:
        notes.append("one problem: the intervals cover other seeds only and say nothing about other problems")
    elif 1 < problems < ENOUGH:
        notes.append(
            f"{problems} problems: the methods' intervals hold the truth less often than 95 % says, and no two can "
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
        f"{pairs} pair(s) of methods are compared, problem by problem: p is from flipping the signs of their gaps, "
        "never below what a sign test could give, the ratio's interval is Student's; 'adjusted' is Holm's, for all "
        "pairs together"
    )


def _unmeasured(rows: Sequence[BenchRow]) -> str:
    names = sorted({row.cell.problem for row in rows if not row.measured})
    return f"could not be timed, counted as 1.00x: {', '.join(names)}" if names else ""


def _enlarged(rows: Sequence[BenchRow]) -> str:
    names = sorted({row.cell.problem for row in rows if row.enlarged})
    return f"timed on inputs made larger than their own: {', '.join(names)}" if names else ""


def _early(rows: Sequence[BenchRow], budget: Budget | None) -> str:
    """Runs whose search ended before the budget was used."""
    if budget is None:
        return ""
    runs = Counter(row.cell.method for row in rows)
    early = Counter(row.cell.method for row in rows if not row.ended and used(row, budget.unit) < budget.amount)
    told = ", ".join(f"{method} in {count} of {runs[method]} runs" for method, count in sorted(early.items()))
    return f"finished its search before {budget} were used: {told}" if told else ""


def _presets(of: Noted) -> str:
    """The methods that have a budget of their own."""
    told = ", ".join(f"{method} {of.own[method]}" for method in of.methods if method in of.own)
    return f"presets have their own budgets of candidates: {told}" if told else ""


def _over(rows: Sequence[BenchRow], budget: Budget | None) -> str:
    """Runs that took much longer than a budget of seconds."""
    if budget is None or budget.unit != "seconds":
        return ""
    runs = Counter(row.cell.method for row in rows)
    times: dict[str, list[float]] = {}
    for row in rows:
        if used(row, "seconds") > OVER * budget.amount:
            times.setdefault(row.cell.method, []).append(used(row, "seconds") / budget.amount)
    told = ", ".join(
        f"{method} used up to {max(many):.1f} times the budget of {budget} in {len(many)} of {runs[method]} runs"
        for method, many in sorted(times.items())
    )
    return f"what is under way when a budget is used up is finished: {told}" if told else ""


def _uneven(rows: Sequence[BenchRow], budget: Budget | None) -> list[str]:
    """Methods that used less of the budget's unit than others."""
    unit = budget.unit if budget is not None else "candidates"
    spent: dict[str, float] = {}
    for row in rows:
        spent[row.cell.method] = spent.get(row.cell.method, 0) + used(row, unit)
    most = max(spent.values(), default=0)
    equal = most if unit == "candidates" else EQUAL * most
    short = [
        f"{method} {round(count, 2):.10g} of {round(most, 2):.10g}"
        for method, count in sorted(spent.items())
        if count < equal
    ]
    return [f"not all methods used as many {unit}: {', '.join(short)}"] if short else []


def used(row: BenchRow, unit: Unit) -> float:
    """How much of a budget's unit a run has used; an unknown amount counts as 0."""
    cost = row.cost
    tokens = cost.prompt_tokens + cost.completion_tokens
    return {
        "candidates": row.candidates, "calls": cost.calls, "tokens": tokens, "dollars": cost.dollars or 0.0,
        "seconds": cost.seconds,
    }[unit]  # fmt: skip


def _sampled(rows: Sequence[BenchRow]) -> str:
    """The methods for which Best@k is an unbiased estimate, and those for which it is not."""
    methods = sorted({row.cell.method for row in rows})
    in_order = sorted({row.cell.method for row in rows if not row.exchangeable})
    drawn = [method for method in methods if method not in in_order]
    told = [f"the mean over all draws of k candidates (they are exchangeable): {', '.join(drawn)}"] if drawn else []
    told += [f"the best of the first k (later ones depend on earlier ones): {', '.join(in_order)}"] if in_order else []
    return f"Best@k is {'; '.join(told)}" if told else ""


def _places(rows: Sequence[BenchRow]) -> str:
    places = sorted({row.where for row in rows})
    if len(places) < 2:
        return ""
    return f"cells come from {len(places)} places, whose speed-ups may not compare: {'; '.join(places)}"
