"""The staged half of Staged Quality-Diversity: which techniques are permitted when, as data, for one problem.

SQD (arXiv 2602.12049) varies the techniques that are permitted step by step, per problem.  Its stages and its rule of
promotion are not published: both are our reconstruction.  A problem stands at one stage, its frontier; it is promoted
when enough of what it was answered there is valid and the best has not moved for some visits, never because another
problem was.  Everything is a pure function of the visits, so search and training ask the same one, and a resume counts
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.code.techniques import TECHNIQUES
from maxcode.core.files import read_toml
from maxcode.core.types import Problem
from maxcode.errors import InputError, unknown


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """A name, and the techniques permitted (``techniques.TECHNIQUES``); None permits all."""

    name: str
    permitted: frozenset[str] | None = None

    def of(self, problem: Problem) -> Problem:
        """The problem with what both it and this stage permit."""
        both = [one for one in (problem.permitted, self.permitted) if one is not None]
        return replace(problem, permitted=frozenset.intersection(*both) if both else None)


@final
@dataclass(frozen=True, slots=True)
class Promotion:
    """When a problem goes on to its next stage: at least ``least`` visits, a moving share of valid answers above
    ``validity`` (the past counts ``memory``), and ``patience`` visits without a best that is better by ``gain``.

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
    """What a problem was answered at a stage, in one group: the qualities of its valid answers (GFLOPS or a
    speed-up), and how many answers there were."""

    stage: int
    qualities: tuple[float, ...]
    answers: int

    @property
    def validity(self) -> float:
        """The share of valid answers."""
        return len(self.qualities) / self.answers


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """Where a problem stands: its stage, and the visits of that stage summed up.  ``idle``: visits since the best
    moved."""

    stage: int = 0
    visits: int = 0
    validity: float = 0.0
    best: float = 0.0
    idle: int = 0


@final
@dataclass(frozen=True, slots=True)
class Stages:
    """The stages in order, and when a problem goes from one to the next.

    ``rehearsal`` is the share of prompts for stages that a problem has left behind, where a policy learns: what it is
    no longer asked, it forgets.
    """

    stages: tuple[Stage, ...]
    promotion: Promotion = field(default_factory=Promotion)
    rehearsal: float = 0.25

    def __post_init__(self) -> None:
        if not self.stages:
            raise InputError("there is no stage; give at least one, or leave the stages out")
        for one in self.stages:
            for name in sorted((one.permitted or frozenset()) - set(TECHNIQUES)):
                raise unknown(f"technique of the stage '{one.name}'", name, TECHNIQUES)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, number: int) -> Stage:
        return self.stages[number]

    def after(self, standing: Standing, visit: Visit) -> Standing:
        """Where a problem stands after a visit; one to a stage that is not its frontier changes nothing."""
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
        """Where a problem stands after all its visits, in order."""
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
"""Four stages for kernels on one core: loops in any order, loops in tiles, blocks in registers, and all of it."""


@final
@dataclass(frozen=True, slots=True)
class _StageTable:
    name: str
    permitted: tuple[str, ...] | None = None


@final
@dataclass(frozen=True, slots=True)
class _Tables:
    stage: tuple[_StageTable, ...]
    promotion: Promotion = field(default_factory=Promotion)
    rehearsal: float = 0.25


def stages_of(table: Mapping[str, Any], where: str) -> Stages:
    """Stages from a TOML table: ``[[stage]]`` with ``name`` and ``permitted`` (all techniques where that is missing),
    ``[promotion]``, ``rehearsal``.  InputError, naming ``where``, for what cannot be used."""
    known = [(table, _Tables), (table.get("promotion", {}), Promotion)]
    known += [(one, _StageTable) for one in table.get("stage", ())]
    for part, kind in known:
        for key in part if isinstance(part, Mapping) else ():
            if key not in (names := [one.name for one in fields(kind)]):
                raise unknown(f"key in {where}:", key, names)
    try:
        found = msgspec.convert(dict(table), _Tables)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {error}") from error
    stages = (Stage(one.name, None if one.permitted is None else frozenset(one.permitted)) for one in found.stage)
    return Stages(tuple(stages), found.promotion, found.rehearsal)


def read_stages(path: Path) -> Stages:
    """Stages from a TOML file; InputError where it cannot be read or used."""
    return stages_of(read_toml(path, "the stages"), str(path))
