"""Profiles a module by operator: torch.profiler inside the sandbox, on random inputs.

For diagnosis only: nothing here is ever a timing, and a candidate can print any profile of itself.
"""

from __future__ import annotations

import math

import msgspec

from maxcode.core.types import Hotspot
from maxcode.evaluate.module.sides import ModuleSide, SideStarter

OUTSIDE = "outside of torch's operators (native code, Python)"
SPOTS_KEPT = 12
_LEAST = 0.005


class _Said(msgspec.Struct, frozen=True):
    """Output of the driver's role ``profile``: (operator, own seconds, calls), and the seconds of all."""

    operators: list[tuple[str, float, int]]
    seconds: float
    calls: int


async def operators(stage: SideStarter, side: ModuleSide) -> tuple[Hotspot, ...]:
    """The operators where a side spends its time, largest share first; empty if it cannot be profiled."""
    ran = await stage.once("profile", side)
    return shares(ran.stdout) if ran.ok else ()


def shares(said: bytes) -> tuple[Hotspot, ...]:
    """The operators in the last line that the driver printed; empty if it is not a profile."""
    try:
        found = msgspec.json.decode(said.rstrip().rpartition(b"\n")[2], type=_Said)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    known = [(name, seconds) for name, seconds, _ in found.operators if math.isfinite(seconds) and seconds > 0]
    inside = sum(seconds for _, seconds in known)
    total = max(found.seconds, inside)
    if not math.isfinite(total) or total <= 0:
        return ()
    spots = [Hotspot(name[:80], 0, seconds / total) for name, seconds in known]
    spots.append(Hotspot(OUTSIDE, 0, (total - inside) / total))
    kept = sorted((spot for spot in spots if spot.share >= _LEAST), key=lambda spot: -spot.share)
    return tuple(kept[:SPOTS_KEPT])
