"""The rung *judge*: combines the results of building, verifying and timing into an evaluation.  Pure."""

from __future__ import annotations

import os
from dataclasses import replace

from maxcode.core.types import Evaluation, Feedback, Outcome, Timing
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import WrongOutput
from maxcode.evaluate.ladder.timing import warnings_of
from maxcode.evaluate.ladder.verify import Verified

ROOF_MARGIN = 1.1  # the roof is a measurement too
ELSEWHERE = "slower where it is not timed"  # how the doubt begins
SLOWER_AT_MOST, LEAST_ELSEWHERE_S = 1.5, 0.02  # single runs beside other work; shorter ones are mostly noise
MEMORY_MARGIN = 1.5  # other loops may move more than ours, and other programs share the memory


def unbuilt(built: Built) -> Evaluation:
    """The evaluation of a program that does not build."""
    feedback = Feedback((built.reason,), built.diagnostics)
    return Evaluation(Outcome.UNBUILT, feedback, remarks=built.remarks, machine_code=built.machine_code)


def ladder_of(built: Built, verified: Verified) -> Evaluation:
    """The evaluation of a verified program; feedback about a held-out test is one bit."""
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
    """The evaluation of a program that failed while it was timed.  InputError if the original failed."""
    if wrong.side == "original":
        raise InputError(
            f"the original does not give the same accepted output every time ({wrong}); make it deterministic, give a "
            "checker that accepts all right answers, or give --run-limit SECONDS if it timed out"
        )
    feedback = replace(found.feedback, reasons=(*found.feedback.reasons, str(wrong)))
    return replace(found, outcome=Outcome.WRONG, feedback=feedback, timing=None)


def with_timing(found: Evaluation, timing: Timing, admitted: Admitted) -> Evaluation:
    """The evaluation with its timing; rejected if the timing exceeds what the machine can do."""
    cores = 1 if timing.clock == "cpu" else len(os.sched_getaffinity(0))
    if timing.gflops is not None:
        timing = replace(timing, roofline=cores * admitted.peak_gflops)
    if timing.gbytes is not None and admitted.memory is not None:
        timed = [given.workload for given in admitted.inputs if given.name in timing.inputs]
        timing = replace(timing, memory_roof=cores * admitted.memory.roof(timed))
    if why := _above_a_roof(timing):
        return replace(found, outcome=Outcome.REJECTED, feedback=replace(found.feedback, reasons=(why,)), timing=None)
    timing = replace(timing, degenerate=admitted.degenerate)
    return replace(found, timing=timing, warnings=(*warnings_of(timing), *_elsewhere(found, timing, admitted)))


def _elsewhere(found: Evaluation, timing: Timing, admitted: Admitted) -> tuple[str, ...]:
    """A doubt about a faster program that takes longer on all the tests together that are not timed.

    By the CPU time of its verification; with the goal ``wall`` more of that may be no loss.  The original ran on them
    at its admission: what it took in the race says how fast the machine was then.
    """
    if not timing.significant or timing.clock != "cpu":
        return ()
    others = [
        one
        for one in admitted.inputs
        if one.name not in timing.inputs and one.seconds >= LEAST_ELSEWHERE_S and one.name in found.measures
    ]
    then, now = sum(one.seconds for one in admitted.inputs if one.name in timing.inputs), timing.median_seconds
    pace = now[0] / then if now is not None and then else 1.0
    original = pace * sum(one.seconds for one in others)
    candidate = sum(found.measures[one.name] for one in others)
    if candidate <= SLOWER_AT_MOST * original:
        return ()
    return (f"{ELSEWHERE}: {candidate:.2f} s on {len(others)} other tests, {original:.2f} s for the original",)


def _above_a_roof(timing: Timing) -> str:
    """Which rate of the candidate exceeds this machine's roofline; empty if none does."""
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
