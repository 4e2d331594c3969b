"""maxcode makes programs measurably faster, and can prove it."""

from maxcode.optimize import Method, Run, optimize
from maxcode.types import (
    Action,
    Evaluation,
    Interval,
    Observation,
    Outcome,
    Problem,
    Program,
    Result,
    State,
    Step,
    Timing,
)

__all__ = [
    "Action",
    "Evaluation",
    "Interval",
    "Method",
    "Observation",
    "Outcome",
    "Problem",
    "Program",
    "Result",
    "Run",
    "State",
    "Step",
    "Timing",
    "optimize",
]
