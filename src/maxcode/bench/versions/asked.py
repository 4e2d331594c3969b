"""What a user asks ``maxcode race`` for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.two_sided import GUARD, TwoSidedRule
from maxcode.core.types import Clock
from maxcode.errors import InputError

MOST_RUN_S = 3600.0
SHORTEST_MARGIN = 0.001


@final
@dataclass(frozen=True, slots=True)
class RaceAsked:
    """The sides, the command, and how to measure.

    ``base``, ``head``: revisions, folders or files; whole shell commands if ``command`` is empty.
    ``build``: a shell command, run once in a copy of each side.  ``setup``: run before every run, not timed.
    ``read``: FORMAT or FORMAT:PATH of a benchmark tool (``benchmark_rows.py``); empty = the whole process is timed.
    ``seconds``: for all runs of the race.  ``slower_by``: "slower" means by more than this share; None = the guard.
    ``same_sides``: sides that are the same are raced; ``allow_equal``: they are a result, and no error.
    ``trusts_both``: no sandbox.  ``shown``: further folders that the sandbox shows, read-only.
    """

    base: str
    head: str
    command: tuple[str, ...] = ()
    build: str = ""
    setup: str = ""
    stdin: Path | None = None
    read: str = ""
    goal: Clock = "cpu"
    margin: float = 0.02
    slower_by: float | None = None
    pairs: int = 60
    seconds: float = 300.0
    same_output: bool = False
    same_sides: bool = False
    allow_equal: bool = False
    trusts_both: bool = False
    shown: tuple[Path, ...] = ()

    @property
    def rule(self) -> TwoSidedRule:
        """The rule that ends the race; InputError for a margin or a number of pairs that proves nothing."""
        if not SHORTEST_MARGIN <= self.margin <= 1:
            raise InputError(f"--margin {self.margin:.2%} is not between 0.1 % and 100 %; 2 % is usual")
        guard = min(GUARD, self.margin / 2)
        rule = TwoSidedRule(
            margin=self.margin,
            guard=guard,
            slower_guard=guard if self.slower_by is None else self.slower_by,
            most=self.pairs,
        )
        if self.pairs < rule.least:
            raise InputError(f"--pairs {self.pairs} is too few to prove anything; give at least {rule.least}")
        return rule

    @property
    def tool(self) -> str:
        """The benchmark tool of ``read``, or empty."""
        return self.read.partition(":")[0]

    @property
    def run_s(self) -> float:
        """Wall seconds that one run may take: with more, the least number of pairs does not fit."""
        return min(MOST_RUN_S, self.seconds / (3 * self.rule.least))
