"""What the machine measured for one candidate.  Rewards are computed elsewhere (``core/reward.py``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from statistics import median
from typing import Literal, final

from maxcode.core.types.facts import HotFunction
from maxcode.core.types.problem import Clock

RaceVerdict = Literal[
    "faster", "slower", "tie", "same_code", "dominated", "slower_by_wall", "noisy", "fewer", "more", "not_in_cpu_time"
]

WAITING = 0.95  # below this speed-up by the wall clock a candidate is slower, whatever its CPU time


@final
@total_ordering
class Outcome(Enum):
    """How far a candidate got; evaluator, critic, reward and report share this order.  Only CORRECT is timed.

    UNVERIFIED: it was compiled but not run, because there is no GPU; no search ever sees it.
    QUARANTINED: two nodes in a row were lost while they ran it; it is not run again, and no policy learns from it.
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
    """A ratio with its interval: [``low``, ``high``] holds the true ratio with ``confidence``.

    With fewer than six pairs no 95 % interval exists without assumptions; ``low`` and ``high`` are then the extremes,
    and ``confidence`` is their own.
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

    ``speedup``: original seconds over candidate seconds (above 1 = faster).
    ``significant``: whether the anytime-valid race decided; ``verdict`` says why the race stopped, or "same_code" why
    there was none: the compiler makes the same program of the candidate as of the original, so ``speedup`` is 1.
    ``confirmed``: measured on fresh pairs after the selection, in a build without precompiled headers.
    ``samples``: one (original, candidate) pair of summed seconds per pass.
    ``over_rival``: the same ratio against the incumbent, if it ran too.
    ``elapsed``: the speed-up by the wall clock; less CPU time in clearly more wall time gives "slower_by_wall".
    ``gflops``: the candidate's rate in 1e9 operations a second, if the problem states the work of a call.
    ``roofline``: the highest rate of this machine, same unit (of one core for the clock ``cpu``).
    ``gbytes``, ``memory_roof``: the same for the bytes of a call, in 1e9 bytes a second.
    ``single``: with the goal ``wall``, the speed-up on one core by CPU time, measured with a confirmation.
    ``pressure``: per cent of the race's time in which some task of the machine waited for a processor; None if
    unknown.  Too much of it ends a race by the wall clock as "noisy".
    ``over_compiled``: for a module, the speed-up over torch.compile of the reference.
    ``sittings``: the number of pairs in each session, if a side is one process for a whole session and ``speedup`` is
    taken over sessions (``stats.interval_of``); empty if it is taken over pairs.
    ``start_s``: of a module, seconds of the original and of the candidate before the work that is timed: import,
    ``__init__``, and what the first round takes beyond later ones.
    ``beyond``: of a module, how many calls on values beyond those drawn were compared, and how many were skipped
    because the reference has no steady answer.
    ``degenerate``: why a candidate could pass without doing the work.

    With the clock ``instructions`` nothing is timed.  ``speedup`` is instructions of the original over those of the
    candidate; ``low`` and ``high`` are the least and the largest ratio of the counts (no confidence interval, so
    ``confidence`` is 1); ``samples`` are counts; ``significant`` means "fewer".  ``seconds`` is the confirmation by CPU
    time; if a large gain does not show in it at all, the verdict is "not_in_cpu_time".
    ``instructions``: the same ratio of counts, if it was asked for to break a tie by the clock; None without a tie, or
    if it could not be counted, for the reason in ``uncounted``.
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
    start_s: tuple[float, float] | None = None
    beyond: tuple[int, int] | None = None
    degenerate: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether it takes clearly longer by the wall clock, where CPU time decides: it lets others work, or sleeps."""
        return self.clock == "cpu" and self.elapsed is not None and self.elapsed.high < WAITING

    @property
    def median_seconds(self) -> tuple[float, float] | None:
        """Seconds of a pass by the original and by the candidate, each the median; None for counts, or if none were
        kept."""
        if self.clock == "instructions" or not self.samples:
            return None
        return median(one for one, _ in self.samples), median(other for _, other in self.samples)


