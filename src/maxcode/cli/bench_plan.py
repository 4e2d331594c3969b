"""The plan of ``maxcode bench``; everything is checked before the first cell runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import final

from maxcode import bench as room
from maxcode.bench import BenchRow, BenchRun, Planned
from maxcode.cli.terminal import echo
from maxcode.core.budget import Budget
from maxcode.errors import InputError, Interrupted
from maxcode.evaluate.target import Target
from maxcode.observe.trajectory import TOKENS
from maxcode.problems import Source, digest, expanded
from maxcode.run.complete_request import completed
from maxcode.run.job import optimize_source
from maxcode.run.method_parts import method_parts
from maxcode.run.record import Line
from maxcode.run.request import Request, of_source
from maxcode.run.request_checks import asked_as
from maxcode.sandbox.lanes import share_builds
from maxcode.search import methods
from maxcode.search import value_guided as guided
from maxcode.search.presets import PRESETS
from maxcode.search.value import digest as digest_of
from maxcode.search.value_guided import base


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """A checked bench.

    ``sources``  where each problem is loaded from, by problem id
    ``shared``   the request of every cell, apart from source, method, seed and folder
    """

    planned: Planned
    sources: dict[str, Source]
    shared: Request
    out: Path

    def finished(self, cell: BenchRun) -> BenchRow | None:
        """The row of a finished cell; None if the cell is not finished."""
        return room.finished(cell, self.out / cell.name, self.planned.candidates(cell.method))

    def run(self, places: Path | None = None) -> RunCell:
        """The function that runs or resumes a cell."""
        return RunCell(self.shared, self.sources, self.out, places)


@final
@dataclass(frozen=True, slots=True)
class RunCell:
    """Runs or resumes a cell with the real evaluator.

    ``places``: a folder in which several processes share the cores that build, so that the timing lane keeps its core.
    """

    shared: Request
    sources: Mapping[str, Source]
    out: Path
    places: Path | None

    def request(self, cell: BenchRun) -> Request:
        request = of_source(_of_column(self.shared, cell.method), self.sources[cell.problem])
        return replace(request, seed=cell.seed, out=self.out / cell.name, certificate=False, anyway=True)

    def __call__(self, cell: BenchRun, watch: Callable[[Line], None], on: Target | None = None) -> BenchRow:
        if self.places is not None:
            share_builds(self.places)
        folder = self.out / cell.name
        request = self.request(cell)
        if optimize_source(request, watch, on=on).stopped:
            raise Interrupted(f"stopped in the last batch of {cell.name}, which is finished")
        return room.read_row(cell, folder)


@final
@dataclass(frozen=True, slots=True)
class BenchRequest:
    """The user's request: ``problems``, ``columns`` of the table, number of ``seeds``, and ``budget`` as given (None:
    24, or that of a preset)."""

    problems: Sequence[Path]
    columns: Sequence[str]
    seeds: int
    budget: Budget | None


def plan_of(wanted: BenchRequest, shared: Request, claims: bool = True) -> Plan:
    """Makes the cells and, if it ``claims``, claims their folder.  Raises InputError, with a remedy, if something
    cannot be run."""
    if wanted.seeds < 1:
        raise InputError(f"--seeds is {wanted.seeds}; give at least 1")
    for column in wanted.columns:
        request = _of_column(shared, column)
        methods.recipe(request.method, frozenset(request.without))
    sources, digests, unusable = _problems(wanted.problems, _of_column(shared, _strictest(wanted.columns)), claims)
    out = shared.out or Path("runs") / "bench"
    suites = suites_of(source.path for source in sources.values())
    seeds = range(wanted.seeds)
    budget = wanted.budget or Budget(methods.USUAL_BUDGET)
    own = {column: methods.candidates(name, shared.budget) for column in wanted.columns
           if base(name := room.parted(column)[0]) in PRESETS}  # fmt: skip
    if claims:
        room.claim(
            out,
            _terms(shared, budget),
            digests,
            {"methods": wanted.columns, "seeds": list(seeds), "suites": suites, "unusable": unusable,
             "budgets": [f"{column}={count}" for column, count in own.items()]},
        )  # fmt: skip
    cells = room.cells(list(sources), wanted.columns, seeds)
    return Plan(Planned(cells, budget, suites, unusable=unusable, own=own), sources, shared, out)


def columns_of(names: str, grid: room.Grid | None) -> list[str]:
    """The columns of the table: the named methods and their ablations.  Raises InputError if there is none."""
    named = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not named:
        raise InputError("--methods names none; give at least one, see `maxcode list methods`")
    if grid is None:
        return named
    return list(dict.fromkeys(column for name in named for column in room.ablated(name, grid)))


def suites_of(sources: Iterable[Path]) -> tuple[str, ...]:
    """The suites whose figures apply to these problems: the paper's own, and those of the problems."""
    named = {str(source).partition(":")[0] for source in sources}
    return tuple(name for name in room.SUITES if name == "maxcode" or name in named)


def _of_column(shared: Request, column: str) -> Request:
    """The request for a column: its method, without the parts that its name switches off."""
    method, off = room.parted(column)
    return replace(shared, method=method, without=tuple(dict.fromkeys([*shared.without, *off])))


def _terms(shared: Request, budget: Budget) -> dict[str, object]:
    """The settings that all cells of a bench share."""
    caps = {name: bound for name, bound in asdict(shared.caps).items() if bound is not None}
    is_whole = budget.unit == "candidates"
    return {
        "budget": budget.candidates if is_whole else str(budget),
        **({} if is_whole else {"width_for": shared.width_for}),
        "policy": shared.policy,
        "critic": shared.critic,
        "answer": shared.answer,
        "without": sorted(shared.without),
        "caps": caps,
        **({"overrides": dict(shared.overrides)} if shared.overrides else {}),
        **asked_as(shared),
        **({"gamma": shared.gamma} if shared.gamma != 1.0 else {}),
        **({"trajectory_tokens": shared.trajectory_tokens} if shared.trajectory_tokens != TOKENS else {}),
        **({"value": digest_of(shared.value)} if shared.value is not None else {}),
    }


def _strictest(columns: Sequence[str]) -> str:
    """The column with the most requirements: a method with a value model, if there is one."""
    return next((column for column in columns if guided.is_guided(room.parted(column)[0])), columns[0])


def _problems(
    paths: Sequence[Path], shared: Request, asks: bool
) -> tuple[dict[str, Source], dict[str, str], tuple[str, ...]]:
    """Sources and digests by problem id, and the names of unusable problems of suites.

    Prints the unusable ones.  A wrong name, a missing key or an unknown price raises here, before the first cell.
    """
    sources: dict[str, Source] = {}
    digests: dict[str, str] = {}
    listing = expanded(paths)
    for one in listing.left_out:
        echo(f"maxcode: left out: {one}", err=True)
    if not listing.sources:
        raise InputError("no problem can be run; `maxcode problems list` shows which problems can be used")
    for source in listing.sources:
        path = source.path
        if path.is_file() and path.suffix not in (".toml", ".py"):
            raise InputError(f"{path} is a file; bench takes folders with problem.toml: give its folder, or write one")
        complete = completed(of_source(shared, source))
        with method_parts(complete.request, asks):
            problem = complete.loaded.problem
        if problem.id in sources:
            raise InputError(
                f"{sources[problem.id].path} and {path} have the same id '{problem.id}'; give one of them another in "
                'its problem.toml (id = "...")'
            )
        sources[problem.id], digests[problem.id] = source, digest(problem)
    return sources, digests, tuple(one.name for one in listing.left_out)
