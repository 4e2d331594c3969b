"""One run while it goes on: its limits, its parts, and the reasons for which a slot ends early."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import final

import anyio

from maxcode.core.budget import BudgetTracker, Caps
from maxcode.core.method import Method
from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Machine, Problem, Usage
from maxcode.run.deadline import Deadline
from maxcode.run.record import Line, Record
from maxcode.run.times import Times
from maxcode.sandbox.lanes import also_in_timing_lane


@final
@dataclass(frozen=True, slots=True)
class Run:
    """The limits of a run.

    ``budget``       candidates
    ``concurrency``  slots at the same time
    ``watch``        is called with each recorded part; ``say`` with an activity that records nothing until its end
    ``caps``         limits on the cost of the run; ``deadline``: of the whole command
    ``spent``        what models have cost so far, from the journal; None: the cost of the recorded proposals only
    ``drawn``        chooses a slot's draw: that of its state comes first, then those of the other states of its batch
    ``machine``      is copied to the result; ``times`` counts the seconds of the command by what they go to
    """

    budget: int
    seed: int = 0
    concurrency: int = 8
    machine: Machine | None = None
    times: Times = field(default_factory=Times)
    record: Record = field(default_factory=Record)
    watch: Callable[[Line], None] = lambda line: None
    say: Callable[[str], None] = lambda words: None
    caps: Caps = field(default_factory=Caps)
    deadline: Deadline = field(default_factory=Deadline)
    spent: Callable[[], Usage] | None = None
    drawn: Callable[[Sequence[int]], int] = lambda draws: draws[0]


@final
@dataclass(slots=True)
class Job:
    """One active run.  ``stopping``: the user asks to stop; ``ended``: why it ended before its budget; ``undone``: what
    was left out because the time of the command ended, in words; ``measuring``: the measurements under way, which are
    cancelled when the run is hurried."""

    problem: Problem
    method: Method
    evaluator: Evaluator
    run: Run
    referee: Referee | None
    stopping: bool = False
    ended: str = ""
    undone: str = ""
    is_hurried: bool = False
    measuring: set[anyio.CancelScope] = field(default_factory=set)
    tracker: BudgetTracker = field(init=False)
    waited_before: float = field(init=False)

    def __post_init__(self) -> None:
        self.waited_before = self.run.times.others.seconds
        self.tracker = BudgetTracker(self.run.caps, self.spent, self.seconds)

    def spent(self) -> Usage:
        """What models have cost so far."""
        return self.run.spent() if self.run.spent is not None else self.run.record.proposals

    def seconds(self) -> float:
        """Wall seconds at work on the run so far, without waits for other runs."""
        return self.run.record.seconds_now(self.waited)

    @property
    def waited(self) -> float:
        """The seconds that the search waited for other runs in this process."""
        return self.run.times.others.seconds - self.waited_before

    @property
    def seconds_left(self) -> float:
        """Wall seconds until the search must end; infinite without a cap on them."""
        bound = self.run.caps.seconds
        left = math.inf if bound is None else max(0.0, bound - self.seconds())
        return min(left, self.run.deadline.for_search)

    def refusal(self) -> str | None:
        """Why no further candidate may start, in words; None if one may."""
        return self.run.deadline.refusal() or self.tracker.refusal()

    def hurry(self) -> None:
        """Cancels the measurements under way: they are made again after a resume, and nothing is lost with them."""
        self.is_hurried = True
        for scope in self.measuring:
            scope.cancel()

    @contextmanager
    def measurement(self) -> Iterator[anyio.CancelScope]:
        """The block is a measurement, which is cancelled when the run is hurried.  While nobody times, it may build in
        the timing lane too: else a machine of two cores would build on one."""
        with also_in_timing_lane(), anyio.CancelScope() as scope:
            if self.is_hurried:
                scope.cancel()
            self.measuring.add(scope)
            try:
                yield scope
            finally:
                self.measuring.discard(scope)

    def append(self, line: Line) -> None:
        """Records a part and passes it to ``watch``."""
        self.run.record.append(line, self.waited)
        self.run.watch(line)


class Stopped(Exception):
    """The user asked to stop: the slot stays open."""


class Dropped(Exception):
    """A cap is reached: the slot is not launched, or the seconds are spent and its evaluation is stopped; or the critic
    sees no further gain from its state, and it is not launched."""
