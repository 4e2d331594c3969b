"""What makes one state come before another: its reward, or what a value model expects of it.

A value is recorded with its step, so a search that goes by it is as pure as one that goes by rewards.
"""

from __future__ import annotations

import math
from typing import Literal

from maxcode.core.types import State
from maxcode.errors import InputError

By = Literal["reward", "value"]


def rank(state: State, by: By) -> tuple[float, float]:
    """Larger goes first.  By value: the expected class, of equals the reward; a root, which has none, comes last."""
    if by == "reward":
        return (state.reward, 0.0)
    value = expected(state)
    return (-math.inf if value is None else value, state.reward)


def expected(state: State) -> float | None:
    """The recorded value of a state, None for a root; InputError where there was no model to give one."""
    if state.step is None:
        return None
    if state.step.value is None:
        raise InputError(
            f"this search goes by the values of states, and state {state.id} has none; give a value model: --value "
            "FOLDER, or Method(..., value=...)"
        )
    return state.step.value
