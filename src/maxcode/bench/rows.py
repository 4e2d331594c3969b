"""A finished run folder -> one row of figures; nothing of the run's programs is kept, so rows stay small.

The maximal speed-up is the run's own best, confirmed on fresh pairs after it was selected; the paper takes the highest
of all measured values, which is too high by the luck of the draw.  No confirmed gain counts as 1, the original.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.bench.cells import Cell
from maxcode.errors import InputError, RecordError
from maxcode.record import EVENTS, HEADER, Evaluated, Settled, read_events
from maxcode.types import Evaluation, Interval, Outcome, StateId, Timing

RESULT = "result.json"


@final
class Cost(msgspec.Struct, frozen=True):
    """What a run used: wall ``seconds`` at work, and all its model calls, the critic's too.

    ``dollars`` is None where a price is not known; a sum with an unknown price is unknown.
    """

    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.seconds + other.seconds,
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if self.dollars is None or other.dollars is None else self.dollars + other.dollars,
        )


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What one cell came to.

    ``best``: the confirmed speed-up, 1 where there is none.  ``candidates``, ``correct``, ``faster``: counts over all
    generations.  ``measured``: False where the problem could not be timed at all.  ``where``: version and machine.
    """

    cell: Cell
    best: Interval
    candidates: int
    correct: int
    faster: int
    cost: Cost
    measured: bool = True
    where: str = ""


class _Result(msgspec.Struct, frozen=True):
    speedup: dict[str, Any] | None
    confirmed: bool
    machine: dict[str, Any]
    spent: Cost


_result = msgspec.json.Decoder(_Result)


def finished(cell: Cell, folder: Path, budget: int) -> Row | None:
    """The row of a run folder that is finished, None where the run is yet to be made or to be resumed.

    Raises RecordError where the folder holds a run of another method, seed or budget.
    """
    result = _read_result(folder)
    if result is None:
        return None
    header = _header(folder)
    wanted = {"method": cell.method, "seed": cell.seed, "budget": budget}
    differing = [f"{key} is {header.get(key)!r}, not {value!r}" for key, value in wanted.items()
                 if header.get(key) != value]  # fmt: skip
    if differing:
        raise RecordError(f"{folder} holds another run ({'; '.join(differing)}); move it away, or choose another --out")
    return _row(cell, folder, result)


def read_row(cell: Cell, folder: Path) -> Row:
    """The row of a finished run folder; InputError where it is not finished."""
    result = _read_result(folder)
    if result is None:
        raise InputError(f"{folder} holds no finished run: it has no readable {RESULT}; repeat the command to resume")
    return _row(cell, folder, result)


def _read_result(folder: Path) -> _Result | None:
    """None where it is missing, or torn by a kill: the run's end is then written anew."""
    try:
        return _result.decode((folder / RESULT).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None


def _header(folder: Path) -> dict[str, object]:
    try:
        return tomllib.loads((folder / HEADER).read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordError(f"cannot read {folder / HEADER} ({error}); move {folder} away to run it again") from error


def _evaluations(folder: Path) -> list[Evaluation]:
    """Every generation as it was judged last."""
    found: dict[StateId, Evaluation] = {}
    try:
        for line in read_events(folder):
            match line:
                case Evaluated():
                    found[line.at] = line.evaluation
                case Settled():
                    found |= {(line.batch, slot): anew for slot, anew in line.evaluations.items()}
                    found |= dict([line.champion] if line.champion is not None else [])
    except OSError as error:
        raise RecordError(f"cannot read {folder / EVENTS} ({error}); move {folder} away to run it again") from error
    return list(found.values())


def _row(cell: Cell, folder: Path, result: _Result) -> Row:
    evaluations = _evaluations(folder)
    correct = [one for one in evaluations if one.outcome is Outcome.CORRECT]
    machine = result.machine
    return Row(
        cell=cell,
        best=_best(result),
        candidates=len(evaluations),
        correct=len(correct),
        faster=sum(_is_faster(one.timing) for one in correct),
        cost=result.spent,
        measured=result.speedup is not None,
        where=f"maxcode {_header(folder).get('version')} on {machine.get('cpu')}, {machine.get('cores')} cores, "
        f"{machine.get('sandbox')}",
    )


def _best(result: _Result) -> Interval:
    found = result.speedup
    if found is None or not (result.confirmed and found["significant"]):
        return Interval(1.0, 1.0, 1.0)
    return Interval(max(1.0, found["value"]), found["low"], found["high"], found["confidence"])


def _is_faster(timing: Timing | None) -> bool:
    """Whether a generation counts for Fast1: the race says faster than the original.

    A race that ended early because the best so far cannot be beaten has no such word; its interval must lie above 1.
    """
    if timing is None:
        return False
    return timing.significant or (timing.verdict == "beaten" and timing.speedup.low > 1)
