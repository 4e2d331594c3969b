"""All steps from the original to the best program, in the words of a built-in policy, and the hints for the reader."""

from __future__ import annotations

from maxcode.code.cpp.edit import Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.core.types import Program
from maxcode.policy.rules.rewriter import LANGUAGES, edits
from maxcode.policy.rules.rewriter.notes import Diagnosis, diagnosis_of
from maxcode.run.report.html import Html, element, join, paragraphs
from maxcode.run.report.run_view import RunView
from maxcode.run.winning import applied_rules


def applied_steps(run: RunView) -> Html:
    """The list of steps; nothing if the policy writes none, as a language model does."""
    best = run.reached.best
    steps = applied_rules(best) if best is not None else []
    if not steps:
        return join([])
    told = paragraphs(f"{len(steps)} steps lead from the original to this program:" if len(steps) > 1 else "One step:")
    items = [element("li", element("code", one.rule), f": {one.what}  [{one.site}]") for one in steps]
    return join([told, element("ol", *items, class_="steps"), _hints(run)])


def _hints(run: RunView) -> Html:
    """The hints of the latest critique that no rule of the rewriter can follow; a reader may."""
    best = run.reached.best
    if best is None or best.step is None or run.header.get("policy") != "rewriter" or run.language not in LANGUAGES:
        return join([])
    offered = list(edits(_unit(run, best.program), True))
    left = [
        line.strip()
        for line in best.step.critique.splitlines()
        if (said := diagnosis_of(line)).topics and not any(_follows(said, rule, found) for rule, found in offered)
    ]
    if not left:
        return join([])
    told = paragraphs("Hints for you: no rule of the built-in rewriter can follow them.")
    return join([told, element("ul", *(element("li", line, class_="said") for line in left))])


def _unit(run: RunView, program: Program) -> Unit:
    others = [text for path, text in program.files.items() if path != program.name]
    flags = run.header.get("flags")
    return Unit(
        run.language,
        program.files[program.name],
        others,
        [str(one) for one in flags] if isinstance(flags, list) else [],
    )


def _follows(said: Diagnosis, rule: Rule, found: list[Edit]) -> bool:
    """Whether an edit of a rule does what a hint asks for, at its lines if it names some."""
    if said.subject(rule) is None:
        return False
    return not said.lines or any(said.points_at(edit) is not None for edit in found)
