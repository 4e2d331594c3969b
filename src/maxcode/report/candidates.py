"""The table of candidates: every one that was launched, in (batch, slot) order, the failing and the open ones too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.report.html import Html, Row, beginning, clip, details, element, join, paragraphs, table
from maxcode.report.run import RunView, Slot
from maxcode.report.verdict import name, percent, standing
from maxcode.source import prose
from maxcode.types import Action, Evaluation, Outcome, StateId, Timing

TEXT_BYTES = 320_000  # for the words of all candidates together, so that the page stays small
LONG_WORDS = 400  # characters; a table is read, an essay is opened
_HEADINGS = ("Candidate", "Made from", "Outcome", "Speed-up", "Standing", "What was tried, and what came of it")


@final
@dataclass(frozen=True, slots=True)
class Caps:
    """The most bytes each kind of text of one candidate may take."""

    notes: int
    reasons: int
    critique: int
    diagnostics: int


def caps_for(candidates: int) -> Caps:
    """An equal share for every candidate; generous while there are few."""
    share = min(24_000, TEXT_BYTES // max(1, candidates))
    return Caps(notes=share // 4, reasons=share // 4, critique=share // 4, diagnostics=share // 4)


def candidate_table(run: RunView) -> Html:
    """All candidates; ids link to the row they were made from."""
    caps = caps_for(len(run.slots))
    leaders = {lead.state.id for lead in run.leads}
    best = run.reached.best.id if run.reached.best is not None else None
    rows = [_row(slot, caps, slot.at in leaders, slot.at == best) for slot in run.slots]
    return table("Every candidate, in the order of batch and slot", _HEADINGS, rows, class_="candidates")


def outcome_counts(run: RunView) -> Html:
    """How far the candidates climbed: the ladder from the top, and what is still open."""
    counts = Counter(slot.outcome.value if slot.outcome else "open" for slot in run.slots)
    order = [outcome.value for outcome in reversed(Outcome)] + ["open"]
    rows = [Row((label, str(counts[label]), _bar(counts[label], len(run.slots)))) for label in order if counts[label]]
    return table("Candidates by outcome", ("Outcome", "Candidates", "Share"), rows)


def _bar(count: int, total: int) -> Html:
    share = f"{100 * count / total:.0f} %"
    return join([element("span", class_="share", style=f"width:{count / total * 8:.1f}em", aria_hidden="true"), share])


def _row(slot: Slot, caps: Caps, led: bool, best: bool) -> Row:
    outcome = slot.outcome.value if slot.outcome is not None else "open"
    cells = (
        element("a", name(slot.at), href=f"#{_anchor(slot.at)}"),
        element("a", name(slot.parent), href=f"#{_anchor(slot.parent)}") if slot.parent[0] else name(slot.parent),
        element("span", outcome, class_=f"outcome {outcome}"),
        _speedup(slot.timing),
        _standing(slot, led, best),
        _story(slot, caps),
    )
    return Row(cells, id=_anchor(slot.at), class_="best" if best else "")


def _anchor(at: StateId) -> str:
    return f"c{at[0]}-{at[1]}"


def _speedup(timing: Timing | None) -> Html:
    if timing is None:
        return element("span", "no timing", class_="absent")
    found = timing.speedup
    unusual = "" if percent(found) == "95 %" else f" at {percent(found)}"
    rate = f", {timing.gflops.value:.1f} GFLOPS" if timing.gflops is not None else ""
    return join([element("strong", f"{found.value:.2f}x"), f" [{found.low:.2f}, {found.high:.2f}]{unusual}{rate}"])


def _standing(slot: Slot, led: bool, best: bool) -> Html:
    marks = [standing(slot)]
    marks += ["best"] if best else ["led for a time"] if led else []
    marks += [] if slot.settled or slot.evaluation is None else ["not settled"]
    return join((_mark(mark) for mark in marks if mark), " ")


def _mark(word: str) -> Html:
    return element("span", word, class_=f"mark {word.replace(' ', '-')}")


def _story(slot: Slot, caps: Caps) -> Html:
    """The policy's own words, why it failed, and behind a fold what critic and compiler said."""
    if slot.action is None:
        return paragraphs("Not proposed yet.")
    told = _words(prose(slot.action.completion), caps.notes)
    if slot.evaluation is None:
        return join([*told, paragraphs("Proposed, not evaluated yet.")])
    found = slot.evaluation
    told.append(_reasons((*found.feedback.reasons, *found.warnings, *_failures(found)), caps.reasons))
    told += [paragraphs(f"Class expected by the value model: {slot.value:.2f}")] if slot.value is not None else []
    told += _chosen(slot.action)
    told += _folded("Critique", slot.critique, caps.critique)
    told += _folded("Compiler's words", found.feedback.diagnostics, caps.diagnostics)
    return join(told)


def _chosen(action: Action) -> list[Html]:
    """What a reranker chose it from."""
    if not action.drawn:
        return []
    foreseen = ", ".join(f"{one.foreseen:.2f}{' (this one)' if one.kept else ''}" for one in action.drawn)
    how = "chosen by" if action.ranked else "the first, left unranked, of"
    return [paragraphs(f"Before execution, {how} the class expected of {len(action.drawn)} drawn: {foreseen}.")]


def _words(said: str, most: int) -> list[Html]:
    """The policy's notes; long ones begin, and go on behind a fold."""
    if len(said) <= LONG_WORDS:
        return [element("p", clip(said, most) or "(no words)", class_="said notes")]
    start = beginning(" ".join(said[:LONG_WORDS].split()), most // 3)
    return [element("p", f"{start} ...", class_="said notes"), *_folded("All the policy's words", said, most * 2 // 3)]


def _failures(evaluation: Evaluation) -> list[str]:
    cases = evaluation.feedback.cases
    failed = sum(1 for case in cases if case.outcome is not Outcome.CORRECT)
    return [f"failed tests: {failed} of {len(cases)} run"] if failed else []


def _reasons(reasons: Sequence[str], most: int) -> Html:
    items: list[Html] = []
    for reason in reasons:
        shown = clip(reason, most)
        most -= len(shown)
        items.append(element("li", shown))
        if most <= 0:
            items.append(element("li", f"[... {len(reasons) - len(items)} more are in the record]"))
            break
    return element("ul", *items, class_="reasons") if items else join([])


def _folded(title: str, text: str, most: int) -> list[Html]:
    return [details(title, element("p", clip(text.strip(), most), class_="said"))] if text.strip() else []
