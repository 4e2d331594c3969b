"""Figures of a measured candidate: the speed-up with its interval, and what was measured beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, final

from maxcode.core.types import Clock, Interval, Timing
from maxcode.core.types.measured import RaceVerdict

SLOWER: frozenset[RaceVerdict] = frozenset({"slower", "slower_by_wall", "more"})


@final
@dataclass(frozen=True, slots=True)
class Speedup:
    """Time of the original over time of the candidate (above 1 = faster), with its interval; see ``types.Timing``.

    ``significant``  whether the race proved it
    ``clock``        what was counted: seconds of CPU, seconds by the wall clock, or instructions
    ``pairs``        pairs of runs that were timed; 0 if nothing was faster than the original
    ``pressure``     CPU pressure in per cent; None if the kernel does not report it
    ``seconds``      of the original and of the candidate, the median pass over the timed inputs; None for instructions
    ``slower``       whether fresh pairs prove it slower
    ``fresh_pairs``  whether it was measured again on fresh pairs after the candidate was selected
    """

    value: float
    low: float
    high: float
    confidence: float
    significant: bool
    clock: Clock
    pairs: int
    pressure: float | None = None
    slower: bool = False
    fresh_pairs: bool = False
    seconds: tuple[float, float] | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the gain is proved: significant on fresh pairs."""
        return self.fresh_pairs and self.significant

    @property
    def interval(self) -> Interval:
        """The ratio with its interval."""
        return Interval(self.value, self.low, self.high, self.confidence)

    def __str__(self) -> str:
        return str(self.interval)

    def table(self) -> dict[str, Any]:
        """The fields in JSON."""
        fields = asdict(self)
        del fields["seconds"]  # for people; the samples are in the record
        del fields["fresh_pairs"]  # the contract has it outside the speed-up, as ``confirmed``
        return fields


@final
@dataclass(frozen=True, slots=True)
class Rate:
    """1e9 floating-point operations or bytes per second, with the interval, and ``share`` (0..1) of the machine's
    highest rate."""

    value: float
    low: float
    high: float
    roofline: float
    share: float

    def line(self, unit: str) -> str:
        return (
            f"{self.value:.1f} {unit} [{self.low:.1f}, {self.high:.1f}], {self.share:.0%} of the roofline "
            f"({self.roofline:.0f})"
        )


@final
@dataclass(frozen=True, slots=True)
class StartSeconds:
    """Seconds for import, ``__init__`` and what the first round takes beyond later ones."""

    original: float
    candidate: float


@final
@dataclass(frozen=True, slots=True)
class BeyondCalls:
    """Calls on values beyond those drawn; ``skipped``: the reference has no steady answer."""

    compared: int
    skipped: int

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped where the reference has no steady answer" if self.skipped else ""
        return f"{self.compared} calls compared on values beyond those drawn{skipped}"


@final
@dataclass(frozen=True, slots=True)
class OtherFigures:
    """Other figures, measured with the speed-up; None if not measured.

    ``gflops``         rate of a function, if the problem gives the operations of a call
    ``gbytes``         rate of memory traffic, if the problem gives the bytes of a call
    ``single``         speed-up on one core by CPU time, if the goal is wall time
    ``seconds``        speed-up by CPU time, if the goal is instructions
    ``instructions``   ratio of instructions, if they were counted to break a tie
    ``over_compiled``  speed-up over torch.compile of the reference, for modules
    ``start_s``        of a module: seconds for import, ``__init__`` and first calls, of both; not in the speed-up
    ``beyond``         of a module: calls on values beyond those drawn that were compared, and that were skipped
    ``degenerate``     why a module could pass without doing the work
    """

    gflops: Rate | None = None
    gbytes: Rate | None = None
    single: Interval | None = None
    seconds: Speedup | None = None
    instructions: Interval | None = None
    over_compiled: Interval | None = None
    start_s: StartSeconds | None = None
    beyond: BeyondCalls | None = None
    degenerate: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        if self.gflops is not None:
            yield f"rate       {self.gflops.line('GFLOPS')}"
        if self.gbytes is not None:
            yield f"memory     {self.gbytes.line('GB/s')}"
        if self.single is not None:
            yield f"one core   {self.single} by CPU time"
        if self.over_compiled is not None:
            yield f"compiled   {self.over_compiled} over torch.compile"
        if self.beyond is not None and self.beyond.compared + self.beyond.skipped:
            yield f"beyond     {self.beyond}"

    def table(self) -> dict[str, Any]:
        """The fields in JSON, without those that are None."""
        fields: dict[str, Any] = {**asdict(self), "seconds": self.seconds.table() if self.seconds else None}
        return {key: value for key, value in fields.items() if value not in (None, ())}


def speedup_of(timing: Timing) -> Speedup:
    s, pressure = timing.speedup, timing.pressure
    return Speedup(
        s.value,
        s.low,
        s.high,
        s.confidence,
        timing.significant,
        timing.clock,
        timing.pairs,
        pressure,
        timing.confirmed and timing.verdict in SLOWER,
        timing.confirmed,
        timing.median_seconds,
    )


def figures_of(timing: Timing) -> OtherFigures:
    return OtherFigures(
        gflops=_rate(timing.gflops, timing.roofline),
        gbytes=_rate(timing.gbytes, timing.memory_roof),
        single=timing.single,
        seconds=speedup_of(timing.seconds) if timing.seconds is not None else None,
        instructions=timing.instructions,
        over_compiled=timing.over_compiled,
        start_s=StartSeconds(*timing.start_s) if timing.start_s is not None else None,
        beyond=BeyondCalls(*timing.beyond) if timing.beyond is not None else None,
        degenerate=timing.degenerate,
    )


def _rate(rate: Interval | None, roof: float) -> Rate | None:
    return Rate(rate.value, rate.low, rate.high, roof, rate.value / roof) if rate is not None and roof else None
