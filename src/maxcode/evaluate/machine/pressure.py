"""CPU pressure during a timing, and what it means for the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from maxcode.core.types import Problem, Timing
from maxcode.evaluate.machine.machine import BUSY_STAMP, stalled_s

WALL_AT_MOST = 10.0  # per cent; above it the wall clock measures the load of the machine
CPU_STAMPED = 50.0  # per cent; CPU time excludes waiting, but shared caches widen intervals


def watched() -> Callable[[], float | None]:
    """Start to watch; the returned function gives the CPU pressure since then, in per cent.

    None if the kernel does not report it.  It is not the kernel's average over 10 s, which at the start of a race still
    contains the builds before it.
    """
    began, before = time.monotonic(), stalled_s()

    def pressure() -> float | None:
        now = stalled_s()
        if before is None or now is None:
            return None
        return round(min(100.0, 100 * (now - before) / max(time.monotonic() - began, 1e-9)), 1)

    return pressure


def is_too_busy(problem: Problem, pressure: float | None) -> bool:
    """True if a race by the wall clock must not count; the user can allow it (``shared_cores``)."""
    busy = pressure is not None and pressure > WALL_AT_MOST
    return busy and problem.goal == "wall" and not problem.spec.shared_cores


def stamps(timing: Timing) -> Iterator[str]:
    """Warnings about a timing under CPU pressure."""
    if timing.pressure is None:
        return
    held = f"while it was timed some task waited for a processor {timing.pressure:.0f} % of the time"
    if timing.verdict == "noisy":
        yield (
            f"{held}, so its wall time ({timing.speedup}) is not counted as faster: stop other work, reserve cores "
            "(a cpuset), let it use no more threads than cores, or allow that with --shared-cores"
        )
    elif timing.clock == "wall" and timing.pressure > WALL_AT_MOST:
        yield f"{held}: wall time on shared cores"
    elif timing.clock == "cpu" and timing.pressure > CPU_STAMPED:
        yield f"{BUSY_STAMP}: {held}, so intervals are wider"
