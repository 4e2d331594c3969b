"""The built-in policy for numeric kernels: loop transformations and a tuned template instead of a language model.

It reads what any policy reads, the sections of the observation, and answers as a model would: a few lines of notes
and one fenced program.  It knows the steps of ``STEPS``; changing one constant of a kernel is the one it takes most.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from maxcode.policy.kernels.kernel import Step
from maxcode.policy.kernels.steps import ALL, Allowed, offered
from maxcode.policy.rewriter.edit import Edit
from maxcode.policy.rewriter.notes import Diagnosis, Experience, diagnosis, experience
from maxcode.policy.rewriter.runtime import patched
from maxcode.policy.rewriter.unit import Unit
from maxcode.source import fenced, fences
from maxcode.techniques import used
from maxcode.types import Action, Observation, Problem

HEADER = "Built-in kernel policy (loop transformations and tuned templates, no language model)"
LANGUAGES = ("c", "cpp")

_COUNTS = ((1, 2, 3), (0.45, 0.3, 0.25))  # how many steps a proposal takes, and how often
_AFRESH = 0.15  # how often it starts at the original again
_AT_LINE, _ON_SUBJECT = 2.0, 2.0
_TEMPERATURE = 0.6  # at which weights are taken as they are
_ATTEMPTS = 4  # at combinations that have not failed before


@final
@dataclass(frozen=True, slots=True)
class Kernels:
    """Proposes the kernel after one to three loop transformations, templates or changes of a constant.

    Pure in the observation: the choice is drawn with ``observation.draw`` alone, weighted by the priors of the steps,
    by what the sections tell of earlier trials, and by where the critique points.  It starts at the program of the
    section "Program", now and then at the original.  A program for which there is no step comes back unchanged, and
    the completion says so.
    """

    async def propose(self, observation: Observation) -> Action:
        """The whole new program, and the notes that say what was done and why."""
        return propose(observation)


@final
@dataclass(frozen=True, slots=True)
class _Request:
    """What one observation asks for."""

    text: str
    original: str
    language: str
    allowed: Allowed
    experience: Experience
    diagnosis: Diagnosis
    exponent: float


@final
@dataclass(frozen=True, slots=True)
class _Taken:
    """A step that was taken, and why."""

    edit: Edit
    why: str


def propose(observation: Observation) -> Action:
    """The proposal for an observation."""
    request = _read(observation)
    generator = random.Random(observation.draw)
    for _ in range(_ATTEMPTS):
        afresh = request.text != request.original and generator.random() < _AFRESH
        text, taken = _attempt(request, request.original if afresh else request.text, generator)
        if frozenset(one.edit.kind for one in taken) not in request.experience.failed_together:
            break
    program = observation.state.problem.program.with_text(text)
    return Action(program, _completion(request.language, text, taken, afresh))


def sample(text: str, language: str, draw: int, permitted: frozenset[str] | None = None) -> str:
    """A random kernel made from an original by one to six steps; the same draw gives the same kernel."""
    generator = random.Random(draw)
    allowed, whole = Allowed(permitted), text
    for _ in range(generator.randint(1, 6)):
        unit = Unit(language, text)
        edit = _any_edit(unit, [step for step in ALL if allowed.step(step)], allowed, generator)
        after = patched(unit.data, list(edit.change.patches)) if edit is not None else text
        if permitted is None or used(language, after) <= permitted | used(language, whole):
            text = after
    return text


def _any_edit(unit: Unit, steps: list[Step], allowed: Allowed, generator: random.Random) -> Edit | None:
    """An edit of a step drawn by its prior, of those that offer any."""
    while steps:
        step = generator.choices(steps, [step.rule.prior for step in steps])[0]
        if found := [edit for edit in step.rule.find(unit) if allowed.edit(edit)]:
            return generator.choice(found)
        steps.remove(step)
    return None


def _read(observation: Observation) -> _Request:
    """The request; what no section holds comes from the problem itself."""
    told, problem = observation.section("Problem") or "", observation.state.problem
    named = re.search(r"^language: *(\w+)", told, re.MULTILINE)
    blocks = fences(observation.section("Program") or "") or fences(told)
    return _Request(
        text=blocks[0].body if blocks else observation.state.program.files[problem.program.name],
        original=problem.program.files[problem.program.name],
        language=named[1] if named else problem.language,
        allowed=_allowed(told, problem),
        experience=experience(observation),
        diagnosis=diagnosis(observation),
        exponent=_TEMPERATURE / max(observation.temperature, 0.05),
    )


def _allowed(told: str, problem: Problem) -> Allowed:
    goal = re.search(r"^goal: least (\S+)", told, re.MULTILINE)
    named = re.search(r"^permitted techniques.*:\n((?:- .*\n?)*)", told, re.MULTILINE)
    given = re.search(r"^flags: *(.*)$", told, re.MULTILINE)
    flags = set(given[1].split() if given is not None else problem.spec.flags)
    wall = goal[1] == "wall-clock" if goal is not None else problem.goal == "wall"
    permitted = problem.permitted
    if named is not None or "no technique is permitted" in told:
        permitted = frozenset(re.findall(r"^- (\w+)", named[1], re.MULTILINE)) if named is not None else frozenset()
    return Allowed(permitted, wall and "-fopenmp" in flags, bool(flags & {"-fopenmp", "-fopenmp-simd"}))


def _attempt(request: _Request, text: str, generator: random.Random) -> tuple[str, list[_Taken]]:
    """Some steps, one after the other, each found on the program that the one before it left."""
    taken: list[_Taken] = []
    if request.language not in LANGUAGES:
        return text, taken
    for _ in range(generator.choices(*_COUNTS)[0]):
        found = _taken(request, text, taken, generator)
        if found is None:
            break
        text = found[0]
        taken.append(found[1])
        if found[1].edit.kind in request.experience.suspects:
            break
    return text, taken


def _taken(request: _Request, text: str, before: list[_Taken], generator: random.Random) -> tuple[str, _Taken] | None:
    """One step: the text after it, and the note; None when there is none to take."""
    unit = Unit(request.language, text)
    offers = list(_offers(request, unit, before))
    for _ in range(_ATTEMPTS if offers else 0):
        offer = generator.choices(offers, _sharpened(request, [one.weight for one in offers]))[0]
        edit = generator.choices(offer.edits, _sharpened(request, offer.weights))[0]
        after = patched(unit.data, list(edit.change.patches))
        if _is_permitted(request, after):
            return after, _Taken(edit, _why(request, offer.step, edit))
    return None


def _is_permitted(request: _Request, text: str) -> bool:
    """Whether a text uses nothing but what is permitted, or what the original uses itself."""
    if request.allowed.permitted is None:
        return True
    return used(request.language, text) <= request.allowed.permitted | used(request.language, request.original)


@final
@dataclass(frozen=True, slots=True)
class _Offer:
    """A step that may be taken with a weight, and its edits with theirs."""

    step: Step
    weight: float
    edits: list[Edit]
    weights: list[float]


def _offers(request: _Request, unit: Unit, before: list[_Taken]) -> Iterator[_Offer]:
    """What can be done now; the same is not done twice in one proposal."""
    done = {(one.edit.rule, one.edit.site) for one in before}
    for step, edits in offered(unit, request.allowed):
        open_to = [edit for edit in edits if (edit.rule, edit.site) not in done]
        if before:
            open_to = [edit for edit in open_to if edit.kind not in request.experience.suspects]
        weights = [request.experience.factor(edit) for edit in open_to]
        if not any(weights):
            continue
        weight = step.rule.prior * request.experience.rule_factor(step.rule) * max(weights)
        weight *= _ON_SUBJECT if request.diagnosis.subject(step.rule) else 1.0
        weight *= _AT_LINE if any(request.diagnosis.points_at(edit) is not None for edit in open_to) else 1.0
        yield _Offer(step, weight, open_to, weights)


def _sharpened(request: _Request, weights: list[float]) -> list[float]:
    """Lower temperatures favour large weights."""
    largest = max(weights)
    return [(weight / largest) ** request.exponent for weight in weights]


def _why(request: _Request, step: Step, edit: Edit) -> str:
    reasons = []
    line, subject = request.diagnosis.points_at(edit), request.diagnosis.subject(step.rule)
    if line is not None:
        reasons.append(f"the critique points to line {line}")
    if subject is not None:
        reasons.append(f"the critique speaks of {subject}")
    if request.experience.factor(edit) > 1.05:
        reasons.append("it helped before")
    elif edit.kind in request.experience.suspects:
        reasons.append("it failed in company and is tried alone")
    return ", ".join(reasons) or f"prior {step.rule.prior:g}"


def _completion(language: str, text: str, taken: list[_Taken], afresh: bool) -> str:
    lines = [HEADER]
    if language not in LANGUAGES:
        lines.append(f"No step applies: they are for C and C++, and this is {language}. The program is unchanged.")
    elif not taken:
        lines.append("No step applies, or all that do have failed. The program is unchanged.")
    elif afresh:
        lines.append("This starts at the original again.")
    for one in taken:
        lines.append(f"- {one.edit.label}: line {one.edit.line}: {one.edit.what} ({one.why})")
    return "\n".join([*lines, "", fenced(text, language)])
