"""Dask as the engine: workers of ``distributed``, started here, by a queue, or by hand.      [extra: dask]

A task is pinned to a worker and holds its ``bench`` (or ``build``) resource.  So the scheduler neither steals nor moves
it, and two drivers on one cluster take turns.  A worker that goes disappears from the scheduler's list, whatever the
scheduler's retries are; the engine then gives the task up, and ``dispatch.py`` decides what follows.  The client
connects to the scheduler only, so a driver needs one connection, and a tunnel can carry it.
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
    """A part of a cluster that this process started and must end."""

    async def close(self) -> None: ...


def require_dask() -> None:
    """InputError if the extra is not installed."""
    try:
        import distributed  # noqa: F401

        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the dispatcher reports what matters
    except ImportError as error:
        raise InputError(f"--cluster needs Dask ({error}): pip install 'maxcode[dask]'") from error


@final
class DaskEngine:
    """An engine on a running scheduler.  ``close`` closes ``started`` too, the last first."""

    def __init__(self, client: Any, started: Sequence[StartedDask] = ()) -> None:
        self._client = client
        self._started = started

    @classmethod
    async def connect(cls, address: str, security: Any = None, started: Sequence[StartedDask] = ()) -> DaskEngine:
        """The engine of the scheduler at ``address``.  MachineError if none answers."""
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
                f"no Dask scheduler answers at {address}: {error}; start one (`maxcode cluster scheduler`), or "
                "check the tunnel and the firewall"
            ) from error
        return cls(client, started)

    async def places(self) -> Sequence[WorkerAddress]:
        """The running workers that time or build."""
        workers = (await self._identity())["workers"]
        addresses = []
        for address, worker in workers.items():
            resources = worker["resources"]
            if worker["status"] == "running" and (resources.get(BENCH) or resources.get(BUILD)):
                slots, builds = int(bool(resources.get(BENCH))), int(resources.get(BUILD, 0))
                addresses.append(WorkerAddress(str(worker["name"]), address, slots, builds))
        return addresses

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        """The result of the worker; see ``engine.Engine``."""
        from distributed import CancelledError, KilledWorker

        resource = BUILD if builds and worker.builds else BENCH
        future = self._client.submit(
            carried, task, builds, key=f"maxcode-{secrets.token_hex(8)}", workers=[worker.address],
            allow_other_workers=False, resources={resource: 1}, pure=False, retries=0,
        )  # fmt: skip
        waiting = asyncio.ensure_future(_result(future))
        try:
            while not (await asyncio.wait([waiting], timeout=PRESENT_S))[0]:
                if worker.address not in (await self._identity())["workers"]:
                    raise NodeLost(worker.name)
            return await waiting
        except (KilledWorker, CancelledError) as error:
            raise NodeLost(worker.name) from error
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
                f"the connection to the Dask scheduler broke ({type(error).__name__}: {error}); no running "
                "candidate was scored; repeat the command to resume"
            ) from error


async def _result(future: Any) -> bytes:
    result = await future.result()
    assert isinstance(result, bytes)
    return result


async def _forget(future: Any) -> None:
    """Make the scheduler drop the task; if the task is running, its worker notices that."""
    try:
        future.release()
    except (OSError, RuntimeError):  # the scheduler is gone, and the task with it
        return


def carried(task: bytes, builds: bool) -> bytes:
    """The function that a Dask worker runs: a node's thread runs the task until the scheduler drops it."""
    from distributed import get_worker

    dask_worker = get_worker()
    key = dask_worker.get_current_task()

    def wanted() -> bool:
        dask_task = dask_worker.state.tasks.get(key)
        return dask_task is not None and dask_task.state in ("executing", "long-running")

    return node_thread.work(task, builds, wanted)
