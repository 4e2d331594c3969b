"""The contract of an engine: it transports tasks to workers and does not read their content.

``dispatch.py`` decides, for every engine alike, which node gets a task, what is repeated after a loss, and what is
never repeated.  So an engine must not retry, steal or move a task itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final


@final
@dataclass(frozen=True, slots=True)
class WorkerAddress:
    """A worker process that is connected now.

    ``name``: stays the same when the worker restarts.
    ``address``: changes when the worker restarts.
    ``slots``: 1 if the worker may time, else 0.
    ``builds``: number of builds that the worker may run at once, on cores reserved for them.
    """

    name: str
    address: str
    slots: int = 1
    builds: int = 0


class NodeLost(Exception):
    """The worker that had the task is gone.  It is unknown whether the task killed it."""


class Engine(Protocol):
    """Used from one event loop."""

    async def places(self) -> Sequence[WorkerAddress]:
        """The workers that are connected now.  MachineError if the engine itself is gone."""
        ...

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        """Run a task on a worker, in its timing thread or its build thread, and return the result.

        A timing thread runs one task at a time.  NodeLost if the worker goes; MachineError if the engine goes.  When
        the call is cancelled, the engine makes the worker stop the task too.
        """
        ...

    async def close(self) -> None:
        """End what this process started for the engine."""
        ...
