"""The roles: Protocols with one method each.  Roles that do work are async; roles that decide are pure functions.

An optional ability is a separate role.  A wrapper has the same role as the object it wraps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from maxcode.core.history import Reached
from maxcode.core.types import Action, Evaluation, MachineCode, Observation, Problem, Section, State, StateId, Step


class Policy(Protocol):
    """pi(a|o).  Pure in the observation: no counters, no shared random generator."""

    async def propose(self, observation: Observation) -> Action: ...


class Evaluator(Protocol):
    """Evaluates a candidate: reject, build, verify, time, inside the sandbox.  ``MachineError`` if the machine failed;
    a bad program never raises.  The speed-up is always over the original; ``incumbent`` only lets timing stop early."""

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation: ...


class Referee(Protocol):
    """Decides the incumbent after a batch: challengers race it in slot order on fresh pairs, then only the winner is
    confirmed.  Returns the new evaluations by state, with the incumbent's if its old one did not hold."""

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]: ...


@runtime_checkable
class Compiler(Protocol):
    """Reads the machine code of a program without running it; None if there is none.  An optional ability of
    evaluators, for value models that predict."""

    async def machine_code(self, problem: Problem, action: Action) -> MachineCode | None: ...


class Critic(Protocol):
    """Explains an evaluation in words; it cannot change a reward."""

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str: ...


@runtime_checkable
class BranchCritic(Protocol):
    """A critic that is also told what other branches have measured, one line each (``beside``).  An optional ability of
    critics."""

    async def critique_beside(
        self, problem: Problem, step: Step, previous: Step | None, beside: Sequence[str]
    ) -> str: ...


class Value(Protocol):
    """V(s, u) after execution and critique: one number per state, the expected best reward that is still reachable.

    A search uses only the order.  The models of maxcode give an expected class (``value.classes``)."""

    async def estimate(self, states: Sequence[State]) -> list[float]: ...


class PriorValue(Protocol):
    """V before execution: one number for each sample drawn for ``state`` that has not run.  Pure."""

    async def foresee(self, state: State, actions: Sequence[Action]) -> list[float]: ...


class Search(Protocol):
    """Selects the states to expand next, repeats allowed; empty when finished.  A pure function of ``reached``."""

    def select(self, reached: Reached) -> list[State]: ...


class Observe(Protocol):
    """The sections of a prompt for a state."""

    def __call__(self, state: State, reached: Reached) -> tuple[Section, ...]: ...


class Reward(Protocol):
    """Evaluation -> float.  Pure."""

    def __call__(self, evaluation: Evaluation) -> float: ...
