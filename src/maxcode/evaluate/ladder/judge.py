"""What the ladder's findings are in words: refusals before anything runs, and evaluations of what was found.  Pure."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

from maxcode.code import techniques
from maxcode.core.types import Action, Evaluation, Feedback, Outcome, Problem, Program, Timing
from maxcode.errors import InputError
from maxcode.evaluate.function.function import forbidden
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.contest import warnings_of
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import WrongOutput
from maxcode.evaluate.ladder.verify import Verified

SOURCE_AT_MOST = 1_000_000  # bytes
ROOF_MARGIN = 1.1  # the roof is measured too
MEMORY_MARGIN = 1.5  # the same; other loops may move more than ours, and memory is shared with neighbours


def reject(problem: Problem, action: Action) -> Evaluation | None:
    """The first rung: what is refused before anything is run."""
    program = action.program
    if program is None:
        return Evaluation(
            Outcome.UNPARSED, Feedback((action.unread or "no program could be read from the completion",))
        )
    if program.files.keys() != problem.program.files.keys():
        wanted, got = sorted(problem.program.files), sorted(program.files)
        return Evaluation(Outcome.REJECTED, Feedback((f"the program must consist of {wanted}, not {got}",)))
    try:
        size = sum(len(text.encode()) for text in program.files.values())
    except UnicodeEncodeError as error:
        return Evaluation(Outcome.REJECTED, Feedback((f"not text: it holds {error.object[error.start]!r}",)))
    if size > SOURCE_AT_MOST:
        return Evaluation(Outcome.REJECTED, Feedback((f"{size} bytes of source; at most {SOURCE_AT_MOST}",)))
    library = forbidden(program) if problem.traits.bars_libraries else None
    return Evaluation(Outcome.REJECTED, Feedback((library,))) if library is not None else None


def not_permitted(problem: Problem, program: Program) -> Evaluation | None:
    """The refusal of techniques that the problem does not permit; what the original uses is always permitted.

    Asked of programs that build: a text that does not could be taken for one that hides something.
    """
    if problem.permitted is None:
        return None
    own = {name for text in problem.program.files.values() for name in techniques.used(problem.language, text)}
    reasons = tuple(
        f"{path}, line {use.line}: `{use.what}` is {use.technique}, which is not permitted here"
        for path, text in program.files.items()
        for use in techniques.forbidden(problem.language, text, problem.permitted | own)
    )
    return Evaluation(Outcome.REJECTED, Feedback(reasons)) if reasons else None


def identity(problem: Problem) -> str:
    """What an admission depends on: everything but the techniques permitted."""
    plain = replace(problem, permitted=None)
    return hashlib.sha256(repr((plain.program.digest, plain.language, plain.spec, plain.goal)).encode()).hexdigest()


def unbuilt(built: Built) -> Evaluation:
    """The evaluation of what does not build."""
    feedback = Feedback((built.reason,), built.diagnostics)
    return Evaluation(Outcome.UNBUILT, feedback, remarks=built.remarks, machine_code=built.machine_code)


def ladder_of(built: Built, verified: Verified) -> Evaluation:
    """The evaluation of a verified program; feedback about what it may not see is one bit."""
    failed = [result for result in verified.results if result.outcome is not Outcome.CORRECT]
    reasons = tuple(
        f"test {result.name}: {result.detail or result.outcome.value}" if result.seen else "a held-out test failed"
        for result in failed
    )
    measures = {result.name: result.seconds for result in verified.results}
    feedback = Feedback(tuple(dict.fromkeys(reasons)), cases=verified.results)
    return Evaluation(
        verified.outcome, feedback, remarks=built.remarks, measures=measures, machine_code=built.machine_code
    )


def wrong_while_timed(found: Evaluation, wrong: WrongOutput) -> Evaluation:
    """The evaluation of a program that failed while being timed; InputError where it is the original that did."""
    if wrong.side == "original":
        raise InputError(
            f"the original does not give the same accepted output every time ({wrong}); make it deterministic, give a "
            "checker that accepts all right answers, or raise its limit where it ended by timeout"
        )
    feedback = replace(found.feedback, reasons=(*found.feedback.reasons, str(wrong)))
    return replace(found, outcome=Outcome.WRONG, feedback=feedback, timing=None)


def with_timing(found: Evaluation, timing: Timing, admitted: Admitted) -> Evaluation:
    """The evaluation with its timing; rejected where that is beyond what the machine can do."""
    cores = 1 if timing.clock == "cpu" else len(os.sched_getaffinity(0))
    if timing.gflops is not None:
        timing = replace(timing, roofline=cores * admitted.peak_gflops)
    if timing.gbytes is not None and admitted.memory is not None:
        timed = [given.workload for given in admitted.inputs if given.name in timing.inputs]
        timing = replace(timing, memory_roof=cores * admitted.memory.roof(timed))
    if why := _above_a_roof(timing):
        return replace(found, outcome=Outcome.REJECTED, feedback=replace(found.feedback, reasons=(why,)), timing=None)
    return replace(found, timing=timing, warnings=warnings_of(timing))


def _above_a_roof(timing: Timing) -> str:
    """What this machine cannot do of what a candidate seems to; empty where it can."""
    if timing.gflops is not None and timing.gflops.low > timing.roofline * ROOF_MARGIN:
        return (
            f"{timing.gflops.value:.1f} GFLOPS is more than this machine can do ({timing.roofline:.1f}): not all work "
            "was done (or `flop` says more than is needed)"
        )
    if timing.gbytes is not None and timing.gbytes.low > timing.memory_roof * MEMORY_MARGIN > 0:
        return (
            f"{timing.gbytes.value:.1f} GB/s is more than this machine can move ({timing.memory_roof:.1f}): not all "
            "was read or written (or `bytes` says more than is needed)"
        )
    return ""
