"""The clocks of a round on a GPU, and what is made of them.  Pure.

The figure is the host's wall clock, read by the shim, from the first call until the process stands still with its
outputs on the host, less what that copy takes by itself: the least that the reference's own process, which is trusted,
has measured of it in this race.  It is taken from both sides alike, and what is left counts for no less than a share of
it: both err towards a ratio that is too small.  CUDA events, which live in the candidate's process, are believed in
nothing: they must agree with the host's clock, and where they do not, work is being hidden from one of the two.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import final

EVENTS_SHARE, EVENTS_S = 0.10, 0.001  # how far events may be from the host's clock: a share of it, and seconds
LEAST_OF_COPY = 0.05  # what is left without the copy counts for no less than this share of it
EARLY_TIMES, EARLY_S = 1.5, 0.005  # how much longer than the reference's the part before the clock may be
SLOWED = 1.5  # times that the reference may take beside a candidate of what it takes alone

_REPORT = struct.Struct("<2d")
REPORT_BYTES = _REPORT.size


@final
@dataclass(frozen=True, slots=True)
class Reported:
    """A round's answer: ``outputs`` of all slots, seconds by CUDA events, and of copying such outputs by itself."""

    outputs: bytes
    events_s: float
    copy_s: float


def reported(answer: bytes, slots: int) -> Reported:
    """The answer of a round apart: behind the outputs of each slot there is a report, of which the first counts."""
    each = len(answer) // slots
    parts = [answer[at : at + each - REPORT_BYTES] for at in range(0, each * slots, each)]
    events_s, copy_s = _REPORT.unpack(answer[each - REPORT_BYTES : each])
    return Reported(b"".join(parts), events_s, copy_s)


def disagreement(wall_s: float, events_s: float) -> str:
    """What is wrong with the two clocks of a round, with both figures; empty where they agree."""
    if math.isfinite(events_s) and abs(wall_s - events_s) <= EVENTS_SHARE * wall_s + EVENTS_S:
        return ""
    return (
        f"CUDA events say {events_s * 1e3:.3f} ms of a round that took {wall_s * 1e3:.3f} ms by the host's clock "
        f"(they may be {EVENTS_SHARE:.0%} and {EVENTS_S * 1e3:g} ms apart): work is hidden from one of them"
    )


def without_copy(wall_s: float, copy_s: float) -> float:
    """Seconds of a round without the copy of its outputs to the host."""
    return max(wall_s - copy_s, LEAST_OF_COPY * copy_s)


def early(prepared_s: float, reference_s: float) -> str:
    """What is wrong with how long the part before the clock took beside the reference's; empty where nothing is."""
    if prepared_s <= EARLY_TIMES * reference_s + EARLY_S:
        return ""
    return (
        f"taking its inputs to the GPU took {prepared_s * 1e3:.1f} ms, {reference_s * 1e3:.1f} ms for the reference: "
        "it works before its clock is started"
    )


def slowed(alone_s: float, beside_s: float) -> str:
    """What is wrong with the reference's seconds beside a candidate; empty where nothing is."""
    if beside_s <= SLOWED * alone_s:
        return ""
    return (
        f"the reference takes {beside_s * 1e3:.3f} ms a call beside it, and {alone_s * 1e3:.3f} ms alone: something is "
        "left running on the GPU (or other programs use it)"
    )
