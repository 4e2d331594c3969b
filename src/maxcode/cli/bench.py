"""``maxcode bench``: runs problems × methods × seeds, and prints one table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, final, get_args

import click
from click.core import ParameterSource

from maxcode import bench as room
from maxcode.bench import BenchRun, BenchState, Event, Planned, RunDone, RunFailed, RunStarted, TableRequest
from maxcode.cli.bench_estimate import estimate_of_bench
from maxcode.cli.bench_plan import BenchRequest, Plan, columns_of, plan_of
from maxcode.cli.common import (
    as_json,
    budget_options,
    chosen,
    cluster_options,
    echo_profile,
    goal_options,
    model_options,
    profiled,
    sandbox_options,
    self_options,
    shapes_option,
    value_options,
    with_profile,
)
from maxcode.cli.option_groups import GroupedCommand
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.budget import MANY, Budget
from maxcode.core.phases import Recorder
from maxcode.core.wording import duration
from maxcode.errors import InputError, Interrupted
from maxcode.evaluate.target import where
from maxcode.run.display import Display
from maxcode.run.record import Evaluated, Line
from maxcode.run.waits import waits_on
from maxcode.sandbox.tiers import refuse_unsafe

SUMMARY = "bench.json"
_OF_THE_TABLE = frozenset({"table_only", "out", "figures", "csv_", "json_"})


@click.command(cls=GroupedCommand)
@click.argument("problems", nargs=-1, type=click.Path(path_type=Path))
@click.option("--methods", "names", default="best-of-n,cuda-llm,cuda-llm+maxcode", show_default=True,
              help="Methods, separated by commas (`maxcode list methods`).  METHOD-PART is a method without that part "
              "of the prompt.")  # fmt: skip
@click.option("--ablate", type=click.Choice(get_args(room.Grid)), help="Add ablations of each method: `observe` is "
              "every subset of the paper's three parts (best, trajectory, critiques), `each` leaves out one part at a "
              "time.")  # fmt: skip
@click.option("--seeds", default=3, show_default=True, help="Number of random seeds, counted from 0.")
@shapes_option
@goal_options
@model_options
@value_options
@click.option("--without", multiple=True, metavar="PART",
              help="Leave out a part of the prompt in all methods; may be repeated.")  # fmt: skip
@budget_options
@click.option("--dry-run", is_flag=True, help="Run nothing and ask no model; print the estimated cost of each method.")
@click.option("--figures", default="", metavar="SUITES", help="Suites whose figures the table shows, "
              f"separated by commas: {', '.join(room.SUITES)}, or all.  [default: maxcode, and those of the "
              "problems' suites]")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/bench"), show_default=True,
              help="Folder of the bench, with one run folder per PROBLEM-METHOD-SEED; the same command "
              "resumes.")  # fmt: skip
@click.option("--table-only", is_flag=True,
              help="Run nothing; print the table of all finished runs in --out.  Allowed with it: --out, --figures, "
              "--csv, --json.")  # fmt: skip
@click.option("--csv", "csv_", type=click.Path(path_type=Path, dir_okay=False),
              help="Write one line per run to this CSV file.")  # fmt: skip
@click.option("--at-once", default=1, show_default=True, type=click.IntRange(1),
              help="Runs at a time.  While one run times its candidates, others build, verify or wait for "
              "a model.")  # fmt: skip
@cluster_options
@click.option("--shared-cores", is_flag=True, help="With --cluster: accept measurements although other programs "
              "used the cores.  The result says so.")  # fmt: skip
@sandbox_options
@self_options
@as_json
def bench(
    problems: tuple[Path, ...], table_only: bool, dry_run: bool, csv_: Path | None, json_: bool, **options: Any
) -> int:
    """Run METHODS on PROBLEMS with several seeds, and compare them in one table.

    PROBLEMS are folders with problem.toml, PyTorch modules in the KernelBench contract, names of a suite's problems
    (kernelbench:LEVEL/ID), or of several (kernelbench:LEVEL, pie:test, folder:PATH), or a suite.toml that mixes them.

    One Ctrl-C stops within seconds (answers of models under way are waited for) and prints the table so far; the same
    command resumes.  Exit status 0 if every run is finished; else the status of the first run that failed.
    """
    if csv_ is not None and not csv_.resolve().parent.is_dir():
        raise InputError(f"there is no folder {csv_.resolve().parent} for --csv; create it, or name another file")
    out: Path = options["out"]
    profiles: bool = options.pop("profile_self")
    suites = suites_named(options.pop("figures"))
    if table_only:
        _refuse_what_only_runs()
        there = room.planned(out)
        BenchAnswer(room.read_bench(out, there), there, suites).show(json_, csv_)
        return 0
    if not problems:
        raise click.UsageError("no PROBLEMS: give at least one, or --table-only to read what is finished in --out")
    refuse_unsafe("bench")
    columns = columns_of(options.pop("names"), options.pop("ablate"))
    wanted = BenchRequest(problems, columns, options.pop("seeds"), options["budget"])
    at_once: int = options.pop("at_once")
    if at_once > 1:
        _refuse_at_once(wanted.budget, bool(options["cluster"]))
    plan = plan_of(wanted, chosen(problems[0], None, options), claims=not dry_run)
    if dry_run:
        cost = estimate_of_bench(plan)
        echo_json(cost.as_json()) if json_ else echo(cost.as_text())
        return 0
    with (
        profiled(profiles) as recorder,
        BenchProgress(plan.planned) as progress,
        running(plan, at_once, progress) as run,
    ):
        found = room.bench(plan.planned.cells, run, plan.finished, progress.event)
        progress.say("making the table")
        told = BenchAnswer(*_with_the_folder(found, out), suites)
    _write(out / SUMMARY, told.as_json() + "\n")
    told.show(json_, csv_, recorder)
    room.write_bench_report(out, told.view)
    return _status(found)


def _refuse_what_only_runs() -> None:
    """Raises InputError if --table-only is given with options that it would ignore."""
    context = click.get_current_context()
    given = [one for one in context.command.params if one.name and one.name not in _OF_THE_TABLE
             and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE]  # fmt: skip
    if given:
        names = ", ".join(one.opts[0] if isinstance(one, click.Option) else "PROBLEMS" for one in given)
        raise InputError(
            f"--table-only runs nothing and shows all that is in --out, so it ignores {names}; leave that out, "
            "or leave out --table-only"
        )


def _refuse_at_once(budget: Budget | None, on_cluster: bool) -> None:
    """Raises InputError if several runs cannot run at once."""
    if on_cluster:
        raise InputError("--at-once is for this machine; with --cluster the slots of the cluster share the candidates")
    if budget is not None and budget.unit == "seconds":
        raise InputError(
            f"--budget is {budget}, but runs at the same time wait for each other's timings, so their budgets would "
            "not be equal; leave out --at-once, or give a budget of candidates, tokens, calls or dollars"
        )


@contextmanager
def running(plan: Plan, at_once: int, progress: BenchProgress) -> Iterator[room.RunOne | room.Runs]:
    """The runner of a plan's cells: one after the other, here or on a cluster, or several at once here."""
    if at_once == 1:
        with where(plan.shared.measured_on, plan.out, progress.say) as on:
            yield lambda cell: plan.run()(cell, lambda line: progress.part(cell, line), on)
        return
    with TemporaryDirectory(prefix="maxcode-bench-") as folder:
        yield room.Pool(plan.run(Path(folder, "places")), at_once, progress.evaluated)


