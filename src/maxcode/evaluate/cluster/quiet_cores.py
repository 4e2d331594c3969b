"""What makes a figure of a benchmark node worth having: whole cores, nobody else on them, and a node that stays itself.

Before and after every timing the node looks who uses its cores.  It measures only where nobody does, unless it is told
to share, which every result says.  Every ``EVERY`` jobs a fixed kernel is run (``calibration.c``), in the sandbox like
everything else; where its time has drifted for sure, and does so again at once, the node retires.  All bounds are ours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio

from maxcode.core.stats import median_interval
from maxcode.core.types import Interval
from maxcode.errors import MachineError
from maxcode.evaluate.cluster.cores import physical, shown
from maxcode.evaluate.machine.machine import pressure
from maxcode.sandbox.jobs import Blob, Job
from maxcode.sandbox.lanes import timing_lane
from maxcode.sandbox.sandbox import Sandbox

BUSY_AT_MOST = 10.0  # per cent of our cores that others may use: interrupts and the kernel's own
LOOK_S = 0.1  # the least time over which that is seen; the kernel counts in hundredths of a second
LOOK_AGAIN_S = 0.5  # where others were seen: what a search does between two orders has ended by then
EVERY = 20  # jobs between two calibrations
RUNS = 9  # of the kernel; six and more have a 95 % interval
DRIFT = 0.10  # of its time
_KERNEL = Path(__file__).parent / "calibration.c"
_PRINTS = b"3444138497 49068000 21312\n"
_STAT = Path("/proc/stat")


@final
@dataclass(frozen=True, slots=True)
class Look:
    """One look at the machine: ``busy``, per cent of our cores in use; load average; pressure (see ``types.Node``)."""

    busy: float
    load: float
    pressure: float | None


@final
class Cores:
    """The cores that a slot holds, and who uses them.  ``ticks``: of every core, busy and in all, since the start."""

    def __init__(self, cores: frozenset[int], ticks: Callable[[], Mapping[int, tuple[int, int]]] | None = None) -> None:
        self.cores = cores
        self.physical = physical(cores)  # what runs on a sibling of our hardware threads slows us as well
        self._ticks = ticks or _ticks
        self._last: tuple[float, tuple[int, int]] | None = None

    def leave(self) -> None:
        """Our own work on the cores has just ended: what is seen from now on is the work of others."""
        self._last = (time.monotonic(), self._sum())

    async def look(self, least_s: float = LOOK_S) -> Look:
        """How the cores were used since we left them, ``least_s`` at least; only while we do not use them ourselves."""
        if self._last is None:
            self.leave()
        assert self._last is not None
        began, before = self._last
        await anyio.sleep(max(0.0, began + least_s - time.monotonic()))
        now = self._sum()
        share = (now[0] - before[0]) / max(1, now[1] - before[1])
        self.leave()
        return Look(round(100 * share, 1), round(os.getloadavg()[0], 2), pressure())

    def why_not(self, look: Look) -> str:
        """Why nothing may be measured now; empty where it may."""
        if look.busy <= BUSY_AT_MOST:
            return ""
        return (
            f"others use {look.busy:.0f} % of cores {shown(self.physical)}, which must be its alone: stop them, "
            "reserve the cores (a cpuset, --exclusive), or accept it with --shared-cores"
        )

    def _sum(self) -> tuple[int, int]:
        found = self._ticks()
        ours = [found[core] for core in self.physical if core in found]
        return sum(one[0] for one in ours), sum(one[1] for one in ours)


def _ticks() -> Mapping[int, tuple[int, int]]:
    """By core: ticks in which it was busy, and all ticks; time stolen by a hypervisor counts as busy."""
    found = {}
    for line in _STAT.read_text().splitlines():
        name, *words = line.split()
        if name.startswith("cpu") and name != "cpu":
            counts = [int(word) for word in words[:8]]  # guests are counted in user time already
            idle = counts[3] + counts[4]
            found[int(name[3:])] = (sum(counts) - idle, sum(counts))
    return found


# -------------------------------------------------------------------------------------------------------- calibration


@final
class Calibration:
    """The kernel's time on this node: the first, the latest, and whether it has drifted.

    Runs nothing itself: ``calibrated`` does.
    """

    def __init__(self, every: int = EVERY, drift: float = DRIFT) -> None:
        self._every, self._drift = every, drift
        self._jobs = 0
        self.first: Interval | None = None
        self.latest: Interval | None = None

    @property
    def due(self) -> bool:
        """Whether the kernel is to be run before the next job."""
        return self.latest is None or self._jobs >= self._every

    def job(self) -> None:
        """One more job was done."""
        self._jobs += 1

    def add(self, found: Interval) -> bool:
        """Keep a new measurement; whether it shows drift."""
        self._jobs = 0
        self.first, self.latest = self.first or found, found
        return drifted(self.first, found, self._drift)

    def told(self) -> str:
        """The drift in words."""
        assert self.first is not None
        assert self.latest is not None
        change = self.latest.value / self.first.value - 1
        return (
            f"the calibration kernel takes {1e3 * self.latest.value:.1f} ms and took {1e3 * self.first.value:.1f} ms "
            f"({change:+.0%}, twice in a row): figures from before and after cannot be compared; look for throttling "
            "or a neighbour, then start the node anew"
        )


def drifted(first: Interval, now: Interval, bound: float) -> bool:
    """Whether the kernel's time has changed by more than ``bound`` for sure: the whole interval says so."""
    return now.low > first.value * (1 + bound) or now.high < first.value * (1 - bound)


async def calibrated(sandbox: Sandbox) -> Interval:
    """CPU seconds of the calibration kernel here, now: the median of its runs with its interval.

    Built with the same flags everywhere (no -march), so that nodes can be compared.  MachineError when it fails.
    """
    argv = ("gcc", "-std=gnu17", "-O2", "/src/calibration.c", "-o", "/tmp/out")
    async with sandbox.session([], sources={"calibration.c": _KERNEL.read_text()}) as session:
        built = await session.run(Job(argv, cpu_s=30, collect=("/tmp/out",)))
    if "/tmp/out" not in built.files:
        raise MachineError(f"the calibration kernel does not build: {built.stderr.decode(errors='replace')[:300]}")
    seconds = []
    with Blob.of(built.files["/tmp/out"]) as artefact:
        async with timing_lane(), sandbox.session([artefact], bare=True) as session:
            for _ in range(RUNS):
                ran = await session.run(Job(("{artefact}",), artefact))
                if not ran.ok or ran.stdout != _PRINTS:
                    raise MachineError(f"the calibration kernel failed ({ran.ending} {ran.code}, {ran.stdout[:60]!r})")
                seconds.append(ran.cpu_s)
    return median_interval(seconds)
