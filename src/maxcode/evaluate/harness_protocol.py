"""What every harness answers, so that no room asks which kind of problem it has.

``SearchHarness`` is what a search or a training is given, on this machine or on a cluster: admit, evaluate, confirm.
``Harness`` is one on this machine; it can also check a winner again for a certificate (``WinnerCheck``), and a node of
a cluster asks it for what only a node needs.  ``harness.py`` says which harness a kind has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, final

from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Machine, Problem, Program, Timing
from maxcode.evaluate.inputs.fresh import GeneratedInputs
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.ladder.sanitize import Sanitized


@final
@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """How an evaluator is to measure: ``pairs``, the most that a race may take (0 = the usual number); ``remembers``,
    whether what it has timed is not timed again; ``profiles``, whether fast candidates are profiled."""

    pairs: int = 0
    remembers: bool = True
    profiles: bool = True


@final
@dataclass(frozen=True, slots=True)
class TimingCache:
    """Timings by problem and artefact: races, which a duplicate takes over, and confirmations, which happen once."""

    timings: dict[str, Timing] = field(default_factory=dict)
    confirmations: dict[str, Timing] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Verification:
    """``runs`` of the winner over all tests and generated inputs, ``failed`` of which were not right; ``failures``: the
    first failure of each of these.  ``varying`` names tests whose answers were all accepted, but not the same bytes
    every time."""

    runs: int
    failed: int = 0
    failures: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class FreshRace:
    """The winner on ``inputs`` that nobody was shown: seconds of the original and of the winner in every pair.  ``why``
    says why there are no pairs; ``failed`` names the side that failed, and how."""

    samples: tuple[tuple[float, float], ...] = ()
    inputs: tuple[str, ...] = ()
    why: str = ""
    failed: str = ""


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """What a repetition elsewhere must know of an admission: the ``inputs`` that are the same every time, the
    ``compiler`` in words, and the ``seeds`` by what they are for."""

    inputs: tuple[Input, ...]
    compiler: str
    seeds: dict[str, tuple[int, ...]]


class SearchHarness(Evaluator, Referee, Protocol):
    """An evaluator that is its own referee.  ``sandbox``: its tier in words, part of every result."""

    @property
    def sandbox(self) -> str: ...

    async def admit(self, problem: Problem) -> Admitted:
        """Make the problem ready to be worked on; InputError when it cannot be."""
        ...

    def measuring(self, options: MeasureOptions) -> SearchHarness:
        """Another one on the same admissions that measures in this manner."""
        ...


class WinnerCheck(Protocol):
    """A winner of an admitted problem, checked again from its files; nothing is taken from before."""

    async def refusal(self) -> str:
        """What keeps the winner from being run; empty where nothing does."""
        ...

    async def verify_again(self, runs: int) -> Verification:
        """So many runs on everything that it must be right on."""
        ...

    async def race_fresh(self, pairs: int) -> FreshRace:
        """So many pairs of the original and the winner on inputs that nobody was shown."""
        ...

    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """The original against itself, with so many pairs in each sitting; InputError where it fails."""
        ...

    async def sanitized(self) -> Sanitized:
        """What the sanitizers find on inputs that are no secret."""
        ...


class Harness(SearchHarness, Protocol):
    """A harness of one kind of problem, on this machine."""

    def measuring(self, options: MeasureOptions) -> Harness: ...

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """What a certificate says of where an admission on this machine came from."""
        ...

    async def made(self, problem: Problem) -> GeneratedInputs:
        """The inputs that nobody is shown."""
        ...

    async def check(self, problem: Problem, winner: Program) -> WinnerCheck:
        """What checks a winner again; nothing of it has been run."""
        ...

    # ------------------------------------------------------------------------------------------ nodes of a cluster

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission with these inputs timed, in this order, as they were chosen elsewhere; InputError where one is
        missing."""
        ...

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Take over a build that another worker made."""
        ...

    def remembered(self) -> TimingCache:
        """What it knows of earlier races and confirmations."""
        ...

    def forget_since(self, then: TimingCache) -> None:
        """Know no more than then: what was measured since is not to be believed."""
        ...
