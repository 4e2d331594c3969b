"""What the machine saw of one candidate, never what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from typing import Literal, final

from maxcode.core.types.problem import Clock

RaceVerdict = Literal[
    "faster", "slower", "tie", "dominated", "slower_by_wall", "noisy", "fewer", "more", "not_in_cpu_time"
]


@final
@total_ordering
class Outcome(Enum):
    """How far a candidate climbed: one ladder for evaluator, critic, reward and report.  Only CORRECT is timed.

    UNVERIFIED: it was built as far as this machine can and never ran, for want of a GPU; no search ever sees it.
    QUARANTINED: nothing is known of it, but that two benchmark nodes were lost while it was on them; it is not run a
    third time, and no policy learns from it.
    """

    UNPARSED = "unparsed"
    REJECTED = "rejected"
    UNBUILT = "unbuilt"
    UNVERIFIED = "unverified"
    QUARANTINED = "quarantined"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    WRONG = "wrong"
    CORRECT = "correct"

    def __lt__(self, other: Outcome) -> bool:
        rungs = list(Outcome)
        return rungs.index(self) < rungs.index(other)


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with its interval: ``low <= value <= high`` holds the truth with ``confidence``.

    Below six pairs no 95 % interval exists without assumptions; ``confidence`` then says what the extremes are worth.
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95

    def __str__(self) -> str:
        return f"{self.value:.2f}x [{self.low:.2f}, {self.high:.2f}]"


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """A paired comparison with the original.

    ``speedup`` is original seconds over candidate seconds (above 1 = faster).  ``significant`` is the anytime-valid
    race's word; ``verdict`` says why it stopped.  ``samples``: one (original, candidate) pair of summed seconds per
    pass.  ``confirmed``: measured on fresh pairs after being selected, built without precompiled headers.
    ``over_rival``: the same ratio against the best at the start of the batch, where that one ran along.  ``elapsed``:
    the speed-up by the wall clock; a program that needs less CPU time but clearly longer is not faster
    ("slower_by_wall").
    ``gflops``: the candidate's rate where the problem says how much work a call is, 1e9 operations a second;
    ``roofline``: the most that this machine can do, in the same unit (one core for the clock ``cpu``).  ``gbytes`` and
    ``memory_roof``: the same of the bytes of a call, 1e9 a second, where the problem gives them.  ``single``:
    where the wall clock is the goal, the speed-up on one core by CPU time, measured beside a confirmation.
    ``pressure``: per cent of the race's time in which some task of the machine waited for a processor, None where the
    kernel does not say; too much of it ends a race by the wall clock as "noisy".
    ``over_compiled``: of a module, the candidate's speed-up over torch.compile of the reference, likewise.
    ``sittings``: how many of the pairs were made in each sitting, where a side is one process for a whole sitting and
    ``speedup`` is of several of those (``stats.interval_of``); empty where it is of pairs.

    With the clock ``instructions`` nothing is timed: ``speedup`` is instructions of the original over those of the
    candidate, ``low`` and ``high`` are the least and the largest of the counts' ratios (no confidence interval, so
    ``confidence`` is 1), ``samples`` are counts, and ``significant`` means "fewer".  ``seconds`` is then the
    confirmation by CPU time; where a large claim does not show in it at all, the verdict is "not_in_cpu_time".
    ``instructions``: the same ratio of counts where it was asked for to break a tie by the clock; None where there
    was none, or where it could not be counted, which ``uncounted`` explains.
    """

    clock: Clock
    speedup: Interval
    significant: bool
    verdict: RaceVerdict
    pairs: int
    confirmed: bool = False
    inputs: tuple[str, ...] = ()
    samples: tuple[tuple[float, float], ...] = ()
    per_input: dict[str, float] = field(default_factory=dict)
    over_rival: Interval | None = None
    elapsed: Interval | None = None
    gflops: Interval | None = None
    roofline: float = 0.0
    gbytes: Interval | None = None
    memory_roof: float = 0.0
    single: Interval | None = None
    pressure: float | None = None
    seconds: Timing | None = None
    instructions: Interval | None = None
    uncounted: str = ""
    over_compiled: Interval | None = None
    sittings: tuple[int, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one test went.  ``detail`` is empty for held-out tests: feedback about those is one bit.  ``pie``: what PIE's
    own checker says of the output, where it is asked beside (``ProgramSpec.checker_beside``)."""

    name: str
    outcome: Outcome
    seconds: float
    seen: bool
    detail: str = ""
    pie: bool | None = None


