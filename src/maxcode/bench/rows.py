"""Reads a finished run folder as one row of figures; a row holds no program, so rows stay small.

The maximal speed-up is the run's own best, confirmed on fresh pairs after it was selected.  The paper takes the highest
of all measured values, which is too high by chance.  A run without a confirmed gain counts as 1, the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.bench.ablation import parted
from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.trace import Trace, are_exchangeable, powers_of_two, trace_of, tried_in
from maxcode.core.budget import MANY
from maxcode.core.files import read_file
from maxcode.core.jsonl import DAMAGED
from maxcode.core.stats import expected_best
from maxcode.core.types import Interval
from maxcode.errors import InputError, RecordError
from maxcode.evaluate.inputs.amplify import ENLARGED
from maxcode.run.record import HEADER, header_in

RESULT = "result.json"


@final
class Cost(msgspec.Struct, frozen=True):
    """The cost of a run: wall ``seconds`` of work, and all its model calls, those of the critic too.

    ``dollars`` is None if a price is not known; a sum with an unknown price is unknown.
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
class BenchRow:
    """The figures of one cell.

    ``best``          the confirmed speed-up, 1 if there is none
    ``candidates``, ``correct``, ``faster``  counts over all candidates
    ``measured``      False if the problem could not be timed at all
    ``where``         version and machine
    ``trace``         the best so far
    ``fastest``       the highest speed-up of any correct candidate, confirmed or not; 0 if none was timed
    ``best_of``       (k, the best of k candidates) for k = 1, 2, 4, ...: the mean over all choices of k if they are
                      ``exchangeable`` (all sampled from the original before any ran), else of the first k
    ``by_pie``        the number that PIE's own checker calls correct, for its problems; else the number of correct ones
    ``by_kernelbench``  the same by KernelBench's own rule, for PyTorch modules
    ``enlarged``      whether it was timed on inputs that were made larger than the problem's own
    ``ended``         the cap that ended the run; empty if the budget of candidates or the search did
    """

    cell: BenchRun
    best: Interval
    candidates: int
    correct: int
    faster: int
    cost: Cost
    measured: bool = True
    where: str = ""
    trace: Trace = field(default_factory=Trace)
    fastest: float = 0.0
    best_of: tuple[tuple[int, float], ...] = ()
    exchangeable: bool = False
    by_pie: int = 0
    by_kernelbench: int = 0
    enlarged: bool = False
    ended: str = ""


class _Result(msgspec.Struct, frozen=True):
    speedup: dict[str, Any] | None
    confirmed: bool
    machine: dict[str, Any]
    spent: Cost
    ended: str = ""


_result = msgspec.json.Decoder(_Result)


def finished(cell: BenchRun, folder: Path, budget: int) -> BenchRow | None:
    """The row of a finished run folder; None if the run must still be made or resumed.

    ``budget`` counts candidates; ``MANY`` if the run's budget has another unit.  Raises RecordError if the folder holds
    a run of another method, seed or budget.
    """
    result = _read_result(folder)
    if result is None:
        return None
    header = header_in(folder / HEADER)
    method, off = parted(cell.method)
    wanted = {"method": method, "seed": cell.seed, "budget": budget if budget < MANY else None}
    differing = [f"{key} is {header.get(key)!r}, not {value!r}" for key, value in wanted.items()
                 if header.get(key) != value]  # fmt: skip
    differing += [f"it shows {part}" for part in off if part not in _listed(header.get("without"))]
    if differing:
        raise RecordError(f"{folder} holds another run ({'; '.join(differing)}); move it away, or choose another --out")
    return _row(cell, folder, result)


def read_row(cell: BenchRun, folder: Path) -> BenchRow:
    """The row of a finished run folder; raises InputError if it is not finished."""
    result = _read_result(folder)
    if result is None:
        raise InputError(f"{folder} holds no finished run: it has no readable {RESULT}; repeat the command to resume")
    return _row(cell, folder, result)


def _read_result(folder: Path) -> _Result | None:
    """The result; None if it is missing, or damaged by a kill: it is then written again."""
    try:
        return _result.decode(read_file(folder / RESULT))
    except (InputError, *DAMAGED):
        return None


def _listed(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def _row(cell: BenchRun, folder: Path, result: _Result) -> BenchRow:
    tried, machine, spent = tried_in(folder), result.machine, result.spent
    exchangeable, header = are_exchangeable(tried), header_in(folder / HEADER)
    return BenchRow(
        cell=cell,
        best=_best(result),
        candidates=len(tried),
        correct=sum(one.word.correct for one in tried),
        faster=sum(one.word.faster for one in tried),
        cost=spent,
        measured=result.speedup is not None,
        where=f"maxcode {header.get('version')} on {machine.get('cpu')}, {machine.get('cores')} cores, "
        f"{machine.get('sandbox')}",
        trace=trace_of(tried, spent.prompt_tokens + spent.completion_tokens, spent.dollars, spent.seconds),
        fastest=max((one.word.value for one in tried), default=0.0),
        best_of=_best_of([one.worth for one in tried], exchangeable),
        exchangeable=exchangeable,
        by_pie=sum(one.word.by_pie for one in tried),
        by_kernelbench=sum(one.word.by_kernelbench for one in tried),
        enlarged=any(str(note).startswith(ENLARGED) for note in _listed(header.get("notes"))),
        ended=result.ended,
    )


def _best(result: _Result) -> Interval:
    found = result.speedup
    if found is None or not (result.confirmed and found["significant"]):
        return Interval(1.0, 1.0, 1.0)
    return Interval(max(1.0, found["value"]), found["low"], found["high"], found["confidence"])


def _best_of(worths: Sequence[float], exchangeable: bool) -> tuple[tuple[int, float], ...]:
    if exchangeable:
        return tuple((k, expected_best(worths, k)) for k in powers_of_two(len(worths)))
    return tuple((k, max(worths[:k])) for k in powers_of_two(len(worths)))
