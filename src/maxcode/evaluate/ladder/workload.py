"""How a program runs on one input, and when its output is right; the rungs ask this instead of the kind.

``WholeRun`` is one run of a process that reads the input; ``Shape`` in ``function/function.py`` is calls of a function.
A kind of problem whose programs run in another way has its own class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, final

from maxcode.core.types import Checker, Limits
from maxcode.evaluate.ladder.checker import difference


class Workload(Protocol):
    """What one run of an artefact on one input consists of."""

    @property
    def memory_mb(self) -> int:
        """Memory that the run gets in addition to the problem's limit, in MB."""
        ...

    def output_mb(self, limits: Limits) -> int:
        """How much it may write, in MB."""
        ...

    @property
    def called(self) -> bool:
        """True if process 1 of the session calls the program and measures the time; else the whole process is timed."""
        ...

    @property
    def floor_s(self) -> float:
        """Seconds below which a run is too short to be timed."""
        ...

    @property
    def longer(self) -> str:
        """What a user can give to make runs longer."""
        ...

    @property
    def is_timed(self) -> bool:
        """Whether it may be timed; else programs are verified on it, no more."""
        ...

    @property
    def flop(self) -> int:
        """Floating-point operations; 0 if unknown."""
        ...

    @property
    def moved(self) -> int:
        """Bytes that any right program must move; 0 if unknown."""
        ...

    @property
    def rounds(self) -> int:
        """Number of rounds of calls."""
        ...

    @property
    def held(self) -> int:
        """Bytes of the arrays of a round."""
        ...

    @property
    def size(self) -> str:
        """The size of a call in words; empty for a whole run."""
        ...

    def answers(self, output: bytes) -> Iterator[bytes]:
        """What each call of an output gave; nothing for a whole run."""
        ...

    async def difference(self, checker: Checker, expected: bytes, output: bytes) -> str | None:
        """The difference of an output from the expected one, as text; None if it is accepted."""
        ...

    def incomparable(self, expected: bytes) -> str | None:
        """Why no output can be compared with this output of the original; None if it can."""
        ...


@final
@dataclass(frozen=True, slots=True)
class WholeRun:
    """A process that reads an input and writes an output, which the problem's checker judges."""

    memory_mb: int = 0
    called: bool = False
    floor_s: float = 0.020  # below this the start of the process is a visible part of its time
    longer: str = "larger inputs, or a generator that makes them"
    is_timed: bool = True
    flop: int = 0
    moved: int = 0
    rounds: int = 1
    held: int = 0
    size: str = ""

    def answers(self, output: bytes) -> Iterator[bytes]:
        return iter(())

    def output_mb(self, limits: Limits) -> int:
        return limits.output_mb

    async def difference(self, checker: Checker, expected: bytes, output: bytes) -> str | None:
        return difference(checker, expected, output)

    def incomparable(self, expected: bytes) -> str | None:
        return None


WHOLE_RUN = WholeRun()
