"""maxcode makes programs measurably faster and proves the speed-up."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from maxcode.core.budget import Caps
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.types import Action, Evaluation, Interval, Observation, Outcome, Problem, Program, State, Step, Timing

if TYPE_CHECKING:
    from maxcode.run.candidate_result import CandidateResult
    from maxcode.run.optimize import Run, optimize
    from maxcode.run.python_api import ask, evaluate_program, optimize_program, tell
    from maxcode.run.referee import Judgement, Referee
    from maxcode.run.request import Request
    from maxcode.run.result import RunResult
__version__ = version("maxcode")

__all__ = [
    "Action",
    "CandidateResult",
    "Caps",
    "Evaluation",
    "Interval",
    "Judgement",
    "Method",
    "Observation",
    "Outcome",
    "Problem",
    "Program",
    "Referee",
    "Request",
    "Result",
    "Run",
    "RunResult",
    "State",
    "Step",
    "Timing",
    "ask",
    "evaluate_program",
    "optimize",
    "optimize_program",
    "tell",
]

_LATER = {  # name -> module, imported at first use because it imports all of maxcode
    "CandidateResult": "maxcode.run.candidate_result",
    "Judgement": "maxcode.run.referee",
    "Referee": "maxcode.run.referee",
    "Request": "maxcode.run.request",
    "Run": "maxcode.run.optimize",
    "RunResult": "maxcode.run.result",
    "ask": "maxcode.run.python_api",
    "evaluate_program": "maxcode.run.python_api",
    "optimize": "maxcode.run.optimize",
    "optimize_program": "maxcode.run.python_api",
    "tell": "maxcode.run.python_api",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'maxcode' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
