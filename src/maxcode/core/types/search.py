"""What a search is made of: observation, action, step and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from maxcode.core.types.measured import Evaluation, Outcome
from maxcode.core.types.problem import Problem, Program

StateId = tuple[int, int]


@final
@dataclass(frozen=True, slots=True)
class Section:
    """One titled part of a prompt."""

    title: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """What a proposal or a critique cost.  Zero where no model was asked.

    ``dollars`` is None where a model was asked whose price is not known: never a guess.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        known = self.dollars is not None and other.dollars is not None
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.dollars + other.dollars if known else None,  # type: ignore[operator]
        )


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """A candidate that a reranker drew: what was foreseen of it before it was run, and whether it was ``kept``, which
    is the action itself.  ``program`` is None where it could not be read."""

    program: Program | None
    foreseen: float
    kept: bool = False


@final
@dataclass(frozen=True, slots=True)
class Action:
    """A proposal: the whole new program (None when none could be read from the completion: UNPARSED; ``unread`` says
    why), and the verbatim completion that training learns from.

    ``drawn``: all candidates that a reranker chose this one from, in the order drawn; ``ranked`` is False where it took
    the first of them unranked, so that what it foresees can be held against what came.
    """

    program: Program | None
    completion: str = ""
    usage: Usage = Usage()
    unread: str = ""
    drawn: tuple[Sample, ...] = ()
    ranked: bool = True


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
    """What a run has used: candidates, wall seconds, and all that models were paid, critics' answers included."""

    candidates: int = 0
    seconds: float = 0.0
    usage: Usage = Usage()


@final
@dataclass(frozen=True, slots=True)
class Machine:
    """Where the numbers come from.

    ``caches``: name (L1d, L2, L3, ...) -> size as the kernel writes it, of one core's path to memory; ``isa``: the
    instruction sets that matter for speed.  Both are empty where the kernel does not say.
    """

    node: str
    cpu: str
    cores: int
    kernel: str
    compilers: dict[str, str]
    sandbox: str
    caches: dict[str, str] = field(default_factory=dict)
    isa: tuple[str, ...] = ()
