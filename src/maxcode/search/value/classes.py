"""The paper's f_r: speed-ups to classes; class 0 = wrong, or not faster than the original.

With the paper's three edges there are five classes: 1 = (1, s1], 2 = (s1, s2], 3 = (s2, s3], 4 = above s3.  Its edges
look like quantiles of the speed-ups observed on each data set, so quantiles are the default here.  The paper's own
numbers are presets.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from maxcode.errors import InputError, unknown

QUANTILE = "quantile"
RELATIVE = "problem"  # separate quantiles for every problem
OF_PAPER = "paper"  # of every suite its own edges, as the paper gives them
CLASSES = 5  # the number of classes, of quantiles and of presets


@final
@dataclass(frozen=True, slots=True)
class Edges:
    """``bounds``: the upper ends of all classes but the first and the last, rising, each above 1."""

    name: str
    bounds: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip((1.0, *self.bounds), self.bounds, strict=False))
        if not self.bounds or not rising or not all(map(math.isfinite, self.bounds)):
            raise InputError(f"the edges {list(self.bounds)} do not rise from above 1; give rising speed-ups")

    @property
    def classes(self) -> int:
        return len(self.bounds) + 2

    def classify(self, speedup: float) -> int:
        """f_r of a speed-up (0 for anything wrong)."""
        return 0 if speedup <= 1 else 1 + bisect.bisect_left(self.bounds, speedup)

    def position(self, speedup: float) -> float:
        """The class with a fraction that rises with the speed-up, by its logarithm within a class; the last class is as
        wide as the one before it.  Ours: with it a speed-up can be ranked and compared with an expected class."""
        if speedup <= 1:
            return 0.0
        ends = (1.0, *self.bounds, self.bounds[-1] ** 2 / (1.0, *self.bounds)[-2])
        at = min(self.classify(speedup), self.classes - 1)
        share = math.log(speedup / ends[at - 1]) / math.log(ends[at] / ends[at - 1])
        return min(at - 0.5 + share, float(self.classes - 1))


PRESETS = {
    "kernelbench-l1": Edges("kernelbench-l1", (1.40, 3.20, 4.75)),
    "kernelbench-l2": Edges("kernelbench-l2", (1.20, 1.70, 2.15)),
    "pie": Edges("pie", (1.25, 1.80, 2.60)),
}


def quantile_edges(speedups: Iterable[float]) -> Edges:
    """Edges that share the speed-ups above 1 out evenly among the classes 1 to 4.  If edges would be equal, the
    distinct speed-ups are used instead.  InputError if there are too few of those."""
    faster = sorted(one for one in speedups if one > 1)
    for values in (faster, sorted(set(faster))):
        ends = [math.ceil(len(values) * part / (CLASSES - 1)) for part in range(1, CLASSES - 1)]
        bounds = sorted({values[end - 1] for end in ends}) if values else []  # an edge is in the class below it
        if len(bounds) == CLASSES - 2:
            return Edges(QUANTILE, tuple(bounds))
    raise InputError(
        f"{len(faster)} speed-ups above 1, {len(set(faster))} of them different, give no quantile edges; "
        f"give more runs, of a method with branches such as cuda-llm+maxcode, or --edges {' | '.join(PRESETS)}"
    )


def papers(suite: str) -> Edges:
    """The paper's edges of a suite; InputError for a suite that it has none for."""
    if suite not in PRESETS:
        raise InputError(f"the paper has no edges for {suite}, only for {', '.join(PRESETS)}; give other --edges")
    return PRESETS[suite]


def preset(name: str) -> Edges:
    """The paper's edges by name; InputError with the nearest spelling for an unknown name."""
    if name not in PRESETS:
        raise unknown("kind of edges", name, [QUANTILE, RELATIVE, OF_PAPER, *PRESETS])
    return PRESETS[name]
