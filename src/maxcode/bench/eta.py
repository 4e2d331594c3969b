"""How long a bench still takes; constant work per cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import final

from maxcode.bench.bench_runs import BenchRun


@final
class Pace:
    """The time that the open cells will take: each as long as its problem's cells took on average so far, those of a
    problem not seen yet as long as all did."""

    def __init__(self, ahead: Iterable[BenchRun]) -> None:
        self._ahead = Counter(cell.problem for cell in ahead)
        self._taken: defaultdict[str, float] = defaultdict(float)
        self._done: Counter[str] = Counter()
        self._unseen = self._ahead.total()
        self._known = 0.0  # the sum of _expected over the problems seen
        self._all = 0.0

    def took(self, cell: BenchRun, seconds: float) -> None:
        """A cell took so long, in this process or before it."""
        self._known -= self._expected(cell.problem)
        if not self._done[cell.problem]:
            self._unseen -= self._ahead[cell.problem]
        self._done[cell.problem] += 1
        self._taken[cell.problem] += seconds
        self._all += seconds
        self._known += self._expected(cell.problem)

    def leave(self, cell: BenchRun) -> None:
        """A cell is no longer ahead: it is done, or has failed."""
        self._known -= self._expected(cell.problem)
        self._ahead[cell.problem] -= 1
        self._unseen -= not self._done[cell.problem]
        self._known += self._expected(cell.problem)

    @property
    def seconds_left(self) -> float | None:
        """For all cells ahead; None before anything is known."""
        done = self._done.total()
        return None if not done else max(0.0, self._known + self._unseen * self._all / done)

    def _expected(self, problem: str) -> float:
        done = self._done[problem]
        return self._ahead[problem] * self._taken[problem] / done if done else 0.0
