"""Ray as the engine: one actor for each node, pinned to it.                                 [extra: ray]

A Ray node is a slot if it has the custom resource ``bench``; its cores are those that ``ray start`` was bound to.  The
actor holds the resource as long as the run is open, so two drivers never share a slot.  Ray never restarts the actor
nor repeats its calls: ``dispatch.py`` decides what follows a loss.  Ray notices at once that an actor is gone, and
after some 15 s that a machine is.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, final

from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster import node_thread
from maxcode.evaluate.cluster.engine import NodeLost, WorkerAddress

BENCH, BUILD = "bench", "build"
ANSWER_S = 20.0


class StartedRay(Protocol):
    """A part of a cluster that this process started and must end."""

    async def close(self) -> None: ...


def require_ray() -> None:
    """InputError if the extra is not installed."""
    if find_spec("ray") is None:
        raise InputError("--cluster ray:... needs Ray: pip install 'maxcode[ray]'")


class RayWorker:
    """What runs on a node: the threads of its process.  Ray makes an actor of it."""

    def here(self) -> bool:
        """Returns once the actor runs."""
        return True

    def stay(self) -> None:
        """Never returns; the call fails when the actor is gone."""
        threading.Event().wait()

    def carry(self, task: bytes, builds: bool) -> bytes:
        """Run a task until Ray cancels it."""
        import ray

        context = ray.get_runtime_context()
        return node_thread.work(task, builds, lambda: not context.is_canceled())


@final
@dataclass(frozen=True, slots=True)
class _Actor:
    """An actor with its worker address.  ``here`` is done when it runs; ``stay`` is done when it is gone."""

    actor: Any
    worker: WorkerAddress
    here: asyncio.Future[Any]
    stay: asyncio.Future[Any]

    @property
    def is_gone(self) -> bool:
        return self.stay.done() or (self.here.done() and self.here.exception() is not None)

    @property
    def is_here(self) -> bool:
        return self.here.done() and not self.is_gone


@final
class RayEngine:
    """An engine on the Ray cluster of this process.  ``close`` closes ``started`` too, the last first."""

    def __init__(self, started: Sequence[StartedRay] = ()) -> None:
        self._started = started
        self._names: dict[str, str] = {}
        self._actors: dict[str, _Actor] = {}

    @classmethod
    async def connect(cls, address: str, started: Sequence[StartedRay] = ()) -> RayEngine:
        """The engine of the Ray cluster at ``address`` (``auto``: the one of this machine).

        MachineError if none answers.
        """
        import ray

        logging.getLogger("ray").setLevel(logging.ERROR)  # the dispatcher reports what happens to nodes
        try:
            await _reach(address)  # Ray itself would try for ever
            await asyncio.to_thread(ray.init, address, log_to_driver=False, configure_logging=False)
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise MachineError(
                f"no Ray cluster answers at {address}: {error}; start one (`ray start --head`), and a node of it on "
                "this machine (`ray start --address=...`)"
            ) from error
        return cls(started)

    async def places(self) -> Sequence[WorkerAddress]:
        """The workers whose actors run.  Starts an actor for each node that has none."""
        nodes = {node["NodeID"]: node for node in await self._nodes() if _offers(node)}
        for node in [node for node, one in self._actors.items() if node not in nodes or one.is_gone]:
            self._stop_actor(node)
        for node, about in nodes.items():
            if node not in self._actors:
                self._actors[node] = self._start_actor(node, about)
        return [one.worker for one in self._actors.values() if one.is_here]

    async def carry(self, task: bytes, worker: WorkerAddress, builds: bool) -> bytes:
        """The result of the actor; see ``engine.Engine``."""
        import ray
        from ray.exceptions import RayActorError, RayError, RayTaskError

        one = next((one for one in self._actors.values() if one.worker == worker), None)
        if one is None or one.is_gone:
            raise NodeLost(worker.name)
        asked = one.actor.carry.remote(task, builds)
        try:
            result = await asked
        except RayActorError as error:
            ray.kill(one.actor)  # the actor may still run but be out of reach; it must not go on measuring
            raise NodeLost(worker.name) from error
        except RayTaskError as error:
            raise MachineError(f"node {worker.name} failed: {error.cause}") from error
        except RayError as error:
            raise MachineError(
                f"Ray failed ({type(error).__name__}: {error}); no running candidate was scored"
            ) from error
        except asyncio.CancelledError:
            ray.cancel(asked)
            raise
        assert isinstance(result, bytes)
        return result

    async def close(self) -> None:
        """End the actors, disconnect, and end what was started."""
        import ray

        for node in list(self._actors):
            self._stop_actor(node)
        await asyncio.to_thread(ray.shutdown)
        for one in reversed(self._started):
            await one.close()

    async def _nodes(self) -> Sequence[Mapping[str, Any]]:
        """All nodes that Ray knows."""
        import ray

        try:
            found: Sequence[Mapping[str, Any]] = await asyncio.wait_for(asyncio.to_thread(ray.nodes), ANSWER_S)
        except Exception as error:  # any error here means that Ray's head does not answer
            raise MachineError(
                f"the head of the Ray cluster does not answer ({type(error).__name__}: {error}); no running "
                "candidate was scored; repeat the command to resume"
            ) from error
        return found

    def _start_actor(self, node: str, about: Mapping[str, Any]) -> _Actor:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        builds = int(about["Resources"].get(BUILD, 0))
        slots = int(bool(about["Resources"].get(BENCH)))
        actor = (
            ray.remote(RayWorker)
            .options(
                num_cpus=0,
                resources={BENCH: 1} if slots else {BUILD: builds},
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
                max_restarts=0,
                max_task_retries=0,
                max_concurrency=3 + builds,  # here and stay, one task that times, and the builds
            )
            .remote()
        )
        worker = WorkerAddress(self._name(node, about), actor._actor_id.hex(), slots, builds)
        return _Actor(actor, worker, _outcome_of(actor.here.remote()), _outcome_of(actor.stay.remote()))

    def _name(self, node: str, about: Mapping[str, Any]) -> str:
        """The node's name; if another node has the same name, followed by the start of its id."""
        if node not in self._names:
            name = str(about["NodeName"])
            taken = {self._names[other] for other in self._actors if other in self._names}
            self._names[node] = name if name not in taken else f"{name} ({node[:8]})"
        return self._names[node]

    def _stop_actor(self, node: str) -> None:
        import ray

        one = self._actors.pop(node)
        one.here.cancel()
        one.stay.cancel()
        ray.kill(one.actor)


async def _reach(address: str) -> None:
    """OSError or TimeoutError if nobody listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    if host:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), ANSWER_S)
        writer.close()
        await writer.wait_closed()


def _offers(node: Mapping[str, Any]) -> bool:
    """True if a node is alive and times or builds."""
    resources = node["Resources"]
    return bool(node["Alive"] and (resources.get(BENCH) or resources.get(BUILD)))


def _outcome_of(reference: Any) -> asyncio.Future[Any]:
    """The outcome of a call, as a future that nobody needs to await."""

    async def outcome() -> Any:
        return await reference

    found = asyncio.ensure_future(outcome())
    found.add_done_callback(lambda done: done.cancelled() or done.exception())
    return found