def suites_named(names: str) -> tuple[str, ...]:
    """The suites that --figures names.  An unknown name raises InputError with the nearest spelling."""
    named = tuple(name.strip() for name in names.split(",") if name.strip())
    if named == ("all",):
        return tuple(room.SUITES)
    room.figures(named, 0)
    return named


@final
class BenchAnswer:
    """The table and the curves of the finished runs.  If ``suites`` is empty, the bench's own suites apply."""

    def __init__(self, found: BenchState, plan: Planned, suites: Sequence[str]) -> None:
        columns = tuple(dict.fromkeys(cell.method for cell in plan.cells))
        asked = TableRequest(
            tuple(suites) or plan.suites,
            plan.cells,
            room.pairs_of(columns),
            plan.budget,
            unusable=plan.unusable,
            own=plan.own,
        )
        self.found = found
        self.table = room.table(found.rows, asked)
        self.curves = tuple(curve for axis in room.AXES for curve in room.curves(found.rows, axis))
        self.axis = plan.budget.unit if plan.budget.unit in room.AXES else "candidates"
        self.view = room.BenchView(plan, found, self.table, self.curves)

    def as_json(self) -> str:
        return room.as_json(self.table, self.found, self.curves)

    def show(self, json_: bool, csv_: Path | None, recorder: Recorder | None = None) -> None:
        """Prints the table, with the phases if they were recorded; writes the rows to ``csv_`` if it is given."""
        shown = [curve for curve in self.curves if curve.axis == self.axis]
        if json_:
            echo_json(with_profile(self.as_json(), recorder))
        else:
            echo(room.as_text(self.table, shown))
            echo_profile(recorder)
        if csv_ is not None:
            _write(csv_, room.as_csv(self.found.rows))


