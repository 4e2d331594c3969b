"""Predicts the time that a bench still takes; constant work per cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import final

from maxcode.bench.bench_runs import BenchRun


@final
class Pace:
    """The time of the open cells: each takes as long as the average cell of its problem, or of all problems if its
    problem has no finished cell."""

    def __init__(self, ahead: Iterable[BenchRun]) -> None:
        self._ahead = Counter(cell.problem for cell in ahead)
        self._taken: defaultdict[str, float] = defaultdict(float)
        self._done: Counter[str] = Counter()
        self._unseen = self._ahead.total()
        self._known = 0.0  # the sum of _expected over the problems seen
        self._all = 0.0

    def took(self, cell: BenchRun, seconds: float) -> None:
        """Adds the time of a finished cell, of this process or an earlier one."""
        self._known -= self._expected(cell.problem)
        if not self._done[cell.problem]:
            self._unseen -= self._ahead[cell.problem]
        self._done[cell.problem] += 1
        self._taken[cell.problem] += seconds
        self._all += seconds
        self._known += self._expected(cell.problem)

    def leave(self, cell: BenchRun) -> None:
        """Removes a cell that is finished or has failed."""
        self._known -= self._expected(cell.problem)
        self._ahead[cell.problem] -= 1
        self._unseen -= not self._done[cell.problem]
        self._known += self._expected(cell.problem)

    @property
    def seconds_left(self) -> float | None:
        """Seconds for all open cells; None before the first cell is finished."""
        done = self._done.total()
        return None if not done else max(0.0, self._known + self._unseen * self._all / done)

    def _expected(self, problem: str) -> float:
        done = self._done[problem]
        return self._ahead[problem] * self._taken[problem] / done if done else 0.0
