"""What the slots of a run did with their time, and why they were idle.  Pure but for the clock it is given.

Busy is admitting, evaluating, settling, building.  Idle is waiting (no candidate: a model or the search is at work),
builds (candidates are being built elsewhere), lane (another maxcode timed on its machine), resting (others used its
cores), retired, lost, or absent (before it came).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, final

Doing = Literal[
    "admitting",
    "evaluating",
    "settling",
    "building",
    "waiting",
    "builds",
    "lane",
    "resting",
    "retired",
    "lost",
    "absent",
]
BUSY: tuple[Doing, ...] = ("admitting", "evaluating", "settling", "building")
_SAID: Mapping[str, str] = {
    "waiting": "nothing to time",
    "builds": "waiting for builds",
    "lane": "waiting for the timing lane",
}


@final
@dataclass(frozen=True, slots=True)
class SlotUse:
    """Seconds of one slot by what it did; ``orders``: how many it carried out."""

    name: str
    orders: int
    seconds: dict[str, float]

    @property
    def busy_s(self) -> float:
        """Seconds at work."""
        return sum(self.seconds.get(what, 0.0) for what in BUSY)

    @property
    def share(self) -> float:
        """Of its time, 0..1."""
        return self.busy_s / (sum(self.seconds.values()) or 1.0)

    def __str__(self) -> str:
        idle = {what: seconds for what, seconds in self.seconds.items() if what not in BUSY and seconds >= 0.05}
        reasons = ", ".join(f"{_SAID.get(what, what)} {seconds:.0f} s" for what, seconds in sorted(idle.items()))
        told = f"{self.name}: busy {self.busy_s:.0f} s ({self.share:.0%}), {self.orders} orders"
        return f"{told}; idle: {reasons}" if reasons else told


@final
@dataclass(frozen=True, slots=True)
class Report:
    """The slots of a run, and what happened to its nodes, in words."""

    wall_s: float
    slots: tuple[SlotUse, ...]
    events: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Of the time of all slots in which they were at work, 0..1."""
        whole = sum(sum(one.seconds.values()) for one in self.slots)
        return sum(one.busy_s for one in self.slots) / (whole or 1.0)

    def as_table(self) -> dict[str, Any]:
        """It as plain values for JSON."""
        slots = [{**asdict(one), "busy_s": round(one.busy_s, 3), "share": round(one.share, 4)} for one in self.slots]
        return {"wall_s": round(self.wall_s, 3), "share": round(self.share, 4), "slots": slots, "events": self.events}

    def lines(self) -> list[str]:
        """It for people."""
        return [*map(str, self.slots), *self.events]


@final
@dataclass(slots=True)
class _Account:
    doing: Doing
    since: float
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    orders: int = 0


@final
class Utilisation:
    """Keeps the accounts of the slots; every second of a slot is in one of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._accounts: dict[str, _Account] = {}
        self._building = 0
        self._events: list[str] = []

    def set(self, slot: str, doing: Doing) -> None:
        """From now on the slot does this; "waiting" becomes "builds" while candidates are being built."""
        if doing == "waiting" and self._building:
            doing = "builds"
        now = self._clock()
        if slot not in self._accounts:
            self._accounts[slot] = _Account("absent", self._began)
        account = self._accounts[slot]
        account.seconds[account.doing] += now - account.since
        account.orders += doing in BUSY
        account.doing, account.since = doing, now

    def waited(self, slot: str, seconds: float) -> None:
        """So much of what the slot is at was waiting for the lane of its machine."""
        account = self._accounts[slot]
        account.seconds[account.doing] -= seconds
        account.seconds["lane"] += seconds

    def building(self, change: int) -> None:
        """So many more candidates (or fewer) are being built."""
        before, self._building = self._building, self._building + change
        if bool(before) == bool(self._building):
            return
        for slot, account in self._accounts.items():
            if account.doing in ("waiting", "builds"):
                self.set(slot, "waiting")

    def event(self, words: str) -> None:
        """Something happened to a node; the same words are kept once."""
        if words not in self._events:
            self._events.append(words)

    def report(self) -> Report:
        """The accounts as they stand now."""
        for slot, account in self._accounts.items():
            if account.doing not in BUSY:
                self.set(slot, account.doing)
        slots = []
        for name, account in sorted(self._accounts.items()):
            seconds = dict(account.seconds)
            if account.doing in BUSY:
                seconds[account.doing] = seconds.get(account.doing, 0.0) + self._clock() - account.since
            slots.append(SlotUse(name, account.orders, {what: round(s, 3) for what, s in seconds.items() if s > 0}))
        return Report(self._clock() - self._began, tuple(slots), tuple(self._events))
