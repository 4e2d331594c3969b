"""The values that flow through maxcode; ``roles.py`` has the roles that pass them on.

    problem -> policy -> evaluator -> critic -> (value) -> search -> result

Every value is a frozen dataclass that can be written as JSON.  Names are those of MaxCode (arXiv 2601.05475): state,
action, observation, reward, value, policy.  Where this file departs from the paper: an ``Evaluation`` holds what the
machine *saw*; what it is *worth* is decided apart, in ``reward.py``, so that old runs can be scored anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from typing import TYPE_CHECKING, Literal, final

if TYPE_CHECKING:
    from maxcode.reached import Reached

Clock = Literal["cpu", "wall"]
StateId = tuple[int, int]


@final
@total_ordering
class Outcome(Enum):
    """How far a candidate climbed: one ladder for evaluator, critic, reward and report.  Only CORRECT is timed."""

    UNPARSED = "unparsed"
    REJECTED = "rejected"
    UNBUILT = "unbuilt"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    WRONG = "wrong"
    CORRECT = "correct"

    def __lt__(self, other: Outcome) -> bool:
        rungs = list(Outcome)
        return rungs.index(self) < rungs.index(other)


@final
@dataclass(frozen=True, slots=True)
class Program:
    """A whole program: relative path -> text."""

    files: dict[str, str]

    @property
    def text(self) -> str:
        """The text of a one-file program; ValueError when there are several files."""
        if len(self.files) != 1:
            raise ValueError(f"a program of {len(self.files)} files has no single text: {sorted(self.files)}")
        return next(iter(self.files.values()))

    @property
    def name(self) -> str:
        """The path of the first file, the one that is compiled or started."""
        return next(iter(self.files))

    @property
    def digest(self) -> str:
        """SHA-256 over paths and texts, hexadecimal."""
        return hashlib.sha256(json.dumps(self.files, sort_keys=True).encode()).hexdigest()

    def with_text(self, text: str) -> Program:
        """The same program with its first file holding ``text``."""
        return Program({**self.files, self.name: text})


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One test: a file fed to standard input and the file holding the expected output.

    ``expected`` is None where the original program is the oracle (generated inputs).
    """

    name: str
    stdin: str
    expected: str | None


@final
@dataclass(frozen=True, slots=True)
class Checker:
    """How an output is compared with the expected one.

    ``tokens``: equal after splitting on white space.  ``exact``: equal bytes.  ``float``: tokens, where numbers may
    differ by ``abs_tol + rel_tol * |expected|`` and NaN equals nothing.  ``command``: the user's own program, run
    in the sandbox as ``command INPUT EXPECTED OUTPUT``; exit status 0 accepts.
    """

    kind: Literal["tokens", "exact", "float", "command"] = "tokens"
    abs_tol: float = 0.0
    rel_tol: float = 1e-9
    command: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What one run or one build may use.  Seconds are CPU seconds; wall clocks are cut at 3x + 2 s of them."""

    run_s: float = 10.0
    build_s: float = 60.0
    memory_mb: int = 1024
    output_mb: int = 64
    processes: int = 32


@final
@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """What the harness ``program`` (standard input to standard output) needs beside the source."""

    flags: tuple[str, ...] = ()
    checker: Checker = Checker()
    limits: Limits = Limits()
    seen: tuple[Case, ...] = ()
    held_out: tuple[Case, ...] = ()
    generator: tuple[str, ...] = ()  # command printing one input; `{seed}` is replaced; run in the sandbox
    generated: int = 0  # how many inputs to make
    folder: str = ""  # where relative files of the generator and the checker live


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What to make faster.  ``kind`` picks the harness, ``goal`` the clock; ``permitted`` names the techniques
    allowed (None = all), so that a stage of SQD is ``replace(problem, permitted=...)``."""

    id: str
    kind: Literal["program"]
    language: str
    program: Program
    spec: ProgramSpec
    statement: str = ""
    goal: Clock = "cpu"
    permitted: frozenset[str] | None = None


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
    """A paired comparison with the original, in one sandbox session.

    ``speedup`` is original seconds over candidate seconds (above 1 = faster).  ``significant`` is the anytime-valid
    race's word; ``verdict`` says why it stopped.  ``samples``: one (original, candidate) pair of summed seconds per
    pass.  ``confirmed``: measured on fresh pairs after being selected, built without precompiled headers.
    ``over_rival``: the same ratio against the best at the start of the batch, where that one ran along.
    """

    clock: Clock
    speedup: Interval
    significant: bool
    verdict: Literal["faster", "slower", "tie", "beaten"]
    pairs: int
    confirmed: bool = False
    inputs: tuple[str, ...] = ()
    samples: tuple[tuple[float, float], ...] = ()
    per_input: dict[str, float] = field(default_factory=dict)
    over_rival: Interval | None = None


