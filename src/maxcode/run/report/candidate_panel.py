"""The panel of one candidate, which a reader opens from the tree, part by part.

Every candidate has a head and a story, which is short if there are many candidates.  The other parts may be too much
for one page, so each is made separately and the page takes those that fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.code.prose import prose
from maxcode.core.types import Action, Evaluation, Outcome, Program, StateId, Timing
from maxcode.run.report.charts import SMALL, samples
from maxcode.run.report.diff import DiffStyle, program_diff
from maxcode.run.report.headline import CLOCKS, anchor, name, percent
from maxcode.run.report.html import Html, beginning, clip, details, element, join, paragraphs, scrolled
from maxcode.run.report.prompts_section import Prompt, PromptWriter
from maxcode.run.report.run_view import RunView, Slot
from maxcode.run.report.syntax import code
from maxcode.run.report.tree_section import Marks, mark

LONG_WORDS = 400  # characters; only the beginning of a longer text is open
LISTED = 12  # remarks, or lines of a profile


@final
@dataclass(frozen=True, slots=True)
class PanelCaps:
    """The most bytes of a candidate's parts: each file's ``difference``, each kind of ``words``, each ``section`` of a
    prompt."""

    difference: int = 60_000
    words: int = 12_000
    section: int = 40_000


ALONE = PanelCaps(1_000_000, 400_000, 400_000)


@final
@dataclass(frozen=True, slots=True)
class Nodes:
    """The input of panels: the run, its marks, each candidate's program (its own, or the one that it had to change),
    the prompts, their writer, and the caps on the parts."""

    run: RunView
    marks: Marks
    programs: Mapping[StateId, Program]
    prompts: Mapping[StateId, Prompt]
    told: PromptWriter
    caps: PanelCaps = PanelCaps()


Part = Callable[[Nodes, Slot], Html]


def programs_of(run: RunView) -> dict[StateId, Program]:
    """The program of every candidate: the last one on its path that could be read."""
    found: dict[StateId, Program] = {}
    for slot in run.slots:
        own = slot.action.program if slot.action is not None else None
        found[slot.at] = own or found.get(slot.parent, run.original)
    return found


def panel(nodes: Nodes, slot: Slot, words: int, parts: Mapping[str, Html], left_out: Sequence[str]) -> Html:
    """A candidate: its head, its story in at most about ``words`` bytes, and the parts that fit the page."""
    drawn = [parts[title] for title in PARTS if title in parts]
    if left_out:
        command = element("code", f"maxcode report {nodes.run.folder.resolve().name} --node {name(slot.at)}")
        told = (f"Left out to keep this page small: {', '.join(left_out)}. ", command, " writes a page with all of it.")
        drawn.append(element("p", *told, class_="left-out"))
    return _article(slot.at, f"Candidate {name(slot.at)}", join([_came(nodes, slot), _story(slot, words), *drawn]))


def original(run: RunView, at: StateId) -> Html:
    """The original program; a stage of a search may start from it again, as another root."""
    if at != run.reached.root.id:
        return _article(at, "The original again", paragraphs("The search started from it again, with other settings."))
    texts = [whole(path, text, run.language, PanelCaps().difference) for path, text in run.original.files.items()]
    told = paragraphs("" if texts else "The run folder has no copy of the original.")
    return _article(at, "The original", join([told, *texts]))


def own_program(nodes: Nodes, slot: Slot) -> Html:
    """A candidate's own program, whole."""
    found = slot.action.program if slot.action is not None else None
    files = found.files.items() if found is not None else ()
    texts = (whole(path, text, nodes.run.language, nodes.caps.difference) for path, text in files)
    return _titled("Its program", *texts) if files else join([])


def whole(path: str, text: str, language: str, most: int) -> Html:
    """A file in colour."""
    shown = element("pre", element("code", code(language, clip(text, most))))
    return scrolled(f"Text of {path}", shown, class_="code")


def _article(at: StateId, title: str, content: Html) -> Html:
    head = element("h3", title, id=f"{anchor(at)}-t", tabindex="-1")
    return element("article", head, content, id=anchor(at), class_="node", aria_labelledby=f"{anchor(at)}-t")


def _came(nodes: Nodes, slot: Slot) -> Html:
    outcome = slot.outcome.value if slot.outcome is not None else "open"
    parent = element("a", name(slot.parent), href=f"#{anchor(slot.parent)}", class_="from")
    facts = [element("span", outcome, class_=f"outcome {outcome}"), speedup(slot.timing)]
    return element(
        "p", "Made from ", parent, ": ", join([*facts, *map(mark, nodes.marks.of(slot))], " "), class_="came"
    )


def speedup(timing: Timing | None) -> Html:
    """A speed-up with its interval, and the rate if there is one."""
    if timing is None:
        return element("span", "no timing", class_="ratio absent")
    found = timing.speedup
    unusual = "" if percent(found) == "95 %" else f" at {percent(found)}"
    rate = f", {timing.gflops.value:.1f} GFLOPS" if timing.gflops is not None else ""
    ratio = element("strong", f"{found.value:.2f}x")
    return element("span", ratio, f" [{found.low:.2f}, {found.high:.2f}]{unusual}{rate}", class_="ratio")


# ---------------------------------------------------------------------------------------------------------- the story


