"""What the served models answer: proposals of the built-in policies, in the form that the prompt asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import final

from maxcode.code.source import fenced, prose
from maxcode.core.types import Action, Observation
from maxcode.llm.clients import Message
from maxcode.observe.critique.answering import is_critic, rule_answer
from maxcode.policy.rules.kernels.policy import propose as transform
from maxcode.policy.rules.rewriter.policy import propose as rewrite
from maxcode.serve.edits import edits
from maxcode.serve.evolve import kept
from maxcode.serve.prompt import Asked, read

NO_PROGRAM = (
    "This model is made of rules and answers with a faster program only. No program was found in the prompt: put the "
    "whole program into one fenced block."
)
_STAYS = "All that was tried would change what stands outside the evolve blocks. The program is unchanged."
_ATTEMPTS = 4  # at proposals that stay inside the blocks that may change


@final
@dataclass(frozen=True, slots=True)
class Served:
    """A model: its name, what it is, and what it proposes."""

    name: str
    what: str
    propose: Callable[[Observation], Action]


MODELS = (
    Served("maxcode-rewriter", "the rule-based rewriter for C and C++ programs, no language model", rewrite),
    Served("maxcode-kernels", "loop transformations and tuned templates for C and C++ kernels", transform),
)


def answer(model: Served, messages: Sequence[Message], draw: int, temperature: float) -> str:
    """The completion for a conversation; pure: the same arguments give the same text."""
    asked_critic = next((said.text for said in messages if said.role == "user" and is_critic(said.text)), None)
    if asked_critic is not None:  # the first of the user's: a critic that is asked again is told what was wrong
        return rule_answer(asked_critic)
    asked = read(messages)
    return NO_PROGRAM if asked is None else _proposal(model, asked, draw, temperature)


def mixed(draw: int, number: int) -> int:
    """Another draw for each number; the draw itself for 0."""
    if number == 0:
        return draw
    return int.from_bytes(sha256(f"{draw} {number}".encode()).digest()[:8], "big") >> 1


def _proposal(model: Served, asked: Asked, draw: int, temperature: float) -> str:
    """The policy's own words, with its program in the form asked for."""
    for attempt in range(_ATTEMPTS):
        action = model.propose(asked.observation(mixed(draw, attempt), temperature))
        assert action.program is not None, "the built-in policies always answer with a program"
        text = kept(asked.text, action.program.files[action.program.name])
        if text is not None:
            return f"{prose(action.completion)}\n\n{_in_form(asked, text)}"
    return f"{_STAYS}\n\n{_in_form(asked, asked.text)}"


def _in_form(asked: Asked, text: str) -> str:
    """The program as blocks where they are asked for and can say it, else whole.  Blocks that change nothing are for
    other tools: maxcode reads a whole program in their place, and sees that it is the same."""
    says_nothing = asked.own and text == asked.text
    told = edits(asked.text, text) if asked.edits and not says_nothing else None
    return told if told is not None else fenced(text, asked.tag)
