"""A training run as one HTML page: figures before and after, the curve, the archive, the best kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.types import Interval
from maxcode.run.report.charts import Rates, rates
from maxcode.run.report.elites_section import bar, in_words
from maxcode.run.report.html import Html, TableRow, element, join, scrolled, table
from maxcode.run.report.page import NAME, Part, laid_out, save
from maxcode.search.archive import Kept
from maxcode.train.assess import SHOWN, Assessment, StageFigures
from maxcode.train.config import TrainConfig
from maxcode.train.corpus import Beyond
from maxcode.train.judge import Judge, StepLine


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Figures reported as well: the fastest evaluated kernel of the corpus (0: none was), the part of the archive that
    is not in the corpus, and the seconds of the phases."""

    corpus_best: float
    beyond: Mapping[str, Beyond]
    seconds: Mapping[str, float]


@final
@dataclass(frozen=True, slots=True)
class View:
    """The content of the page; ``measured`` is the best kernel's rate, measured again."""

    config: TrainConfig
    beside: Comparison
    before: Assessment
    after: Assessment
    judge: Judge
    best: Kept | None
    measured: Interval | None

    @property
    def unit(self) -> str:
        """The unit of rates."""
        problems = self.judge.progress.problems.values()
        return "GFLOPS" if all(one.traits.counts_work for one in problems) else "x"


def write_page(folder: Path, view: View) -> Path:
    """Writes ``report.html`` into the run folder; raises InputError if it cannot be written."""
    return save(folder / NAME, page(view))


def page(view: View) -> str:
    """The whole page."""
    name = ", ".join(view.judge.progress.problems)
    header = element(
        "header",
        element("h1", f"Training on {name}"),
        element("p", headline(view), class_="headline"),
        element("p", _sentence(view), class_="sentence"),
    )
    footer = "Written by maxcode. Rates are measured on this machine; failures count as 0."
    return laid_out(f"Training on {name}", header, list(_sections(view)), footer)


def headline(view: View) -> str:
    """The result of the policy in one line."""
    steps = view.judge.steps
    if not view.before.answers or not view.after.answers:
        return f"{len(steps)} steps, {len(view.judge.measuring)} kernels measured"
    before, after = view.before.whole, view.after.whole
    return f"mean {before.mean.value:.1f} to {after.mean.value:.1f} {view.unit}"


def _sentence(view: View) -> str:
    config = view.config
    told = [f"{config.advantage.kind} advantage", "stages in order" if config.diversity.promotion else "stages mixed"]
    told.append("with an archive" if config.diversity.archive else "without an archive")
    return f"{', '.join(told)}; reward {config.reward.kind}; seed {config.seed}."


def _sections(view: View) -> Iterator[Part]:
    steps = view.judge.steps
    if view.before.answers and view.after.answers:
        yield "policy", "Before and after", _policies(view)
    if steps:
        yield "curve", "While it learned", _curve(view, steps)
        yield "time", "Where the time went", _time(view, steps)
    yield "archive", "Archive", _archive(view)
    if view.best is not None:
        yield "best", "The best kernel", _best(view, view.best)


# ----------------------------------------------------------------------------------------------------------- policies


def _policies(view: View) -> Html:
    told = (
        f"{view.config.assess.samples} new answers for each stage, measured apart from training. No prompt shows a "
        "kernel. Answers that fail or break their stage's rule count as 0. Intervals are 95 %, over the answers."
    )
    headings = ("Stage", "Policy", "Mean", "Median", "Best", *(f"Best of {k}" for k in SHOWN), "Valid", "Unique")
    rows = []
    for problem, number in view.before.places:
        name = f"{problem}: {view.judge.progress.stages[number].name}"
        rows += _pair(name, view.before.at(problem, number), view.after.at(problem, number))
    rows += _pair("all", view.before.whole, view.after.whole)
    caption = f"The policy before and after GRPO, in {view.unit}"
    fastest = f"{view.beside.corpus_best:.1f} {view.unit}"
    beside = f"The fastest evaluated kernel of the corpus: {fastest} (only a few are evaluated)."
    return join(
        [
            element("p", told, class_="explained"),
            scrolled("Before and after", table(caption, headings, rows), class_="wide"),
            *([element("p", beside, class_="explained")] if view.beside.corpus_best else []),
        ]
    )


def _pair(name: str, before: StageFigures, after: StageFigures) -> list[TableRow]:
    return [TableRow((name, policy, *_figures(found))) for policy, found in (("before", before), ("after", after))]


def _figures(found: StageFigures) -> tuple[str, ...]:
    best_of = (_told(found.best_of[k]) for k in SHOWN)
    share = f"{found.valid.value:.0%} [{found.valid.low:.0%}, {found.valid.high:.0%}]"
    return _told(found.mean), _told(found.median), f"{found.best:.1f}", *best_of, share, f"{found.unique:.0%}"


def _told(found: Interval) -> str:
    return f"{found.value:.1f} [{found.low:.1f}, {found.high:.1f}]"


