"""Completes a request: loads the problem, fills in the defaults, and refuses what cannot be done."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from maxcode.core.types import Problem
from maxcode.errors import InputError, NoRuleError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import build_original
from maxcode.observe.trajectory import LEAST_TOKENS
from maxcode.policy.rules.rewriter import LANGUAGES
from maxcode.problems import Loaded
from maxcode.run.asking import refuse_untellable
from maxcode.run.interrupts import run_async
from maxcode.run.loaded import loaded_of
from maxcode.run.names import ASK, USUAL, usual_critic
from maxcode.run.proposal import refuse_branch
from maxcode.run.record import HEADER
from maxcode.run.request import Request
from maxcode.run.request_checks import (
    refuse_replay,
    refuse_unpaid,
    refuse_unpriced,
    refuse_unread_techniques,
    refuse_without_rules,
    rules_of,
)
from maxcode.sandbox.selftest import open_safe
from maxcode.search.methods import candidates


@final
@dataclass(frozen=True, slots=True)
class CompleteRequest:
    """``request`` has a policy, a method and a critic; ``folder`` is the run folder."""

    loaded: Loaded
    request: Request
    folder: Path

    @property
    def goes_on(self) -> bool:
        """Whether the run was begun by an earlier command."""
        return (self.folder / HEADER).exists()


def completed(request: Request) -> CompleteRequest:
    """Completes the request and loads its problem; raises InputError if it cannot be done.  Writes nothing."""
    loaded, request = loaded_of(request)
    if request.budget < 0:
        raise InputError(f"--budget is {request.budget}; give at least 1 candidate")
    if not 0 < request.gamma <= 1:
        raise InputError(f"--gamma is {request.gamma:g}; give a number above 0 and at most 1 (the paper's is 1)")
    if request.trajectory_tokens < LEAST_TOKENS:
        raise InputError(f"--trajectory-tokens is {request.trajectory_tokens}; give at least {LEAST_TOKENS}")
    usual = USUAL[loaded.problem.kind]
    policy = request.policy or usual.policy
    method = request.method or usual.method
    folder = _folder(request, loaded.problem, method)
    _refuse_unwritable(folder)
    request = replace(
        request,
        policy=policy,
        method=method,
        budget=candidates(method, request.budget),
        critic=request.critic or usual_critic(policy),
        answer="edits" if loaded.problem.traits.is_patch else request.answer,
    )
    if request.policy == ASK:
        refuse_untellable(request)
    refuse_unpriced(request)
    refuse_unpaid(request)
    refuse_replay(request, folder)
    refuse_unread_techniques(request, loaded.problem)
    rules_of(request)
    _refuse_without_rules(request, loaded.problem)
    if request.branch:
        refuse_branch(loaded.problem, request.branch)
    if request.policy == ASK:
        request = replace(request, out=folder)
    return CompleteRequest(loaded, request, folder)


def _refuse_without_rules(request: Request, problem: Problem) -> None:
    """Raises NoRuleError as ``refuse_without_rules``; of a program that does not build, InputError with the words of
    its compiler, because no rule can read it."""
    try:
        refuse_without_rules(request, problem)
    except NoRuleError:
        if problem.traits.has_tests and problem.language in LANGUAGES and request.measured_on is None:
            run_async(_build, problem)
        raise


async def _build(problem: Problem) -> None:
    sandbox = await open_safe()
    await build_original(Builder(sandbox, sandbox.cache), problem)


def _refuse_unwritable(folder: Path) -> None:
    """InputError if nothing can be written there, before anything is measured."""
    there = next(one for one in (folder, *folder.absolute().parents) if os.path.lexists(one))
    if not there.is_dir():
        raise InputError(f"cannot write to {folder}: {there} is not a folder; choose another --out")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to {folder}: {there} does not allow it; choose another --out")


def _folder(request: Request, problem: Problem, method: str) -> Path:
    """The run folder: it names what the user chose, the method and the seed.  A replay has its own default, because the
    usual one belongs to the replayed run.  A folder with the name of earlier versions is found again."""
    again = "-replay" if request.replay is not None else ""
    chosen = f"-{request.method.replace('/', '-')}" if request.method else ""
    seed = f"-seed-{request.seed}" if request.seed else ""
    usual = Path("runs", f"{problem.id}{chosen}{seed}{again}")
    before = Path("runs", f"{problem.id}-{method.replace('/', '-')}-{request.seed}{again}")
    return request.out or (before if (before / HEADER).exists() and not usual.exists() else usual)
