"""Doubts about a speed-up: the failed checks that a certificate and the evaluation of one program have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from maxcode.core.types import Evaluation, Recheck
from maxcode.evaluate.ladder.sanitize import FINDING
from maxcode.run.certificate.unseen import FreshInputTiming, doubted
from maxcode.sandbox.tiers import NO_SANDBOX


def without_sandbox(sandbox: str) -> Iterator[str]:
    """The doubt about a measurement that no sandbox protected; ``sandbox``: the tier as text."""
    if sandbox.startswith(NO_SANDBOX):
        yield "it was made without a sandbox, where a program can do all that its user can"


def unchecked(recheck: Recheck | None, fresh: FreshInputTiming | None) -> Iterator[str]:
    """The doubt about a suspicious program that could not be verified, or not be timed, on other inputs."""
    if recheck is None:
        return
    done, why = "verified", recheck.why
    if recheck.inputs:
        done, why = "timed", fresh.why if fresh is not None and fresh.is_missing else ""
    if why:
        yield f"{'; '.join(recheck.triggers)}, but it was not {done} on other inputs: {why}"


def degenerate(reasons: Iterable[str]) -> Iterator[str]:
    """One doubt for every reason why a program could pass without doing the work."""
    for why in reasons:
        yield f"the reference is degenerate: {why}; a program could pass without doing the work"


def doubts_about(evaluation: Evaluation, sandbox: str, fresh: FreshInputTiming) -> Iterator[str]:
    """The doubts about a confirmed evaluation and its speed-up on newly generated inputs."""
    yield from without_sandbox(sandbox)
    yield from doubted(evaluation.timing, fresh)
    yield from unchecked(evaluation.harsher, fresh)
    yield from degenerate(evaluation.timing.degenerate if evaluation.timing is not None else ())
    yield from (words for words in evaluation.warnings if words.startswith(FINDING))
