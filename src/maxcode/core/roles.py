"""The roles: Protocols of one method over one item, async where they work, pure functions where they decide.

An optional ability is another role; a wrapper is the role it wraps.
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
    """What a program is worth finding out.  Never raises for a bad program; raises ``MachineError`` when the machine
    failed.  The ratio reported is always against the original; ``incumbent`` only lets timing stop early."""

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation: ...


class Referee(Protocol):
    """Settles who leads after a batch: challengers in slot order against the incumbent on fresh pairs, then the winner
    alone is confirmed.  Returns the evaluations it made anew, by state; the incumbent's where it did not hold."""

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]: ...


@runtime_checkable
class Compiler(Protocol):
    """What a program's machine code does, without running it; None where there is none to be had.  An ability of
    evaluators, for who looks ahead."""

    async def machine_code(self, problem: Problem, action: Action) -> MachineCode | None: ...


class Critic(Protocol):
    """Evaluation -> diagnosis.  Words only; cannot change a reward."""

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str: ...


class Value(Protocol):
    """V(s, u): how good the best still reachable is expected to be, one number per state, after execution and critique.

    Only the order means something to a search.  The models of maxcode give an expected class (``value.classes``)."""

    async def estimate(self, states: Sequence[State]) -> list[float]: ...


class PriorValue(Protocol):
    """V before execution: one number for each candidate that was drawn for ``state`` and not run.  Pure."""

    async def foresee(self, state: State, actions: Sequence[Action]) -> list[float]: ...


class Search(Protocol):
    """Which states to expand next, repeats allowed; empty when finished.  A pure function of all that was reached."""

    def select(self, reached: Reached) -> list[State]: ...


class Observe(Protocol):
    """The sections of a prompt for a state."""

    def __call__(self, state: State, reached: Reached) -> tuple[Section, ...]: ...


class Reward(Protocol):
    """Evaluation -> float.  Pure."""

    def __call__(self, evaluation: Evaluation) -> float: ...
