"""A program that is called several times: is it also faster where each call must be over before the next one comes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from maxcode.core.stats import sign_test_p
from maxcode.evaluate.ladder.race import Pair

_WORTH = 0.1  # of the original's time: less is not worth a doubt
_LITTLE = 0.25  # of what it saves where calls come together
_LEVEL = 0.01  # of the sign test that ends it
_MOST = 4  # times the pairs asked for: what is not clear by then is told by the median


@dataclass(slots=True)
class OneByOne:
    """Passes of ``calls`` calls by both sides, where several calls come together (``several``) and where one comes at
    a time (``alone``): ``least`` pairs of each, and more while disturbed passes hide what is saved alone."""

    calls: int
    least: int
    several: list[Pair] = field(default_factory=list)
    alone: list[Pair] = field(default_factory=list)

    def add(self, several: Sequence[Pair], alone: Sequence[Pair]) -> None:
        self.several += several
        self.alone += alone

    def is_over(self) -> bool:
        """Whether these pairs are enough."""
        count = len(self.alone)
        if count < self.least or count >= _MOST * self.least:
            return count >= self.least
        saved, limit = self._saved(self.several), self._worth()
        is_known = median(saved) < limit or _is_clear(self._saved(self.alone), _LITTLE * median(saved))
        return is_known and _is_clear(saved, limit)

    def doubt(self) -> str:
        """The doubt about a winner that saves little alone beside what it saves together; empty if it does not."""
        saved, saved_alone = (median(self._saved(pairs)) for pairs in (self.several, self.alone))
        if saved < self._worth() or saved_alone > _LITTLE * saved:
            return ""
        each, each_alone = saved / self.calls * 1e6, saved_alone / self.calls * 1e6
        return (
            f"it saves {each:.2f} us a call where several calls come together, but {each_alone:.2f} us where each must "
            "be over before the next one comes: it may work on several calls together"
        )

    def _worth(self) -> float:
        return _WORTH * median(pair.total("original") for pair in self.several)

    def _saved(self, pairs: Sequence[Pair]) -> list[float]:
        return [pair.total("original") - pair.total("candidate") for pair in pairs]


def _is_clear(values: Sequence[float], limit: float) -> bool:
    """Whether their median lies on one side of the limit, beyond what disturbs them."""
    below = sum(value < limit for value in values)
    return sign_test_p(min(below, len(values) - below), len(values)) <= _LEVEL
