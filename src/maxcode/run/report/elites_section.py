"""The map of elites: the best candidate of every cell.  A cell is the techniques that a program uses and the sizes of
its tiles, unrolled loops and vectors (``techniques.cell``)."""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.code.techniques import TECHNIQUES
from maxcode.core.types import Outcome, Program, Timing
from maxcode.run.report.headline import anchor, name
from maxcode.run.report.html import Html, TableRow, element, join, scrolled, table
from maxcode.run.report.run_view import RunView, Slot
from maxcode.search.archive import best_of_cells


def elites_section(run: RunView) -> Html:
    """The cells as a table, the fastest first; a bar shows each speed as a share of the fastest."""
    found = elites(run)
    best = max(timing.speedup.value for _, _, timing in found)
    rows = [TableRow(_cells(key, slot, timing, best)) for key, slot, timing in found]
    told = (
        f"{len(found)} cells were reached. Each holds its fastest correct candidate, confirmed or not; "
        "a bar is its speed as a share of the fastest."
    )
    headings = ("Techniques", "Sizes", "Candidate", "Speed-up", "Rate", "Speed")
    drawn = scrolled("Elites", table("The best of every cell", headings, rows), class_="wide")
    return join([element("p", told, class_="explained"), drawn])


def elites(run: RunView) -> list[tuple[tuple[str, ...], Slot, Timing]]:
    """(cell, candidate, its timing), the fastest first; empty for a run without timed candidates."""
    best = best_of_cells(run.language, _timed(run))
    ordered = sorted(best.items(), key=lambda entry: -entry[1][1].speedup.value)
    return [(key, slot, timing) for key, (slot, timing) in ordered]


def _timed(run: RunView) -> Iterator[tuple[tuple[Slot, Timing], Program, float]]:
    for slot in run.slots:
        program = slot.action.program if slot.action is not None else None
        if slot.outcome is Outcome.CORRECT and slot.timing is not None and program is not None:
            yield (slot, slot.timing), program, slot.timing.speedup.value


def _cells(key: tuple[str, ...], slot: Slot, timing: Timing, best: float) -> tuple[str, ...]:
    rate = f"{timing.gflops.value:.1f} GFLOPS" if timing.gflops is not None else "-"
    at = element("a", name(slot.at), href=f"#{anchor(slot.at)}")
    return *in_words(key), at, str(timing.speedup), rate, bar(timing.speedup.value / best)


def in_words(key: tuple[str, ...]) -> tuple[str, str]:
    """A cell's techniques and its sizes."""
    used = ", ".join(word for word in key if word in TECHNIQUES) or "none"
    return used, ", ".join(word for word in key if word not in TECHNIQUES) or "-"


def bar(share: float) -> Html:
    """A speed as a share of the fastest's."""
    told = f"{share:.0%} of the fastest"
    return element("progress", f"{share:.0%}", value=f"{share:.3f}", max="1", aria_label=told)
