"""A table as text for people, as JSON, and its rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import msgspec

from maxcode.bench.figures import FIGURES, Figure
from maxcode.bench.rows import Cost, Row
from maxcode.bench.runner import Bench
from maxcode.bench.table import Contrast, Summary, Table

MOST_PAIRS = 15

_COLUMNS = (
    "problem", "method", "seed", "speedup", "low", "high", "candidates", "correct", "faster", "calls", "prompt_tokens",
    "completion_tokens", "dollars", "seconds", "measured",
)  # fmt: skip


def as_text(table: Table) -> str:
    """Aligned lines: the methods, what they cost, the pairs, the notes."""
    parts: list[str] = []
    if table.methods:
        counts = f"{_counted(table.problems, 'problem')}, {_counted(table.cells, 'run')}"
        parts.append(f"{counts}; [95 % bootstrap interval]")
        parts += [_aligned(_figures(table.methods)), _aligned(_costs(table.methods))]
    if table.contrasts:
        parts.append(_aligned(_pairs(table.contrasts)))
    if table.notes:
        parts.append("\n".join(f"note: {note}" for note in table.notes))
    return "\n\n".join(parts)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def as_json(table: Table, found: Bench) -> str:
    """One object: the table, the rows, what failed and why, the names of the open cells, whether it was stopped."""
    return msgspec.json.encode(
        {
            "table": table,
            "rows": [_record(row) for row in found.rows],
            "failed": [{"cell": one.cell.name, "error": str(one.error)} for one in found.failed],
            "open": [cell.name for cell in found.left],
            "interrupted": found.interrupted,
        }
    ).decode()


def as_csv(rows: Sequence[Row]) -> str:
    """One line a cell, under a header; an unknown price is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_record(row) for row in rows)
    return text.getvalue()


def _record(row: Row) -> dict[str, object]:
    cell, best, cost = row.cell, row.best, row.cost
    values = (
        cell.problem, cell.method, cell.seed, best.value, best.low, best.high, row.candidates, row.correct, row.faster,
        cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.dollars, cost.seconds, row.measured,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _figures(methods: Sequence[Summary]) -> list[list[str]]:
    heads = ["method", *(figure.title for figure in FIGURES)]
    return [heads, *([one.method, *(_told(figure, one) for figure in FIGURES)] for one in methods)]


def _told(figure: Figure, method: Summary) -> str:
    interval = method.figures[figure.name]
    numbers = (interval.value, interval.low, interval.high)
    match figure.unit:
        case "x":
            told = str(interval)
        case "rank":
            value, low, high = (f"{number:.2f}" for number in numbers)
            told = f"{value} [{low}, {high}]"
        case "share":
            value, low, high = (f"{100 * number:.0f}" for number in numbers)
            told = f"{value} % [{low}, {high}]"
    return f"{told}{'*' if figure.name in method.flat else ''}"


def _costs(methods: Sequence[Summary]) -> list[list[str]]:
    heads = ["cost", "candidates", "model calls", "tokens in", "tokens out", "dollars", "seconds"]
    return [heads, *([one.method, str(one.candidates), *_cost(one.cost)] for one in methods)]


def _cost(cost: Cost) -> list[str]:
    dollars = "unknown" if cost.dollars is None else f"{cost.dollars:.2f}"
    return [str(cost.calls), str(cost.prompt_tokens), str(cost.completion_tokens), dollars, f"{cost.seconds:.0f}"]


def _pairs(contrasts: Sequence[Contrast]) -> list[list[str]]:
    shown = sorted(contrasts, key=lambda one: one.p)[:MOST_PAIRS]
    heads = [f"pairs ({len(shown)} of {len(contrasts)})", "ratio of means", "better/equal/worse", "p", "adjusted", ""]
    return [heads, *map(_pair, shown)]


def _pair(one: Contrast) -> list[str]:
    counts = f"{one.wins}/{one.ties}/{one.losses}"
    word = "differ" if one.is_significant else "not significant"
    return [f"{one.first} : {one.second}", str(one.ratio), counts, f"{one.p:.3f}", f"{one.adjusted:.3f}", word]


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
