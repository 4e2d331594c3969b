"""Two functions for scripts and notebooks: ``optimize_program`` and ``evaluate_program``.

They do the same as ``maxcode optimize`` and ``maxcode evaluate``.  They block until they are done, inside a running
event loop too; Ctrl-C (in a notebook: interrupt) works as on the command line.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from maxcode.core.budget import budget_of
from maxcode.core.confined import without_setup
from maxcode.llm.questions import LEASE_S, Question
from maxcode.run import asking
from maxcode.run.asking import Told
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.display import in_notebook
from maxcode.run.evaluation import evaluate_source
from maxcode.run.interrupts import outside_loop
from maxcode.run.job import optimize_source
from maxcode.run.keyword_options import RequestOptions, fields_of
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request, capped
from maxcode.run.result import RunResult
from maxcode.search.methods import candidates

AnyPath = str | PathLike[str]
_NAMED = ("tests", "budget", "policy", "method", "seed", "out", "progress")


def optimize_program(
    source: AnyPath,
    tests: AnyPath | None = None,
    *,
    budget: int | str | None = None,
    policy: str = "",
    method: str = "",
    seed: int = 0,
    out: AnyPath | None = None,
    progress: bool | None = None,
    **options: Unpack[RequestOptions],
) -> RunResult:
    """Searches for a faster version of a program, and returns the best one with its speed-up.

    ``source``    a C, C++ or Python file, a folder with problem.toml, or the name of a suite's problem
    ``tests``     folder of tests (NN.in with NN.out) for a source file
    ``budget``    candidates, or an amount such as "15-minutes", "200k-tokens", "0.5-dollars"; None: that of the
                  method's preset, else 24
    ``policy``    the policy that proposes programs: a name, "llm:MODEL" or "file.py:name"; empty: the default
    ``method``    the search method; empty: the default
    ``seed``      random seed of the proposals
    ``out``       the run folder; the same call resumes the run in it; None: runs/PROBLEM, then method and seed if given
    ``progress``  True: on stderr or in the notebook; None: only on a terminal and in a notebook
    ``options``   ``max_seconds``, ``max_dollars``, ``max_tokens``, ``max_calls`` limit the run, as --max-seconds does;
                  ``total_seconds`` limits this call as a whole, its confirmation and certificate included;
                  other fields of ``Request``; ``overrides`` replaces keys of problem.toml: {"goal": "wall"}

    The result's ``speedup`` is original time over new time (``value``, ``low``, ``high``, ``confirmed``).  It is None
    if it could not be measured; ``why`` then gives the reason.  ``trusted`` is True if no check of it failed, and
    ``doubts`` are the failed checks.  ``best`` and ``report`` are files, ``best_program`` is the program itself.

    Raises InputError for unusable input, before anything is written; its subclasses NoRuleError (the built-in policy
    has no rule for the program) and UnmeasurableError (its tests are too short to time) unless ``anyway``;
    UnsafeError if no sandbox works; BoundaryError if the machine or a model's provider failed; Interrupted after
    Ctrl-C.  After the last two, the same call resumes the run.
    """
    given = {"policy": policy, "method": method, "seed": seed, "out": Path(out) if out is not None else None}
    request = _requested(source, tests, budget, {**given, **fields_of(options, _NAMED)})
    return outside_loop(partial(_optimized, request, _is_shown(progress)))


def _requested(source: AnyPath, tests: AnyPath | None, budget: int | str | None, given: Mapping[str, Any]) -> Request:
    """The request, with a budget of another kind than candidates among its caps."""
    request = Request(Path(source), Path(tests) if tests is not None else None, **given)
    if budget is None:
        return request
    amount = budget_of(str(budget))
    return replace(request, budget=amount.candidates, caps=capped(request.caps, amount))


def evaluate_program(
    candidate: AnyPath,
    against: AnyPath,
    tests: AnyPath | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    shapes: str = "",
    cluster: str = "",
    total_seconds: float | None = None,
) -> CandidateResult:
    """Verifies and times one program against the original, and confirms the speed-up if it is faster.

    ``candidate``  the file of the program, or the folder of its files
    ``against``    the original: a source file, a folder with problem.toml, or the name of a suite's problem
    ``tests``      folder of tests for a source file
    ``overrides``  replaces keys of problem.toml: {"goal": "wall", "flags": ["-O2"]}
    ``shapes``, ``cluster``, ``total_seconds``  as in ``Request``

    The result's ``outcome`` tells how far the program came, and ``reasons`` why no further; ``speedup`` is None if it
    was not timed.  ``trusted`` is True if it is confirmed to be faster and no check failed; ``doubts`` are the failed
    checks.  Raises InputError, UnsafeError and BoundaryError as ``optimize_program`` does, and KeyboardInterrupt
    after Ctrl-C.
    """
    request = Request(
        Path(against),
        Path(tests) if tests is not None else None,
        overrides=dict(overrides or {}),
        shapes=shapes,
        cluster=cluster,
        total_seconds=total_seconds,
    )
    return outside_loop(partial(evaluate_source, Path(candidate), request))


def ask(run: AnyPath, lease_s: float = LEASE_S, id: str = "") -> Question | None:
    """An open prompt of a run whose policy is "ask", with its ``id`` and ``prompt``; None if none is free:
    ``maxcode.run.asking.state_of`` says why.

    Nobody else gets it for ``lease_s`` seconds.  ``id``: that prompt again, if it was lost.  ``optimize_program`` with
    ``policy="ask"`` starts such a run: it raises Unanswered as soon as all prompts are written.  InputError if the run
    does not ask, or has no such prompt.
    """
    return asking.ask(Path(run), lease_s, id)


def tell(run: AnyPath, id: str, answer: str, run_setup: bool = False) -> Told:
    """Evaluates the answer to the prompt ``id``, as a model would give it, and goes on as far as answers reach.

    The result has ``feedback`` (lines; empty if the answer was not evaluated), ``open`` (prompts), ``result`` (None
    until the run has ended) and ``stays_open`` (the answer asked to see more, which is in ``feedback``; answer the same
    prompt again).  Raises as ``optimize_program``; AnswerError if the answer cannot be used: its prompt stays open too.
    ``run_setup``: run the set-up of a repository, as the user, although the user has not run it before here.
    """

    def told() -> Told:
        with without_setup(not run_setup):
            return asking.tell(Path(run), id, answer, optimize_source)

    return outside_loop(told)


def _optimized(request: Request, is_shown: bool) -> RunResult:
    if not is_shown:
        return optimize_source(request)
    with SearchProgress(candidates(request.method, request.budget)) as shown:
        return optimize_source(request, shown.watch, shown.admitted, shown.say, spending=shown.spending)


def _is_shown(progress: bool | None) -> bool:
    return progress if progress is not None else in_notebook() or sys.stderr.isatty()