def _with_the_folder(found: BenchState, out: Path) -> tuple[BenchState, Planned]:
    """All finished cells in ``out``, also those of other commands, with the failures of this command."""
    there = room.planned(out)
    return replace(room.read_bench(out, there), failed=found.failed, interrupted=found.interrupted), there


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; make room there, and repeat the command") from error


def _status(found: BenchState) -> int:
    """Prints what is unfinished and how to resume; returns the exit status."""
    again = shlex.join(["maxcode", *sys.argv[1:]])
    if found.interrupted:
        total = len(found.rows) + len(found.left)
        raise Interrupted(f"stopped; {len(found.rows)} of {total} runs are finished; to resume: {again}")
    for one in found.failed:
        echo(f"maxcode: {one.cell.name} is unfinished: {_told(one)}", err=True)
    if not found.failed:
        return 0
    echo(f"maxcode: {len(found.failed)} run(s) are unfinished; to resume them: {again}", err=True)
    return found.failed[0].error.exit_code


def _told(one: RunFailed) -> str:
    return "; ".join([str(one.error), *getattr(one.error, "__notes__", [])])


class BenchProgress:
    """Shows the current runs, their candidates and the time left: a live line on a terminal, else plain lines."""

    def __init__(self, plan: Planned) -> None:
        self._plan = plan
        self._total = len(plan.cells)
        self._head = ""
        self._done: dict[BenchRun, int] = {}
        self._display = Display()

    def __enter__(self) -> BenchProgress:
        self._waits = waits_on(self._display)
        self._display.__enter__()
        self._waits.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._waits.__exit__(kind, error, at)
        self._display.__exit__(kind, error, at)

    def event(self, event: Event) -> None:
        """Shows that a run started, finished or failed."""
        match event:
            case RunStarted():
                self._done[event.cell] = 0
                at, seconds = self._total - event.left + 1, event.seconds_left
                left = "time left is not known yet" if seconds is None else f"about {duration(seconds)} left"
                self._head = f"{at}/{self._total} {event.cell.name}, {left}"
                self.say(self._head)
            case RunDone():
                row = event.row
                self._done.pop(row.cell, None)
                best = str(row.best) if row.best.value > 1 else "nothing faster"
                self._display.note(f"    {row.cell.name}: {best}, {row.candidates} candidates, {event.seconds:.0f} s")
            case RunFailed():
                self._done.pop(event.cell, None)
                self._display.note(f"    {event.cell.name} is unfinished: {event.error}")

    def part(self, cell: BenchRun, line: Line) -> None:
        """Receives one recorded part of a current run."""
        if isinstance(line, Evaluated):
            self.evaluated(cell)

    def evaluated(self, cell: BenchRun) -> None:
        """Counts one more candidate of a current run."""
        self._done[cell] = self._done.get(cell, 0) + 1
        if self._display.is_live:
            counts = " and ".join(f"{done}{self._of_all(one)}" for one, done in self._done.items())
            self.say(f"{self._head}, {counts} candidates")

    def _of_all(self, cell: BenchRun) -> str:
        whole = self._plan.candidates(cell.method)
        return f"/{whole}" if whole < MANY else ""

    def say(self, text: str) -> None:
        self._display.say(text)
