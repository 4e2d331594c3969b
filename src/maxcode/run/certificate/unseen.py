"""Whether a winner is as fast on newly generated inputs as on the timed ones.

A winner that stores answers of known inputs is correct everywhere, but fast only on these inputs.  Its speed-up on
newly generated inputs is compared with the claimed one, if possible on inputs that take the original about as long: on
shorter inputs a better algorithm correctly gains less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, final

from maxcode.core.stats import median_interval
from maxcode.core.types import Interval, Timing
from maxcode.core.wording import number_of
from maxcode.evaluate.harness_protocol import FreshRace

PAIRS = 9  # the smallest number whose median has a 95 % interval without the extremes
APART = 2.0  # if the intervals differ by more than this factor, the winner may be fast only on known inputs
SLOWER = 0.98  # a gain on new inputs below this is a loss there
ALIKE = 0.5  # share of the original's time on a timed input; an input that takes so long must gain as much


@final
@dataclass(frozen=True, slots=True)
class FreshInputTiming:
    """The winner on newly generated ``inputs``: paired seconds of original and winner, and the interval of their ratio.
    The interval is None if they were not compared; ``why`` says the reason.  ``needless``: there is nothing to compare,
    because the timed inputs are newly generated too.  ``doubt``: a function is not faster where each call must be over
    before the next is there."""

    interval: Interval | None = None
    samples: tuple[tuple[float, float], ...] = ()
    inputs: tuple[str, ...] = ()
    why: str = ""
    needless: bool = False
    doubt: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether the speed-up holds for the given inputs only, as far as is known."""
        return self.interval is None and not self.needless

    def __str__(self) -> str:
        many = number_of(len(self.inputs), "newly generated input")
        if self.interval is not None:
            return f"{self.interval} on {many}"
        return f"no other inputs are needed: {self.why}" if self.needless else f"not compared: {self.why}"


def timed_on(fresh: FreshRace) -> FreshInputTiming:
    """The result of a race on newly generated inputs."""
    if not fresh.samples:
        return FreshInputTiming(why=fresh.why or fresh.failed, needless=fresh.needless, doubt=fresh.doubt)
    ratios = median_interval([original / winner for original, winner in fresh.samples])
    return FreshInputTiming(ratios, fresh.samples, fresh.inputs, doubt=fresh.doubt)


def is_apart(on_timed: Interval, on_fresh: Interval | None) -> bool:
    """Whether the speed-up on the timed inputs is more than ``APART`` times that on newly generated ones."""
    return on_fresh is not None and on_timed.low > APART * on_fresh.high


def fast_where_given(timing: Timing | None, unseen: FreshInputTiming | None) -> str:
    """The warning if the two intervals are apart; else empty.  A speed-up by count is compared by its seconds."""
    timing = timing if timing is None or timing.seconds is None else timing.seconds
    if timing is None or unseen is None or not is_apart(timing.speedup, unseen.interval):
        return ""
    here, there = _each_ms(timing.samples, timing.inputs), _each_ms(unseen.samples, unseen.inputs)
    return (
        f"it is {unseen} (where the original takes {there:.0f} ms each), but {timing.speedup} on those timed "
        f"({here:.0f} ms each): it may be fast only on what was given; look at its diff"
    )


def is_alike(timing: Timing, unseen: FreshInputTiming) -> bool:
    """Whether the original takes about as long on both, so that the input size explains no difference."""
    timing = timing.seconds or timing
    return _each_ms(unseen.samples, unseen.inputs) >= ALIKE * _each_ms(timing.samples, timing.inputs)


def told(timing: Timing | None, unseen: FreshInputTiming | None) -> Iterator[str]:
    """Warnings: a difference that the size of the inputs may explain."""
    words = fast_where_given(timing, unseen)
    if words and timing is not None and unseen is not None and not is_alike(timing, unseen):
        yield words


def slower_where_new(timing: Timing | None, unseen: FreshInputTiming | None) -> Iterator[str]:
    """The doubt about a winner that is faster on the timed inputs alone, and slower on new ones of about their size."""
    if timing is None or unseen is None or unseen.interval is None or not is_alike(timing, unseen):
        return
    if fast_where_given(timing, unseen):
        return  # which says more
    timed = (timing.seconds or timing).speedup
    if timed.low > 1 and unseen.interval.high < SLOWER:
        yield f"it is slower on new inputs, {unseen}, and {timed} on those timed: the gain is theirs alone"


def doubted(timing: Timing | None, unseen: FreshInputTiming | None) -> Iterator[str]:
    """Doubts: a difference that nothing else explains."""
    words = fast_where_given(timing, unseen)
    if words and timing is not None and unseen is not None and is_alike(timing, unseen):
        yield words


def fields_of(found: FreshInputTiming | None) -> dict[str, Any] | None:
    """The fields for scripts; None if the certificate was refused before this stage."""
    if found is None:
        return None
    interval = asdict(found.interval) if found.interval is not None else {}
    return {**interval, "inputs": len(found.inputs), "told": str(found)}


def _each_ms(samples: tuple[tuple[float, float], ...], inputs: tuple[str, ...]) -> float:
    """Milliseconds of the original per input."""
    return 1e3 * median(original for original, _ in samples) / max(1, len(inputs))
