"""maxcode makes programs measurably faster, and can prove it."""

from importlib.metadata import version

from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.types import Action, Evaluation, Interval, Observation, Outcome, Problem, Program, State, Step, Timing
from maxcode.run.optimize import Run, optimize

__version__ = version("maxcode")

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
