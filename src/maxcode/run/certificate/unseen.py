"""Whether a winner is as fast on inputs that nobody was shown as on those that it was timed on.

A winner that keeps what it was given is right everywhere and fast there alone.  Its speed-up on made inputs is compared
with the claimed one, on those that take the original about as long where there are any: on shorter ones a better
algorithm honestly gains less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, final

from maxcode.core.stats import median_interval
from maxcode.core.types import Interval, Timing
from maxcode.evaluate.harness_protocol import FreshRace

PAIRS = 9  # the least number of which the median has a 95 % interval without the extremes
APART = 2.0  # times between the intervals, from which on a winner may be fast only on what was given
ALIKE = 0.5  # of the original's time on a timed input: what takes so long must be as much faster


@final
@dataclass(frozen=True, slots=True)
class FreshInputTiming:
    """The winner on ``inputs`` that nobody was shown: paired seconds of the original and of it, and the interval of
    their ratio; no interval, and ``why``, where none takes the original long enough to be timed."""

    interval: Interval | None = None
    samples: tuple[tuple[float, float], ...] = ()
    inputs: tuple[str, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        count = len(self.inputs)
        many = f"{count} newly generated input{'' if count == 1 else 's'}"
        return f"{self.interval} on {many}" if self.interval is not None else f"not compared: {self.why}"


def timed_on(fresh: FreshRace) -> FreshInputTiming:
    """What a race on inputs that nobody was shown says."""
    if not fresh.samples:
        return FreshInputTiming(why=fresh.why)
    ratios = median_interval([original / winner for original, winner in fresh.samples])
    return FreshInputTiming(ratios, fresh.samples, fresh.inputs)


def fast_where_given(timing: Timing | None, unseen: FreshInputTiming | None) -> str:
    """What must be said where the two intervals are apart by more than ``APART``; empty where they are not."""
    if timing is None or unseen is None or unseen.interval is None:
        return ""
    if timing.speedup.low <= APART * unseen.interval.high:
        return ""
    here, there = _each_ms(timing.samples, timing.inputs), _each_ms(unseen.samples, unseen.inputs)
    return (
        f"it is {unseen} (where the original takes {there:.0f} ms each), but {timing.speedup} on those timed "
        f"({here:.0f} ms each): it may be fast only on what was given; look at its diff"
    )


def is_alike(timing: Timing, unseen: FreshInputTiming) -> bool:
    """Whether the original takes about as long on both, so that another size explains no difference."""
    return _each_ms(unseen.samples, unseen.inputs) >= ALIKE * _each_ms(timing.samples, timing.inputs)


def told(timing: Timing | None, unseen: FreshInputTiming | None) -> Iterator[str]:
    """What is said beside a claim, but is no doubt: a difference that another size of the inputs may explain."""
    words = fast_where_given(timing, unseen)
    if words and timing is not None and unseen is not None and not is_alike(timing, unseen):
        yield words


def doubted(timing: Timing | None, unseen: FreshInputTiming | None) -> Iterator[str]:
    """What speaks against a claim: a difference that nothing else explains."""
    words = fast_where_given(timing, unseen)
    if words and timing is not None and unseen is not None and is_alike(timing, unseen):
        yield words


def fields_of(found: FreshInputTiming | None) -> dict[str, Any] | None:
    """What scripts read of it; None where the certificate was refused before."""
    if found is None:
        return None
    interval = asdict(found.interval) if found.interval is not None else {}
    return {**interval, "inputs": len(found.inputs), "told": str(found)}


def _each_ms(samples: tuple[tuple[float, float], ...], inputs: tuple[str, ...]) -> float:
    """Milliseconds of the original on one input."""
    return 1e3 * median(original for original, _ in samples) / max(1, len(inputs))
