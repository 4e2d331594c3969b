"""Maps names of the command line to objects.  Python users pass objects and do not need this file.

``llm:MODEL`` is a language model, ``command:CMD`` a command that answers prompts, ``agent:CMD`` a coding agent that
edits the program in a folder.  ``file:PATH`` is a policy that
proposes only that program.
``path/to/file.py:name`` is allowed for a policy: the file runs in this process, so use only a file that you trust.
"""

from __future__ import annotations

import difflib
import runpy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast, final

from maxcode.core.roles import Compiler, Critic, Policy
from maxcode.errors import InputError, unknown
from maxcode.llm.clients import AnswerSettings, Model
from maxcode.llm.clients.command import AGENT, COMMAND
from maxcode.llm.completion import Answer
from maxcode.observe.critique import LlmCritic, RuleCritic
from maxcode.policy.agent import Agent, AgentSettings
from maxcode.policy.llm import Llm
from maxcode.policy.rules.kernels import Kernels
from maxcode.policy.rules.modules import Modules
from maxcode.policy.rules.rewriter import USUAL_RULES, Rewriter
from maxcode.run.given_candidate import GIVEN_FILE, GivenCandidate
from maxcode.search.value import ValueRoles
from maxcode.search.value_guided import Guide

LLM = "llm:"
MODELS = (LLM, COMMAND)
CALLED = (*MODELS, AGENT)  # policies that are asked from outside, and may cost money
ASK = "ask"
REWRITER = "rewriter"
C_ONLY = ("kernels", "loops")  # built-in policies that read C and C++ alone
RULE_BASED = (REWRITER, *C_ONLY)

POLICIES: dict[str, tuple[Callable[[], Policy], str]] = {
    REWRITER: (
        Rewriter,
        "built in, rule-based, no language model; knows fixed rules for C, C++ and Python (`maxcode list rules`) and "
        "cannot invent an algorithm",
    ),
    "kernels": (Kernels, "built in, no language model; loop transformations and tuned templates for C and C++ kernels"),
    "loops": (partial(Kernels, templates=False), "built in, no language model; loop transformations alone"),
    "modules": (
        Modules,
        "built in, no language model; fixed rules and C++ templates for PyTorch modules; proposes no "
        "torch.compile: a candidate cannot start a compiler while it is called",
    ),
}

_FORMS = (f"{LLM}MODEL", ASK, f"{COMMAND}CMD", f"{AGENT}NAME", "FILE.py:NAME")  # of the names of other policies

CRITICS = {
    "rules": "built in, fixed rules from errors, failing tests, remarks and the profile; no language model",
    "llm": "the policy's language model, with extended thinking if it supports that",
    "llm:MODEL": "another language model",
    "command:CMD": "a command that takes the prompt on standard input and prints the answer",
}

Models = Callable[[str], Model]
_USUAL, _AGENT = AnswerSettings(), AgentSettings()


@final
@dataclass(frozen=True, slots=True)
class Usual:
    """Defaults for a kind of problem."""

    policy: str
    method: str


# A greedy beam stops early if one step prevents another, as with loop transformations: benchmarks/kernels.py.
USUAL = {
    "program": Usual("rewriter", "cuda-llm+maxcode"),
    "function": Usual("kernels", "elites+maxcode"),
    "module": Usual("modules", "cuda-llm+maxcode"),
    "repo": Usual("rewriter", "cuda-llm+maxcode"),
    "python": Usual("rewriter", "cuda-llm+maxcode"),
}


def usual_critic(policy: str) -> str:
    """The default critic of a policy; for a language model it is the same model, as in the paper."""
    return "llm" if policy.startswith(MODELS) else "rules"


def policy(
    name: str,
    models: Models,
    answer: Answer = "whole",
    rules: frozenset[str] = USUAL_RULES,
    asking: AnswerSettings = _USUAL,
    agent: AgentSettings = _AGENT,
) -> Policy:
    """The policy called ``name``, or the object ``name`` of ``path/to/file.py:name``; ``rules`` are those that the
    rewriter may use, a model is asked as ``asking`` says, and an agent gets what ``agent`` says."""
    if name == REWRITER:
        return Rewriter(rules)
    if name.startswith(AGENT):
        return Agent(models(name), agent)
    if name.startswith(MODELS):
        return Llm(models(_model_of(name)), answer, **asking.given)
    if name.startswith(GIVEN_FILE):
        return GivenCandidate(Path(name.removeprefix(GIVEN_FILE)))
    if ":" in name:
        return _from_file(name)
    if name not in POLICIES:
        raise _unknown("policy", name, (*POLICIES, *_FORMS))
    return POLICIES[name][0]()


def critic(name: str, policy: str, models: Models, asking: AnswerSettings = _USUAL) -> Critic:
    """The critic ``name`` for the policy ``policy``; a model is asked as ``asking`` says."""
    if name == "rules":
        return RuleCritic()
    if name == "llm" and not policy.startswith(MODELS):
        raise InputError(f"--critic llm uses the policy's model, and '{policy}' has none; name one: --critic llm:MODEL")
    if name == "llm" or name.startswith(MODELS):
        model = models(_model_of(policy if name == "llm" else name))
        return LlmCritic(model, RuleCritic(), **asking.given)
    raise _unknown("critic", name, CRITICS)


def _unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for an unknown name: near a known one, a misspelling; else perhaps a model without its ``llm:``."""
    if difflib.get_close_matches(name, known := list(known), n=1):
        return unknown(what, name, known)
    return InputError(
        f"unknown {what} '{name}'; did you mean {LLM}{name}, a language model? Others: {', '.join(sorted(known))}"
    )


def models_asked(policy: str, critic: str) -> tuple[str, ...]:
    """The models that the policy and the critic of these names call, one entry for each caller."""
    critic = policy if critic == "llm" else critic
    return tuple(_model_of(name) for name in (policy, critic) if name.startswith(CALLED))


def guide(model: ValueRoles | None, draw: int, unranked: float, compiler: Compiler | None = None) -> Guide | None:
    """The settings of a value model, None without one; with a ``compiler`` it also sees the machine code of samples."""
    if model is None:
        return None
    model = replace(model, compiler=compiler)
    return Guide(model, model, draw, unranked)


def _model_of(name: str) -> str:
    model = name.removeprefix(LLM)
    if not model:
        raise InputError(f"'{name}' names no model; write llm:MODEL, e.g. llm:claude-3-7-sonnet-latest")
    return model


def _from_file(reference: str) -> Policy:
    path, _, name = reference.rpartition(":")
    if not Path(path).is_file():
        raise InputError(f"no such file: {path} (from the policy '{reference}'); give path/to/file.py:name")
    try:
        found = runpy.run_path(path)
    except Exception as error:
        raise InputError(f"{path} cannot be loaded ({type(error).__name__}: {error}); correct it") from error
    if name not in found:
        raise InputError(f"{path} defines no '{name}'; it defines {', '.join(k for k in found if k[0] != '_')}")
    try:
        made = found[name]() if isinstance(found[name], type) else found[name]
    except Exception as error:
        raise InputError(f"{reference} cannot be made without arguments ({error}); name an object of it") from error
    if not callable(getattr(made, "propose", None)):
        raise InputError(f"{reference} is no policy: it has no `propose` (docs/how-to/extend.md, 'Add a policy')")
    return cast(Policy, made)
