"""The values of a search: observation, action, step and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from maxcode.core.types.measured import Evaluation, Outcome
from maxcode.core.types.problem import Problem, Program

StateId = tuple[int, int]
NO_GAIN = "No further gain:"  # the beginning of a critique that sees none


@final
@dataclass(frozen=True, slots=True)
class Section:
    """One titled part of a prompt."""

    title: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a proposal or a critique.  All fields are zero if no model was called.

    ``dollars`` is None if the price of the model is not known; it is never guessed.
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
    """One sample of a reranker.

    ``program``: None if the answer held no readable program.
    ``foreseen``: the prediction of the value model before the program ran.
    ``kept``: whether this sample became the action.
    """

    program: Program | None
    foreseen: float
    kept: bool = False


@final
@dataclass(frozen=True, slots=True)
class Action:
    """A proposal of a policy.

    ``program``: the whole new program; None if none could be read from the completion (outcome UNPARSED).
    ``completion``: the verbatim answer, from which training learns.
    ``unread``: why no program could be read.
    ``drawn``: all samples that a reranker chose from, in the order drawn.
    ``ranked``: False if the reranker took the first sample unranked, to compare its predictions with the outcomes.
    ``no_gain``: the policy sees no further gain and proposes nothing.  That is neither a candidate nor a failure.
    """

    program: Program | None
    completion: str = ""
    usage: Usage = Usage()
    unread: str = ""
    drawn: tuple[Sample, ...] = ()
    ranked: bool = True
    no_gain: bool = False


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One transition (action, evaluation, reward, critique, value)."""

    action: Action
    evaluation: Evaluation
    reward: float
    critique: str = ""
    value: float | None = None

    @property
    def is_at_limit(self) -> bool:
        """Whether the critic sees no further gain from this program."""
        return self.critique.startswith(NO_GAIN)


@final
@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A node of the search: the problem, the parent, the last step, and an id = (batch, slot).  Equality is by id.

    A root has no parent and no step; its id is (0, k).  ``gamma``: the discount of rewards along the path.
    """

    problem: Problem
    parent: State | None = None
    step: Step | None = None
    id: StateId = (0, 0)
    gamma: float = 1.0
    depth: int = field(init=False)
    _peak_above: State | None = field(init=False, repr=False)  # None: this state itself is the peak

    def __post_init__(self) -> None:
        above = self.parent.peak if self.parent is not None else None
        object.__setattr__(self, "depth", 0 if self.parent is None else self.parent.depth + 1)
        rises = above is None or (self.step is not None and self.step.reward > self._worth_here(above))
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
        """The reward of the last step; 1 at a root, the speed-up of the original over itself."""
        return self.step.reward if self.step else 1.0

    @property
    def peak(self) -> State:
        """The best state on the path to here, the first of equals.  A reward at depth d counts gamma**d; so with gamma
        = 1 its reward is the paper's u, and else gamma**d times its reward is."""
        return self._peak_above if self._peak_above is not None else self

    def _worth_here(self, above: State) -> float:
        """The reward that this state needs to be worth as much as a state above it."""
        return above.reward / self.gamma ** (self.depth - above.depth)

    @property
    def program(self) -> Program:
        """The program at this node: the last one on the path that could be read, the original at a root."""
        made = step.action.program if (step := self.made_by) is not None else None
        return made if made is not None else self.problem.program

    @property
    def made_by(self) -> Step | None:
        """The step that made ``program``; None if that is the original."""
        steps = (state.step for state in self.ancestry)
        return next((step for step in steps if step is None or step.action.program is not None), None)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the last step; CORRECT at a root, whose program was admitted."""
        return self.step.evaluation.outcome if self.step else Outcome.CORRECT


@final
@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy sees.  Policies read ``sections``; wrappers may read ``state``.

    ``draw`` = hash(run seed, state id, number of earlier requests for this state).  The same observation and draw give
    the same request; another draw gives another sample.
    """

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
    """What a run has used: candidates, wall seconds at work, and all model calls, those of critics included."""

    candidates: int = 0
    seconds: float = 0.0
    usage: Usage = Usage()


@final
@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that a run measured on.

    ``caches``: name (L1d, L2, L3, ...) -> size as the kernel writes it, for one core; empty if unknown.
    ``isa``: the instruction sets that matter for speed; empty if unknown.
    """

    node: str
    cpu: str
    cores: int
    kernel: str
    compilers: dict[str, str]
    sandbox: str
    caches: dict[str, str] = field(default_factory=dict)
    isa: tuple[str, ...] = ()
