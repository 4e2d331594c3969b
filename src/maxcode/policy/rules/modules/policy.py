"""The built-in policy for modules: it reads the sections of the observation and answers like a model.

A proposal is a whole file with ``ModelNew``: the reference under that name, or the candidate of the section "Program",
after one to four edits.  Rules read the text of a module, never run it, and know torch's operations by name.  Code that
they cannot prove correct from the text stays unchanged, and they cannot invent an algorithm.  Batch norms are never
folded into earlier layers: a reference runs in training mode, with the statistics of its batch.  A candidate that calls
torch.compile is not proposed: no compiler can be started in a candidate's process while it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.techniques import used
from maxcode.core.types import Action, Observation
from maxcode.policy.rules.modules.rules import RULES, WRITE_CPP
from maxcode.policy.rules.modules.start import started
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
from maxcode.policy.rules.rewriter.runtime import patched

HEADER = "Built-in module policy (fixed rules and C++ templates, no language model)"
_COUNTS = ((1, 2, 3, 4), (0.2, 0.4, 0.3, 0.1))  # numbers of edits in a proposal, and their probabilities
_AFRESH = 0.15
_ON_SUBJECT = 2.0
_ATTEMPTS = 5


@final
class Modules:
    """Proposes a module after one to four rewrites of its constructor and forward.

    Pure in the observation: the choice is drawn with ``observation.draw`` alone.  It is weighted by the priors of the
    rules, by earlier trials in the sections, and by the lines that the critique names.
    """

    async def propose(self, observation: Observation) -> Action:
        """The whole new file, and the notes that say what was done and why."""
        return propose(observation)


def propose(observation: Observation) -> Action:
    found = read(observation)
    spec = observation.state.problem.spec.module
    constants = dict(spec.constants) if spec is not None else {}
    text, original = started(found.text, constants), started(found.original, constants)
    request = replace(found, text=text, original=original)
    offers = _Offers(request)
    return proposal(
        request,
        PolicyTraits(
            header=HEADER,
            nothing="No rule applies, or all that do have failed",
            elsewhere="No rule applies: the rules are for PyTorch modules in Python",
            languages=("python",),
            offers=offers,
            applied=offers.applied,
            counts=_COUNTS,
            attempts=_ATTEMPTS,
            afresh=_AFRESH,
        ),
    )


@final
@dataclass(frozen=True, slots=True)
class _Offers:
    """The available edits, in one proposal."""

    request: ProposalRequest

    def __call__(self, unit: Unit, before: Sequence[AppliedEdit]) -> Iterator[Offer]:
        known = self.request.experience
        left_out = WRITE_CPP if self.request.observation.state.problem.spec.on_gpu else frozenset()
        for rule in (one for one in RULES if one.name not in left_out):
            edits = open_to(rule.edits(unit), before, known)
            choices = [EditChoice(edit, _whole(edit) * known.factor(edit), None) for edit in edits]
            if any(one.weight for one in choices):
                yield Offer(rule, weight_of(self.request, rule, choices, _ON_SUBJECT), choices)

    def applied(self, unit: Unit, edit: Edit) -> str | None:
        """The text after an edit; None if it uses a technique that is neither permitted nor used by the original."""
        text = patched(unit.data, list(edit.change.patches))
        permitted = self.request.observation.state.problem.permitted
        if permitted is None or used("python", text) <= permitted | used("python", self.request.original):
            return text
        return None


def _whole(edit: Edit) -> float:
    """The weight of an edit; one that changes everything at once weighs more than one of its parts."""
    return 4.0 if edit.site == "everything" else 1.0
