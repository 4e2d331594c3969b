"""The common steps of the built-in policies: read the observation, make a few edits, write notes on what and why.

A policy passes its own parts as ``PolicyTraits``: how edits are found and weighted, how many it makes, and the first
words of its notes.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.code.languages import language as language_row
from maxcode.code.source import fenced, fences
from maxcode.core.types import Action, Observation, Problem, Program
from maxcode.evaluate.repo.barred import barred
from maxcode.observe.about import ORIGINAL
from maxcode.policy.rules.rewriter.notes import Diagnosis, Experience, diagnosis, experience

_DRAWS = 4  # attempts to draw an edit that can be applied
_LANGUAGES = ("c", "cpp")  # of which rules edit a file that is not the first
_PROFILED = re.compile(r"^ *([\d.]+)% (\S+):\d+ ", re.MULTILINE)  # share and file of a function
_TEMPERATURE = 0.6  # the temperature that leaves weights unchanged


@final
@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """The request of one observation.  ``told`` is the section "Problem"; what no section holds comes from the problem
    itself."""

    observation: Observation
    told: str
    text: str
    original: str
    language: str
    experience: Experience
    diagnosis: Diagnosis
    path: str

    @property
    def others(self) -> tuple[str, ...]:
        """The texts of the files that no rule edits, and what is called from outside."""
        program = self.observation.state.program
        texts = tuple(text for path, text in program.files.items() if path != self.path)
        return with_entry(texts, self.observation.state.problem)

    def sharpened(self, weights: Sequence[float]) -> list[float]:
        """Weights at the requested temperature: a low temperature favours large weights."""
        largest = max(weights)
        exponent = _TEMPERATURE / max(self.observation.temperature, 0.05)
        return [(weight / largest) ** exponent for weight in weights]


@final
@dataclass(frozen=True, slots=True)
class EditChoice:
    """A possible edit, its weight among those of its rule, and the line of it that the critique names."""

    edit: Edit
    weight: float
    line: int | None


@final
@dataclass(frozen=True, slots=True)
class Offer:
    """A rule with its weight and its edits."""

    rule: Rule
    weight: float
    choices: Sequence[EditChoice]


@final
@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """An edit that was made, and the reason."""

    edit: Edit
    why: str


@final
@dataclass(frozen=True, slots=True)
class PolicyTraits:
    """The parts in which policies differ.

    ``offers``    the available edits of a program, computed again after each edit
    ``applied``   the text after an edit; None if it is not permitted, then another edit is drawn
    ``counts``    numbers of edits in a proposal, and their probabilities
    ``afresh``    probability that a proposal starts at the original
    ``attempts``  number of attempts to find a combination that has not failed before
    """

    header: str
    nothing: str
    elsewhere: str
    languages: tuple[str, ...]
    offers: Callable[[Unit, Sequence[AppliedEdit]], Iterable[Offer]]
    applied: Callable[[Unit, Edit], str | None]
    counts: tuple[tuple[int, ...], tuple[float, ...]]
    attempts: int
    afresh: float = 0.0


def with_entry(others: tuple[str, ...], problem: Problem) -> tuple[str, ...]:
    """The texts of other files and, in Python, at last the name of the function that a caller outside of the program
    uses.  The rest of a package may use what its module makes, and may not be there: all public names of the module
    count."""
    if problem.language != "python":
        return others
    spec, text = problem.spec.python, problem.program.files[problem.program.name]
    beside = tuple(one for _, one in spec.beside if one != text) if spec is not None else ()
    is_module = spec is not None and ":" in spec.function
    public = " ".join(re.findall(r"^(?:def |class )?([A-Za-z]\w*)", text, re.MULTILINE)) if is_module else ""
    asked = spec.function.rpartition(":")[2].replace(".", " ") if spec is not None else problem.entry
    return (*others, *beside, public, asked)


def read(observation: Observation) -> ProposalRequest:
    told, problem = observation.section("Problem") or "", observation.state.problem
    named = re.search(r"^language: *(\w+)", told, re.MULTILINE)
    path, program = edited_file(observation, _LANGUAGES), observation.state.program
    language = named[1] if named else problem.language
    if path != program.name:
        language = next(name for name in _LANGUAGES if path.endswith(language_row(name).suffixes))
    shown = observation.section("Program") or ""
    blocks = fences(shown) or fences(told.partition(f"\n{ORIGINAL}\n")[2] or told)
    if problem.spec.repo is not None:  # several files are shown, or none
        blocks = []
    return ProposalRequest(
        observation=observation,
        told=told,
        text=blocks[0].body if blocks else program.files[path],
        original=problem.program.files.get(path, program.files[path]),
        language=language,
        experience=experience(observation),
        diagnosis=diagnosis(observation),
        path=path,
    )


def edited_file(observation: Observation, languages: Sequence[str]) -> str:
    """The file that rules edit: of a repository the one in their languages where the functions of the section "Profile"
    take most of the time together, and without a profile any of them, by the draw; else the program's first."""
    program = observation.state.program
    if observation.state.problem.spec.repo is None:
        return program.name
    suffixes = tuple(suffix for name in languages for suffix in language_row(name).suffixes)
    sources = [path for path in program.files if path.endswith(suffixes)] or [program.name]
    shares: dict[str, float] = defaultdict(float)
    for share, path in _PROFILED.findall(observation.section("Profile") or ""):
        shares[path] += float(share)
    hottest = max(sources, key=lambda path: shares[path])
    return hottest if shares[hottest] else sources[observation.draw % len(sources)]


