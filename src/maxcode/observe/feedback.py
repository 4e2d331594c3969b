"""The sentences of the paper's four-part feedback, for observations and for critics.

Two of the four parts compare a step with the one before it, so both are arguments.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from maxcode.core.stats import differ
from maxcode.core.types import Clock, Evaluation, MachineCode, Outcome, Problem, Step, Timing

_COUNTS: Mapping[Clock, str] = {
    "wall": " (what counts is wall-clock time)",
    "instructions": " (what counts is the number of instructions)",
}


def feedback_lines(step: Step, previous: Step | None) -> list[str]:
    """The paper's four parts: correct or not; contrast of correctness; numbers; contrast of performance.

    ``previous``: the step that made the program which this one changed; None if that is the original.
    """
    now = step.evaluation
    before = previous.evaluation if previous is not None else None
    lines = [result_line(now)]
    lines += _correctness_contrast(now, before)
    lines += _performance_contrast(now, before)
    return lines


def result_line(evaluation: Evaluation) -> str:
    """The result of a step on one line: ``=> correct, speedup 1.45x [1.40, 1.50], confirmed by a second timing; a pass
    over the timed inputs takes 20.0 ms, the original's 29.0 ms`` or ``=> unbuilt: why``."""
    if evaluation.timing is not None:
        return f"=> correct, speedup {_speedup(evaluation.timing)}{_rate(evaluation.timing)}{_pass(evaluation.timing)}"
    if evaluation.outcome is Outcome.CORRECT:
        return f"=> correct, not timed: {'; '.join(evaluation.warnings) or 'no reason given'}"
    reasons = "; ".join(evaluation.feedback.reasons) or "no reason given"
    return f"=> {evaluation.outcome.value}: {reasons}"


def brief_result(evaluation: Evaluation) -> str:
    """The outcome in a few words, with the speed-up if it is known."""
    if evaluation.timing is not None:
        return f"correct, speedup {evaluation.timing.speedup.value:.2f}x"
    return f"{evaluation.outcome.value}{', not timed' if evaluation.outcome is Outcome.CORRECT else ''}"


def milliseconds(seconds: float) -> str:
    """A time with two decimals below 10 ms, one above."""
    return f"{seconds * 1e3:.{2 if seconds < 0.01 else 1}f} ms"


def beside_goal(problem: Problem) -> str:
    """What follows a CPU time in a prompt: nothing, or what counts where the goal has another clock."""
    return _COUNTS.get(problem.goal, "")


def _speedup(timing: Timing) -> str:
    if timing.verdict == "same_code":
        return f"{timing.speedup} (it compiles to the same program as the original)"
    if timing.speedup.low <= 1 <= timing.speedup.high and not timing.significant:
        return f"{timing.speedup} (not distinguishable from the original)"
    if not timing.significant:
        return f"{timing.speedup} (not significant)"
    return f"{timing.speedup}, {'confirmed by a second timing' if timing.confirmed else 'timed once so far'}"


def machine_lines(code: MachineCode | None) -> list[str]:
    """What the loop with the most computation does, by its machine code; empty if no loop is known to compute."""
    if code is None or not code.bodies or not code.bodies[0].work:
        return []
    body = code.bodies[0]
    named = {
        "vector lanes": body.lanes,
        "sums": body.sums,
        "loads": body.loads,
        "stores": body.stores,
        "stack accesses": body.spills,
        "shuffles": body.shuffles,
        "divisions": body.divisions,
        "calls": body.calls,
    }
    counts = ", ".join(f"{count} {name}" for name, count in named.items() if count)
    return [
        f"machine code of the loop that computes most in a turn: {body.work} operations in {body.instructions} "
        f"instructions ({counts}); at best about {body.rate:.1f} operations a cycle, an estimate"
    ]


def _pass(timing: Timing) -> str:
    if timing.median_seconds is None:
        return ""
    before, now = map(milliseconds, timing.median_seconds)
    return f"; a pass over the timed inputs takes {now}, the original's {before}"