def _story(slot: Slot, most: int) -> Html:
    """The policy's own words, and the reason of a failure."""
    if slot.action is None:
        return paragraphs("Not proposed yet.")
    told = _words(prose(slot.action.completion), most // 2)
    if slot.evaluation is None:
        return join([*told, paragraphs("Proposed, not evaluated yet.")])
    found = slot.evaluation
    told.append(_reasons((*found.feedback.reasons, *found.warnings, *_failures(found)), most // 2))
    told += [paragraphs(f"Class expected by the value model: {slot.value:.2f}")] if slot.value is not None else []
    told += _chosen(slot.action)
    told += [paragraphs(f"Measured on {clip(str(found.node), LONG_WORDS)}.")] if found.node is not None else []
    return join(told)


def _chosen(action: Action) -> list[Html]:
    """The samples from which a reranker chose it."""
    if not action.drawn:
        return []
    foreseen = ", ".join(f"{one.foreseen:.2f}{' (this one)' if one.kept else ''}" for one in action.drawn)
    how = "chosen by" if action.ranked else "the first sample, chosen without the value model, of"
    return [paragraphs(f"Before execution, {how} the class expected of {len(action.drawn)} drawn: {foreseen}.")]


def _words(said: str, most: int) -> list[Html]:
    """The policy's notes; of long ones only the beginning is open."""
    if len(said) <= LONG_WORDS:
        return [element("p", clip(said, most) or "(no words)", class_="said notes")]
    start = beginning(" ".join(said[:LONG_WORDS].split()), most // 3)
    more = details("The whole answer of the policy", element("p", clip(said, most * 2 // 3), class_="said"))
    return [element("p", f"{start} ...", class_="said notes"), more]


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


# ---------------------------------------------------------------------------------------------------------- the parts


def _titled(title: str, *content: str) -> Html:
    return join([element("h4", title), *content])


def _difference(nodes: Nodes, slot: Slot) -> Html:
    if slot.action is None or slot.action.program is None:
        return join([])
    before = nodes.programs.get(slot.parent, nodes.run.original)
    if not before.files:
        return join([])
    drawn = program_diff(before, slot.action.program, DiffStyle(nodes.run.language, False, nodes.caps.difference))
    return _titled(f"Difference to {name(slot.parent)}", drawn)


def _timing(nodes: Nodes, slot: Slot) -> Html:
    timing = slot.timing
    ratios = [one / other for one, other in timing.samples if other > 0] if timing is not None else []
    if timing is None or not ratios:
        return join([])
    unit = "instructions" if timing.clock == "instructions" else f"{CLOCKS[timing.clock]} of paired runs"
    caption = (
        f"{len(ratios)} pairs, original over candidate, by {unit}: {timing.speedup}, {percent(timing.speedup)} "
        f"interval, from {min(ratios):.3f} to {max(ratios):.3f}."
    )
    figure = element("figure", samples(ratios, timing.speedup, SMALL), element("figcaption", caption))
    return _titled("Timing samples", figure)


def _critique(nodes: Nodes, slot: Slot) -> Html:
    said = clip(slot.critique.strip(), nodes.caps.words)
    if not said:
        return join([])
    earlier = _earlier_figure(slot)
    note = element("p", earlier) if earlier else join([])
    return _titled("Critique", element("p", said, class_="said"), note)


def _earlier_figure(slot: Slot) -> str:
    """Names the figure of a critique that was written before the candidate was timed once more; empty otherwise."""
    first = slot.words[0][1].timing if slot.words else None
    if first is None or slot.timing is None or str(first.speedup) == str(slot.timing.speedup):
        return ""
    return (
        f"Written after the race of the search, which gave {first.speedup}. The figure of this candidate is "
        f"{slot.timing.speedup}, from fresh pairs."
    )


def _diagnostics(nodes: Nodes, slot: Slot) -> Html:
    said = slot.evaluation.feedback.diagnostics.strip() if slot.evaluation is not None else ""
    return details("Compiler's words", element("p", clip(said, nodes.caps.words), class_="said")) if said else join([])


def _measured(nodes: Nodes, slot: Slot) -> Html:
    """Its profile and the compiler's remarks."""
    found = slot.evaluation
    if found is None or not (found.profile or found.remarks):
        return join([])
    spots = [f"{one.share:.0%} {one.function}{f' (line {one.line})' if one.line else ''}" for one in found.profile]
    remarks = [f"line {one.line}: {one.kind}: {one.text}" for one in found.remarks]
    parts = (spots, remarks)
    lists = [element("ul", *(element("li", clip(told, 500)) for told in part[:LISTED])) for part in parts]
    more = len(spots[LISTED:]) + len(remarks[LISTED:])
    return details("Profile and compiler remarks", *lists, paragraphs(f"{more} more are in the record." * bool(more)))


def _tests(nodes: Nodes, slot: Slot) -> Html:
    """The number of tests by kind and outcome; nothing else is shown of held-out tests."""
    cases = slot.evaluation.feedback.cases if slot.evaluation is not None else ()
    if not cases:
        return join([])
    counts = Counter(f"{'seen' if case.seen else 'held out'} {case.outcome.value}" for case in cases)
    told = ", ".join(f"{count} {sort}" for sort, count in sorted(counts.items()))
    return paragraphs(f"Tests run: {told}.")


def _prompt(nodes: Nodes, slot: Slot) -> Html:
    prompt = nodes.prompts.get(slot.at)
    if prompt is not None:
        return nodes.told.draw(slot.at, prompt, nodes.caps.section)
    if slot.action is None:
        return join([])
    if slot.action.usage.calls:
        return element("p", "A model was asked; this run's folder holds no call with its answer.", class_="absent")
    policy = nodes.run.header.get("policy")
    who = f"the policy {policy}" if policy else "its policy"
    return element("p", f"No model was asked: {who} made it, and the record keeps no prompt.", class_="absent")


PARTS: Mapping[str, Part] = {  # in the order shown
    "tests": _tests,
    "difference": _difference,
    "timing samples": _timing,
    "critique": _critique,
    "compiler's words": _diagnostics,
    "profile": _measured,
    "prompt": _prompt,
}
