"""The interface of every harness, so that no other package asks which kind of problem it has.

``SearchHarness`` is for a search or a training, on this machine or on a cluster: admit, evaluate, confirm.  ``Harness``
is one on this machine.  It can also check a winner again for a certificate (``WinnerCheck``), and it has methods that
only a node of a cluster needs.  ``harness.py`` has the table of harnesses by kind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, final, runtime_checkable

from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Action, Evaluation, Interval, Machine, Problem, Program, Timing
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.ladder.sanitize import Sanitized


@final
@dataclass(frozen=True, slots=True)
class HarnessTerms:
    """Options of a harness.

    ``seed``: seed of the fresh inputs; None: the system draws one.
    ``before``: SHA-256 of fresh inputs that were proven before.
    ``beside_compiled``: compare a module with torch.compile as well.
    ``single``: one candidate is evaluated, and no prompt is written.
    ``keeps``: use builds of the original that earlier commands have kept, and keep its admission.
    ``goes_on``: use what earlier commands have kept of the admission, as a run that goes on does; a ``single`` program,
    function or module uses it, too.
    """

    seed: int | None = None
    before: frozenset[str] = frozenset()
    beside_compiled: bool = True
    single: bool = False
    keeps: bool = True
    goes_on: bool = False


@final
@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """How an evaluator measures.

    ``pairs``: highest number of pairs in a race; 0: the usual number.
    ``remembers``: reuse earlier timings of the same program.
    ``profiles``: profile correct candidates.
    """

    pairs: int = 0
    remembers: bool = True
    profiles: bool = True


@final
@dataclass(frozen=True, slots=True)
class TimingCache:
    """Timings by problem and artefact: races, which a duplicate reuses, and confirmations, which happen once."""

    timings: dict[str, Timing] = field(default_factory=dict)
    confirmations: dict[str, Timing] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Verification:
    """Repeated runs of a winner.

    ``runs``: runs over all tests and generated inputs; ``failed``: those that were not right.
    ``failures``: the first failure of each failed run.
    ``varying``: tests whose outputs were all accepted, but not always the same bytes.
    """

    runs: int
    failed: int = 0
    failures: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class FreshRace:
    """The winner on fresh inputs.

    ``samples``: seconds of the original and of the winner in every pair.
    ``inputs``: names of the fresh inputs that were raced; if it failed, of the one on which it did.
    ``why``: why there are no pairs; ``needless``: because every timed pass has fresh inputs anyway.
    ``failed``: the side that failed, and how; ``by_original``: it was the original.
    ``doubt``: a function is not faster where each call must be over before the next is there.
    """

    samples: tuple[tuple[float, float], ...] = ()
    inputs: tuple[str, ...] = ()
    why: str = ""
    needless: bool = False
    failed: str = ""
    by_original: bool = False
    doubt: str = ""


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """What a repetition elsewhere needs to know of an admission.

    ``inputs``: the inputs that are the same every time.
    ``compiler``: its version line.
    ``seeds``: seeds by purpose.
    """

    inputs: tuple[Input, ...]
    compiler: str
    seeds: dict[str, tuple[int, ...]]


class SearchHarness(Evaluator, Referee, Protocol):
    """An evaluator that is its own referee.  ``sandbox``: its tier as text, part of every result."""

    @property
    def sandbox(self) -> str: ...

    async def admit(self, problem: Problem) -> Admitted:
        """Admit the problem: build, verify and time its original.  InputError if that fails."""
        ...

    def measuring(self, options: MeasureOptions) -> SearchHarness:
        """Another harness on the same admissions that measures with these options."""
        ...

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """Race the original and the winner for ``pairs`` pairs on inputs that the winner was not given."""
        ...


@runtime_checkable
class WorksAhead(Protocol):
    """Works for one candidate beside its admission and evaluation; what it makes is found when it is needed.

    An optional ability of harnesses.
    """

    async def work_ahead(self, problem: Problem, action: Action, pairs: int) -> None:
        """``pairs``: those that ``race_fresh`` will be asked for, if the candidate is faster."""
        ...


@runtime_checkable
class RefusesEarly(Protocol):
    """Refuses a candidate while its problem is being admitted.  An optional ability of harnesses."""

    async def refused_early(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """The evaluation of a candidate that is rejected, surely does not build, or is wrong on an input on which the
        original has shown its answer, and what is known of the problem by then; None for every other.  InputError if
        the original does not build."""
        ...


@runtime_checkable
class ProfilesBest(Protocol):
    """Profiles a new best for the prompts of later candidates.  An optional ability of harnesses."""

    async def with_profile(self, problem: Problem, program: Program, found: Evaluation) -> Evaluation:
        """``found``, the confirmation of this program, with where its time goes; as it is if that cannot be seen."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """What a patch loses without a part of it.

    ``verdict``: "needed": it does not build or is not right without it; "slower": it is proved slower without it; "no
    change": proved as fast; "faster": proved faster without it; "undecided".
    ``ratio``: the time of the whole patch over that of the smaller one; None if that was not timed.
    ``margin``: the largest loss that counts as none, as a share.
    """

    verdict: Literal["needed", "slower", "no change", "faster", "undecided"]
    why: str = ""
    ratio: Interval | None = None
    margin: float = 0.02

    @property
    def is_free(self) -> bool:
        """Whether the part can be left out: nothing shows that it pays.  Where many pairs do not decide, the median
        does."""
        if self.verdict == "undecided" and self.ratio is not None:
            return self.ratio.value > 1 / (1 + self.margin)
        return self.verdict in ("no change", "faster")


@runtime_checkable
class LossMeter(Protocol):
    """Measures what a candidate loses without a part of it.  An optional ability of harnesses."""

    async def loss(self, problem: Problem, whole: Program, less: Program) -> Loss: ...


@final
@dataclass(frozen=True, slots=True)
class CheckedWinner:
    """What verifications and a confirmation show of a winner.

    ``evaluation``: as a referee gives it; None if a verification failed.
    ``control``: the original against itself, in as many pairs of the same sessions; None if it is to be timed apart.
    """

    verification: Verification
    evaluation: Evaluation | None = None
    control: tuple[Pair, ...] | None = None


Confirm = Callable[[Mapping[str, float]], Awaitable[Evaluation]]  # given the least CPU seconds on each test


async def in_steps(
    verify_again: Callable[[int], Awaitable[Verification]], runs: int, confirm: Callable[[], Awaitable[Evaluation]]
) -> CheckedWinner:
    """A winner that is verified ``runs`` times, and then confirmed as a run does it."""
    verification = await verify_again(runs)
    return CheckedWinner(verification, None if verification.failed else await confirm())


class WinnerCheck(Protocol):
    """Checks a winner of an admitted problem again, from its files; uses no earlier result."""

    async def refusal(self) -> str:
        """Why the winner must not run; empty if it may."""
        ...

    async def checked(self, runs: int, confirm: Confirm) -> CheckedWinner:
        """``runs`` verifications at least, and a confirmation: by ``confirm``, or in the same sessions where processes
        take long to start, with the original against itself.  InputError if the original fails."""
        ...

    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """Race the original against itself, with so many pairs in each session.  InputError if it fails."""
        ...

    async def race_fresh(self, pairs: int) -> FreshRace:
        """Race the original and the winner for ``pairs`` pairs on fresh inputs."""
        ...

    async def sanitized(self) -> Sanitized:
        """The findings of the sanitizers on inputs that the policy may see."""
        ...


class Harness(SearchHarness, Protocol):
    """A harness of one kind of problem, on this machine."""

    def measuring(self, options: MeasureOptions) -> Harness: ...

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """What a certificate reports about an admission on this machine."""
        ...

    async def made(self, problem: Problem, harsh: bool = False) -> GeneratedInputs:
        """The fresh inputs; ``harsh``: those of the re-check."""
        ...

    async def check(self, problem: Problem, winner: Program) -> WinnerCheck:
        """A checker of a winner; it has run nothing yet."""
        ...

    # ------------------------------------------------------------------------------------------ nodes of a cluster

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission with these inputs timed, in this order, as another node chose them.

        InputError if one is missing.
        """
        ...

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Use a build that another worker made."""
        ...

    def remembered(self) -> TimingCache:
        """The cache of earlier races and confirmations."""
        ...

    def forget_since(self, then: TimingCache) -> None:
        """Return to this cache: measurements made since then are not reliable."""
        ...
