"""Doubts about a speed-up: the failed checks that a certificate and the evaluation of one program have in common."""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.core.types import Evaluation
from maxcode.evaluate.ladder.sanitize import FINDING
from maxcode.run.certificate.unseen import FreshInputTiming, doubted
from maxcode.sandbox.tiers import NO_SANDBOX


def without_sandbox(sandbox: str) -> Iterator[str]:
    """The doubt about a measurement that no sandbox protected; ``sandbox``: the tier as text."""
    if sandbox.startswith(NO_SANDBOX):
        yield "it was made without a sandbox, where a program can do all that its user can"


def doubts_about(evaluation: Evaluation, sandbox: str, fresh: FreshInputTiming) -> Iterator[str]:
    """The doubts about a confirmed evaluation that was timed on newly generated inputs too."""
    yield from without_sandbox(sandbox)
    yield from doubted(evaluation.timing, fresh)
    yield from (words for words in evaluation.warnings if words.startswith(FINDING))
