"""The order of states: by reward, or by the prediction of a value model.

A value is recorded with its step, so a search by value is as pure as a search by reward.
"""

from __future__ import annotations

import math
from typing import Literal

from maxcode.core.types import State
from maxcode.errors import InputError

By = Literal["reward", "value"]


def rank(state: State, by: By) -> tuple[float, float]:
    """A sort key; the larger state is expanded first.  By value: the expected class, then the reward; a root, which has
    no value, comes last."""
    if by == "reward":
        return (state.reward, 0.0)
    value = expected(state)
    return (-math.inf if value is None else value, state.reward)


def expected(state: State) -> float | None:
    """The recorded value of a state, None for a root.  InputError if the state has no value."""
    if state.step is None:
        return None
    if state.step.value is None:
        raise InputError(
            f"this search ranks states by value, and state {state.id} has no value; give a value model: --value "
            "FOLDER, or Method(..., value=...)"
        )
    return state.step.value
