"""Schedulers and workers of Dask that maxcode starts itself.                                  [extra: dask]

Each listens only on the address that was given to it: a cluster on this machine keeps to 127.0.0.1, and so does what
Dask calls its dashboard, without a page.  A worker is bound to its cores from its start, and its nanny restarts it when
it dies.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, final

from maxcode.evaluate.cluster.cores import shown, split, usable
from maxcode.evaluate.cluster.node_thread import BUILD_CORES
from maxcode.evaluate.cluster.on_dask import BENCH, BUILD, CONNECT_S, DaskEngine

LOOPBACK = "127.0.0.1"
SETTINGS: Mapping[str, Any] = {
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.limit": "30s",
}
REJOIN_S = 900.0
_PATIENCE_S = 10.0
_AGAIN_S = 2.0


async def scheduler(host: str = LOOPBACK, port: int = 0, security: Any = None) -> Any:
    """A scheduler that listens on ``host`` only; over TLS if ``security`` is given."""
    import dask
    from distributed import Scheduler

    with dask.config.set(SETTINGS):
        return await Scheduler(
            host=host, port=port, dashboard=False, dashboard_address=f"{LOOPBACK}:0", security=security,
            protocol="tls" if security is not None else "tcp",
        )  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class NodePlan:
    """A worker to start.

    ``address``: address of its scheduler.
    ``cores``: cores that it times on.
    ``building``: cores that it builds on.
    ``host``: address that it listens on; empty: the one by which it reaches the scheduler.
    """

    address: str
    cores: frozenset[int]
    building: frozenset[int] = frozenset()
    name: str = ""
    host: str = ""

    @property
    def resources(self) -> dict[str, int]:
        """The resources that it offers to a scheduler."""
        return {BENCH: int(bool(self.cores)), **({BUILD: len(self.building)} if self.building else {})}


async def node(plan: NodePlan, stop: asyncio.Event, security: Any = None) -> None:
    """Run a benchmark node until ``stop`` is set, or the scheduler is gone for REJOIN_S.

    Binds this process to the node's cores.  A node that lost its scheduler (a cut link, a new driver) joins again.
    """
    import dask

    os.sched_setaffinity(0, plan.cores | plan.building)
    os.environ[BUILD_CORES] = shown(plan.building)
    with dask.config.set(SETTINGS):
        await _served(plan, stop, security)
        lost = time.monotonic()
        while not stop.is_set():
            try:
                await _served(plan, stop, security)
                lost = time.monotonic()
            except (OSError, RuntimeError, TimeoutError):
                if time.monotonic() - lost > REJOIN_S:
                    raise
                await asyncio.wait([asyncio.ensure_future(stop.wait())], timeout=_AGAIN_S)


async def _served(plan: NodePlan, stop: asyncio.Event, security: Any) -> None:
    """Join the scheduler, and stay until ``stop`` is set or the scheduler is gone."""
    from distributed import Nanny

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="maxcode-dask-", ignore_cleanup_errors=True))
        nanny = await stack.enter_async_context(
            Nanny(
                plan.address, nthreads=1 + len(plan.building), resources=plan.resources,
                name=plan.name or name_of(plan),
                host=plan.host or None, memory_limit=0, death_timeout=CONNECT_S, security=security,
                local_directory=folder, dashboard_address=f"{LOOPBACK}:0", dashboard=False,
                silence_logs=logging.CRITICAL,
            )
        )  # fmt: skip
        stopped, gone = asyncio.ensure_future(stop.wait()), asyncio.ensure_future(nanny.finished())
        await asyncio.wait([stopped, gone], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        gone.cancel()


def name_of(plan: NodePlan) -> str:
    """The host and its cores; a scheduler refuses a second worker with the same name."""
    return f"{platform.node()}:{shown(plan.cores | plan.building)}"


# ------------------------------------------------------------------------------------------------------ this machine


@final
class _Nodes:
    """The node processes of this machine; each ends when its standard input ends, however this process ends."""

    def __init__(self, plans: Sequence[NodePlan]) -> None:
        self.processes = [_started(plan) for plan in plans]

    async def close(self) -> None:
        for one in self.processes:
            assert one.stdin is not None
            one.stdin.close()
        for one in self.processes:
            try:
                await asyncio.to_thread(one.wait, _PATIENCE_S)
            except subprocess.TimeoutExpired:
                one.kill()
                await asyncio.to_thread(one.wait)


def _started(plan: NodePlan) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "maxcode", "cluster", "node", plan.address, "--cores", shown(plan.cores)]
    argv += ["--build-cores", shown(plan.building)] if plan.building else []
    argv += ["--name", plan.name, "--host", LOOPBACK, "--until-eof"]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)


async def on_this_machine(slots: int, width: int) -> DaskEngine:
    """An engine with ``slots`` slots on this machine, each of ``width`` cores of its own; the other cores build.

    InputError if there are too few cores.
    """
    timing, building = split(usable(), slots, width)
    served = await scheduler()
    plans = [
        NodePlan(served.address, cores, building if at == 0 else frozenset(), f"slot{at} (cores {shown(cores)})")
        for at, cores in enumerate(timing)
    ]
    return await DaskEngine.connect(served.address, started=(served, _Nodes(plans)))
