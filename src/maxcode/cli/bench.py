"""``maxcode bench``: problems × methods × seeds side by side, and one table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, final

import click

from maxcode import bench as room
from maxcode import guided, methods
from maxcode.bench import Bench, Cell, Done, Event, Failed, Row, Started
from maxcode.cli.common import as_json, chosen, model_options, sandbox_options, shapes_option, value_options
from maxcode.cli.display import Display
from maxcode.errors import InputError, Interrupted
from maxcode.evaluate.tiers import refuse_unsafe
from maxcode.problems import digest, expanded
from maxcode.record import Evaluated, Line
from maxcode.request import Request
from maxcode.run import completed, optimize_source
from maxcode.value import digest as digest_of

SUMMARY = "bench.json"


@click.command()
@click.argument("problems", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--methods", "names", default="best-of-n,cuda-llm,cuda-llm+maxcode", show_default=True,
              help="Which methods, separated by commas; see `maxcode list methods`.")  # fmt: skip
@click.option("--seeds", default=3, show_default=True, help="How many seeds, counted from 0.")
@shapes_option
@model_options
@value_options
@click.option("--without", multiple=True, metavar="PART",
              help="A part of the observation to leave out of all methods; may be repeated.")  # fmt: skip
@click.option("--budget", default=24, show_default=True, help="How many candidates each run may try.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/bench"), show_default=True,
              help="One run folder for each PROBLEM-METHOD-SEED; repeating the command resumes.")  # fmt: skip
@click.option("--csv", "csv_", type=click.Path(path_type=Path, dir_okay=False),
              help="Write one line for each run to this file.")  # fmt: skip
@sandbox_options
@as_json
def bench(problems: tuple[Path, ...], names: str, csv_: Path | None, json_: bool, seeds: int, **options: Any) -> int:
    """Run METHODS on PROBLEMS with several seeds, and compare them in one table.

    PROBLEMS are folders with problem.toml, PyTorch modules in the KernelBench contract, names of such ones
    (kernelbench:LEVEL/ID), or kernelbench:LEVEL for all of a level.

    Ctrl-C once finishes what runs and prints the table so far; the same command resumes.  Exit status 0 when every
    run is finished; else that of the first that could not be.
    """
    refuse_unsafe("bench")
    if csv_ is not None and not csv_.resolve().parent.is_dir():
        raise InputError(f"there is no folder {csv_.resolve().parent} for --csv; create it, or name another file")
    plan = _plan(problems, names, seeds, chosen(problems[0], None, options))
    with Progress(len(plan.cells), plan.shared.budget) as progress:
        found = room.bench(plan.cells, plan.runner(progress.part), plan.finished, progress.event)
        progress.say("making the table")
        table = room.table(found.rows)
    told = room.as_json(table, found)
    click.echo(told if json_ else room.as_text(table))
    _write(plan.out / SUMMARY, told + "\n")
    if csv_ is not None:
        _write(csv_, room.as_csv(found.rows))
    return _status(found)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; make room there, and repeat the command") from error


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, everything checked.  ``sources``: problem id -> its folder; ``shared``: the request of every
    cell but for source, method, seed and folder."""

    cells: tuple[Cell, ...]
    sources: dict[str, Path]
    shared: Request
    out: Path

    def finished(self, cell: Cell) -> Row | None:
        """The row of a cell that is finished."""
        return room.finished(cell, self.out / cell.name, self.shared.budget)

    def runner(self, watch: Callable[[Line], None]) -> room.RunOne:
        """What runs or resumes one cell with the real evaluator."""

        def run_one(cell: Cell) -> Row:
            folder = self.out / cell.name
            source = self.sources[cell.problem]
            request = replace(self.shared, source=source, method=cell.method, seed=cell.seed, out=folder)
            if optimize_source(replace(request, certificate=False), watch).stopped:
                raise Interrupted(f"stopped in the last batch of {cell.name}, which is finished")
            return room.read_row(cell, folder)

        return run_one


