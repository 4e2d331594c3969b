"""The cells of a bench: one for every problem, method and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class BenchRun:
    """One run of a bench."""

    problem: str
    method: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its run folder."""
        return f"{self.problem}-{self.method.replace('/', '-')}-{self.seed}"


def cells(problems: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> tuple[BenchRun, ...]:
    """Every combination, in the order of the runs: seed, then problem, then method.

    Methods are compared on the problems and seeds that all of them have finished, so a stopped bench has a table too.
    """
    return tuple(BenchRun(problem, method, seed) for seed in seeds for problem in problems for method in methods)