@final
@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one test.

    ``detail``: empty for held-out tests, because feedback about them is one bit.
    ``pie``: the answer of PIE's own checker, if ``ProgramSpec.checker_beside`` asks for it.
    ``kernelbench``: of a PyTorch module, the answer of KernelBench's own rule (``evaluate/module/official.py``).
    """

    name: str
    outcome: Outcome
    seconds: float
    seen: bool
    detail: str = ""
    pie: bool | None = None
    kernelbench: bool | None = None


@final
@dataclass(frozen=True, slots=True)
class Feedback:
    """The raw half of the paper's four-part feedback; ``observe`` adds the contrast with the previous step."""

    reasons: tuple[str, ...] = ()
    diagnostics: str = ""  # the compiler's own words, capped
    cases: tuple[CaseResult, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Remark:
    """An optimisation remark of a compiler: ``missed`` or ``optimized`` at a line (1-based) of the program.

    ``used`` gives what a GPU kernel takes (registers, shared memory).
    """

    line: int
    kind: Literal["missed", "optimized", "used"]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Hotspot:
    """A share (0..1) of the samples of a profile.  ``line`` is 0 if unknown.

    Time inside a library is charged to the line of the program that called it; ``function`` then names the library.
    ``file``: the file of the program, if that is not its first one; then ``line`` is 0, because readers know the lines
    of the first one.
    ``samples``: the number of samples; 0 if unknown, as in records of version 0.1, or if the profile has none.
    """

    function: str
    line: int
    share: float
    samples: int = 0
    file: str = ""


@final
@dataclass(frozen=True, slots=True)
class LoopBody:
    """One iteration of an innermost loop, read from the machine code.

    ``depth``: the number of loops of its function around it, itself counted.
    ``work``: results of arithmetic on vector registers (floating point or packed integers); an instruction counts once
    for each lane, a multiply-add twice.
    ``lanes``: the lanes of the widest instruction.
    ``sums``: registers that accumulate across iterations; ``chain``: the most additions to one of them.
    ``spills``: accesses to the stack.
    ``cycles``: an estimate for ranking: the cycles of one iteration on a current core if all data is in the nearest
    cache (``evaluate/machine/machine_code.py``).
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
    """The machine code of a program, read without running it.  All fields are zero if it did not build.

    ``loops``: the number of loops of all functions.
    ``bodies``: the innermost loops that compute, those with the most work in an iteration first, capped.
    ``digest``: SHA-256 of all that the build holds apart from names and line numbers: where it is equal, the compiler
    made the same program; empty if unknown.
    """

    instructions: int = 0
    loops: int = 0
    bodies: tuple[LoopBody, ...] = ()
    digest: str = ""


@final
@dataclass(frozen=True, slots=True)
class Recheck:
    """The second verification of a winner that was too good or looked suspicious.

    ``triggers``: why it was made.
    ``inputs``: the number of extra inputs; ``why`` gives the reason if there are none.
    ``kinds``: what these inputs vary, with their number; empty in records of version 0.1.
    """

    triggers: tuple[str, ...]
    inputs: int
    passed: bool
    why: str = ""
    kinds: tuple[str, ...] = ()

    @property
    def result(self) -> str:
        """Its result in words."""
        if not self.inputs:
            return f"not possible: {self.why}"
        kinds = f": {'; '.join(self.kinds)}" if self.kinds else ""
        return f"{'passed' if self.passed else 'FAILED'} on {self.inputs} extra inputs{kinds}"

    def __str__(self) -> str:
        return f"{self.result} (triggered by: {'; '.join(self.triggers)})"


@final
@dataclass(frozen=True, slots=True)
class Node:
    """The node that made an evaluation.

    ``name``: its host with the cores that it held.
    ``calibration``: CPU seconds that a fixed kernel took there last, with its interval.
    ``busy``: per cent of these cores that others used, just before and just after.
    ``load``: the load average of the last minute, just before and just after.
    ``pressure``: per cent of the last 10 s in which some task of the machine waited for a processor, just before and
    just after; None if unknown.
    ``shared``: whether it measured even though others used the cores.
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


TrustLevel = Literal["outside", "replayed calls", "own tests only"]


@final
@dataclass(frozen=True, slots=True)
class Trust:
    """Who judged that a candidate is right.  ``level``, the strongest first: maxcode compared outputs outside of the
    candidate's process; recorded calls were replayed; only the repository's own tests, which run in the candidate's
    process, and which a program that wants to deceive can forge.  ``why``: what was compared, in words."""

    level: TrustLevel
    why: str

    def __str__(self) -> str:
        return f"{self.level}: {self.why}"


JUDGED = "judged_s"  # of the measures of an evaluation


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the machine measured for one candidate.

    ``measures``: CPU seconds per test; of a repository also what its judging takes (``build_s``, ``build_mb``,
    ``judged_s``: wall seconds to build, test and race it, without the waits for a lane).
    ``harsher``: the re-check of a winner; None if nothing triggered one.
    ``node``: the node of a cluster; None if it was made on this machine.
    ``machine_code``: None if nothing was built, or the build has no machine code.
    ``trust``: of a repository, who judged it; None for the other kinds, whose outputs maxcode always judges.
    ``hot``, ``outside``: of a new best of a repository, where its benchmark spends its time (as in ``Facts``); empty
    and None for all others.
    """

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
    trust: Trust | None = None
    hot: tuple[HotFunction, ...] = ()
    outside: float | None = None

    @property
    def digest(self) -> str:
        """Of the program that it compiles to (``MachineCode``); empty if unknown."""
        return self.machine_code.digest if self.machine_code is not None else ""

    @property
    def pie_correct(self) -> bool | None:
        """Whether PIE's own checker accepts the output of every test that ran; it decides nothing here.

        None if it was not asked, or if nothing ran (a program that does not build is not correct by PIE either).
        """
        said = [case.pie for case in self.feedback.cases]
        return None if not said or None in said else all(said)

    @property
    def kernelbench_correct(self) -> bool | None:
        """Whether KernelBench's own rule accepts a module; it decides nothing here.  None if it was not asked."""
        said = [case.kernelbench for case in self.feedback.cases]
        return None if not said or None in said else all(said)