def _plan(problems: Sequence[Path], names: str, seeds: int, shared: Request) -> Plan:
    if seeds < 1:
        raise InputError(f"--seeds is {seeds}; give at least 1")
    if shared.budget < 1:
        raise InputError(f"--budget is {shared.budget}; give at least 1 candidate")
    named = _methods(names, shared.without)
    sources, digests = _problems(problems, replace(shared, method=_strictest(named)))
    out = shared.out or Path("runs") / "bench"
    room.claim(out, _terms(shared), digests)
    return Plan(room.cells(list(sources), named, range(seeds)), sources, shared, out)


def _terms(shared: Request) -> dict[str, object]:
    """What all cells of a bench have in common."""
    caps = {name: bound for name, bound in asdict(shared.caps).items() if bound is not None}
    return {
        "budget": shared.budget,
        "policy": shared.policy,
        "critic": shared.critic,
        "answer": shared.answer,
        "without": sorted(shared.without),
        "caps": caps,
        **({"value": digest_of(shared.value)} if shared.value is not None else {}),
    }


def _methods(names: str, without: Sequence[str]) -> list[str]:
    named = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in named:
        methods.recipe(name, frozenset(without))
    if not named:
        raise InputError("--methods names none; give at least one, see `maxcode list methods`")
    return named


def _strictest(named: Sequence[str]) -> str:
    """The method that asks for most: one that is guided, where there is one."""
    return next(filter(guided.is_guided, named), named[0])


def _problems(paths: Sequence[Path], shared: Request) -> tuple[dict[str, Path], dict[str, str]]:
    """Sources and digests by problem id; a wrong name, a missing key or an unknown price is said before the first
    cell."""
    sources: dict[str, Path] = {}
    digests: dict[str, str] = {}
    for path in dict.fromkeys(expanded(paths)):
        if path.is_file() and path.suffix not in (".toml", ".py"):
            raise InputError(f"{path} is a file; bench takes folders with problem.toml: give its folder, or write one")
        problem = completed(replace(shared, source=path))[0].problem
        if problem.id in sources:
            raise InputError(
                f"{sources[problem.id]} and {path} have the same id '{problem.id}'; give one of them another in its "
                'problem.toml (id = "...")'
            )
        sources[problem.id], digests[problem.id] = path, digest(problem)
    return sources, digests


def _status(found: Bench) -> int:
    """Say what is open and how to go on; the exit status."""
    again = shlex.join(["maxcode", *sys.argv[1:]])
    if found.interrupted:
        total = len(found.rows) + len(found.left)
        raise Interrupted(f"stopped; {len(found.rows)} of {total} runs are finished; to resume: {again}")
    for one in found.failed:
        click.echo(f"maxcode: {one.cell.name} is left open: {_told(one)}", err=True)
    if not found.failed:
        return 0
    click.echo(f"maxcode: {len(found.failed)} run(s) are open; to try them again: {again}", err=True)
    return found.failed[0].error.exit_code


def _told(one: Failed) -> str:
    return "; ".join([str(one.error), *getattr(one.error, "__notes__", [])])


class Progress:
    """Which run is under way, its candidates, the time left: a live line on a terminal, plain lines elsewhere."""

    def __init__(self, total: int, budget: int) -> None:
        self._total, self._budget = total, budget
        self._head = ""
        self._done = 0
        self._display = Display()

    def __enter__(self) -> Progress:
        self._display.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._display.__exit__(kind, error, at)

    def event(self, event: Event) -> None:
        """A run began, is finished, or failed."""
        match event:
            case Started():
                self._done = 0
                at = self._total - event.left + 1
                self._head = f"{at}/{self._total} {event.cell.name}, {_duration(event.seconds_left)}"
                self.say(self._head)
            case Done():
                row = event.row
                best = str(row.best) if row.best.value > 1 else "nothing faster"
                self._display.note(f"    {row.cell.name}: {best}, {row.candidates} candidates, {event.seconds:.0f} s")
            case Failed():
                self._display.note(f"    {event.cell.name} is left open: {event.error}")

    def part(self, line: Line) -> None:
        """One recorded part of the run under way."""
        if isinstance(line, Evaluated) and self._display.is_live:
            self._done += 1
            self.say(f"{self._head}, {self._done}/{self._budget} candidates")

    def say(self, text: str) -> None:
        """What is going on now."""
        self._display.say(text)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "time left not known yet"
    minutes = round(seconds / 60)
    return f"about {seconds:.0f} s left" if minutes < 2 else f"about {minutes // 60} h {minutes % 60} min left"
