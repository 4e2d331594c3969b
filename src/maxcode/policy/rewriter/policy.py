"""The built-in policy: rules instead of a language model.

It reads what any policy reads, the sections of the observation, and answers as a model would: a few lines of notes
and one fenced program.  It knows the rules of ``RULES`` and cannot invent an algorithm.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from maxcode.policy.rewriter.edit import Edit, Rule
from maxcode.policy.rewriter.notes import Diagnosis, Experience, diagnosis, experience
from maxcode.policy.rewriter.rules import RULES, edits
from maxcode.policy.rewriter.runtime import applied
from maxcode.policy.rewriter.unit import Unit
from maxcode.source import fenced, fences
from maxcode.types import Action, Observation

HEADER = "Built-in rewriter (rule-based, no language model)"
LANGUAGES = ("cpp", "c")

_COUNTS = ((1, 2, 3), (0.3, 0.35, 0.35))  # how many edits a proposal makes, and how often
_AT_LINE, _ON_SUBJECT, _FRIEND = 3.0, 2.5, 4.0
_ATTEMPTS = 4  # at combinations that have not failed before
_TEMPERATURE = 0.6  # at which weights are taken as they are


@final
class Rewriter:
    """Proposes the program with one to three edits of the built-in rules.

    Pure in the observation: the choice is drawn with ``observation.draw`` alone, weighted by the priors of the rules,
    by what the sections tell of earlier trials, and by where the critique points.  Of the state it takes nothing but
    the name of the file, and the program and language where no section holds them.  A program for which there is no
    rule comes back unchanged, and the completion says so.
    """

    async def propose(self, observation: Observation) -> Action:
        """The whole new program, and the notes that say what was done and why."""
        return propose(observation)


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """An edit that was made, and why."""

    edit: Edit
    why: str


@final
@dataclass(frozen=True, slots=True)
class _Request:
    """What one observation asks for."""

    text: str
    language: str
    inexact: bool
    experience: Experience
    diagnosis: Diagnosis
    exponent: float


def propose(observation: Observation) -> Action:
    """The proposal for an observation."""
    request = _read(observation)
    generator = random.Random(observation.draw)
    text, chosen = _attempt(request, generator)
    for _ in range(_ATTEMPTS):
        if frozenset(one.edit.kind for one in chosen) not in request.experience.failed_together:
            break
        text, chosen = _attempt(request, generator)
    program = observation.state.problem.program.with_text(text)
    return Action(program, _completion(request.language, text, chosen))


def _read(observation: Observation) -> _Request:
    problem = observation.section("Problem") or ""
    named = re.search(r"^language: *(\w+)", problem, re.MULTILINE)
    language = named[1] if named else observation.state.problem.language
    blocks = fences(observation.section("Program") or "") or fences(problem)
    text = blocks[0].body if blocks else observation.state.program.text
    return _Request(
        text=text,
        language=language,
        inexact=re.search(r"^checker: *float", problem, re.MULTILINE) is not None,
        experience=experience(observation),
        diagnosis=diagnosis(observation),
        exponent=_TEMPERATURE / max(observation.temperature, 0.05),
    )


def _attempt(request: _Request, generator: random.Random) -> tuple[str, list[Chosen]]:
    """Some edits, one after the other, each found on the program that the one before it left."""
    text, chosen = request.text, list[Chosen]()
    if request.language not in LANGUAGES:
        return text, chosen
    pointed: dict[str, int] = {}
    for _ in range(generator.choices(*_COUNTS)[0]):
        unit = Unit(request.language, text)
        found = list(edits(unit, request.inexact))
        pointed = pointed if chosen else _pointed(request, found)
        offers = list(_offers(request, found, chosen, pointed))
        if not offers:
            break
        one = _draw(request, offers, pointed, generator)
        text = applied(unit, one.edit)
        chosen.append(one)
        if one.edit.kind in request.experience.suspects:
            break
    return text, chosen


def _pointed(request: _Request, found: list[tuple[Rule, list[Edit]]]) -> dict[str, int]:
    """The edits the critique points at, by label, since only labels outlive a first edit, and the line it names."""
    lines = {edit.label: request.diagnosis.points_at(edit) for _, offered in found for edit in offered}
    return {label: line for label, line in lines.items() if line is not None}


@final
@dataclass(frozen=True, slots=True)
class _Offer:
    """A rule that may be chosen with a weight, and its edits with theirs."""

    rule: Rule
    weight: float
    edits: list[Edit]
    weights: list[float]


def _offers(
    request: _Request, found: list[tuple[Rule, list[Edit]]], chosen: list[Chosen], pointed: dict[str, int]
) -> Iterator[_Offer]:
    """What can be chosen now; an edit that failed in company may only come first, and then stays alone."""
    done = {(one.edit.rule, one.edit.site) for one in chosen}
    friends = {friend for one in chosen for friend in _friends(one.edit.rule)}
    for rule, offered in found:
        open_to = [edit for edit in offered if (edit.rule, edit.site) not in done]
        if chosen:
            open_to = [edit for edit in open_to if edit.kind not in request.experience.suspects]
        weights = [request.experience.factor(edit) * (_AT_LINE if edit.label in pointed else 1.0) for edit in open_to]
        if not any(weights):
            continue
        weight = rule.prior * request.experience.rule_factor(rule) * max(weights)
        weight *= _ON_SUBJECT if request.diagnosis.subject(rule) else 1.0
        weight *= _FRIEND if rule.name in friends else 1.0
        yield _Offer(rule, weight, open_to, weights)


def _friends(name: str) -> tuple[str, ...]:
    return next(rule.friends for rule in RULES if rule.name == name)


def _draw(request: _Request, offers: list[_Offer], pointed: dict[str, int], generator: random.Random) -> Chosen:
    offer = generator.choices(offers, _sharpened(request, [offer.weight for offer in offers]))[0]
    edit = generator.choices(offer.edits, _sharpened(request, offer.weights))[0]
    return Chosen(edit, _why(request, offer.rule, edit, pointed))


def _sharpened(request: _Request, weights: list[float]) -> list[float]:
    """Lower temperatures favour large weights."""
    largest = max(weights)
    return [(weight / largest) ** request.exponent for weight in weights]


def _why(request: _Request, rule: Rule, edit: Edit, pointed: dict[str, int]) -> str:
    reasons = []
    subject = request.diagnosis.subject(rule)
    if edit.label in pointed:
        reasons.append(f"the critique points to line {pointed[edit.label]}")
    if subject is not None:
        reasons.append(f"the critique speaks of {subject}")
    if request.experience.factor(edit) > 1.05:
        reasons.append("it helped before")
    elif edit.kind in request.experience.suspects:
        reasons.append("it failed in company and is tried alone")
    return ", ".join(reasons) or f"prior {rule.prior:g}"


def _completion(language: str, text: str, chosen: list[Chosen]) -> str:
    lines = [HEADER]
    if language not in LANGUAGES:
        lines.append(f"No rule applies: the rules are for C++ and C, and this is {language}. The program is unchanged.")
    elif not chosen:
        lines.append("No rule applies, or all that do have failed. The program is unchanged.")
    for one in chosen:
        where = f"line {one.edit.line}: " if one.edit.lines else ""
        lines.append(f"- {one.edit.label}: {where}{one.edit.what} ({one.why})")
    return "\n".join([*lines, "", fenced(text, language)])