@final
@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one test went.  ``detail`` is empty for held-out tests: feedback about those is one bit."""

    name: str
    outcome: Outcome
    seconds: float
    seen: bool
    detail: str = ""


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
    """A compiler's optimisation remark: ``missed`` or ``optimized`` at a line (1-based) of the program."""

    line: int
    kind: Literal["missed", "optimized"]
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
class Evaluation:
    """What the machine saw of one candidate, never what it is worth.  ``measures``: CPU seconds per test."""

    outcome: Outcome
    feedback: Feedback = Feedback()
    timing: Timing | None = None
    remarks: tuple[Remark, ...] = ()
    profile: tuple[Hotspot, ...] = ()
    measures: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Section:
    """One titled part of a prompt."""

    title: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """What a proposal cost.  Zero for policies that are not models."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Action:
    """A proposal: the whole new program (None when none could be read from the completion: UNPARSED), and the
    verbatim completion that training learns from."""

    program: Program | None
    completion: str = ""
    usage: Usage = Usage()


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One transition (action, evaluation, reward, critique, value)."""

    action: Action
    evaluation: Evaluation
    reward: float
    critique: str = ""
    value: float | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A node of the search: the problem, how we got here, and an id = (batch, slot).  Equality is by id.

    Roots have no parent and no step, and ids (0, k).
    """

    problem: Problem
    parent: State | None = None
    step: Step | None = None
    id: StateId = (0, 0)
    depth: int = field(init=False)
    _peak_above: State | None = field(init=False, repr=False)  # None: this state itself is the peak

    def __post_init__(self) -> None:
        above = self.parent.peak if self.parent is not None else None
        rises = above is None or (self.step is not None and self.step.reward > above.reward)
        object.__setattr__(self, "depth", 0 if self.parent is None else self.parent.depth + 1)
        object.__setattr__(self, "_peak_above", None if rises else above)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def ancestry(self) -> Iterator[State]:
        """This state, then its parents up to the root."""
        node: State | None = self
        while node is not None:
            yield node
            node = node.parent

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps taken from the root to here, oldest first."""
        return tuple(state.step for state in self.ancestry if state.step is not None)[::-1]

    @property
    def reward(self) -> float:
        """The last step's reward; 1 at a root: the original's speed-up over itself."""
        return self.step.reward if self.step else 1.0

    @property
    def peak(self) -> State:
        """The best state on the path to here, the paper's u in person; the first of equals."""
        return self._peak_above if self._peak_above is not None else self

    @property
    def program(self) -> Program:
        """The program at this node: the last one on the path that could be read, the original at a root."""
        for state in self.ancestry:
            if state.step is not None and state.step.action.program is not None:
                return state.step.action.program
        return self.problem.program

    @property
    def outcome(self) -> Outcome:
        """The outcome of the last step; CORRECT at a root, whose program was admitted."""
        return self.step.evaluation.outcome if self.step else Outcome.CORRECT


@final
@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy is given.  ``draw`` = hash(run seed, state id, times this state was asked before): the same draw
    is the same request, another draw another sample.  Policies read sections; wrappers may read ``state``."""

    sections: tuple[Section, ...]
    state: State
    draw: int
    temperature: float = 0.6

    def section(self, title: str) -> str | None:
        """The text under ``title``, None when that part is switched off."""
        return next((part.text for part in self.sections if part.title == title), None)


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used: candidates, wall seconds, model tokens."""

    candidates: int = 0
    seconds: float = 0.0
    tokens: int = 0


@final
@dataclass(frozen=True, slots=True)
class Machine:
    """Where the numbers come from."""

    node: str
    cpu: str
    cores: int
    kernel: str
    compilers: dict[str, str]
    sandbox: str


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The end of a run.  ``best`` is the maximum, because the objective is; None when nothing beat the original."""

    problem: Problem
    reached: Reached
    spent: Spent
    machine: Machine | None

    @property
    def best(self) -> State | None:
        return self.reached.best
