"""The instructions of the part "Task": texts from ``llm/prompts/task_*.md``, chosen by the outcome of the last step."""

from __future__ import annotations

from collections.abc import Callable

from maxcode.core.history import Reached
from maxcode.core.types import Facts, Outcome, State
from maxcode.llm.prompts import template
from maxcode.observe.feedback import milliseconds, pass_s
from maxcode.observe.known import is_near_floor

Instruct = Callable[[State, Reached], str]

_BY_OUTCOME = {
    Outcome.UNPARSED: "task_unread",
    Outcome.REJECTED: "task_refused",
    Outcome.UNBUILT: "task_build",
}

_RIGHT = "For every input its output must pass the checker."
_RIGHT_PATCH = "The repository's tests must pass, and its benchmark must print the results that it prints in base."


def improve(state: State, reached: Reached) -> str:
    """MaxCode's branching without its best program: if the build failed, repair the build; if the result is wrong,
    repair the logic; if it is correct, make it faster.  Says nothing of u."""
    return _told(state, "task_faster", "the original program")


def beat_best(state: State, reached: Reached) -> str:
    """MaxCode's branching for an observation with the part "Best": a correct program has the best to beat."""
    return _told(state, "task_beat", "the best program so far, or the original,")


def unless_at_floor(instruct: Instruct, facts: Facts) -> Instruct:
    """The instruction; for a correct program that costs about as much as processes that only read the timed inputs,
    that it is at its floor."""

    def told(state: State, reached: Reached) -> str:
        timing = state.step.evaluation.timing if state.step is not None else None
        now = pass_s(timing) if timing is not None and state.outcome is Outcome.CORRECT else None
        if now is None or timing is None or not is_near_floor(facts, now, len(timing.inputs)):
            return instruct(state, reached)
        count = len(timing.inputs)
        slowest = f"the {count} slowest" if count > 1 else "the slowest"
        which = "the timed inputs" if count >= len(facts.timed) else f"{slowest} of the timed inputs"
        floor = milliseconds(facts.floor_s(count))
        return template("task_floor").substitute(now=milliseconds(now), floor=floor, which=which)

    return told


def _told(state: State, correct: str, guide: str) -> str:
    if state.step is None:
        return template("task_first").substitute(right=_right(state))
    name = correct if state.outcome is Outcome.CORRECT else _BY_OUTCOME.get(state.outcome, "task_logic")
    return template(name).substitute(outcome=state.outcome.value, guide=guide, right=_right(state))


def _right(state: State) -> str:
    """What a correct program is, in words."""
    return _RIGHT_PATCH if state.problem.traits.is_patch else _RIGHT
