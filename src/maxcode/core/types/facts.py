"""What is known of a problem before the first proposal, beside its text: for prompts.  Nothing is scored with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class TimedInput:
    """An input that is timed, without its name or content, because policies may not see them.

    ``seconds``: of the original, for all its ``calls``.  ``bytes``: its size, of a function that of the arrays of a
    call; 0 if unknown.  ``what``: the size of a function, or a program's input in rough figures; ``flop``:
    floating-point operations of a call; 0 if unknown.
    """

    seconds: float
    bytes: int = 0
    what: str = ""
    calls: int = 1
    flop: int = 0


UNCOUNTED_AT_MOST = 0.05  # of a profile; with more of it, a share bounds nothing


@final
@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function of a repository where the benchmark of base spends its time.

    ``share``: of all that was seen (0 to 1), in the function itself and in the library code that it calls.
    ``callers``: who calls it, most frequent first; ``called_from``: their files, in the same order, empty for those
    outside the repository.  ``tests``: the test files that name it; None if others have that name too.
    ``uncounted``: the share of library code whose callers are not known; it is in no function's share.
    ``samples``: the number of samples of the whole profile; 0 if it counts or measures instead.
    """

    file: str
    name: str
    line: int
    share: float
    callers: tuple[str, ...] = ()
    tests: tuple[str, ...] | None = ()
    uncounted: float = 0.0
    called_from: tuple[str, ...] = ()
    samples: int = 0

    @property
    def bound(self) -> float | None:
        """The largest speed-up that this function and the library code that it calls can give (Amdahl), at most 1000;
        None if too much library code is not counted."""
        if self.uncounted > UNCOUNTED_AT_MOST:
            return None
        return min(1000.0, 1 / max(1 - self.share - self.uncounted, 1e-6))


@final
@dataclass(frozen=True, slots=True)
class BaseSeconds:
    """Wall seconds of base of a repository: its build and its tests (0 without them), and one run of its benchmark."""

    build: float
    tests: float
    run: float


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """All fields are empty or zero if unknown.

    ``timed``: slowest first; ``raced``: how many of them the races of a search run, the first among them; 0 for all.
    ``start_s``, ``byte_s``: CPU seconds of a process that does nothing, and to read one byte of standard input.
    ``peak_gflops``: the measured peak of one core.
    ``near_gbs``, ``far_gbs``: 1e9 bytes per second that one core moves from the nearest cache, and from memory.
    ``format``: the inferred format of the inputs, line by line; ``ranges``: what the numbers of the timed inputs are,
    which is no limit; ``ascii``: whether all given inputs hold nothing but ASCII.
    ``growth``: how the original's time grows with the input.
    ``calls``: how it is called, and the state of the caches then.
    ``threads``: the number of threads that a candidate may use; 0 if the kind says nothing of it.
    ``native_flags``: the flags of native code that a module compiles; ``libraries``: the versions of what it runs with.
    ``moved``: the bytes that a call of a module takes and gives.
    ``hot``: where the benchmark of a repository spends its time, the costliest first; ``benchmark``: (path, text) of
    the files of the repository that its command names.
    ``outside``: the share of the benchmark's time in base that nothing in the files to edit holds or calls; None if
    unknown.  ``tools``: the compilers, flags and interpreters that base is really built and run with, in words.
    ``base``: what base takes; None: not a repository.
    """

    timed: tuple[TimedInput, ...] = ()
    start_s: float = 0.0
    byte_s: float = 0.0
    peak_gflops: float = 0.0
    format: tuple[str, ...] = ()
    growth: str = ""
    calls: str = ""
    threads: int = 0
    native_flags: str = ""
    hot: tuple[HotFunction, ...] = ()
    benchmark: tuple[tuple[str, str], ...] = ()
    near_gbs: float = 0.0
    far_gbs: float = 0.0
    raced: int = 0
    ranges: str = ""
    ascii: bool = False
    libraries: str = ""
    moved: int = 0
    outside: float | None = None
    tools: tuple[str, ...] = ()
    base: BaseSeconds | None = None

    def floor_s(self, count: int | None = None) -> float:
        """The CPU seconds of processes that only read the timed inputs, or the first ``count`` of them; 0 if
        unknown."""
        if not self.start_s:
            return 0.0
        return sum(self.start_s + one.bytes * self.byte_s for one in self.timed[:count])
