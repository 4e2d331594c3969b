"""The clocks of a round on a GPU, and the seconds that count.  Pure.

The seconds come from the host's wall clock.  The shim reads it from the first call until the process stops with its
outputs on the host.  The time to copy such outputs is subtracted: the least time that the process of the trusted
reference measured in this race.  It is subtracted from both sides alike, and the rest counts as at least a share of it:
both make the ratio rather too small.  CUDA events live in the candidate's process and are never trusted alone: they
must agree with the host's clock; if they do not in most timed rounds, work is hidden from one of the two.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

EVENTS_SHARE, EVENTS_S = 0.10, 0.001  # largest difference of events from the host's clock: a share of it, and seconds
LEAST_OF_COPY = 0.05  # the time without the copy counts as at least this share of the copy
EARLY_TIMES, EARLY_S = 1.5, 0.005  # limits of the part before the clock: times the reference's, plus seconds
SLOWED = 1.5  # the reference's time next to a candidate over its time alone, at most

FEWEST = 3  # timed rounds with trouble before a candidate is rejected for it

_REPORT = struct.Struct("<2d")
REPORT_BYTES = _REPORT.size


@final
@dataclass(frozen=True, slots=True)
class Reported:
    """The result of a round: ``outputs`` of all slots, seconds by CUDA events, and seconds of copying such outputs."""

    outputs: bytes
    events_s: float
    copy_s: float


def reported(answer: bytes, slots: int) -> Reported:
    """Split the result of a round: after the outputs of each slot there is a report, of which the first counts."""
    each = len(answer) // slots
    parts = [answer[at : at + each - REPORT_BYTES] for at in range(0, each * slots, each)]
    events_s, copy_s = _REPORT.unpack(answer[each - REPORT_BYTES : each])
    return Reported(b"".join(parts), events_s, copy_s)


def disagreement(wall_s: float, events_s: float) -> str:
    """The disagreement of the two clocks of a round, with both times; empty if they agree."""
    if math.isfinite(events_s) and abs(wall_s - events_s) <= EVENTS_SHARE * wall_s + EVENTS_S:
        return ""
    return (
        f"CUDA events say {events_s * 1e3:.3f} ms of a round that took {wall_s * 1e3:.3f} ms by the host's clock "
        f"(they may be {EVENTS_SHARE:.0%} and {EVENTS_S * 1e3:g} ms apart): work is hidden from one of them"
    )


def is_usual(troubled: Sequence[bool]) -> bool:
    """Whether the trouble of a timed round is the rule and no accident: at least ``FEWEST`` rounds have it, and most
    have.  Fewer cannot move the median of the ratios, which is what counts."""
    return sum(troubled) >= FEWEST and 2 * sum(troubled) > len(troubled)


def without_copy(wall_s: float, copy_s: float) -> float:
    """Seconds of a round without the copy of its outputs to the host."""
    return max(wall_s - copy_s, LEAST_OF_COPY * copy_s)


def early(prepared_s: float, reference_s: float) -> str:
    """Why the part before the clock took too long compared with the reference; empty if it did not."""
    if prepared_s <= EARLY_TIMES * reference_s + EARLY_S:
        return ""
    return (
        f"taking its inputs to the GPU took {prepared_s * 1e3:.1f} ms, {reference_s * 1e3:.1f} ms for the reference: "
        "it works before its clock is started"
    )


def slowed(alone_s: float, beside_s: float) -> str:
    """Why the reference is too slow next to a candidate; empty if it is not."""
    if beside_s <= SLOWED * alone_s:
        return ""
    return (
        f"the reference takes {beside_s * 1e3:.3f} ms a call beside it, and {alone_s * 1e3:.3f} ms alone: something is "
        "left running on the GPU (or other programs use it)"
    )