@final
@dataclass(frozen=True, slots=True)
class Feedback:
    """The raw half of the paper's four-part feedback; contrast with the previous step is made in ``observe``."""

    reasons: tuple[str, ...] = ()
    diagnostics: str = ""  # the compiler's own words, capped
    cases: tuple[CaseResult, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Remark:
    """A compiler's optimisation remark: ``missed`` or ``optimized`` at a line (1-based) of the program; ``used`` says
    what a kernel of a GPU takes (registers, shared memory)."""

    line: int
    kind: Literal["missed", "optimized", "used"]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Hotspot:
    """A share (0..1) of the samples of a profile.  ``line`` is 0 when unknown; time spent inside a library is
    charged to the line of the program that called it, and ``function`` names the library."""

    function: str
    line: int
    share: float


@final
@dataclass(frozen=True, slots=True)
class LoopBody:
    """What one turn of a loop without another one inside does, by the machine code.

    ``depth``: how many loops of its function it stands in, itself counted.  ``work``: results of arithmetic on vector
    registers (floating point, or packed integers); a vector instruction counts as many as it has lanes, a multiply-add
    twice.  ``lanes``: of the widest.  ``sums``: registers that go from turn to turn and are added up in; ``chain``:
    the most additions to one of them.  ``spills``: accesses to the stack.  ``cycles``: how long a turn should
    take a core of our day when all is in the nearest cache (``evaluate/machine_code.py``): an estimate to order by.
    """

    depth: int
    instructions: int
    work: int
    lanes: int
    sums: int
    chain: int
    loads: int
    stores: int
    spills: int
    shuffles: int
    divisions: int
    calls: int
    cycles: float

    @property
    def rate(self) -> float:
        """Work per cycle."""
        return self.work / self.cycles


@final
@dataclass(frozen=True, slots=True)
class MachineCode:
    """What the compiler made of a program, read off its machine code without running it.

    ``loops``: of all its functions; ``bodies``: those without another one inside that compute, the most work in a turn
    first, capped.  All zero: it did not build.
    """

    instructions: int = 0
    loops: int = 0
    bodies: tuple[LoopBody, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Recheck:
    """The second verification of a winner that was too good or looked suspicious: ``triggers`` say why it was made,
    ``inputs`` is the number of extra inputs; where there are none, ``why`` says the reason."""

    triggers: tuple[str, ...]
    inputs: int
    passed: bool
    why: str = ""

    @property
    def result(self) -> str:
        """Its result in words."""
        if not self.inputs:
            return f"not possible: {self.why}"
        return f"{'passed' if self.passed else 'FAILED'} on {self.inputs} extra inputs"

    def __str__(self) -> str:
        return f"{self.result} (triggered by: {'; '.join(self.triggers)})"


@final
@dataclass(frozen=True, slots=True)
class Node:
    """The benchmark node that an evaluation was made on: ``name`` is its host with the cores that it held.

    ``calibration``: seconds of CPU that a fixed kernel took there last, with its interval.  Each of these is a pair,
    just before and just after: ``busy``, per cent of these cores that others used; ``load``, the load average of the
    last minute; ``pressure``, per cent of the last 10 s in which some task of the machine waited for a processor (None
    where the kernel does not say).  ``shared``: it was measured although others used the cores.
    """

    name: str
    cpu: str
    compiler: str
    cores: tuple[int, ...]
    calibration: Interval | None = None
    busy: tuple[float, float] = (0.0, 0.0)
    load: tuple[float, float] = (0.0, 0.0)
    pressure: tuple[float | None, float | None] = (None, None)
    shared: bool = False

    def __str__(self) -> str:
        held = "" if self.calibration is None else f", calibration {self.calibration.value * 1e3:.1f} ms"
        return f"{self.name}, {self.cpu}{held}{', on SHARED cores' if self.shared else ''}"


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the machine saw of one candidate, never what it is worth.  ``measures``: CPU seconds per test; ``harsher``:
    of a winner, None where nothing asked for it; ``node``: of a cluster, None where it was made on this machine;
    ``machine_code``: None where nothing was built, or no machine code."""

    outcome: Outcome
    feedback: Feedback = Feedback()
    timing: Timing | None = None
    remarks: tuple[Remark, ...] = ()
    profile: tuple[Hotspot, ...] = ()
    measures: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    harsher: Recheck | None = None
    node: Node | None = None
    machine_code: MachineCode | None = None

    @property
    def pie_correct(self) -> bool | None:
        """Whether PIE's own checker accepts the output of every test that ran; None where it was not asked, or where
        nothing ran (a program that does not build is not correct by PIE either).  It decides nothing here."""
        said = [case.pie for case in self.feedback.cases]
        return None if not said or None in said else all(said)