def proposal(request: ProposalRequest, manner: PolicyTraits) -> Action:
    """The whole new program and the notes on it, drawn with the observation's draw alone."""
    generator = random.Random(request.observation.draw)
    for _ in range(manner.attempts):
        afresh = manner.afresh > 0 and request.text != request.original and generator.random() < manner.afresh
        text, made = _attempt(request, manner, request.original if afresh else request.text, generator)
        if frozenset(one.edit.kind for one in made) not in request.experience.failed_together:
            break
    state = request.observation.state
    is_one_file = state.problem.spec.repo is None
    files = {**state.program.files, request.path: text}
    program = state.problem.program.with_text(text) if is_one_file else Program(files)
    return Action(program, _completion(request, manner, text, made, afresh))


def open_to(edits: Iterable[Edit], before: Sequence[AppliedEdit], known: Experience) -> list[Edit]:
    """The edits that may follow others: none at the same place; an edit that failed together with others may only be
    the first and only one."""
    done = {(one.edit.rule, one.edit.site) for one in before}
    found = [edit for edit in edits if (edit.rule, edit.site) not in done]
    return [edit for edit in found if edit.kind not in known.suspects] if before else found


def weight_of(request: ProposalRequest, rule: Rule, choices: Iterable[EditChoice], on_subject: float) -> float:
    """The weight of a rule: its prior, its experience, its best edit, and whether the critique mentions its subject."""
    weight = rule.prior * request.experience.rule_factor(rule) * max(one.weight for one in choices)
    return weight * (on_subject if request.diagnosis.subject(rule) else 1.0)


def _attempt(
    request: ProposalRequest, manner: PolicyTraits, text: str, generator: random.Random
) -> tuple[str, list[AppliedEdit]]:
    """Some edits, one after the other; each is found on the program that the one before it has left."""
    made: list[AppliedEdit] = []
    if request.language not in manner.languages:
        return text, made
    for _ in range(generator.choices(*manner.counts)[0]):
        found = _next(request, manner, text, made, generator)
        if found is None:
            break
        text = found[0]
        made.append(found[1])
        if found[1].edit.kind in request.experience.suspects:
            break
    return text, made


def _next(
    request: ProposalRequest, manner: PolicyTraits, text: str, before: list[AppliedEdit], generator: random.Random
) -> tuple[str, AppliedEdit] | None:
    """One more edit: the text after it, and the note; None if there is none."""
    problem = request.observation.state.problem
    unit = Unit(request.language, text, request.others, problem.spec.flags)
    offers, draws = list(manner.offers(unit, before)), _DRAWS
    while offers and draws:
        offer = generator.choices(offers, request.sharpened([one.weight for one in offers]))[0]
        choice = generator.choices(offer.choices, request.sharpened([one.weight for one in offer.choices]))[0]
        after = manner.applied(unit, choice.edit)
        if after is None:
            draws -= 1
        elif is_refused(problem, request.path, after):
            offers = list(_without(offers, choice))
        else:
            return after, AppliedEdit(choice.edit, _why(request, offer.rule, choice))
    return None


def is_refused(problem: Problem, path: str, text: str) -> bool:
    """Whether the judge of a repository refuses a file with this text for its words alone."""
    if problem.spec.repo is None:
        return False
    return bool(barred(problem.program, Program({path: text})))


def _without(offers: Iterable[Offer], refused: EditChoice) -> Iterator[Offer]:
    """The offers without one choice; an offer whose rest weighs nothing goes with it."""
    for offer in offers:
        choices = [one for one in offer.choices if one is not refused]
        if any(one.weight for one in choices):
            yield replace(offer, choices=choices)


def _why(request: ProposalRequest, rule: Rule, choice: EditChoice) -> str:
    reasons = []
    subject = request.diagnosis.subject(rule)
    if choice.line is not None:
        reasons.append(f"the critique points to line {choice.line}")
    if subject is not None:
        reasons.append(f"the critique speaks of {subject}")
    if request.experience.factor(choice.edit) > 1.05:
        reasons.append("it helped before")
    elif choice.edit.kind in request.experience.suspects:
        reasons.append("it failed in company and is tried alone")
    return ", ".join(reasons) or f"prior {rule.prior:g}"


def _completion(
    request: ProposalRequest, manner: PolicyTraits, text: str, made: list[AppliedEdit], afresh: bool
) -> str:
    lines = [manner.header]
    if request.language not in manner.languages:
        lines.append(f"{manner.elsewhere}, and this is {request.language}. The program is unchanged.")
    elif not made:
        lines.append(f"{manner.nothing}. The program is unchanged.")
    elif afresh:
        lines.append("This starts at the original again.")
    for one in made:
        where = f"line {one.edit.line}: " if one.edit.lines else ""
        lines.append(f"- {one.edit.label}: {where}{one.edit.what} ({one.why})")
    return "\n".join([*lines, "", fenced(text, request.language)])
