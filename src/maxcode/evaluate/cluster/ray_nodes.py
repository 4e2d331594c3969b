"""A Ray cluster on this machine that maxcode starts itself.                                     [extra: ray]

The cluster has a head that times nothing, and one Ray node for each slot, bound to its cores from its first process on.
A separate process starts all of them, and ends them when its standard input ends; so they end however the driver ends.
They keep to 127.0.0.1, have no dashboard, send no usage statistics, and require a token that only the driver and its
nodes know.

``ray start`` would listen on all addresses; ``ray.cluster_utils`` is Ray's own way to run several nodes on one machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from maxcode.errors import MachineError
from maxcode.evaluate.cluster.cores import parsed, shown, split, usable
from maxcode.evaluate.cluster.node_thread import BUILD_CORES
from maxcode.evaluate.cluster.on_ray import BENCH, BUILD, RayEngine

START_S = 240.0
_PATIENCE_S = 30.0
_STORE = 80 * 2**20  # bytes of shared memory; a task is some kilobytes, and Ray takes no less

Plan = Mapping[str, str]  # keys: name, cores, building


@final
class _RayProcess:
    """The process that holds a Ray cluster on this machine.

    It sets the environment variables that Ray reads, until ``close``.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="maxcode-ray-", dir="/tmp"))  # a socket's path: 107 characters
        self._before = _set(
            RAY_AUTH_MODE="token",
            RAY_AUTH_TOKEN=secrets.token_hex(32),
            RAY_TMPDIR=str(self._folder),
            RAY_USAGE_STATS_ENABLED="0",
            RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",  # makes Ray keep to 127.0.0.1
        )
        self._spread = _keep_to_loopback()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "maxcode.evaluate.cluster.ray_nodes", json.dumps(plans)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            )  # fmt: skip

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    async def address(self) -> str:
        """The head's address, once all nodes are started.  MachineError if they do not start."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(asyncio.to_thread(self._process.stdout.readline), START_S)
        except TimeoutError:
            line = b""
        if not line:
            log = self._log.read_text(errors="replace")[-1500:]
            raise MachineError(f"Ray did not start on this machine within {START_S:.0f} s: {log}")
        return line.decode().strip()

    async def close(self) -> None:
        """End the cluster and its process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            await asyncio.to_thread(self._process.wait, _PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its children end with it
            await asyncio.to_thread(self._process.wait)
        _set(**self._before)
        ray_constants().ENABLE_RAY_CLUSTER = self._spread
        shutil.rmtree(self._folder, ignore_errors=True)


def _set(**values: str | None) -> dict[str, str | None]:
    """Set environment variables, or unset those that are None; returns their earlier values."""
    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before


def _keep_to_loopback() -> bool:
    """Make Ray keep to 127.0.0.1 in this process too, which may have imported it; returns the earlier setting."""
    constants = ray_constants()
    before = bool(constants.ENABLE_RAY_CLUSTER)
    constants.ENABLE_RAY_CLUSTER = False
    return before


def ray_constants() -> Any:
    """The module in which Ray keeps what it read from the environment."""
    from ray._private import ray_constants

    return ray_constants


async def on_this_machine(slots: int, width: int) -> RayEngine:
    """An engine with ``slots`` slots on this machine, each of ``width`` cores of its own; the other cores build.

    InputError if there are too few cores, MachineError if Ray does not start.
    """
    timing, building = split(usable(), slots, width)
    plans = [
        {
            "name": f"slot{at} (cores {shown(cores)})",
            "cores": shown(cores),
            "building": shown(building if not at else ()),
        }
        for at, cores in enumerate(timing)
    ]
    here = _RayProcess(plans)
    try:
        return await RayEngine.connect(await here.address(), started=(here,))
    except BaseException:
        await here.close()
        raise


# ----------------------------------------------------------------------------------------------------- in the process


def serve(plans: Sequence[Plan]) -> None:
    """Start a head and these nodes, print the head's address, and end all of them when standard input ends."""
    from ray.cluster_utils import Cluster

    common: dict[str, Any] = {"num_cpus": 0, "object_store_memory": _STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={**common, "node_name": "head"})
    for plan in plans:
        cores = parsed(plan["cores"])
        building = parsed(plan["building"]) if plan["building"] else frozenset[int]()
        os.sched_setaffinity(0, cores | building)  # the processes of the node inherit the affinity
        os.environ[BUILD_CORES] = shown(building)
        offers = {BENCH: 1, **({BUILD: len(building)} if building else {})}
        cluster.add_node(wait=False, resources=offers, node_name=plan["name"], **common)
    print(cluster.address, flush=True)
    sys.stdin.buffer.read()
    cluster.shutdown()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
