"""The parts with measurements of the program: feedback, profile, and single tests.

Of held-out tests only the number of failures is shown.  One exception: if no seen test takes 5 ms, the profile is of
the slowest of all tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import CaseResult, Evaluation, Hotspot, Outcome, Problem, Section, State
from maxcode.observe.critique.rule_critic import hot_lines, outside, share_of
from maxcode.observe.feedback import beside_goal, feedback_lines, machine_lines, milliseconds
from maxcode.observe.part import Part, harmless, shown_evaluation

_SHARE_SHOWN = 0.01
_CALLS = "by line: none, because a call is too short for samples, and most of them would fall into the caller"
_TEXT_SHOWN = 120  # characters of a source line


def feedback() -> Part:
    """ "Feedback": the four-part feedback of the last step; None at a root."""

    def part(state: State, reached: Reached) -> Section | None:
        if state.step is None:
            return None
        previous = state.parent.made_by if state.parent is not None else None
        return Section("Feedback", harmless("\n".join(feedback_lines(state.step, previous))))

    return part


def profile(original: Evaluation | None = None, limit: int = 10) -> Part:
    """ "Profile": the ``limit`` lines with the most time, with their text, what the busiest loop does by its machine
    code, and the time on the seen tests.

    ``original`` is the evaluation of the original program, which is shown at a root.  None for a program that failed;
    no lines for a program that was not sampled because it is too fast.
    """

    def part(state: State, reached: Reached) -> Section | None:
        seen = shown_evaluation(state, original)
        if seen is None or seen.outcome is not Outcome.CORRECT:
            return None
        if state.problem.traits.shows_operators:
            return _operators(seen, limit)
        source = state.program.files[state.program.name].split("\n")
        named = defaultdict(list)
        for one in seen.profile:
            named[one.line].append(one.function)
        spots = [_spot(one, named[one.line], source) for one in hot_lines(seen.profile)[:limit]]
        head = ["share of CPU time by line of the program:"] if spots else []
        if not spots and state.problem.traits.is_called:
            head = [_CALLS]
        lines = [*head, *spots, *machine_lines(seen.machine_code), *_seconds(seen, state.problem)]
        return Section("Profile", harmless("\n".join(lines))) if lines else None

    return part


def _operators(seen: Evaluation, limit: int) -> Section | None:
    """The operators of a module; the names of torch's own begin with ``aten::``."""
    spots = [f"{spot.share:4.0%} {spot.function}" for spot in seen.profile[:limit] if spot.share >= _SHARE_SHOWN]
    kernels = [f"line {one.line}: {one.text}" for one in seen.remarks[:limit] if one.text.startswith("kernel `")]
    lines = [*(["share of time by operator:"] if spots else []), *spots, *kernels]
    return Section("Profile", harmless("\n".join(lines))) if lines else None


def failing_test(inputs: Mapping[str, str]) -> Part:
    """ "Test": the first seen test that the program fails, with its input; ``inputs`` holds the texts to quote."""

    def part(state: State, reached: Reached) -> Section | None:
        cases = state.step.evaluation.feedback.cases if state.step is not None else ()
        failing = next((case for case in cases if case.seen and case.outcome is not Outcome.CORRECT), None)
        if failing is None:
            return None
        told = harmless(f"test {failing.name}: {failing.outcome.value}. {failing.detail}")
        return Section("Test", "\n".join([told, *_quoted(failing, inputs)]))

    return part


def slowest_test(
    inputs: Mapping[str, str],
    original: Evaluation | None = None,
    when: Callable[[State, Reached], bool] = lambda state, reached: True,
) -> Part:
    """ "Test": the seen test on which a correct program needs most time, with that time and its input.

    ``inputs`` holds the texts to quote, ``original`` is the evaluation of the original program; the part is empty
    unless ``when`` returns True.
    """

    def part(state: State, reached: Reached) -> Section | None:
        seen = shown_evaluation(state, original)
        if seen is None or state.outcome is not Outcome.CORRECT or not when(state, reached):
            return None
        cases = [case for case in seen.feedback.cases if case.seen and case.name in seen.measures]
        if not cases:
            return None
        slowest = max(cases, key=lambda case: seen.measures[case.name])
        told = f"test {slowest.name} takes longest: {milliseconds(seen.measures[slowest.name])} of CPU time"
        told += beside_goal(state.problem)
        return Section("Test", "\n".join([told, *_quoted(slowest, inputs)]))

    return part


def _quoted(case: CaseResult, inputs: Mapping[str, str]) -> list[str]:
    return ["its input:", fenced(inputs[case.name])] if case.name in inputs else []


def _spot(spot: Hotspot, names: list[str], source: list[str]) -> str:
    text = source[spot.line - 1].strip() if 0 < spot.line <= len(source) else ""
    if not text:
        return f"{share_of(spot):>4} {outside(spot.function)}"
    return f"{share_of(spot):>4} line {spot.line}: {text[:_TEXT_SHOWN]}  (in {', '.join(dict.fromkeys(names))})"


def _seconds(seen: Evaluation, problem: Problem) -> list[str]:
    timed = [seen.measures[case.name] for case in seen.feedback.cases if case.seen and case.name in seen.measures]
    on = f"CPU time on the {len(timed)} tests that are not held out{beside_goal(problem)}"
    return [f"{on}: {milliseconds(sum(timed))}"] if timed else []
