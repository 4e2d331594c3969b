"""How a program is put to work on one input, and when its output is right: what the rungs ask in place of the kind.

``WholeRun`` is one run of a process that reads the input; ``function/function.py`` has ``Shape``, calls of a function.
A kind of problem whose programs are put to work in another way has a class of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

from maxcode.core.types import Checker, Limits
from maxcode.evaluate.ladder.checker import difference


class Workload(Protocol):
    """What one run of an artefact on one input consists of."""

    @property
    def memory_mb(self) -> int:
        """Memory that it is given beside what the problem's limits say."""
        ...

    def output_mb(self, limits: Limits) -> int:
        """How much it may write."""
        ...

    @property
    def called(self) -> bool:
        """Whether process 1 of the session calls it and holds the clock; else the whole process is timed."""
        ...

    @property
    def floor_s(self) -> float:
        """Seconds below which it is too short to be timed."""
        ...

    @property
    def longer(self) -> str:
        """What a user can give so that it takes longer."""
        ...

    @property
    def is_timed(self) -> bool:
        """Whether it may be timed; else programs are verified on it, no more."""
        ...

    @property
    def flop(self) -> int:
        """Floating-point operations, 0 where they are not known."""
        ...

    @property
    def moved(self) -> int:
        """Bytes that any right program must move, 0 where they are not known."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds of calls it has."""
        ...

    @property
    def held(self) -> int:
        """The bytes of the arrays of a round."""
        ...

    async def difference(self, checker: Checker, expected: bytes, output: bytes) -> str | None:
        """How an output differs from the expected one, in words; None where it is accepted."""
        ...

    def incomparable(self, expected: bytes) -> str | None:
        """Why nothing can be compared with this output of the original, in words; None where it can."""
        ...


@final
@dataclass(frozen=True, slots=True)
class WholeRun:
    """A process that reads an input and writes an answer, which the problem's checker accepts or not."""

    memory_mb: int = 0
    called: bool = False
    floor_s: float = 0.020  # below this a process's start is a visible share of its time
    longer: str = "larger inputs, or a generator that makes them"
    is_timed: bool = True
    flop: int = 0
    moved: int = 0
    rounds: int = 1
    held: int = 0

    def output_mb(self, limits: Limits) -> int:
        return limits.output_mb

    async def difference(self, checker: Checker, expected: bytes, output: bytes) -> str | None:
        return difference(checker, expected, output)

    def incomparable(self, expected: bytes) -> str | None:
        return None


WHOLE_RUN = WholeRun()
