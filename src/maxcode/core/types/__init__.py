"""The values that the roles in ``core/roles.py`` exchange.

    problem -> policy -> evaluator -> critic -> (value) -> search -> result

Every value is a frozen dataclass that can be written as JSON.  Names are those of MaxCode (arXiv 2601.05475): state,
action, observation, reward, value, policy.  One difference from the paper: an ``Evaluation`` holds only measurements.
``core/reward.py`` computes the reward from it, so that old runs can be scored again.
"""

from maxcode.core.types.facts import Facts, TimedInput
from maxcode.core.types.kinds import KINDS, Kind, KindTraits
from maxcode.core.types.measured import (
    CaseResult,
    Evaluation,
    Feedback,
    Hotspot,
    Interval,
    LoopBody,
    MachineCode,
    Node,
    Outcome,
    RaceVerdict,
    Recheck,
    Remark,
    Timing,
)
from maxcode.core.types.problem import (
    GOALS,
    Argument,
    Case,
    Checker,
    Clock,
    DataFile,
    FunctionSpec,
    Limits,
    ModuleSpec,
    Problem,
    Program,
    ProgramSpec,
)
from maxcode.core.types.search import (
    NO_GAIN,
    Action,
    Machine,
    Observation,
    Sample,
    Section,
    Spent,
    State,
    StateId,
    Step,
    Usage,
)

__all__ = [
    "GOALS",
    "KINDS",
    "NO_GAIN",
    "Action",
    "Argument",
    "Case",
    "CaseResult",
    "Checker",
    "Clock",
    "DataFile",
    "Evaluation",
    "Facts",
    "Feedback",
    "FunctionSpec",
    "Hotspot",
    "Interval",
    "Kind",
    "KindTraits",
    "Limits",
    "LoopBody",
    "Machine",
    "MachineCode",
    "ModuleSpec",
    "Node",
    "Observation",
    "Outcome",
    "Problem",
    "Program",
    "ProgramSpec",
    "RaceVerdict",
    "Recheck",
    "Remark",
    "Sample",
    "Section",
    "Spent",
    "State",
    "StateId",
    "Step",
    "TimedInput",
    "Timing",
    "Usage",
]
