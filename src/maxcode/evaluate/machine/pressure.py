"""How much others wanted the processors while something was timed, and what follows for the figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from maxcode.core.types import Problem, Timing
from maxcode.evaluate.machine.machine import BUSY_STAMP, stalled_s

WALL_AT_MOST = 10.0  # per cent; above it the wall clock says how busy the machine was
CPU_STAMPED = 50.0  # processor time is not waited for, but caches are shared and intervals widen


def watched() -> Callable[[], float | None]:
    """Begin to watch; what is returned says, when called, in how many per cent of the time since then some task of the
    machine waited for a processor.  None where the kernel does not say.

    Not the kernel's average over 10 s: at the start of a race that still knows the builds before it.
    """
    began, before = time.monotonic(), stalled_s()

    def pressure() -> float | None:
        now = stalled_s()
        if before is None or now is None:
            return None
        return round(min(100.0, 100 * (now - before) / max(time.monotonic() - began, 1e-9)), 1)

    return pressure


def is_too_busy(problem: Problem, pressure: float | None) -> bool:
    """Whether a race by the wall clock must not count; the user can take the risk (``shared_cores``)."""
    busy = pressure is not None and pressure > WALL_AT_MOST
    return busy and problem.goal == "wall" and not problem.spec.shared_cores


def stamps(timing: Timing) -> Iterator[str]:
    """What must be said beside a figure that was measured under pressure."""
    if timing.pressure is None:
        return
    held = f"while it was timed some task waited for a processor {timing.pressure:.0f} % of the time"
    if timing.verdict == "noisy":
        yield (
            f"{held}, so its wall time ({timing.speedup}) is not counted as faster: stop other work, reserve cores "
            "(a cpuset), let it use no more threads than cores, or accept that with --shared-cores"
        )
    elif timing.clock == "wall" and timing.pressure > WALL_AT_MOST:
        yield f"{held}: wall time on shared cores"
    elif timing.clock == "cpu" and timing.pressure > CPU_STAMPED:
        yield f"{BUSY_STAMP}: {held}, so intervals are wider"
