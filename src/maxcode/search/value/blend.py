"""The mean of boosted trees and ``busiest-loop``.

The two err on different candidates: trees know which changes helped on other problems, the busiest loop shows the
effect on this one.  On held-out problems their mean orders the candidates of a state better than either alone
(benchmarks/RESULTS.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from maxcode.search.value.baselines import BusiestLoop
from maxcode.search.value.situation import Situation
from maxcode.search.value.trees import Trees


class Blend(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="blend"):
    """The mean of both expected classes; that of the trees alone if no machine code is known."""

    trees: Trees
    loop: BusiestLoop

    @property
    def reads(self) -> str:
        """The version of the features that the trees were fitted on."""
        return self.trees.reads

    def needs(self) -> str:
        """The version that the trees can read."""
        return self.trees.needs()

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The expected class of every situation."""
        both = zip(situations, self.trees.expected(situations), self.loop.expected(situations), strict=True)
        return [learnt if one.original_code is None else (learnt + promised) / 2 for one, learnt, promised in both]
