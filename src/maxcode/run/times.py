"""What the wall seconds of one command went to; waits for other maxcode runs are apart."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import final

from maxcode.sandbox.lanes import OtherRuns

ADMISSION, SEARCH, CONFIRMATION, CERTIFICATE = "admission", "search", "confirmation", "certificate"
WAITS = "waits"
_LEAST_S = 0.5  # a shorter part is not worth a word


@final
class Times:
    """Adds up seconds by part.  One part at a time is running, so the sum is what the clock on the wall shows.

    ``others``: the waits, counted while it is open in ``sandbox.lanes.counting``.
    """

    def __init__(self) -> None:
        self.others = OtherRuns()
        self._part, self._since, self._waited = ADMISSION, time.monotonic(), 0.0
        self._seconds: dict[str, float] = {}

    @property
    def part(self) -> str:
        """What the command is at."""
        return self._part

    def turn_to(self, part: str) -> str:
        """From now on seconds count for ``part``; the part before."""
        now, waited = time.monotonic(), self.others.seconds
        passed = now - self._since - (waited - self._waited)
        self._seconds[self._part] = self._seconds.get(self._part, 0.0) + passed
        before, self._part = self._part, part
        self._since, self._waited = now, waited
        return before

    @contextmanager
    def spent_on(self, part: str) -> Iterator[None]:
        """Seconds of the block count for ``part``, and afterwards again for the part before."""
        before = self.turn_to(part)
        try:
            yield
        finally:
            self.turn_to(before)

    def split(self) -> dict[str, float]:
        """Seconds by part so far, the waits last."""
        self.turn_to(self._part)
        found = {**self._seconds, WAITS: self._waited}
        return {part: round(seconds, 1) for part, seconds in found.items() if seconds >= _LEAST_S}


def in_words(split: Mapping[str, float]) -> str:
    """The whole, and its parts."""
    names = {WAITS: "waits for other maxcode runs"}
    parts = ", ".join(f"{names.get(part, part)} {seconds:.0f} s" for part, seconds in split.items())
    return f"{sum(split.values()):.0f} s: {parts}"
