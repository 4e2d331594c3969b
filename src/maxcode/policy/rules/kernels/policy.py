"""The built-in policy for numeric kernels: loop transformations and tuned templates instead of a language model.

It reads the sections of the observation, as every policy does, and answers like a model: a few lines of notes and one
fenced program.  It knows the steps of ``STEPS``; the most frequent one changes one constant of a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.core.types import Action, Observation
from maxcode.policy.rules.kernels.schedule import after, more_than
from maxcode.policy.rules.kernels.steps import Permitted, offered, reads_pragmas
from maxcode.policy.rules.kernels.templates import fit
from maxcode.policy.rules.rewriter.proposal import (
    AppliedEdit,
    EditChoice,
    Offer,
    PolicyTraits,
    ProposalRequest,
    open_to,
    proposal,
    read,
    weight_of,
)

HEADER = "Built-in kernel policy (loop transformations and tuned templates, no language model)"
LOOPS_HEADER = "Built-in kernel policy (loop transformations only, no language model)"
LANGUAGES = ("c", "cpp")

_COUNTS = ((1, 2, 3), (0.45, 0.3, 0.25))  # numbers of steps in a proposal, and their probabilities
_AFRESH = 0.15  # probability that a proposal starts at the original
_AT_LINE, _ON_SUBJECT = 2.0, 2.0
_ATTEMPTS = 4


@final
@dataclass(frozen=True, slots=True)
class Kernels:
    """Proposes the kernel after one to three loop transformations, templates or changes of a constant.

    Pure in the observation: the choice is drawn with ``observation.draw`` alone.  It is weighted by the priors of the
    steps, by earlier trials in the sections, and by the lines that the critique names.  It starts at the program of the
    section "Program", sometimes at the original.  If no step applies, the program is returned unchanged, and the
    completion says so.  Without ``templates`` it only transforms the existing loops, so its gains need several steps
    that fit together.
    """

    templates: bool = True

    async def propose(self, observation: Observation) -> Action:
        """The whole new program, and the notes that say what was done and why."""
        return propose(observation, self.templates)


Likelier = Callable[[Unit], Callable[[Edit], float]]  # of a program: by how much more an edit weighs


def _no_likelier(_: Unit) -> Callable[[Edit], float]:
    return lambda edit: 1.0


def propose(
    observation: Observation, templates: bool = True, likelier: Likelier = _no_likelier, header: str = ""
) -> Action:
    """The proposal for an observation.

    ``likelier``: what the weights of edits are multiplied by; that of a step by the mean over its edits.
    ``header``: the first line of the notes, if it is not the policy's own.
    """
    request = read(observation)
    steps = _Offers(request, _allowed(request, templates), likelier, _lanes(request))
    return proposal(
        request,
        PolicyTraits(
            header=header or (HEADER if templates else LOOPS_HEADER),
            nothing="No step applies, or all that do have failed",
            elsewhere="No step applies: they are for C and C++",
            languages=LANGUAGES,
            offers=steps,
            applied=steps.applied,
            counts=_COUNTS,
            attempts=_ATTEMPTS,
            afresh=_AFRESH,
        ),
    )


def _lanes(request: ProposalRequest) -> int:
    """The doubles in a vector of the machine that the section "Machine" names, for flags that use it; 0: unknown."""
    sets = re.search(r"^instruction sets: (.*)$", request.observation.section("Machine") or "", re.MULTILINE)
    if sets is None or not any("native" in flag for flag in _flags(request)):
        return 0
    return 8 if "avx512f" in sets[1] else 4 if "avx" in sets[1] else 2


def _flags(request: ProposalRequest) -> set[str]:
    given = re.search(r"^flags: *(.*)$", request.told, re.MULTILINE)
    return set(given[1].split() if given is not None else request.observation.state.problem.spec.flags)


def _allowed(request: ProposalRequest, templates: bool) -> Permitted:
    told, problem = request.told, request.observation.state.problem
    goal = re.search(r"^goal: least (\S+)", told, re.MULTILINE)
    named = re.search(r"^permitted techniques.*:\n((?:- .*\n?)*)", told, re.MULTILINE)
    flags = _flags(request)
    wall = goal[1] == "wall-clock" if goal is not None else problem.goal == "wall"
    permitted = problem.permitted
    if named is not None or "no technique is permitted" in told:
        permitted = frozenset(re.findall(r"^- (\w+)", named[1], re.MULTILINE)) if named is not None else frozenset()
    return Permitted(permitted, wall and "-fopenmp" in flags, reads_pragmas(flags), templates)


@final
@dataclass(frozen=True, slots=True)
class _Offers:
    """The available edits, in one proposal."""

    request: ProposalRequest
    allowed: Permitted
    likelier: Likelier
    lanes: int

    def __call__(self, unit: Unit, before: Sequence[AppliedEdit]) -> Iterator[Offer]:
        known, likelier = self.request.experience, self.likelier(unit)
        for step, edits in offered(unit, self.allowed):
            choices = [
                EditChoice(
                    edit,
                    known.factor(edit) * fit(dict(edit.params), self.lanes),
                    self.request.diagnosis.points_at(edit),
                )
                for edit in open_to(edits, before, known)
            ]
            if any(one.weight for one in choices):
                by = [likelier(one.edit) for one in choices]
                rule = replace(step.rule, prior=step.rule.prior * sum(by) / len(by))
                weight = weight_of(self.request, rule, choices, _ON_SUBJECT)
                pointed = any(one.line is not None for one in choices)
                weighed = [replace(one, weight=one.weight * more) for one, more in zip(choices, by, strict=True)]
                yield Offer(rule, weight * (_AT_LINE if pointed else 1.0), weighed)

    def applied(self, unit: Unit, edit: Edit) -> str | None:
        """The text after an edit; None if it uses a technique that is neither permitted nor used by the original."""
        text = after(unit, edit)
        return None if more_than(self.allowed, unit.language, text, self.request.original) else text
