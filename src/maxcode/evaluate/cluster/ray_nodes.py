"""A Ray cluster on this machine that maxcode starts itself.                                     [extra: ray]

A head without a bench, and a node of Ray for every slot, bound to its cores from its first process on.  A process of
its own starts them and ends them, when its standard input ends: however the driver ends.  All of it keeps to 127.0.0.1,
has no dashboard, sends nothing to anybody, and wants a token that only the driver and its nodes know.

``ray start`` would listen on all addresses; ``ray.cluster_utils`` is Ray's own way to have several nodes on a machine.
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
_STORE = 80 * 2**20  # bytes of shared memory; an order is some kilobytes, and Ray takes no less

Plan = Mapping[str, str]  # name, cores, building


@final
class _Here:
    """The process that holds a Ray cluster on this machine, and what Ray reads from the environment meanwhile."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="maxcode-ray-", dir="/tmp"))  # a socket's path has 107 letters
        self._before = _set(
            RAY_AUTH_MODE="token",
            RAY_AUTH_TOKEN=secrets.token_hex(32),
            RAY_TMPDIR=str(self._folder),
            RAY_USAGE_STATS_ENABLED="0",
            RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",  # what makes Ray keep to 127.0.0.1
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
        """The head's address once all nodes are started; MachineError where they do not come up."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(asyncio.to_thread(self._process.stdout.readline), START_S)
        except TimeoutError:
            line = b""
        if not line:
            told = self._log.read_text(errors="replace")[-1500:]
            raise MachineError(f"Ray did not start on this machine within {START_S:.0f} s: {told}")
        return line.decode().strip()

    async def close(self) -> None:
        """End all of it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            await asyncio.to_thread(self._process.wait, _PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # what it started ends with it
            await asyncio.to_thread(self._process.wait)
        _set(**self._before)
        ray_constants().ENABLE_RAY_CLUSTER = self._spread
        shutil.rmtree(self._folder, ignore_errors=True)


def _set(**values: str | None) -> dict[str, str | None]:
    """Set variables of the environment, or unset those that are None; what they were before."""
    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before


def _keep_to_loopback() -> bool:
    """Have Ray keep to 127.0.0.1 in this process too, where it may be imported already; what it did before."""
    constants = ray_constants()
    before = bool(constants.ENABLE_RAY_CLUSTER)
    constants.ENABLE_RAY_CLUSTER = False
    return before


def ray_constants() -> Any:
    """Where Ray keeps what it read from the environment."""
    from ray._private import ray_constants

    return ray_constants


async def on_this_machine(slots: int, width: int) -> RayEngine:
    """An engine with so many slots here, each of ``width`` cores of its own; what is left builds.

    InputError where there are too few cores, MachineError where Ray does not come up.
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
    here = _Here(plans)
    try:
        return await RayEngine.connect(await here.address(), started=(here,))
    except BaseException:
        await here.close()
        raise


# ----------------------------------------------------------------------------------------------------- in the process


def serve(plans: Sequence[Plan]) -> None:
    """Start a head and these nodes, say the head's address, and end all when standard input ends."""
    from ray.cluster_utils import Cluster

    common: dict[str, Any] = {"num_cpus": 0, "object_store_memory": _STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={**common, "node_name": "head"})
    for plan in plans:
        cores = parsed(plan["cores"])
        building = parsed(plan["building"]) if plan["building"] else frozenset[int]()
        os.sched_setaffinity(0, cores | building)  # the node's processes inherit both
        os.environ[BUILD_CORES] = shown(building)
        offers = {BENCH: 1, **({BUILD: len(building)} if building else {})}
        cluster.add_node(wait=False, resources=offers, node_name=plan["name"], **common)
    print(cluster.address, flush=True)
    sys.stdin.buffer.read()
    cluster.shutdown()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
