"""All launched candidates: their outcomes, the tree of the search, and a panel for each.

A page has at most 2 MB for any number of candidates.  Each has a row and a short panel.  The rest of the space goes to
the parts (difference, samples, prompt, ...) of the most important ones.  A panel names the parts that did not fit, with
the command that writes them to a separate page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from maxcode.core.types import Outcome, StateId
from maxcode.errors import InputError
from maxcode.run.report.candidate_panel import ALONE, PARTS, Nodes, original, own_program, panel, programs_of
from maxcode.run.report.headline import name
from maxcode.run.report.html import Html, TableRow, details, element, join, table
from maxcode.run.report.prompts_section import PromptWriter, prompts_of
from maxcode.run.report.run_view import RunView, Slot
from maxcode.run.report.tree_section import Marks, marks_of, roots_of, tree

WORDS_BYTES = 320_000  # for the stories of all candidates together
MOST_WORDS = 24_000  # for one
WHOLE = 300  # candidates with more than a short panel, the most important first
FIRST = 40  # candidates that get all their parts before any other
REST = "the rest"
LAST = ("timing samples", "profile", "prompt")  # parts that need the most space
MOST_SHOWN = 1_500  # candidates in the tree
SPARE = 4_000  # bytes; with less space left, no further part is tried

Drawn = Mapping[str, Html]


def candidates_section(run: RunView, room: int) -> Html:
    """All candidates, in at most ``room`` bytes if their short forms fit into that."""
    marks = marks_of(run)
    order = by_importance(run, marks)
    shown = visible(run, order)
    nodes = Nodes(run, marks, programs_of(run), prompts_of(run, {slot.at for slot in order[:WHOLE]}), PromptWriter())
    words = min(MOST_WORDS, WORDS_BYTES // max(1, len(shown.slots)))
    before = join(
        [
            outcome_counts(run),
            _hidden(run, shown),
            details("Meaning of the words", element("p", _LEGEND, class_="explained")),
        ]
    )
    rows = element("div", tree(shown, marks), class_="shape", id="tree")
    lean = {slot.at: panel(nodes, slot, words, {}, (REST,)) for slot in shown.slots}
    originals = [original(run, at) for at in roots_of(run)]
    taken = sum(_size(drawn) for drawn in (before, rows, *originals, *lean.values()))
    parts = _within(nodes, order[:WHOLE], room - taken)
    panels = [panel(nodes, slot, words, *parts[slot.at]) if slot.at in parts else lean[slot.at] for slot in shown.slots]
    return join(
        [before, element("div", rows, element("div", _BACK, *originals, *panels, class_="panels"), class_="search")]
    )


def one_candidate(run: RunView, at: StateId) -> Html:
    """All parts of one candidate; raises InputError if the run has none with that id."""
    slot = next((slot for slot in run.slots if slot.at == at), None)
    if slot is None:
        ids = f"{name(run.slots[0].at)} to {name(run.slots[-1].at)}" if run.slots else "none yet"
        raise InputError(f"{run.folder} has no candidate {name(at)}; its candidates are {ids}")
    nodes = Nodes(run, marks_of(run), programs_of(run), prompts_of(run, {at}), PromptWriter(), ALONE)
    drawn = {title: made for title, part in PARTS.items() if (made := part(nodes, slot))}
    return join([panel(nodes, slot, 2 * ALONE.words, drawn, ()), own_program(nodes, slot)])


def _within(nodes: Nodes, order: Sequence[Slot], room: int) -> dict[StateId, tuple[Drawn, Sequence[str]]]:
    """The parts that fit into ``room`` bytes, and the names of the others, by candidate: first all parts of the most
    important candidates, then differences and words of the others, then the rest."""
    drawn: dict[StateId, dict[str, Html]] = {slot.at: {} for slot in order}
    left_out: dict[StateId, dict[str, None]] = {slot.at: {} for slot in order}
    brief = [title for title in PARTS if title not in LAST]
    for some, titles in ((order[:FIRST], PARTS), (order[FIRST:], brief), (order[FIRST:], LAST)):
        for slot, title in product(some, titles):
            if room < SPARE:
                left_out[slot.at][REST] = None  # the remaining parts are not made, so their names are unknown
                continue
            made = PARTS[title](nodes, slot)
            if _size(made) > room:
                left_out[slot.at][title] = None
            elif made:
                drawn[slot.at][title] = made
                room -= _size(made)
                if title == "prompt" and slot.at in nodes.prompts:
                    nodes.told.keep(slot.at, nodes.prompts[slot.at])
    return {slot.at: (drawn[slot.at], list(left_out[slot.at])) for slot in order}


def by_importance(run: RunView, marks: Marks) -> list[Slot]:
    """The candidates in order of importance: the best, its path, those that were the best, confirmed or refuted, then
    those that are faster, timed, correct; among equals the earlier first."""
    best = run.reached.best
    path = {state.id for state in best.ancestry} if best is not None else set()

    def rank(slot: Slot) -> int:
        timing = slot.timing
        tests = (
            slot.at == marks.best,
            slot.at in path,
            slot.at in marks.leaders,
            timing is not None and timing.confirmed,
            timing is not None and timing.significant,
            timing is not None,
            slot.outcome is Outcome.CORRECT,
        )
        return tests.index(True) if True in tests else len(tests)

    return sorted(run.slots, key=rank)


def visible(run: RunView, order: Sequence[Slot], most: int = MOST_SHOWN) -> RunView:
    """The run with at most ``most`` candidates: the first in ``order``, and all above them."""
    if len(run.slots) <= most:
        return run
    parents = {slot.at: slot.parent for slot in run.slots}
    kept: set[StateId] = set()
    for slot in order:
        at: StateId | None = slot.at
        path = []
        while at is not None and at not in kept:
            path.append(at)
            at = parents.get(at)
        if len(kept) + len(path) > most:
            break
        kept.update(path)
    return replace(run, slots=tuple(slot for slot in run.slots if slot.at in kept))


def _hidden(run: RunView, shown: RunView) -> Html:
    if len(shown.slots) == len(run.slots):
        return join([])
    told = (
        f"{len(shown.slots)} of {len(run.slots)} candidates are shown: those that led, were confirmed or are faster "
        "first. The record has all; maxcode report FOLDER --node BATCH:SLOT writes a page of any of them."
    )
    return element("p", told, class_="explained")


def _size(markup: Html) -> int:
    return len(markup.encode())


# ------------------------------------------------------------------------------------------------------------ outcomes


def outcome_counts(run: RunView) -> Html:
    """The number of candidates by outcome, from the best outcome down, and those still open."""
    counts = Counter(slot.outcome.value if slot.outcome else "open" for slot in run.slots)
    order = [outcome.value for outcome in reversed(Outcome)] + ["open"]
    rows = [
        TableRow((label, str(counts[label]), _share(counts[label], len(run.slots)))) for label in order if counts[label]
    ]
    return table("Candidates by outcome", ("Outcome", "Candidates", "Share"), rows)


def _share(count: int, total: int) -> Html:
    share = f"{100 * count / total:.0f} %"
    bar = element("progress", value=str(count), max=str(total), aria_hidden="true", class_="share")
    return join([bar, share])


_BACK: Final = element("p", element("a", "Back to the tree", href="#tree"), class_="back")
_LEGEND: Final = (
    "Ids are batch:slot; a candidate stands under the one it was made from. Speed-ups are ratios to the original with "
    "their interval. Significant: the race says that it is faster. Confirmed: measured again on fresh pairs after it "
    "was selected. Refuted: fresh pairs did not confirm it. Slower than the best: its race was stopped early. Slower "
    "by wall clock: less CPU time, but more elapsed time. Noisy: other programs used the cores too much for its wall "
    "time to count. No gain in CPU time: fewer instructions, but no less CPU time. Not settled: its batch is not final."
)
