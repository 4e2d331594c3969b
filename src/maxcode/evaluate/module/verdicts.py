"""Makes evaluations of a module: of a candidate that was refused or failed, or made the reference slower."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median

from maxcode.core.types import Action, Evaluation, Feedback, Outcome, Problem
from maxcode.evaluate.ladder.reject import reject
from maxcode.evaluate.module.clocks import slowed
from maxcode.evaluate.rounds.round import RoundFailed, failed_in

OUT_OF_MEMORY = b"CUDA out of memory"
_CLASS = re.compile(r"^class[ \t]+ModelNew\b", re.MULTILINE)


def rejected(problem: Problem, action: Action) -> Evaluation | None:
    if (refused := reject(problem, action)) is not None:
        return refused
    assert action.program is not None
    if not _CLASS.search(action.program.text):
        return Evaluation(Outcome.REJECTED, Feedback(("the program must define `class ModelNew`",)))
    return None


def module_failed(failed: RoundFailed) -> Evaluation:
    """The evaluation of a failed candidate.

    InputError if the reference failed, except for memory of a GPU, which nothing limits.
    """
    if failed.side in ("original", "control") and failed.ran is not None and OUT_OF_MEMORY in failed.ran.stderr:
        return Evaluation(Outcome.CRASHED, Feedback(("it left too little GPU memory for the reference",)))
    failed.official = None if failed.cheats else bool(failed.official)  # what does not answer is not correct there
    return failed_in(failed)


def unless_slowed(alone_s: float, slots: int, found: Evaluation) -> Evaluation:
    """The evaluation; rejected if the reference became slower on a GPU, where a call alone takes ``alone_s``.

    On a GPU, work that a stopped process started may continue.
    """
    if not alone_s or found.timing is None:
        return found
    beside = median(original for original, _ in found.timing.samples) / slots
    if not (why := slowed(alone_s, beside)):
        return found
    return replace(found, outcome=Outcome.REJECTED, feedback=Feedback((why,)), timing=None)
