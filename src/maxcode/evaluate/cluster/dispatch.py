"""Assigns tasks to slots, for every engine: affinity, losses, rest and retirement.

A slot runs one task at a time.  Tasks of one group (a GRPO group) go to one slot as long as it lives.  Other tasks go
to a free slot, preferably one that has admitted the problem.  A slot whose cores others use rests and is asked again. A
slot that drifts, or whose machine is unsafe or broken, retires with a message.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import final

import anyio

from maxcode.errors import MachineError
from maxcode.evaluate.cluster.engine import Engine, NodeLost, WorkerAddress
from maxcode.evaluate.cluster.utilisation import Doing, Utilisation

POLL_S = 0.25
REST_S = 2.0
GROUPS_KEPT = 256
MAX_FAILURES = 3  # failed tasks in a row after which a node retires


@final
@dataclass(slots=True)
class Slot:
    """A slot as the driver sees it.

    ``admitted``: keys of the problems that it admitted.
    ``failures``: tasks in a row that failed there.
    """

    worker: WorkerAddress
    admitted: set[str] = field(default_factory=set)
    busy: bool = False
    failures: int = 0
    rests_until: float = 0.0

    @property
    def name(self) -> str:
        return self.worker.name


@final
@dataclass(frozen=True, slots=True)
class TaskPlacement:
    """The preferred slot of a task.

    ``key``: prefer a slot that has admitted this problem.
    ``group``: go to the slot of this group; empty: no group.
    ``avoided``: names of slots to avoid while there are others.
    """

    key: str
    group: str = ""
    avoided: frozenset[str] = frozenset()


@final
class Dispatcher:
    """The slots of an engine.  ``patience_s``: how long a task waits while there is no slot at all."""

    def __init__(
        self,
        engine: Engine,
        use: Utilisation,
        patience_s: float = 60.0,
        say: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._engine = engine
        self._use = use
        self._patience_s = patience_s
        self._say = say
        self._slots: dict[str, Slot] = {}
        self._builders: dict[str, tuple[WorkerAddress, anyio.CapacityLimiter]] = {}
        self._retired: dict[str, str] = {}
        self._groups: dict[str, str] = {}
        self._changed = anyio.Event()
        self._broken: MachineError | None = None
        self._alone_since = time.monotonic()

    # ---------------------------------------------------------------------------------------------------- workers

    async def watch(self) -> None:
        """Update the slots from the engine; runs as long as the cluster is open."""
        while True:
            try:
                self._see(await self._engine.places())
            except MachineError as error:
                self._broken = error
                self._wake()
                return
            await anyio.sleep(POLL_S)

    def _see(self, workers: Collection[WorkerAddress]) -> None:
        there = {worker.name: worker for worker in workers}
        for name in [name for name, slot in self._slots.items() if there.get(name) != slot.worker]:
            if not self._slots[name].busy:  # a busy slot is removed by the task that uses it
                self._gone(name)
        for worker in there.values():
            if worker.slots and worker.name not in self._slots and worker.name not in self._retired:
                self._slots[worker.name] = Slot(worker)
                self._use.set(worker.name, "waiting")
                self._wake()
        known = dict(self._builders.values())  # by worker: one that has restarted has another address
        self._builders = {
            name: (worker, known.get(worker) or anyio.CapacityLimiter(worker.builds))
            for name, worker in there.items()
            if worker.builds
        }
        if self._slots:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > self._patience_s:
            self._wake()

    def _gone(self, name: str) -> None:
        del self._slots[name]
        self._use.set(name, "lost")
        self._groups = {group: slot for group, slot in self._groups.items() if slot != name}
        self._wake()

    def lost(self, slot: Slot) -> None:
        """The slot's worker is gone; a new one may replace it."""
        self.tell(f"node {slot.name} was lost")
        if self._slots.get(slot.name) is slot:
            self._gone(slot.name)

    def retire(self, slot: Slot, why: str) -> None:
        """The slot gets no more tasks."""
        self._retired[slot.name] = why
        self.tell(f"node {slot.name} retired: {why}")
        if self._slots.pop(slot.name, None) is not None:
            self._groups = {group: name for group, name in self._groups.items() if name != slot.name}
            self._use.set(slot.name, "retired")
        self._wake()

    def rest(self, slot: Slot, why: str) -> None:
        """The slot gets no task for REST_S seconds."""
        slot.rests_until = time.monotonic() + REST_S
        self.tell(f"node {slot.name} refused to measure: {why}")

    def failed(self, slot: Slot, why: str) -> None:
        """A task failed there for a reason other than its program; after MAX_FAILURES in a row the slot retires."""
        slot.failures += 1
        self.tell(f"node {slot.name} failed: {why}")
        if slot.failures >= MAX_FAILURES:
            self.retire(slot, f"{slot.failures} tasks in a row failed there; the last: {why}")

    @property
    def has_no_slot(self) -> bool:
        """True if no slot is left."""
        return not self._slots

    def tell(self, words: str) -> None:
        """Report an event of the cluster, and pass it to the ``say`` callback."""
        self._use.event(words)
        self._say(words)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    # ------------------------------------------------------------------------------------------------------- slots

    @asynccontextmanager
    async def slot(self, placement: TaskPlacement) -> AsyncIterator[Slot]:
        """Reserve a slot; waits for one.  MachineError if there is none for ``patience_s``."""
        while (slot := self._free(placement)) is None:
            self._require_some()
            with anyio.move_on_after(POLL_S):
                await self._changed.wait()
        slot.busy = True
        try:
            yield slot
        finally:
            slot.busy = False
            if self._slots.get(slot.name) is slot:
                self._use.set(slot.name, "resting" if slot.rests_until > time.monotonic() else "waiting")
            self._wake()

    def _free(self, placement: TaskPlacement) -> Slot | None:
        if placement.group and (name := self._groups.get(placement.group)) is not None:
            if name not in placement.avoided or placement.avoided >= self._slots.keys():
                return self._slots[name] if self._may(self._slots[name]) else None
            del self._groups[placement.group]  # the whole group moves to another slot
        free = [slot for slot in self._slots.values() if self._may(slot)]
        others = [slot for slot in free if slot.name not in placement.avoided]
        if not others and any(name not in placement.avoided for name in self._slots):
            return None  # wait for a busy slot that is not avoided
        if not (free := others or free):
            return None
        homes = list(self._groups.values())
        best = min(free, key=lambda slot: (placement.key not in slot.admitted, homes.count(slot.name), slot.name))
        if placement.group:
            best = min(free, key=lambda slot: (homes.count(slot.name), slot.name))
            self._groups[placement.group] = best.name
            while len(self._groups) > GROUPS_KEPT:  # old groups do not come back: groups follow each other
                del self._groups[next(iter(self._groups))]
        return best

    def _may(self, slot: Slot) -> bool:
        return not slot.busy and slot.rests_until <= time.monotonic()

    def _require_some(self) -> None:
        if self._broken is not None:
            raise MachineError(f"the cluster's engine failed: {self._broken}")
        if self._slots or time.monotonic() - self._alone_since <= self._patience_s:
            return
        gone = "; ".join(f"{name}: {why}" for name, why in self._retired.items())
        raise MachineError(
            f"the cluster has had no benchmark node for {self._patience_s:.0f} s{f' ({gone})' if gone else ''}; start "
            "some (`maxcode cluster node`), or raise `patience_s` in the site file"
        )

    def waited(self, slot: Slot, seconds: float) -> None:
        """Count so many seconds of the slot's task as waiting for the timing lane of its machine."""
        self._use.waited(slot.name, seconds)

    async def carry(self, slot: Slot, task: bytes, doing: Doing) -> bytes:
        """Run the task on the slot.  NodeLost if its worker goes; the slot is then removed."""
        self._use.set(slot.name, doing)
        try:
            return await self._engine.carry(task, slot.worker, False)
        except NodeLost:
            self.lost(slot)
            raise

    # ------------------------------------------------------------------------------------------------------ builds

    async def build(self, task: bytes) -> bytes | None:
        """Build on a worker with cores reserved for builds; None if there is none, or it was lost."""
        if not self._builders:
            return None
        worker, limiter = min(
            self._builders.values(), key=lambda pair: pair[1].statistics().tasks_waiting / pair[0].builds
        )
        self._use.building(1)
        try:
            async with limiter:
                return await self._engine.carry(task, worker, True)
        except NodeLost:
            return None
        finally:
            self._use.building(-1)