def _rate(timing: Timing) -> str:
    if timing.gflops is None:
        return ""
    cores = "one core" if timing.clock == "cpu" else "all cores"
    share = f"{timing.gflops.value / timing.roofline:.0%} of the arithmetic peak measured on {cores}"
    return f", {timing.gflops.value:.1f} GFLOPS, {share} ({timing.roofline:.1f})"


def _correctness_contrast(now: Evaluation, before: Evaluation | None) -> list[str]:
    failing = {case.name: case for case in now.feedback.cases if case.outcome is not Outcome.CORRECT}
    lines = [f"test {name}: {case.outcome.value}. {case.detail}" for name, case in failing.items() if case.seen]
    hidden = sum(1 for case in failing.values() if not case.seen)
    if hidden:
        lines.append(f"{hidden} held-out test(s) failed")
    if before is not None:
        failed_before = {case.name for case in before.feedback.cases if case.outcome is not Outcome.CORRECT}
        passed_before = {case.name for case in before.feedback.cases} - failed_before
        seen = {case.name for case in now.feedback.cases if case.seen}
        could = seen if before.outcome is Outcome.CORRECT else seen & passed_before  # others did not run before
        if broken := sorted(failing.keys() & could):
            lines.append(f"newly failing: {', '.join(broken)}")
        if mended := sorted((failed_before - failing.keys()) & seen):
            lines.append(f"mended: {', '.join(mended)}")
    if now.feedback.diagnostics:
        lines.append(now.feedback.diagnostics)
    return lines


def _performance_contrast(now: Evaluation, before: Evaluation | None) -> list[str]:
    """On the inputs that are timed; on the tests that may be seen only if one of the two steps has no such times."""
    if before is None or now.outcome is not Outcome.CORRECT:
        return []
    if now.timing is None or before.timing is None:
        return _on_seen_tests(now, before)
    lines = [_against(now.timing, before.timing) + (": it compiles to the same program" if _same(now, before) else "")]
    seconds = pass_s(now.timing)
    if seconds is None:
        return lines if now.timing.clock == "instructions" else lines + _on_seen_tests(now, before)
    original = statistics.median(one for one, _ in now.timing.samples)
    beside = f"{milliseconds(seconds)}, the original {milliseconds(original)} beside it"
    return [*lines, f"{_inputs(now.timing)}: {beside}"]  # times of two sessions cannot be compared, ratios can


def _against(now: Timing, before: Timing) -> str:
    """Both ratios are over the original, and measured independently."""
    if are_alike(now, before):
        return f"not distinguishable from the previous step ({before.speedup})"
    return f"{now.speedup.value / before.speedup.value:.2f}x the speed of the previous step ({before.speedup})"


def _same(now: Evaluation, before: Evaluation) -> bool:
    """Whether the compiler makes the same program of both."""
    return now.digest == before.digest != ""


def _inputs(timing: Timing) -> str:
    return f"a pass over {f'{len(timing.inputs)} timed inputs' if len(timing.inputs) > 1 else 'the timed input'}"


def are_alike(one: Timing, other: Timing) -> bool:
    """Whether two speed-ups over the original cannot be told apart."""
    return not differ(one.speedup, other.speedup)


def pass_s(timing: Timing) -> float | None:
    """Seconds of the candidate on all timed inputs; None if instructions were counted, or no sample is kept."""
    if timing.clock == "instructions" or not timing.samples:
        return None
    return statistics.median(own for _, own in timing.samples)


def _on_seen_tests(now: Evaluation, before: Evaluation) -> list[str]:
    seen = {case.name for case in now.feedback.cases if case.seen}
    changed = {
        name: (before.measures[name], seconds)
        for name, seconds in now.measures.items()
        if name in seen and before.measures.get(name, 0) > 0
    }
    largest = sorted(changed.items(), key=lambda item: -max(item[1]))[:3]
    return [f"test {name}: {milliseconds(old)} before, {milliseconds(new)} now" for name, (old, new) in largest]
