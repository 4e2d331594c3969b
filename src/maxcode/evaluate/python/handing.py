"""What handing over costs at least: rounds of calls that do nothing, behind a driver that nobody has changed.

A candidate shares its process with the driver.  It may change it so that its arguments are made when no clock runs, or
never; then its calls take less than calls that do nothing, on the same arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import final

from maxcode.evaluate.ladder.race import Side
from maxcode.evaluate.rounds.round import RoundFailed, answered
from maxcode.sandbox.sandbox import Blob, Calls, Ran

LEAST_SHARE = 0.75  # of the CPU time of calls that do nothing; two runs of them differ by less


@final
@dataclass(frozen=True, slots=True)
class Handing:
    """CPU time of the rounds of each side over that of calls that do nothing; what is above 1 counts as 1."""

    shares: dict[Side, list[float]] = field(default_factory=dict)

    def add(self, idle: Ran, found: Mapping[Side, Ran]) -> None:
        """Another round, on the same arguments."""
        for name, ran in found.items():
            self.shares.setdefault(name, []).append(min(1.0, ran.cpu_s / idle.cpu_s))

    def check(self) -> None:
        """``RoundFailed`` where a side needs less than it can."""
        least = LEAST_SHARE * fmean(self.shares.get("original", [1.0]))
        for name, shares in self.shares.items():
            if name != "original" and fmean(shares) < least:
                raise RoundFailed(
                    name,
                    f"its calls take {fmean(shares):.0%} of the CPU time that handing over their arguments takes for "
                    "calls that do nothing: it changes how arguments or results are handed over",
                    cheats=True,
                )


@final
@dataclass(frozen=True, slots=True)
class Idle:
    """The process whose calls do nothing, in one session, and what is known of its rounds."""

    calls: Calls
    handing: Handing

    async def round(self, inputs: Blob, limits: tuple[float, float], found: Mapping[Side, Ran], counts: bool) -> None:
        """A round beside those of the sides.  ``counts``: whether all processes are warm."""
        ran = answered("original", await self.calls.round(inputs, *limits))
        if counts:
            self.handing.add(ran, found)
