"""What each slot of a run did with its time, and why it was idle.

A slot is busy while it admits, evaluates, settles or builds.  It is idle in one of these ways:

waiting: no candidate is ready, because a model or the search is working
builds: candidates are being built on other cores
lane: another maxcode process was timing on the same machine
resting: others used its cores
retired, lost, or absent (before it joined)
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
    """Seconds of one slot by activity.  ``orders``: number of tasks that it carried out (a key of ``cluster.json``)."""

    name: str
    orders: int
    seconds: dict[str, float]

    @property
    def busy_s(self) -> float:
        """Seconds at work."""
        return sum(self.seconds.get(what, 0.0) for what in BUSY)

    @property
    def share(self) -> float:
        """The busy part of its time, 0..1."""
        return self.busy_s / (sum(self.seconds.values()) or 1.0)

    def __str__(self) -> str:
        idle = {what: seconds for what, seconds in self.seconds.items() if what not in BUSY and seconds >= 0.05}
        reasons = ", ".join(f"{_SAID.get(what, what)} {seconds:.0f} s" for what, seconds in sorted(idle.items()))
        text = f"{self.name}: busy {self.busy_s:.0f} s ({self.share:.0%}), {self.orders} tasks"
        return f"{text}; idle: {reasons}" if reasons else text


@final
@dataclass(frozen=True, slots=True)
class Report:
    """The slots of a run, and the events of its nodes as text."""

    wall_s: float
    slots: tuple[SlotUse, ...]
    events: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The busy part of the time of all slots, 0..1."""
        whole = sum(sum(one.seconds.values()) for one in self.slots)
        return sum(one.busy_s for one in self.slots) / (whole or 1.0)

    def as_table(self) -> dict[str, Any]:
        """The report as plain values for JSON."""
        slots = [{**asdict(one), "busy_s": round(one.busy_s, 3), "share": round(one.share, 4)} for one in self.slots]
        return {"wall_s": round(self.wall_s, 3), "share": round(self.share, 4), "slots": slots, "events": self.events}

    def lines(self) -> list[str]:
        """The report as text, one line for each slot and event."""
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
    """Adds up the time of slots by activity; every second of a slot counts once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._accounts: dict[str, _Account] = {}
        self._building = 0
        self._events: list[str] = []

    def set(self, slot: str, doing: Doing) -> None:
        """The slot does this from now on.  "waiting" becomes "builds" while candidates are being built."""
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
        """Count so many seconds of the slot's current activity as waiting for the timing lane of its machine."""
        account = self._accounts[slot]
        account.seconds[account.doing] -= seconds
        account.seconds["lane"] += seconds

    def building(self, change: int) -> None:
        """The number of candidates being built changes by ``change``."""
        before, self._building = self._building, self._building + change
        if bool(before) == bool(self._building):
            return
        for slot, account in self._accounts.items():
            if account.doing in ("waiting", "builds"):
                self.set(slot, "waiting")

    def event(self, words: str) -> None:
        """Add an event of a node; equal events are kept once."""
        if words not in self._events:
            self._events.append(words)

    def report(self) -> Report:
        """The times up to now."""
        now, slots = self._clock(), []
        for name, account in sorted(self._accounts.items()):
            seconds = dict(account.seconds)
            seconds[account.doing] = seconds.get(account.doing, 0.0) + now - account.since
            slots.append(SlotUse(name, account.orders, {what: round(s, 3) for what, s in seconds.items() if s > 0}))
        return Report(now - self._began, tuple(slots), tuple(self._events))
