"""The drawings: the curve of the best so far, and the timing samples of the best, each also in words."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from maxcode.core.types import Outcome, Timing
from maxcode.core.wording import number_of
from maxcode.run.report.charts import BestStep, Dot, curve, samples
from maxcode.run.report.headline import CLOCKS, anchor, best_timing, name, percent, standing
from maxcode.run.report.html import Html, TableRow, details, element, join, paragraphs, table
from maxcode.run.report.run_view import RunView, Slot

DRAWN = 1_500  # candidates in the curve beside those that became the best: a browser is slow with many more


def curve_section(run: RunView) -> Html:
    """Best so far against candidates: figure, legend, caption, and a table of the changes of the best."""
    leaders = {lead.state.id for lead in run.leads}
    numbered = list(enumerate(run.slots, start=1))
    others = _spread([(n, slot) for n, slot in numbered if slot.at not in leaders])
    dots = [_dot(n, slot, slot.timing) for n, slot in others if slot.timing is not None]
    lead_dots = [_dot(n, slot, slot.timing) for n, slot in numbered if slot.at in leaders and slot.timing is not None]
    failed = [n for n, slot in others if slot.evaluation and slot.evaluation.outcome is not Outcome.CORRECT]
    steps = [BestStep(lead.since, lead.interval) for lead in run.leads]
    drawing = curve(steps, dots, lead_dots, failed, len(run.slots))
    caption = _curve_caption(run)
    if (hidden := len(run.slots) - len(leaders) - len(others)) > 0:
        caption += f" {hidden} of {len(run.slots)} candidates, taken at random, are not drawn."
    return join([_figure(drawing, _CURVE_LEGEND, caption), _lead_table(run)])


def _spread(numbered: Sequence[tuple[int, Slot]]) -> Sequence[tuple[int, Slot]]:
    """``DRAWN`` of them at random, in order, or all if there are no more; the same at every call."""
    if len(numbered) <= DRAWN:
        return numbered
    return [numbered[at] for at in sorted(Random(0).sample(range(len(numbered)), DRAWN))]


def _dot(number: int, slot: Slot, timing: Timing) -> Dot:
    return Dot(number, timing.speedup, f"{name(slot.at)}: {timing.speedup} {standing(slot)}")


_CURVE_LEGEND = {
    "best": "best so far, confirmed, with its interval",
    "leader": "a candidate that became the best",
    "timed": "correct candidate, with its interval",
    "failed": "failed candidate",
    "original": "the original (1x)",
}
_SAMPLES_LEGEND = {
    "leader": "one pair: original seconds over candidate seconds",
    "best": "median, with its interval",
    "original": "the original (1x)",
}


def _figure(drawing: Html, legend: dict[str, str], caption: str) -> Html:
    """A drawing with a legend of what it holds, and its caption."""
    drawn = {kind: words for kind, words in legend.items() if f'class="series {kind}"' in drawing}
    keys = (element("li", element("span", class_=f"key {kind}"), words) for kind, words in drawn.items())
    return element(
        "figure", drawing, element("ul", *keys, class_="legend", aria_hidden="true"), element("figcaption", caption)
    )


def _curve_caption(run: RunView) -> str:
    words = "Speed-up over the original against candidates, in the order of batch and slot, on a logarithmic axis."
    if not run.leads:
        return f"{words} No candidate became the best: nothing was confirmed faster than the original."
    first, last = run.leads[0], run.leads[-1]
    changes = f"The best changed {len(run.leads)} times, first" if len(run.leads) > 1 else "The best changed once,"
    told = f"{words} {changes} by candidate {first.since} ({name(first.state.id)}) at {first.interval}"
    return (
        f"{told}, last by candidate {last.since} ({name(last.state.id)}) at {last.interval}."
        if first != last
        else f"{told}."
    )


def _lead_table(run: RunView) -> Html:
    if not run.leads:
        return join([])
    rows = [
        TableRow(
            (element("a", name(lead.state.id), href=f"#{anchor(lead.state.id)}"), str(lead.since), str(lead.interval))
        )
        for lead in run.leads
    ]
    headings = ("Candidate", "After how many candidates", "Speed-up")
    return details("The curve as a table", table("The best candidates, in order", headings, rows))


def samples_section(run: RunView) -> Html:
    """The pairs from which the best's interval comes: drawn, summed up, and as tables."""
    timing = best_timing(run)
    assert timing is not None
    if not timing.samples:
        return join([paragraphs(_facts(timing), "No samples were recorded.")])
    ratios = [original / candidate for original, candidate in timing.samples if candidate > 0]
    drawing = samples(ratios, timing.speedup) if ratios else join([])
    figure = _figure(drawing, _SAMPLES_LEGEND, _facts(timing))
    return join([figure, paragraphs(_harsher(run)), _sample_table(timing), _input_table(timing)])


def _harsher(run: RunView) -> str:
    """The result of the best's re-check; empty if nothing triggered one."""
    found = run.winner.evaluation.harsher if run.winner is not None else None
    return f"Re-check: {found}." if found is not None else ""


def _facts(timing: Timing) -> str:
    found = timing.speedup
    if timing.clock == "instructions":
        return (
            f"Instructions of the original over those of the best, counted {number_of(timing.pairs, 'time')}: "
            f"{found.value:.4f}x, "
            f"from {found.low:.4f} to {found.high:.4f}. {number_of(len(timing.inputs), 'input')} counted."
        )
    sittings = f" and {number_of(len(timing.sittings), 'session')} with new processes" if timing.sittings else ""
    return (
        f"{CLOCKS[timing.clock]} of the original over that of the best, in {timing.pairs} paired runs{sittings}: "
        f"{'mean of medians' if sittings else 'median'} {found.value:.2f}x, {percent(found)} interval "
        f"{found.low:.2f} to {found.high:.2f}. "
        f"{number_of(len(timing.inputs), 'input')} timed."
    )


def _sample_table(timing: Timing) -> Html:
    rows = [
        TableRow(
            (str(at), f"{original:.4f}", f"{candidate:.4f}", f"{original / candidate:.3f}x" if candidate > 0 else "-")
        )
        for at, (original, candidate) in enumerate(timing.samples, start=1)
    ]
    unit, what = ("instructions", "Instructions") if timing.clock == "instructions" else ("s", "Seconds")
    headings = ("Pair", f"Original, {unit}", f"Best, {unit}", "Ratio")
    return details(f"All {len(rows)} pairs as a table", table(f"{what} of each pair", headings, rows))


def _input_table(timing: Timing) -> Html:
    if not timing.per_input:
        return join([])
    rows = [TableRow((given, f"{ratio:.2f}x")) for given, ratio in timing.per_input.items()]
    return details("Speed-up by input", table("Median ratio on each timed input", ("Input", "Speed-up"), rows))
