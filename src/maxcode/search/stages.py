"""The stages of Staged Quality-Diversity: which techniques are permitted at which time, as data, for one problem.

SQD (arXiv 2602.12049) varies the permitted techniques step by step, per problem.  Its stages and its rule of promotion
are not published: both are our reconstruction.  A problem has one current stage, its frontier.  It is promoted when
enough answers at that stage are valid and the best has not improved for some visits; other problems have no influence.
Everything is a pure function of the visits.  So search and training share this code, and a resume computes the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from maxcode.code.techniques import TECHNIQUES
from maxcode.core.files import read_toml
from maxcode.core.toml_tables import converted
from maxcode.core.types import Problem
from maxcode.errors import InputError, unknown


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """A name, and the permitted techniques (``techniques.TECHNIQUES``); None permits all."""

    name: str
    permitted: frozenset[str] | None = None

    def of(self, problem: Problem) -> Problem:
        """The problem with the techniques that both it and this stage permit."""
        both = [one for one in (problem.permitted, self.permitted) if one is not None]
        return replace(problem, permitted=frozenset.intersection(*both) if both else None)


@final
@dataclass(frozen=True, slots=True)
class Promotion:
    """When a problem advances to its next stage; all conditions must hold.

    ``validity``  the moving share of valid answers is above this
    ``memory``    the weight of the past in that moving share
    ``patience``  so many visits in a row have not improved the best by ``gain``
    ``least``     so many visits at least

    The numbers are those of our prototype, not the paper's.
    """

    validity: float = 0.8
    patience: int = 5
    least: int = 6
    gain: float = 0.02
    memory: float = 0.7


@final
@dataclass(frozen=True, slots=True)
class Visit:
    """One group of answers for a problem at a stage: the qualities of the valid ones (GFLOPS or a speed-up), and the
    number of all answers."""

    stage: int
    qualities: tuple[float, ...]
    answers: int

    @property
    def validity(self) -> float:
        """The share of valid answers, 0 to 1."""
        return len(self.qualities) / self.answers


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """The progress of a problem: its stage, and a summary of the visits of that stage.  ``idle``: visits since the best
    improved."""

    stage: int = 0
    visits: int = 0
    validity: float = 0.0
    best: float = 0.0
    idle: int = 0


@final
@dataclass(frozen=True, slots=True)
class Stages:
    """The stages in order, and the rule of promotion.

    ``rehearsal`` is the share of prompts for stages that a problem has passed.  Training needs it, because a policy
    forgets what it is no longer asked.
    """

    stages: tuple[Stage, ...]
    promotion: Promotion = field(default_factory=Promotion)
    rehearsal: float = 0.25

    def __post_init__(self) -> None:
        if not self.stages:
            raise InputError("the list of stages is empty; give at least one stage, or leave the stages out")
        for one in self.stages:
            for name in sorted((one.permitted or frozenset()) - set(TECHNIQUES)):
                raise unknown(f"technique of the stage '{one.name}'", name, TECHNIQUES)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, number: int) -> Stage:
        return self.stages[number]

    def after(self, standing: Standing, visit: Visit) -> Standing:
        """The standing after a visit; a visit to another stage than the frontier changes nothing."""
        if visit.stage != standing.stage:
            return standing
        rule = self.promotion
        best = max(visit.qualities, default=0.0)
        moved = best > (1 + rule.gain) * standing.best
        past = rule.memory if standing.visits else 0.0
        found = Standing(
            standing.stage,
            standing.visits + 1,
            past * standing.validity + (1 - past) * visit.validity,
            max(best, standing.best) if moved else standing.best,
            0 if moved else standing.idle + 1,
        )
        return Standing(found.stage + 1) if self._is_ready(found) else found

    def _is_ready(self, standing: Standing) -> bool:
        rule = self.promotion
        return (
            standing.stage + 1 < len(self.stages)
            and standing.visits >= rule.least
            and standing.validity > rule.validity
            and standing.idle >= rule.patience
        )

    def standing(self, visits: Sequence[Visit]) -> Standing:
        """The standing after all visits, in order."""
        found = Standing()
        for visit in visits:
            found = self.after(found, visit)
        return found


USUAL = Stages(
    (
        Stage("orders", frozenset({"restrict", "simd"})),
        Stage("tiles", frozenset({"restrict", "simd", "tiling"})),
        Stage("blocks", frozenset({"restrict", "simd", "unrolling"})),
        Stage("all", frozenset({"restrict", "simd", "tiling", "unrolling", "packing", "prefetch", "pragmas"})),
    )
)
"""Four stages for kernels on one core: loop order, tiles, blocks in registers, all techniques."""


@final
@dataclass(frozen=True, slots=True)
class _Tables:
    stage: tuple[Stage, ...]
    promotion: Promotion = field(default_factory=Promotion)
    rehearsal: float = 0.25


def stages_of(table: Mapping[str, Any], where: str) -> Stages:
    """Stages from a TOML table: ``[[stage]]`` with ``name`` and ``permitted`` (all techniques if it is missing),
    ``[promotion]``, ``rehearsal``.  InputError, with ``where``, for an unknown key or a bad value."""
    found = converted(table, _Tables, where)
    return Stages(found.stage, found.promotion, found.rehearsal)


def read_stages(path: Path) -> Stages:
    """Stages from a TOML file; InputError if it cannot be read or used."""
    return stages_of(read_toml(path, "the stages"), str(path))
