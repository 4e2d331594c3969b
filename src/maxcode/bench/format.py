"""A table as text and as JSON, and its rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import msgspec

from maxcode.bench.curves import Curve
from maxcode.bench.figures import SUITES, Column
from maxcode.bench.rows import BenchRow, Cost
from maxcode.bench.runner import BenchState
from maxcode.bench.table import Contrast, MethodTable, Summary
from maxcode.bench.trace import powers_of_two
from maxcode.core.wording import number_of

MOST_PAIRS = 15

_COLUMNS = (
    "problem", "method", "seed", "speedup", "low", "high", "candidates", "correct", "faster", "calls", "prompt_tokens",
    "completion_tokens", "dollars", "seconds", "measured", "fastest", "ended",
)  # fmt: skip


def as_text(table: MethodTable, curves: Sequence[Curve] = ()) -> str:
    """Aligned lines: the methods, the best so far along the axis of ``curves``, the costs, the pairs, the notes."""
    parts: list[str] = []
    if table.methods:
        counts = f"{number_of(table.problems, 'problem')}, {number_of(table.cells, 'run')}"
        parts.append(f"{counts}; [95 % bootstrap interval]")
        parts += [_aligned(lines) for lines in lines_by_suite(table)]
        parts += [_aligned(_so_far(curves))] if curves else []
        parts.append(_aligned(cost_lines(table.methods)))
    if table.contrasts:
        parts.append(_aligned(pair_lines(table.contrasts)))
    if table.notes:
        parts.append("\n".join(f"note: {note}" for note in table.notes))
    return "\n\n".join(parts)


def as_json(table: MethodTable, found: BenchState, curves: Sequence[Curve] = ()) -> str:
    """One object: the table, the curves, the rows, the failures with their reasons, the names of the open cells, and
    whether the user stopped the bench."""
    return msgspec.json.encode(
        {
            "table": table,
            "curves": curves,
            "rows": [_record(row) for row in found.rows],
            "failed": [{"cell": one.cell.name, "error": str(one.error)} for one in found.failed],
            "open": [cell.name for cell in found.left],
            "interrupted": found.interrupted,
        }
    ).decode()


def as_csv(rows: Sequence[BenchRow]) -> str:
    """A header and one line per cell; an unknown price is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_record(row) for row in rows)
    return text.getvalue()


def _record(row: BenchRow) -> dict[str, object]:
    cell, best, cost = row.cell, row.best, row.cost
    values = (
        cell.problem, cell.method, cell.seed, best.value, best.low, best.high, row.candidates, row.correct, row.faster,
        cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.dollars, cost.seconds, row.measured,
        row.fastest, row.ended,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def lines_by_suite(table: MethodTable) -> list[list[list[str]]]:
    """One block of lines for the figures of each paper; each line starts with the method."""
    named = {column.suite for column in table.columns}
    blocks = []
    for suite in filter(named.__contains__, SUITES):
        columns = [column for column in table.columns if column.suite == suite]
        heads = ["method" if suite == "maxcode" else suite, *(column.title for column in columns)]
        blocks.append([heads, *([one.method, *(_told(column, one) for column in columns)] for one in table.methods)])
    return blocks


def _told(column: Column, method: Summary) -> str:
    interval = method.figures[column.name]
    numbers = (interval.value, interval.low, interval.high)
    match column.unit:
        case "x":
            told = str(interval)
        case "rank":
            value, low, high = (f"{number:.2f}" for number in numbers)
            told = f"{value} [{low}, {high}]"
        case "share":
            value, low, high = (f"{100 * number:.0f}" for number in numbers)
            told = f"{value} % [{low}, {high}]"
    return f"{told}{'*' if column.name in method.flat else ''}"


def _so_far(curves: Sequence[Curve]) -> list[list[str]]:
    """The geometric mean of the best so far, at a few points."""
    axis, end = curves[0].axis, max(curve.points[-1][0] for curve in curves)
    whole = axis in ("candidates", "depth")
    places = (
        [float(k) for k in powers_of_two(int(end))] if whole else [end * share for share in (1 / 8, 1 / 4, 1 / 2, 1)]
    )
    return [
        [f"best after {axis}", *(f"{x:.4g}" for x in places)],
        *([curve.method, *(str(curve.at(x)) for x in places)] for curve in curves),
    ]


def cost_lines(methods: Sequence[Summary]) -> list[list[str]]:
    """The costs of the methods, headings first."""
    heads = ["cost", "candidates", "model calls", "tokens in", "tokens out", "dollars", "seconds"]
    return [heads, *([one.method, str(one.candidates), *_cost(one.cost)] for one in methods)]


def _cost(cost: Cost) -> list[str]:
    dollars = "unknown" if cost.dollars is None else f"{cost.dollars:.2f}"
    return [str(cost.calls), str(cost.prompt_tokens), str(cost.completion_tokens), dollars, f"{cost.seconds:.0f}"]


def pair_lines(contrasts: Sequence[Contrast]) -> list[list[str]]:
    """The pairs of methods, headings first."""
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
