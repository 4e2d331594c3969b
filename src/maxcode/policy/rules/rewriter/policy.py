"""The built-in policy ``rewriter``: rules instead of a language model.

It reads the sections of the observation, as every policy does, and answers like a model: a few lines of notes and one
fenced program.  It knows the rules of ``RULES`` and cannot invent an algorithm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import final

from maxcode.code.cpp.edit import Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.code.languages import language as language_row
from maxcode.core.types import Action, Observation, Problem
from maxcode.policy.rules.python.nearest import nearest
from maxcode.policy.rules.rewriter.proposal import (
    AppliedEdit,
    EditChoice,
    Offer,
    PolicyTraits,
    ProposalRequest,
    is_refused,
    open_to,
    proposal,
    read,
    weight_of,
    with_entry,
)
from maxcode.policy.rules.rewriter.rules import RULES, USUAL_RULES, edits
from maxcode.policy.rules.rewriter.runtime import applied

HEADER = "Built-in rewriter (rule-based, no language model)"
LANGUAGES = ("cpp", "c", "python")

_COUNTS = ((1, 2, 3), (0.3, 0.35, 0.35))  # numbers of edits in a proposal, and their probabilities
_AT_LINE, _ON_SUBJECT, _FRIEND = 3.0, 2.5, 4.0
_ATTEMPTS = 5


@final
@dataclass(frozen=True, slots=True)
class Rewriter:
    """Proposes the program with one to three edits of the built-in rules.

    Pure in the observation: the choice is drawn with ``observation.draw`` alone.  It is weighted by the priors of the
    rules, by earlier trials in the sections, and by the lines that the critique names.  From the state it uses only the
    name of the file, and the program and language if no section holds them.  If no rule applies, the program is
    returned unchanged, and the completion says so.

    ``rules``: the names of the rules that it may use (``chosen_rules``).
    """

    rules: frozenset[str] = USUAL_RULES

    async def propose(self, observation: Observation) -> Action:
        """The whole new program, and the notes that say what was done and why."""
        return propose(observation, self.rules)


def propose(observation: Observation, rules: frozenset[str] = USUAL_RULES) -> Action:
    request = read(observation)
    problem = observation.state.problem
    unit = Unit(request.language, request.text, request.others, problem.spec.flags)
    seen = "".join(f"\n{line}" for line in rules_seen(unit, rules))
    return proposal(
        request,
        PolicyTraits(
            header=HEADER,
            nothing=f"No rule applies, or all that do have failed{seen and f'. By function:{seen}'}",
            elsewhere="No rule applies: the rules are for C++, C and Python",
            languages=LANGUAGES,
            offers=_Offers(request, rules),
            applied=applied,
            counts=_COUNTS,
            attempts=_ATTEMPTS,
        ),
    )


@final
@dataclass(slots=True)
class _Offers:
    """The available edits, in one proposal.

    ``pointed``: the edits that the critique names, by label, because only labels stay valid after a first edit, and the
    line that it names.
    """

    request: ProposalRequest
    rules: frozenset[str]
    pointed: dict[str, int] = field(default_factory=dict)

    def __call__(self, unit: Unit, before: Sequence[AppliedEdit]) -> Iterator[Offer]:
        inexact = re.search(r"^checker: *float", self.request.told, re.MULTILINE) is not None
        found = list(edits(unit, inexact, self.rules))
        if not before:
            self.pointed = self._pointed_at(found)
        made = {one.edit.rule for one in before}
        friends = {friend for rule in RULES if rule.name in made for friend in rule.friends}
        for rule, offered in found:
            choices = [self._choice(edit) for edit in open_to(offered, before, self.request.experience)]
            if any(one.weight for one in choices):
                weight = weight_of(self.request, rule, choices, _ON_SUBJECT)
                yield Offer(rule, weight * (_FRIEND if rule.name in friends else 1.0), choices)

    def _pointed_at(self, found: list[tuple[Rule, list[Edit]]]) -> dict[str, int]:
        lines = {edit.label: self.request.diagnosis.points_at(edit) for _, offered in found for edit in offered}
        return {label: line for label, line in lines.items() if line is not None}

    def _choice(self, edit: Edit) -> EditChoice:
        line = self.pointed.get(edit.label)
        return EditChoice(edit, self.request.experience.factor(edit) * (1.0 if line is None else _AT_LINE), line)


def unit_of(problem: Problem) -> Unit:
    """The program of a problem for the rules."""
    program = problem.program
    others = tuple(text for path, text in program.files.items() if path != program.name)
    text, entry = program.files[program.name], with_entry(others, problem)
    return Unit(problem.language, text, entry, problem.spec.flags)


def rules_seen(unit: Unit, rules: frozenset[str]) -> tuple[str, ...]:
    """For each function of a Python program which of the rules apply, and what kept the nearest from it; nothing for
    other languages."""
    if unit.language != "python":
        return ()
    try:
        return nearest(unit, [rule for rule in RULES if rule.name in rules and "python" in rule.languages])
    except RecursionError:
        return ("no rule looks at the program, because it is nested too deep",)


def can_edit(problem: Problem, inexact: bool, rules: frozenset[str]) -> bool:
    """Whether a rule has an edit that the judge does not refuse for its words: in the first file, or of a repository in
    any file in C or C++."""
    if problem.spec.repo is None:
        return next(edits(unit_of(problem), inexact, rules), None) is not None
    return any(
        not is_refused(problem, path, applied(unit, edit))
        for path, unit in _units_of(problem)
        for _, found in edits(unit, inexact, rules)
        for edit in found
    )


def _units_of(problem: Problem) -> Iterator[tuple[str, Unit]]:
    """The files of a repository that rules may edit, with their paths."""
    files = problem.program.files
    suffixes = {suffix: name for name in ("c", "cpp") for suffix in language_row(name).suffixes}
    for path, text in files.items():
        if name := suffixes.get(PurePosixPath(path).suffix, ""):
            others = [one for other, one in files.items() if other != path]
            yield path, Unit(name, text, others, problem.spec.flags)
