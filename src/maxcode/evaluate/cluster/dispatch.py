"""Who gets which order: slots, affinity, losses, rest and retirement.  The same for every engine.

A slot takes one order at a time.  Orders of one group (a GRPO group) go to one slot as long as it lives; others go to a
free one, to one that has admitted the problem if there is any.  A slot whose cores others use rests and is asked again;
one that drifts, or whose machine is unsafe or broken, retires with a message.
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
STRIKES = 3  # broken orders in a row that a node is allowed


@final
@dataclass(slots=True)
class Slot:
    """A slot as the driver sees it.  ``admitted``: keys of problems; ``strikes``: orders in a row that broke there."""

    place: WorkerAddress
    admitted: set[str] = field(default_factory=set)
    busy: bool = False
    strikes: int = 0
    rests_until: float = 0.0

    @property
    def name(self) -> str:
        return self.place.name


@final
@dataclass(frozen=True, slots=True)
class TaskPlacement:
    """Where an order would like to go: to the slot of its ``group`` (empty: any), else one that has admitted ``key``;
    never to one of ``avoided`` while there are others."""

    key: str
    group: str = ""
    avoided: frozenset[str] = frozenset()


@final
class Dispatcher:
    """The slots of an engine.  ``patience_s``: how long an order waits while there is no slot at all."""

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

    # ------------------------------------------------------------------------------------------------ who is there

    async def watch(self) -> None:
        """Keep the slots those of the engine; runs as long as the cluster is open."""
        while True:
            try:
                self._see(await self._engine.places())
            except MachineError as error:
                self._broken = error
                self._wake()
                return
            await anyio.sleep(POLL_S)

    def _see(self, places: Collection[WorkerAddress]) -> None:
        there = {place.name: place for place in places}
        for name in [name for name, slot in self._slots.items() if there.get(name) != slot.place]:
            if not self._slots[name].busy:  # whoever uses it finds out for itself
                self._gone(name)
        for place in there.values():
            if place.slots and place.name not in self._slots and place.name not in self._retired:
                self._slots[place.name] = Slot(place)
                self._use.set(place.name, "waiting")
                self._wake()
        self._builders = {
            name: self._builders.get(name, (place, anyio.CapacityLimiter(place.builds)))
            for name, place in there.items()
            if place.builds
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
        """The slot's worker is gone; a new one may come in its place."""
        self.tell(f"node {slot.name} was lost")
        if self._slots.get(slot.name) is slot:
            self._gone(slot.name)

    def retire(self, slot: Slot, why: str) -> None:
        """The slot gets no more orders."""
        self._retired[slot.name] = why
        self.tell(f"node {slot.name} retired: {why}")
        if self._slots.pop(slot.name, None) is not None:
            self._groups = {group: name for group, name in self._groups.items() if name != slot.name}
            self._use.set(slot.name, "retired")
        self._wake()

    def rest(self, slot: Slot, why: str) -> None:
        """The slot gets no order for a while."""
        slot.rests_until = time.monotonic() + REST_S
        self.tell(f"node {slot.name} refused to measure: {why}")

    def strike(self, slot: Slot, why: str) -> None:
        """An order broke there, and not by its program's fault."""
        slot.strikes += 1
        self.tell(f"node {slot.name} failed: {why}")
        if slot.strikes >= STRIKES:
            self.retire(slot, f"{slot.strikes} orders in a row failed there, the last so: {why}")

    @property
    def is_deserted(self) -> bool:
        """Whether no slot is left of those there were."""
        return not self._slots

    def tell(self, words: str) -> None:
        """An event of the cluster, for the report and whoever listens."""
        self._use.event(words)
        self._say(words)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    # ------------------------------------------------------------------------------------------------------- slots

    @asynccontextmanager
    async def slot(self, wish: TaskPlacement) -> AsyncIterator[Slot]:
        """A slot to oneself; waits for one.  MachineError where there has been none for too long."""
        while (slot := self._free(wish)) is None:
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

    def _free(self, wish: TaskPlacement) -> Slot | None:
        if wish.group and (name := self._groups.get(wish.group)) is not None:
            if name not in wish.avoided or wish.avoided >= self._slots.keys():
                return self._slots[name] if self._may(self._slots[name]) else None
            del self._groups[wish.group]  # it moves, and those of it that are still to come with it
        free = [slot for slot in self._slots.values() if self._may(slot)]
        others = [slot for slot in free if slot.name not in wish.avoided]
        if not others and any(name not in wish.avoided for name in self._slots):
            return None  # one that is not to be avoided is only busy
        if not (free := others or free):
            return None
        homes = list(self._groups.values())
        best = min(free, key=lambda slot: (wish.key not in slot.admitted, homes.count(slot.name), slot.name))
        if wish.group:
            best = min(free, key=lambda slot: (homes.count(slot.name), slot.name))
            self._groups[wish.group] = best.name
            while len(self._groups) > GROUPS_KEPT:  # groups come one step after the other
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
        """So much of the slot's order was waiting for the timing lane of its machine."""
        self._use.waited(slot.name, seconds)

    async def carry(self, slot: Slot, order: bytes, doing: Doing) -> bytes:
        """The slot's answer; NodeLost where it goes, which the slots then show."""
        self._use.set(slot.name, doing)
        try:
            return await self._engine.carry(order, slot.place, False)
        except NodeLost:
            self.lost(slot)
            raise

    # ------------------------------------------------------------------------------------------------------ builds

    async def build(self, order: bytes) -> bytes | None:
        """The answer of a worker with cores set apart for building; None where there is none, or it was lost."""
        if not self._builders:
            return None
        place, limiter = min(self._builders.values(), key=lambda one: one[1].statistics().tasks_waiting / one[0].builds)
        self._use.building(1)
        try:
            async with limiter:
                return await self._engine.carry(order, place, True)
        except NodeLost:
            return None
        finally:
            self._use.building(-1)
