"""Makes the timings of a node comparable: whole cores, no other process on them, and a machine that does not drift.

Before and after every timing the node checks who uses its cores.  It measures only if nobody else does, or if sharing
is allowed, and then every result says so.  Every ``EVERY`` jobs the sandbox runs a fixed kernel (``calibration.c``). If
its time has drifted significantly, twice in a row, the node retires.  All bounds are ours.
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
from maxcode.sandbox.sandbox import Mounts, Sandbox

BUSY_AT_MOST = 10.0  # per cent of the node's cores that others may use: interrupts and kernel work
LOOK_S = 0.1  # shortest useful look: the kernel counts in hundredths of a second
LOOK_AGAIN_S = 0.5  # second look: what a search does between two tasks has ended by then
EVERY = 20  # jobs between two calibrations
RUNS = 9  # of the kernel; six and more have a 95 % interval
DRIFT = 0.10  # of its time
_KERNEL = Path(__file__).parent / "calibration.c"
_PRINTS = b"3444138497 49068000 21312\n"
_STAT = Path("/proc/stat")


@final
@dataclass(frozen=True, slots=True)
class Look:
    """One look at the machine.

    ``busy``: per cent of the node's cores in use.
    ``load``: load average.
    ``pressure``: CPU pressure (see ``types.Node``).
    """

    busy: float
    load: float
    pressure: float | None


@final
class Cores:
    """The cores of a slot, and who uses them.  ``ticks``: for each core, busy ticks and all ticks since the start."""

    def __init__(self, cores: frozenset[int], ticks: Callable[[], Mapping[int, tuple[int, int]]] | None = None) -> None:
        self.cores = cores
        self.physical = physical(cores)  # work on a sibling hardware thread slows the node as well
        self._ticks = ticks or _ticks
        self._last: tuple[float, tuple[int, int]] | None = None

    def leave(self) -> None:
        """The node's own work has just ended; later use of the cores is by others."""
        self._last = (time.monotonic(), self._sum())

    async def look(self, least_s: float = LOOK_S) -> Look:
        """How others used the cores since ``leave``, over at least ``least_s`` seconds.

        The node must not use the cores itself meanwhile.
        """
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
        """The reason not to measure now; empty if there is none."""
        if look.busy <= BUSY_AT_MOST:
            return ""
        return (
            f"others use {look.busy:.0f} % of cores {shown(self.physical)}, which a node needs alone: stop them, "
            "reserve the cores (a cpuset, --exclusive), or allow it with --shared-cores"
        )

    def _sum(self) -> tuple[int, int]:
        found = self._ticks()
        ours = [found[core] for core in self.physical if core in found]
        return sum(one[0] for one in ours), sum(one[1] for one in ours)


def _ticks() -> Mapping[int, tuple[int, int]]:
    """For each core: busy ticks and all ticks.  Time that a hypervisor stole counts as busy."""
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
        """True if the kernel must run before the next job."""
        return self.latest is None or self._jobs >= self._every

    def job(self) -> None:
        """Count one job."""
        self._jobs += 1

    def add(self, found: Interval) -> bool:
        """Keep a new measurement; returns True if it shows drift."""
        self._jobs = 0
        self.first, self.latest = self.first or found, found
        return drifted(self.first, found, self._drift)

    def drift_text(self) -> str:
        """The drift as text."""
        assert self.first is not None
        assert self.latest is not None
        change = self.latest.value / self.first.value - 1
        return (
            f"the calibration kernel takes {1e3 * self.latest.value:.1f} ms; it took {1e3 * self.first.value:.1f} ms "
            f"({change:+.0%}, twice in a row): figures from before and after cannot be compared; look for throttling "
            "or another load on the machine, then restart the node"
        )


def drifted(first: Interval, now: Interval, bound: float) -> bool:
    """True if the kernel's time has changed by more than ``bound``: the whole interval lies outside."""
    return now.low > first.value * (1 + bound) or now.high < first.value * (1 - bound)


async def calibrated(sandbox: Sandbox) -> Interval:
    """CPU seconds of the calibration kernel now: the median of its runs with its interval.

    Built with the same flags everywhere (no -march), so nodes can be compared.  MachineError if it fails.
    """
    argv = ("gcc", "-std=gnu17", "-O2", "/src/calibration.c", "-o", "/tmp/out")
    async with sandbox.session([], Mounts({"calibration.c": _KERNEL.read_text()})) as session:
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
