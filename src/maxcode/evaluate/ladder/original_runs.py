"""Counts the runs of the original in its admission, and names the steps after them, for whoever waits.  Where no runs
are counted, it adds up what takes the time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(slots=True)
class OriginalRuns:
    """The runs so far: wall seconds of each that has ended, by test.

    ``planned``: about how many there will be; 0: not known, and nothing is counted.
    ``step``: what goes on beside or after the planned runs, in words; empty: these runs.
    """

    planned: int = 0
    step: str = ""
    ended: list[tuple[str, float]] = field(default_factory=list)
    _spent: dict[str, float] = field(default_factory=dict, init=False)
    _open: list[tuple[str, float]] = field(default_factory=list, init=False)
    _began: float | None = field(default=None, init=False)

    @property
    def number(self) -> int:
        """That of the run under way, or of the last one."""
        return len(self.ended) + (self._began is not None)

    @property
    def now_s(self) -> float:
        """Seconds of the run under way; 0 between runs."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    @property
    def run_s(self) -> float:
        """Seconds of one run: the mean of those that have ended; of the first one, what it has taken so far."""
        past = [seconds for _, seconds in self.ended]
        return sum(past) / len(past) if past else self.now_s

    @property
    def all_s(self) -> float:
        """Seconds of all planned runs, those that have ended included; the first run may still take longer."""
        past = sum(seconds for _, seconds in self.ended)
        current = 0.0 if self._began is None else max(self.run_s, self.now_s)
        return past + current + max(0, self.planned - self.number) * self.run_s

    @property
    def least_s(self) -> float:
        """Seconds that all runs take at least, if none is shorter than the shortest of two tests; before there are two,
        what the runs have taken."""
        past = [seconds for _, seconds in self.ended]
        known = sum(past) + self.now_s
        left = max(0, self.planned - self.number)
        return known + left * min(past) if len({test for test, _ in self.ended}) > 1 else known

    @property
    def left_s(self) -> float:
        return max(0.0, self.all_s - sum(seconds for _, seconds in self.ended) - self.now_s)

    @property
    def longest(self) -> str:
        """The test that took longest; empty before the end of the first run."""
        return max(self.ended, key=lambda one: one[1], default=("", 0.0))[0]

    @property
    def spent(self) -> tuple[str, float]:
        """What has taken most of the time where no runs are counted, in words, and its seconds; empty if not known."""
        spent = dict(self._spent)
        for words, began in self._open:
            spent[words] = spent.get(words, 0.0) + time.monotonic() - began
        return max(spent.items(), key=lambda one: one[1], default=("", 0.0))

    @contextmanager
    def spending(self, words: str) -> Iterator[None]:
        """The block is spent on this."""
        self._open.append(now := (words, time.monotonic()))
        try:
            yield
        finally:
            self._open.remove(now)
            self._spent[words] = self._spent.get(words, 0.0) + time.monotonic() - now[1]

    @contextmanager
    def run(self, test: str) -> Iterator[None]:
        began = self._began = time.monotonic()
        yield  # a run that is cancelled has not ended
        self._began = None
        self.ended.append((test, time.monotonic() - began))


_runs: ContextVar[OriginalRuns | None] = ContextVar("maxcode original runs", default=None)


@contextmanager
def counted_in(runs: OriginalRuns) -> Iterator[None]:
    """Counts the runs of an admission in the block, and what else takes its time."""
    token = _runs.set(runs)
    try:
        yield
    finally:
        _runs.reset(token)


def plan(count: int) -> None:
    """Says about how many runs of the original will be made; those before are not counted."""
    if (runs := _runs.get()) is not None:
        runs.planned = count


def step(words: str) -> None:
    """Says what goes on after the planned runs."""
    if (runs := _runs.get()) is not None:
        runs.step = words


@contextmanager
def original_run(test: str) -> Iterator[None]:
    """The block is a run on this test, of the original if an admission is counted."""
    runs = _runs.get()
    if runs is None or not runs.planned:
        yield
        return
    with runs.run(test):
        yield


@contextmanager
def spending(words: str) -> Iterator[None]:
    """The block, which has no counted runs, is spent on this, in words."""
    if (runs := _runs.get()) is None:
        yield
        return
    with runs.spending(words):
        yield
