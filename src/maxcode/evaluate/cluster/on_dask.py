"""Dask as the engine: workers of ``distributed``, started here, by a queue, or by hand.      [extra: dask]

Orders are pinned to a worker and hold its ``bench`` (or ``build``) resource, so the scheduler neither steals nor moves
them, and two drivers on one cluster take turns.  A worker that goes is missing from the scheduler's list, whatever that
is set to retry: the order is then given up, and ``dispatch.py`` decides what follows.  The client speaks to the
scheduler alone, so a driver needs one connection, which a tunnel can carry.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Any, Protocol, final

from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster import node_thread
from maxcode.evaluate.cluster.engine import NodeLost, WorkerAddress

BENCH, BUILD = "bench", "build"
PRESENT_S = 0.25
CONNECT_S = 20.0


class StartedDask(Protocol):
    """What this process started of a cluster, to be ended with it."""

    async def close(self) -> None: ...


def require_dask() -> None:
    """InputError where the extra is not installed."""
    try:
        import distributed  # noqa: F401

        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is raised, or told by the dispatcher
    except ImportError as error:
        raise InputError(f"--cluster needs Dask ({error}): pip install 'maxcode[dask]'") from error


@final
class DaskEngine:
    """An engine on a scheduler that runs; ``started`` are closed with it, the last first."""

    def __init__(self, client: Any, started: Sequence[StartedDask] = ()) -> None:
        self._client = client
        self._started = started

    @classmethod
    async def connect(cls, address: str, security: Any = None, started: Sequence[StartedDask] = ()) -> DaskEngine:
        """The engine of the scheduler at ``address``; MachineError where none answers."""
        from distributed import Client

        try:
            client = await Client(
                address, asynchronous=True, security=security, timeout=CONNECT_S, direct_to_workers=False,
                set_as_default=False,
            )  # fmt: skip
        except (OSError, TimeoutError) as error:
            for one in reversed(started):
                await one.close()
            raise MachineError(
                f"no Dask scheduler answers at {address}: {error}; start one (`maxcode cluster scheduler`), or look at "
                "the tunnel or the firewall"
            ) from error
        return cls(client, started)

    async def places(self) -> Sequence[WorkerAddress]:
        """The workers that have a bench or build."""
        workers = (await self._identity())["workers"]
        found = []
        for address, worker in workers.items():
            resources = worker["resources"]
            if worker["status"] == "running" and (resources.get(BENCH) or resources.get(BUILD)):
                slots, builds = int(bool(resources.get(BENCH))), int(resources.get(BUILD, 0))
                found.append(WorkerAddress(str(worker["name"]), address, slots, builds))
        return found

    async def carry(self, order: bytes, place: WorkerAddress, builds: bool) -> bytes:
        """The answer of the worker; see ``engine.Engine``."""
        from distributed import CancelledError, KilledWorker

        resource = BUILD if builds and place.builds else BENCH
        future = self._client.submit(
            carried, order, builds, key=f"maxcode-{secrets.token_hex(8)}", workers=[place.address],
            allow_other_workers=False, resources={resource: 1}, pure=False, retries=0,
        )  # fmt: skip
        waiting = asyncio.ensure_future(_result(future))
        try:
            while not (await asyncio.wait([waiting], timeout=PRESENT_S))[0]:
                if place.address not in (await self._identity())["workers"]:
                    raise NodeLost(place.name)
            return await waiting
        except (KilledWorker, CancelledError) as error:
            raise NodeLost(place.name) from error
        finally:
            waiting.cancel()
            await _forget(future)

    async def close(self) -> None:
        """Disconnect, and end what was started."""
        await self._client.close()
        for one in reversed(self._started):
            await one.close()

    async def _identity(self) -> Any:
        try:
            return await self._client.scheduler.identity()
        except (OSError, TimeoutError, AttributeError) as error:
            raise MachineError(
                f"the connection to the Dask scheduler broke ({type(error).__name__}: {error}); nothing under way was "
                "scored: repeat the command to resume"
            ) from error


async def _result(future: Any) -> bytes:
    found = await future.result()
    assert isinstance(found, bytes)
    return found


async def _forget(future: Any) -> None:
    """Let the scheduler drop the task; where it is under way the worker sees that nobody wants it."""
    try:
        future.release()
    except (OSError, RuntimeError):  # the scheduler is gone, and the task with it
        return


def carried(order: bytes, builds: bool) -> bytes:
    """What a Dask worker runs: a thread of the node does the work, until the scheduler no longer wants the answer."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state in ("executing", "long-running")

    return node_thread.work(order, builds, wanted)
