"""Evaluates a candidate into a run folder: a search whose policy proposes this candidate alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from maxcode.evaluate.target import LocalMachine
from maxcode.run.given_candidate import GIVEN_FILE, read_candidate
from maxcode.run.job import optimize_source
from maxcode.run.loaded import loaded_of
from maxcode.run.record import Line
from maxcode.run.request import Request
from maxcode.run.result import RunResult


def evaluate_into(
    candidate: Path,
    request: Request,
    watch: Callable[[Line], None] = lambda line: None,
    say: Callable[[str], None] = lambda words: None,
) -> RunResult:
    """Measures one candidate as ``evaluate_source`` does, and writes record, difference, certificate and report to the
    run folder ``request.out``.  The same call takes up what was recorded there.

    It uses what is kept of the admission, as ``evaluate_source`` does; not of a repository.  The certificate does not.
    """
    loaded, _ = loaded_of(request)
    read_candidate(candidate, loaded.problem)  # refuses what cannot be read before anything is built
    policy = f"{GIVEN_FILE}{candidate.resolve() if candidate.exists() else candidate}"
    reads_kept = request.measured_on is None and not loaded.problem.traits.is_patch
    on = LocalMachine(goes_on=True) if reads_kept else None
    return optimize_source(replace(request, policy=policy, method="best-of-n", budget=1), watch, say=say, on=on)
