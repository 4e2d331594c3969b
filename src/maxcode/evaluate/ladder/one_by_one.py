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
        if count < self.least or count >= _MOST * self.least or not self._is_worth():
            return count >= self.least
        little = sum(saved <= _LITTLE * median(self._saved(self.several)) for saved in self._saved(self.alone))
        return sign_test_p(min(little, count - little), count) <= _LEVEL

    def doubt(self) -> str:
        """The doubt about a winner that saves little alone beside what it saves together; empty if it does not."""
        saved, saved_alone = (median(self._saved(pairs)) / self.calls for pairs in (self.several, self.alone))
        if not self._is_worth() or saved_alone > _LITTLE * saved:
            return ""
        return (
            f"it saves {saved * 1e6:.2f} us a call where several calls come together, but {saved_alone * 1e6:.2f} us "
            "where each must be over before the next one comes: it may work on several calls together"
        )

    def _is_worth(self) -> bool:
        return median(self._saved(self.several)) >= _WORTH * median(pair.total("original") for pair in self.several)

    def _saved(self, pairs: Sequence[Pair]) -> list[float]:
        return [pair.total("original") - pair.total("candidate") for pair in pairs]
