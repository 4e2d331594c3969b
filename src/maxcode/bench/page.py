"""A bench as one HTML page: the better methods and by how much, their curves, the problems, and the costs.

    plan, rows, table, curves -> page

It has the style and the content policy of a run's page, and no script.  Every cell links to the page of its run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import final
from urllib.parse import quote

from maxcode.bench.bench_folder import Planned
from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.curves import Curve
from maxcode.bench.figures import SUITES
from maxcode.bench.format import cost_lines, lines_by_suite, pair_lines
from maxcode.bench.rows import BenchRow, Cost
from maxcode.bench.runner import BenchState
from maxcode.bench.table import MethodTable
from maxcode.core.wording import duration, number_of
from maxcode.run.report.charts import courses
from maxcode.run.report.facts import show
from maxcode.run.report.html import Html, TableRow, details, element, join, paragraphs, scrolled, table
from maxcode.run.report.page import NAME, Part, laid_out, save

MOST_OPEN = 200  # unfinished runs that are named
MOST_CELLS = 4_000  # of the map of problems; with more, the page would exceed 2 MB
SHADES = (1.005, 1.1, 1.5, 2.0, 5.0)  # lower ends of the shades for speed-ups
PLACES = 8  # points of a curve in its table
COLORS = 10  # of curves; more methods use them again
_AXES = {
    "candidates": "candidates",
    "depth": "depth",
    "tokens": "tokens, in and out",
    "seconds": "wall seconds at work",
    "dollars": "dollars",
}


@final
@dataclass(frozen=True, slots=True)
class BenchView:
    """The content of the page: the plan, the finished runs, and the figures made from them."""

    plan: Planned
    found: BenchState
    table: MethodTable
    curves: tuple[Curve, ...]


def write_bench_report(out: Path, view: BenchView) -> Path:
    """Writes ``report.html`` into the folder of a bench, finished or not; raises InputError if it cannot be written."""
    return save(out / NAME, page(view, out.resolve().name))


def page(view: BenchView, name: str) -> str:
    """The whole page."""
    methods, problems = _named(view)
    title = f"{number_of(len(methods), 'method')} on {number_of(len(problems), 'problem')}"
    header = element(
        "header",
        element("h1", f"Bench {name}"),
        element("p", title, class_="headline"),
        element("p", _sentence(view), class_="sentence"),
        *([element("p", _open(view), class_="unfinished")] if view.found.left else []),
        _spent(view),
    )
    return laid_out(f"{name}: {title}", header, list(_sections(view)), f"Written by maxcode from the runs in {name}.")


def _sections(view: BenchView) -> Iterator[Part]:
    if view.curves:
        yield "curves", "Best so far", _curves(view)
    if view.table.methods:
        yield "table", "Methods", _figures(view)
    if view.table.contrasts:
        yield "pairs", "Pairs", _pairs(view)
    if view.found.rows:
        yield "problems", "Problems", _map(view)
        yield "cost", "Cost", _block("What the compared runs cost", cost_lines(view.table.methods))
    if view.found.left:
        yield "open", "Left open", _left(view)
    yield "terms", "The bench", _terms(view)
    if view.table.notes:
        yield "notes", "Notes", element("ul", *(element("li", note) for note in view.table.notes))


# ---------------------------------------------------------------------------------------------------------- the header


def _named(view: BenchView) -> tuple[list[str], list[str]]:
    """Methods and problems in planned order, then those of rows outside the plan."""
    known = [*view.plan.cells, *(row.cell for row in view.found.rows)]
    return list(dict.fromkeys(cell.method for cell in known)), list(dict.fromkeys(cell.problem for cell in known))


def _sentence(view: BenchView) -> str:
    """The significant differences between methods, in a line or two."""
    pairs = view.table.contrasts
    sure = sorted((one for one in pairs if one.is_significant), key=lambda one: one.p)
    if not pairs:
        return "No two methods can be compared yet." if len(_named(view)[0]) > 1 else ""
    if not sure:
        return "No two methods differ significantly, all pairs taken together."
    told = (f"{one.first} against {one.second}: {one.ratio}" for one in sure[:3])
    more = f"; {len(sure) - 3} more pairs" if len(sure) > 3 else ""
    return f"Significantly different, all pairs taken together (ratio of geometric means): {'; '.join(told)}{more}."


def _open(view: BenchView) -> str:
    done, left = len(view.found.rows), len(view.found.left)
    return f"This bench is unfinished: {done} of {done + left} runs are done. The same command resumes it."


def _spent(view: BenchView) -> Html:
    cost = sum((row.cost for row in view.found.rows), Cost())
    facts = [
        ("Runs", f"{len(view.found.rows)} of {len(view.found.rows) + len(view.found.left)}"),
        ("Candidates", f"{sum(row.candidates for row in view.found.rows):,}"),
        ("Time", duration(cost.seconds)),
        ("Model calls", f"{cost.calls:,}"),
    ]
    if cost.calls:
        facts.append(("Tokens", f"{cost.prompt_tokens:,} in, {cost.completion_tokens:,} out"))
        facts.append(("Cost", "price not known" if cost.dollars is None else f"${cost.dollars:.2f}"))
    told = (element("div", element("dt", label), element("dd", value)) for label, value in facts)
    return element("dl", *told, class_="spent")


# -------------------------------------------------------------------------------------------------------------- curves


def _curves(view: BenchView) -> Html:
    """The curve along the axis of the budget is open, the others are folded."""
    unit = view.plan.budget.unit
    by_axis = {axis: [one for one in view.curves if one.axis == axis] for axis in _AXES}
    found = {axis: curves for axis, curves in by_axis.items() if curves}
    first = unit if unit in found else next(iter(found))
    others = (details(f"Against {_AXES[axis]}", _figure(view, found[axis])) for axis in found if axis != first)
    return join([_figure(view, found[first]), *others])


def _figure(view: BenchView, curves: Sequence[Curve]) -> Html:
    methods, _ = _named(view)
    ordered = sorted(curves, key=lambda one: methods.index(one.method))
    colors = [methods.index(one.method) % COLORS for one in ordered]
    drawing = courses([(at, one.points) for at, one in zip(colors, ordered, strict=True)], _AXES[curves[0].axis])
    keys = (
        element("li", element("span", class_=f"key course m{at}"), one.method)
        for at, one in zip(colors, ordered, strict=True)
    )
    caption = (
        f"Geometric mean of the best so far over {number_of(view.table.problems, 'problem')}, against "
        f"{_AXES[curves[0].axis]}, on a logarithmic axis; bands are 95 % bootstrap intervals."
    )
    legend = element("ul", *keys, class_="legend", aria_hidden="true")
    return join([element("figure", drawing, legend, element("figcaption", caption)), _told(ordered)])


def _told(curves: Sequence[Curve]) -> Html:
    end = max(one.points[-1][0] for one in curves)
    whole = curves[0].axis in ("candidates", "depth")
    places = [end * share / PLACES for share in range(1, PLACES + 1)]
    places = sorted({float(max(1, round(x))) for x in places}) if whole else places
    rows = [TableRow((one.method, *(str(one.at(x)) for x in places))) for one in curves]
    heads = ("Method", *(f"{x:.4g}" for x in places))
    drawn = table(f"Best after so many {_AXES[curves[0].axis]}", heads, rows)
    return details("The curves as a table", scrolled("The curves as a table", drawn, class_="wide"))


# -------------------------------------------------------------------------------------------------------------- tables


def _block(caption: str, lines: Sequence[Sequence[str]]) -> Html:
    heads, *rows = lines
    heads = [heads[0][:1].upper() + heads[0][1:], *heads[1:]]
    return scrolled(caption, table(caption, heads, [TableRow(tuple(row)) for row in rows]), class_="wide")


def _figures(view: BenchView) -> Html:
    named = list(dict.fromkeys(column.suite for column in view.table.columns))
    suites = [name for name in SUITES if name in named]
    counts = f"{number_of(view.table.problems, 'problem')}, {number_of(view.table.cells, 'run')}"
    drawn = []
    for name, (heads, *lines) in zip(suites, lines_by_suite(view.table), strict=True):
        drawn.append(_block(f"Figures of {name}: {counts}, 95 % bootstrap intervals", [["method", *heads[1:]], *lines]))
    return join(drawn)


def _pairs(view: BenchView) -> Html:
    told = (
        "The ratio of geometric means has Student's 95 % interval over problems; p is from flipping the signs of the "
        "problems' gaps. Adjusted: p by Holm for all pairs of the table together; below 0.05 two methods differ."
    )
    drawn = _block("Pairs of methods, compared problem by problem", pair_lines(view.table.contrasts))
    return join([drawn, element("p", told, class_="explained")])


# ----------------------------------------------------------------------------------------------------------------- map


def _map(view: BenchView) -> Html:
    """Problems against methods: the geometric mean over seeds, with a link to the page of every run."""
    methods, problems = _named(view)
    rows = {row.cell: row for row in view.found.rows}
    cells: dict[tuple[str, str], list[BenchRun]] = {}
    for cell in dict.fromkeys([*view.plan.cells, *rows]):
        cells.setdefault((cell.problem, cell.method), []).append(cell)
    a_problem = max(1, len(methods)) * max(len(some) for some in cells.values())
    shown = problems[: max(1, MOST_CELLS // a_problem)]
    lines = [
        TableRow((problem, *(_square(cells.get((problem, method), []), rows) for method in methods)))
        for problem in shown
    ]
    caption = "The confirmed speed-up, over seeds the geometric mean; small numbers lead to the runs by their seeds"
    drawn = table(caption, ("Problem", *methods), lines, class_="plain map")
    kept = f"{len(shown)} of {len(problems)} problems are shown; `maxcode bench --csv FILE` writes all."
    shades = (element("span", told, class_=f"shade s{at}") for at, told in enumerate(_shades()))
    legend = element("p", "From ", join(shades, " "), class_="explained")
    parts = [scrolled("Problems", drawn, class_="wide"), legend]
    return join([*parts, paragraphs(kept if len(shown) < len(problems) else "")])


def _square(cells: Sequence[BenchRun], rows: dict[BenchRun, BenchRow]) -> Html:
    done = [rows[cell] for cell in cells if cell in rows]
    if not cells:
        return join(["-"])
    if not done:
        return element("span", "open", class_="absent")
    mean = math.exp(fmean(math.log(row.best.value) for row in done))
    links = (_link(row) for row in done)
    missing = f" of {len(cells)}" if len(done) < len(cells) else ""
    shade = sum(mean >= edge for edge in SHADES)
    unmeasured = "not measurable" if not any(row.measured for row in done) else f"{mean:.2f}x"
    return join([element("span", unmeasured, class_=f"shade s{shade}"), " ", join(links, " "), missing])


def _link(row: BenchRow) -> Html:
    cell = row.cell
    label = f"run of {cell.method} on {cell.problem} with seed {cell.seed}: {row.best}"
    return element(
        "a", str(cell.seed), href=f"./{quote(cell.name, safe='')}/{NAME}", class_="seed", aria_label=label, title=label
    )


def _shades() -> Iterator[str]:
    yield "no gain"
    yield from (f"{edge:.4g}x" for edge in (1.0, *SHADES[1:]))


# --------------------------------------------------------------------------------------------------------------- terms


def _left(view: BenchView) -> Html:
    why = {one.cell: str(one.error) for one in view.found.failed}
    left = view.found.left[:MOST_OPEN]
    rows = [TableRow((cell.name, why.get(cell, "not run yet, or stopped"))) for cell in left]
    more = len(view.found.left) - len(left)
    drawn = table("Runs that are not finished", ("Run", "Why"), rows)
    return join([scrolled("Left open", drawn, class_="wide"), paragraphs(f"{more} more are open." if more else "")])


def _terms(view: BenchView) -> Html:
    where = sorted({row.where for row in view.found.rows})
    facts = [("Machine", join(where, "; ") if where else join(["no run is finished"]))]
    facts += [(key.capitalize(), show(value)) for key, value in view.plan.terms.items()]
    pairs = (element("div", element("dt", label), element("dd", value)) for label, value in facts)
    return element("dl", *pairs, class_="facts")
