"""The instructions of the part "Task": texts from ``llm/prompts/task_*.md``, chosen by the outcome of the last step."""

from __future__ import annotations

from maxcode.core.history import Reached
from maxcode.core.types import Outcome, State
from maxcode.llm.prompts import template

_BY_OUTCOME = {
    Outcome.UNPARSED: "task_unread",
    Outcome.REJECTED: "task_refused",
    Outcome.UNBUILT: "task_build",
    Outcome.CORRECT: "task_faster",
}


def improve(state: State, reached: Reached) -> str:
    """MaxCode's branching: if the build failed, repair the build; if the result is wrong, repair the logic; if it is
    correct, beat the best.  At a root: make it faster."""
    if state.step is None:
        return template("task_first").substitute()
    return template(_BY_OUTCOME.get(state.outcome, "task_logic")).substitute(
        outcome=state.outcome.value, reward=f"{state.reward:.2f}", best=f"{state.peak.reward:.2f}"
    )
