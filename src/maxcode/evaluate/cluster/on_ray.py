"""Ray as the engine: an actor for each bench, pinned to its node.                                [extra: ray]

A node of Ray is a slot where its custom resources say ``bench``; its cores are those that its ``ray start`` was bound
to.  The actor holds the resource for as long as the run is open, so two drivers never share a bench; Ray never restarts
it nor repeats its calls: what follows a loss is decided in ``dispatch.py``.  Ray notices at once that an actor is gone,
and in its own time (some 15 s) that a machine is.
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
    """What this process started of a cluster, to be ended with it."""

    async def close(self) -> None: ...


def require_ray() -> None:
    """InputError where the extra is not installed."""
    if find_spec("ray") is None:
        raise InputError("--cluster ray:... needs Ray: pip install 'maxcode[ray]'")


class RayWorker:
    """What runs on a node: the threads of its process.  Ray makes an actor of it."""

    def here(self) -> bool:
        """Answers once the actor is there."""
        return True

    def stay(self) -> None:
        """Never returns: its caller learns so that the actor is gone."""
        threading.Event().wait()

    def carry(self, order: bytes, builds: bool) -> bytes:
        """Carry an order out, until Ray cancels it."""
        import ray

        context = ray.get_runtime_context()
        return node_thread.work(order, builds, lambda: not context.is_canceled())


@final
@dataclass(frozen=True, slots=True)
class _Hired:
    """An actor: its place, and two calls of which one tells that it is there, the other that it is gone."""

    actor: Any
    place: WorkerAddress
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
    """An engine on a Ray cluster that this process is connected to; ``started`` are closed with it, the last first."""

    def __init__(self, started: Sequence[StartedRay] = ()) -> None:
        self._started = started
        self._names: dict[str, str] = {}
        self._hired: dict[str, _Hired] = {}

    @classmethod
    async def connect(cls, address: str, started: Sequence[StartedRay] = ()) -> RayEngine:
        """The engine of the Ray cluster at ``address`` (``auto``: the one of this machine); MachineError where there is
        none."""
        import ray

        logging.getLogger("ray").setLevel(logging.ERROR)  # what happens to nodes is told by the dispatcher
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
        """The benches whose actors are there.  Hires an actor for each node that has none."""
        nodes = {node["NodeID"]: node for node in await self._nodes() if _offers(node)}
        for node in [node for node, one in self._hired.items() if node not in nodes or one.is_gone]:
            self._dismiss(node)
        for node, about in nodes.items():
            if node not in self._hired:
                self._hired[node] = self._hire(node, about)
        return [one.place for one in self._hired.values() if one.is_here]

    async def carry(self, order: bytes, place: WorkerAddress, builds: bool) -> bytes:
        """The answer of the actor; see ``engine.Engine``."""
        import ray
        from ray.exceptions import RayActorError, RayError, RayTaskError

        one = next((one for one in self._hired.values() if one.place == place), None)
        if one is None or one.is_gone:
            raise NodeLost(place.name)
        asked = one.actor.carry.remote(order, builds)
        try:
            found = await asked
        except RayActorError as error:
            ray.kill(one.actor)  # it may be out of reach only, and must not go on measuring then
            raise NodeLost(place.name) from error
        except RayTaskError as error:
            raise MachineError(f"node {place.name} failed: {error.cause}") from error
        except RayError as error:
            raise MachineError(f"Ray failed ({type(error).__name__}: {error}); nothing under way was scored") from error
        except asyncio.CancelledError:
            ray.cancel(asked)
            raise
        assert isinstance(found, bytes)
        return found

    async def close(self) -> None:
        """Dismiss the actors, disconnect, and end what was started."""
        import ray

        for node in list(self._hired):
            self._dismiss(node)
        await asyncio.to_thread(ray.shutdown)
        for one in reversed(self._started):
            await one.close()

    async def _nodes(self) -> Sequence[Mapping[str, Any]]:
        """All nodes that Ray knows."""
        import ray

        try:
            found: Sequence[Mapping[str, Any]] = await asyncio.wait_for(asyncio.to_thread(ray.nodes), ANSWER_S)
        except Exception as error:  # whatever it is made of, Ray's head does not answer
            raise MachineError(
                f"the head of the Ray cluster does not answer ({type(error).__name__}: {error}); nothing under way was "
                "scored: repeat the command to resume"
            ) from error
        return found

    def _hire(self, node: str, about: Mapping[str, Any]) -> _Hired:
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
                max_concurrency=3 + builds,  # here and stay, one order on the bench, and the builds
            )
            .remote()
        )
        place = WorkerAddress(self._name(node, about), actor._actor_id.hex(), slots, builds)
        return _Hired(actor, place, _told(actor.here.remote()), _told(actor.stay.remote()))

    def _name(self, node: str, about: Mapping[str, Any]) -> str:
        """The node's name; where another one has it already, with the beginning of its id."""
        if node not in self._names:
            name = str(about["NodeName"])
            taken = {self._names[other] for other in self._hired if other in self._names}
            self._names[node] = name if name not in taken else f"{name} ({node[:8]})"
        return self._names[node]

    def _dismiss(self, node: str) -> None:
        import ray

        one = self._hired.pop(node)
        one.here.cancel()
        one.stay.cancel()
        ray.kill(one.actor)


async def _reach(address: str) -> None:
    """OSError or TimeoutError where nobody listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    if host:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), ANSWER_S)
        writer.close()
        await writer.wait_closed()


def _offers(node: Mapping[str, Any]) -> bool:
    """Whether a node is there and can be worked on."""
    resources = node["Resources"]
    return bool(node["Alive"] and (resources.get(BENCH) or resources.get(BUILD)))


def _told(reference: Any) -> asyncio.Future[Any]:
    """The call's outcome; nobody need ask for it."""

    async def outcome() -> Any:
        return await reference

    found = asyncio.ensure_future(outcome())
    found.add_done_callback(lambda done: done.cancelled() or done.exception())
    return found
