"""What an engine is to the driver: a carrier of orders to nodes.  It knows nothing of what is in them.

Which node an order goes to, what is done again after a loss, and what is never done again is decided in
``dispatch.py``, the same for every engine; so an engine must not retry, steal or move anything on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final


@final
@dataclass(frozen=True, slots=True)
class WorkerAddress:
    """A worker process that is there now.  ``name`` stays when the worker is started anew, ``address`` does not.
    ``slots`` is 1 where it may time, ``builds`` how many builds it may make at once on cores set apart for them."""

    name: str
    address: str
    slots: int = 1
    builds: int = 0


class NodeLost(Exception):
    """The worker that an order was on is gone.  Whether the order killed it, nobody knows."""


class Engine(Protocol):
    """Used from one event loop."""

    async def places(self) -> Sequence[WorkerAddress]:
        """The workers that are there now; MachineError where the engine itself is gone."""
        ...

    async def carry(self, order: bytes, place: WorkerAddress, builds: bool) -> bytes:
        """The answer of the worker at ``place``, from its bench or its builder.  One order is on a bench at a time.

        NodeLost when that worker goes; MachineError when the engine does.  Cancelled, it sees to it that the worker
        stops too.
        """
        ...

    async def close(self) -> None:
        """End what this process started of it."""
        ...
