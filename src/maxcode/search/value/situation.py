"""What a value model sees of a state: (x0, x, e, c), u, and its place on the path.

Both readings of the paper are the same value with or without its step.  *After* execution the last step is present with
its evaluation and critique, and u includes its reward.  *Before* execution (a candidate that was only sampled) there is
no step, and u does not include one.  Beyond the paper, both may have the machine code of the program: a build is cheap,
and takes no time from the timing lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, final

from maxcode.core.reward import banked
from maxcode.core.types import Action, MachineCode, Program, State, Step

Reading = Literal["after", "before"]


@final
@dataclass(frozen=True, slots=True)
class Situation:
    """A state of the search as a model sees it.

    ``original``, ``parent``, ``program``                 texts (files joined)
    ``u_before``, ``u``                                   best on the path without and with the last step (see ``had``)
    ``depth``                                             number of steps, with the last one
    ``step``, ``previous``                                the last step, and the one before it
    ``code``, ``parent_code``, ``original_code``          machine code of the three programs; None if unknown
    """

    language: str
    original: str
    parent: str
    program: str
    u_before: float
    u: float
    depth: int
    step: Step | None
    previous: Step | None
    code: MachineCode | None = None
    parent_code: MachineCode | None = None
    original_code: MachineCode | None = None

    @property
    def reading(self) -> Reading:
        """Whether the program was executed."""
        return "before" if self.step is None else "after"

    def unseen(self) -> Situation:
        """The same candidate before execution and critique."""
        return replace(self, u=self.u_before, step=None)

    def unbuilt(self) -> Situation:
        """The same without machine code."""
        return replace(self, code=None, parent_code=None, original_code=None)


class Predictor(Protocol):
    """Situations -> expected classes, in their order.  Pure."""

    def expected(self, situations: Sequence[Situation]) -> list[float]: ...


def had(steps: Sequence[Step], gamma: float) -> float:
    """The best on a path, in the unit of its root: a reward k steps ahead counts gamma**k, so that states of different
    depths have one scale."""
    return gamma ** len(steps) * banked(steps, gamma)


def situation(state: State, gamma: float = 1.0, original_code: MachineCode | None = None) -> Situation:
    """A state after execution and critique; a root is its own parent and has no step."""
    parent = state.parent
    steps = state.steps
    return Situation(
        state.problem.language,
        _text(state.problem.program),
        _text(state.program if parent is None else parent.program),
        _text(state.program),
        had(steps[:-1], gamma),
        had(steps, gamma),
        state.depth,
        state.step,
        parent.step if parent is not None else None,
        _code(state, original_code),
        _code(state if parent is None else parent, original_code),
        original_code,
    )


def drawn(
    parent: State,
    action: Action,
    gamma: float = 1.0,
    code: MachineCode | None = None,
    original_code: MachineCode | None = None,
) -> Situation:
    """A candidate sampled for ``parent`` and not executed; an unparsed one has its parent's program."""
    u = had(parent.steps, gamma)
    program = action.program if action.program is not None else parent.program
    before = _text(parent.program)
    original = _text(parent.problem.program)
    return Situation(
        parent.problem.language,
        original,
        before,
        _text(program),
        u,
        u,
        parent.depth + 1,
        None,
        parent.step,
        code if action.program is not None else _code(parent, original_code),
        _code(parent, original_code),
        original_code,
    )


def _code(state: State, original: MachineCode | None) -> MachineCode | None:
    """The machine code of ``state.program``."""
    for one in state.ancestry:
        if one.step is not None and one.step.action.program is not None:
            return one.step.evaluation.machine_code
    return original


def _text(program: Program) -> str:
    return "\n".join(program.files.values())
