"""Makes evaluations of the rounds of a module: of a candidate that was refused, failed, or was always right."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median

from maxcode.core.types import Action, CaseResult, Evaluation, Feedback, Outcome, Problem, Timing
from maxcode.errors import InputError
from maxcode.evaluate.ladder.reject import reject
from maxcode.evaluate.ladder.timing import warnings_of
from maxcode.evaluate.module.clocks import slowed
from maxcode.evaluate.module.sides import BUILD_FAILED, WRONG_OUTPUT
from maxcode.evaluate.module.staging import Staged
from maxcode.evaluate.module.track import CALL, RoundFailed

OUT_OF_MEMORY = b"CUDA out of memory"
_CLASS = re.compile(r"^class[ \t]+ModelNew\b", re.MULTILINE)


def rejected(problem: Problem, action: Action) -> Evaluation | None:
    if (refused := reject(problem, action)) is not None:
        return refused
    assert action.program is not None
    if not _CLASS.search(action.program.text):
        return Evaluation(Outcome.REJECTED, Feedback(("the program must define `class ModelNew`",)))
    return None


def failed_in(failed: RoundFailed) -> Evaluation:
    """The evaluation of a failed candidate.

    InputError if the reference failed, except for memory of a GPU, which nothing limits.
    """
    if failed.side == "original" and failed.ran is not None and OUT_OF_MEMORY in failed.ran.stderr:
        return Evaluation(Outcome.CRASHED, Feedback(("it left too little GPU memory for the reference",)))
    if failed.side == "original":
        raise InputError(f"the reference failed while being called: {failed}")
    ran = failed.ran
    outcome = Outcome.WRONG
    if failed.cheats:
        outcome = Outcome.REJECTED
    elif ran is not None and ran.ending == "timeout":
        outcome = Outcome.TIMEOUT
    elif ran is not None and ran.ending == "exit" and ran.code == BUILD_FAILED:
        outcome = Outcome.UNBUILT
    elif ran is not None and ran.ending != "tampered" and (ran.ending, ran.code) != ("exit", WRONG_OUTPUT):
        outcome = Outcome.CRASHED
    words = ran.stderr.decode(errors="replace")[-8000:] if ran is not None else ""
    case = CaseResult(
        CALL,
        outcome,
        ran.cpu_s if ran is not None else 0.0,
        seen=True,
        detail=str(failed),
        kernelbench=_official(failed),
    )
    return Evaluation(outcome, Feedback((str(failed),), words if outcome is Outcome.UNBUILT else "", (case,)))


def _official(failed: RoundFailed) -> bool | None:
    """What KernelBench's rule says: a module that does not build or answer is not correct there either."""
    return None if failed.cheats else bool(failed.official)


def found_right(staged: Staged, timing: Timing, warnings: tuple[str, ...], official: bool | None = None) -> Evaluation:
    """The evaluation of a candidate whose every output was right; seconds are those of one call, as the baseline's."""
    seconds = min((candidate for _, candidate in timing.samples), default=0.0) / staged.plans.slots
    case = CaseResult(CALL, Outcome.CORRECT, seconds, seen=True, kernelbench=official)
    notes = (*staged.caveats, *warnings, *warnings_of(timing))
    return Evaluation(Outcome.CORRECT, Feedback(cases=(case,)), timing, measures={CALL: seconds}, warnings=notes)


def unless_slowed(staged: Staged, found: Evaluation) -> Evaluation:
    """The evaluation; rejected if the reference became slower on a GPU.

    On a GPU, work that a stopped process started may continue.
    """
    if not staged.stage.on_device or found.timing is None:
        return found
    beside = median(original for original, _ in found.timing.samples) / staged.plans.slots
    if not (why := slowed(staged.admitted.timed[0].seconds, beside)):
        return found
    return replace(found, outcome=Outcome.REJECTED, feedback=Feedback((why,)), timing=None)