# ----------------------------------------------------------------------------------------------------------- learning


def _curve(view: View, steps: Sequence[StepLine]) -> Html:
    best, shown = 0.0, []
    for line in steps:
        best = max(best, line.best)
        shown.append(Rates(line.mean, line.best_of, best))
    unit = f" {view.unit}" if view.unit != "x" else "x"
    caption = (
        "Each step's answers while the policy learned: open dots their mean, filled dots the expected best of 8, the "
        "line the best so far. Prompts differ from step to step."
    )
    chart = rates(shown, unit)
    return join([element("figure", chart, element("figcaption", caption)), _parts(steps)])


def _parts(steps: Sequence[StepLine]) -> Html:
    """Six parts of the run in numbers."""
    size = max(1, -(-len(steps) // 6))
    rows = []
    for at in range(0, len(steps), size):
        some = steps[at : at + size]
        cells = [_mean(line.mean for line in some), _mean(line.best_of for line in some)]
        shares = [_mean(line.valid for line in some), _mean(line.unique for line in some)]
        rows.append(
            TableRow(
                (
                    f"{some[0].step + 1} to {some[-1].step + 1}",
                    *(f"{value:.1f}" for value in cells),
                    f"{max(line.best for line in some):.1f}",
                    *(f"{value:.0%}" for value in shares),
                    str(sum(line.fresh for line in some)),
                    ", ".join(f"{name} {stage}" for name, stage in some[-1].stages.items()),
                    ", ".join(str(count) for count in some[-1].cells.values()),
                )
            )
        )
    headings = ("Steps", "Mean", "Best of 8", "Best", "Valid", "Unique", "Measured", "Stage", "Cells")
    return scrolled("Stretches of the run", table("The run in stretches", headings, rows), class_="wide")


def _mean(values: Iterator[float]) -> float:
    known = list(values)
    return sum(known) / max(1, len(known))


def _time(view: View, steps: Sequence[StepLine]) -> Html:
    count = len(steps)
    wall = {
        "generate": sum(line.generate_s for line in steps),
        "evaluate": sum(line.evaluate_s for line in steps),
        "learn": sum(line.learn_s for line in steps),
    }
    inside = {
        "compile and verify": sum(line.compile_s for line in steps),
        "measure": sum(line.measure_s for line in steps),
    }
    fresh = sum(line.fresh for line in steps)
    per_minute = 60 * fresh / wall["evaluate"] if wall["evaluate"] else 0.0
    rows = [TableRow((name, f"{value:.0f}", f"{value / count:.2f}")) for name, value in wall.items()]
    rows += [
        TableRow((f"in evaluate: {name}", f"{value:.0f}", f"{value / count:.2f}")) for name, value in inside.items()
    ]
    told = (
        f"{fresh} measurements, {per_minute:.0f} a minute of evaluating; one waited "
        f"{_mean(line.queue_s for line in steps):.1f} s for the lanes on average, which overlap."
    )
    phases = [TableRow((name, f"{value:.0f}", "")) for name, value in view.beside.seconds.items()]
    return join(
        [
            table("Seconds of the steps", ("Part", "In all", "A step"), rows),
            element("p", told, class_="explained"),
            table("Seconds of the phases", ("Phase", "In all", ""), phases),
        ]
    )


# ------------------------------------------------------------------------------------------------------------- kernels


def _made(one: Kept) -> str:
    """The step that made a kernel, from 1."""
    return str(one.made + 1) if one.made >= 0 else "corpus"


def _archive(view: View) -> Html:
    parts = []
    for name in view.judge.progress.problems:
        archive = view.judge.progress.archive(name)
        elites = sorted(archive.elites().items(), key=lambda entry: -entry[1].quality)
        rows = [
            TableRow((*in_words(cell), _made(one), f"{one.quality:.1f}", bar(one.quality / elites[0][1].quality)))
            for cell, one in elites
        ]
        told = f"{name}: {len(archive)} correct kernels in {len(elites)} cells.{_beyond(view, name)}"
        headings = ("Techniques", "Sizes", "Step", view.unit, "Speed")
        parts += [element("p", told, class_="explained"), table("The best of every cell", headings, rows)]
    return join(parts)


def _beyond(view: View, name: str) -> str:
    found = view.beside.beyond.get(name)
    if found is None:
        return ""
    told = f" Of these {found.kernels} kernels and {found.cells} cells are not in the corpus"
    return f"{told}; the best kernel is {'one of those' if found.best else 'in the corpus'}."


def _best(view: View, best: Kept) -> Html:
    measured = f", {_told(view.measured)} {view.unit} when measured again" if view.measured is not None else ""
    where = f"Found in step {_made(best)}" if best.made >= 0 else "An evaluated kernel of the corpus"
    told = f"{where} at {best.quality:.1f} {view.unit}{measured}."
    code = element("pre", element("code", best.program.text))
    return join([element("p", told), scrolled("The best kernel", code, class_="code")])
