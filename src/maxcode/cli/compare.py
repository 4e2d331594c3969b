"""``maxcode compare``: tells which of two runs found the faster program, or compares two benches by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from maxcode.bench import as_text
from maxcode.bench.bench_folder import HEADER as BENCH
from maxcode.bench.compare import Ground, raced
from maxcode.bench.table import MethodTable
from maxcode.bench.versus import ComparedRun, Difference, Word, differences, entrant, same_original, versus
from maxcode.bench.versus_benches import versus_benches
from maxcode.cli.common import as_json, overrides, problem_options, run_setup_option, sandbox_options
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.types import Interval
from maxcode.errors import InputError
from maxcode.run.display import Display

Told = dict[str, Any]


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--measure", is_flag=True, help="Time both winners against each other on this machine now, instead "
              "of comparing what was recorded.")  # fmt: skip
@click.option("--problem", type=click.Path(path_type=Path), help="With --measure: the problem, if it is not where "
              "FIRST found it.")  # fmt: skip
@click.option("--force", is_flag=True, help="Compare even if the two runs differ in what a speed-up depends on; the "
              "result lists the differences.")  # fmt: skip
@problem_options
@run_setup_option
@sandbox_options
@as_json
def compare(first: Path, second: Path, measure: bool, force: bool, json_: bool, **options: Any) -> None:
    """Tell which of the run folders FIRST and SECOND holds the faster winner, and whether it is significantly faster.

    Recorded speed-ups are compared if both runs have the same original, machine, sandbox, version, flags and tests.
    Otherwise the differences are printed and the exit status is 2.

    Two folders of `maxcode bench` are compared method by method, on the problems and seeds that both have finished.
    """
    ground = Ground(options.pop("problem"), options.pop("tests"), overrides(options), force)
    if options.pop("shapes"):
        raise InputError("--shapes has no effect on two finished runs: their shapes are recorded; leave it out")
    if not measure and (ground.source or ground.tests or ground.overrides):
        raise InputError(
            "options of the problem (--problem, --tests, --flags, --goal, ...) belong to --measure alone; without it "
            "the recorded speed-ups are compared"
        )
    if all((folder / BENCH).is_file() for folder in (first, second)):
        if measure:
            raise InputError("--measure races the winners of two runs; give two run folders, or leave it out")
        told, text = _benches(first, second, force)
    else:
        told, text = _runs(first, second, ground, measure)
    if json_:
        echo_json(msgspec.json.encode(told).decode())
    else:
        echo(text)


def _runs(first: Path, second: Path, ground: Ground, measure: bool) -> tuple[Told, str]:
    one, other = entrant(first), entrant(second)
    same_original(one, other)
    found = [it for it in differences(one, other) if not (measure and "--measure" in it.cure)]
    _refuse(first, second, found, ground.force)
    told = _raced(one, other, ground) if measure else _recorded(one, other)
    told["differences"] = list(map(str, found))
    return told, _text(told)


def _benches(first: Path, second: Path, force: bool) -> tuple[Told, str]:
    found = versus_benches(first, second)
    _refuse(first, second, found.differences, force)
    forced, terms = list(map(str, found.differences)), list(map(str, found.terms))
    told = {"tables": found.tables, "differences": forced, "terms": terms}
    lines = [*_blocks(found.tables), *(f"FORCED     {it}" for it in forced), *(f"differs    {it}" for it in terms)]
    return told, "\n".join(lines)


def _blocks(tables: Sequence[MethodTable]) -> list[str]:
    """One table for each method; notes that apply to all tables are printed below the last."""
    shared = [note for note in tables[0].notes if all(note in table.notes for table in tables)]
    alone = [replace(table, notes=tuple(note for note in table.notes if note not in shared)) for table in tables]
    return [*(f"{as_text(table)}\n" for table in alone), *(f"note: {note}" for note in shared)]


def _recorded(one: ComparedRun, other: ComparedRun) -> Told:
    result = versus(one, other)
    on = " on a busy machine" if result.busy else ""
    note = (
        f"from the recorded speed-ups over the same original, measured in different sessions{on}: a difference must "
        f"exceed {result.margin:.0%}; --measure races them in one session"
    )
    told = {**_sides(one, other), "ratio": result.ratio, "verdict": result.word, "margin": result.margin}
    return {**told, "busy": result.busy, "note": note}


def _raced(one: ComparedRun, other: ComparedRun, ground: Ground) -> Told:
    with Display() as display:
        result = raced(one, other, ground, display.say)
    note = "raced side by side on this machine" + (f"; {result.why}" if result.why else "")
    told = {**_sides(one, other), "ratio": result.ratio, "verdict": result.word, "note": note}
    return {**told, "sandbox": result.verdict.machine.sandbox, "tests": dict(result.verdict.tests)}


def _sides(one: ComparedRun, other: ComparedRun) -> Told:
    sides = {"first": one, "second": other}
    return {side: {"run": run.folder, "speedup": run.speedup} for side, run in sides.items()}


def _text(told: Told) -> str:
    lines = [
        f"{side:<10} {told[side]['speedup']} over the original: {told[side]['run']}" for side in ("first", "second")
    ]
    ratio: Interval | None = told["ratio"]
    if ratio is not None:
        lines.append(f"ratio      {ratio} first over second, {ratio.confidence:.0%} interval")
    lines.append(f"verdict    {_WORDS[told['verdict']]}")
    lines += [f"FORCED     {difference}" for difference in told["differences"]]
    return "\n".join([*lines, f"note       {told['note']}"])


_WORDS: dict[Word, str] = {
    "first": "the first run's winner is faster",
    "second": "the second run's winner is faster",
    "not significant": "not significant: no difference was proved",
    "same program": "both runs found the same program",
    "nothing faster": "neither run found a program faster than the original",
}


def _refuse(first: Path, second: Path, found: Sequence[Difference], force: bool) -> None:
    if not found or force:
        return
    lines = "\n".join(f"  {difference}" for difference in found)
    cures = "; ".join(dict.fromkeys(difference.cure for difference in found))
    raise InputError(
        f"{first} and {second} cannot be compared, because their speed-ups were measured in different ways:\n{lines}\n"
        f"To compare them: {cures}; or --force; the result then lists the differences."
    )
