"""Runs the open cells and reads the finished ones: one cell after the other, or several at once (``pool.py``).

Each cell has its own folder and lock, and rows are kept in the order of the cells.  So several cells may run at the
same time, here or in a second process on the same folder: builds and model calls overlap, and the machine-wide lane
keeps timings apart.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, final

from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.eta import Pace
from maxcode.bench.rows import BenchRow
from maxcode.errors import Interrupted, MaxcodeError, UnsafeError

RunOne = Callable[[BenchRun], BenchRow]


@final
@dataclass(frozen=True, slots=True)
class RunStarted:
    """A cell is run or resumed; ``left`` cells are not started, including this one."""

    cell: BenchRun
    left: int
    seconds_left: float | None


@final
@dataclass(frozen=True, slots=True)
class RunDone:
    """A cell is finished; it took ``seconds`` in this process."""

    row: BenchRow
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class RunFailed:
    """A cell stays open, with the reason."""

    cell: BenchRun
    error: MaxcodeError


Event = RunStarted | RunDone | RunFailed


class Runs(Protocol):
    """The runner of cells.  The end of the block stops active cells as Ctrl-C does, and waits for them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    @property
    def at_once(self) -> int:
        """The number of cells that may run at once."""
        ...

    def begin(self, cell: BenchRun) -> None:
        """Runs or resumes a cell."""
        ...

    def ended(self) -> tuple[BenchRun, BenchRow | MaxcodeError]:
        """Waits until a started cell has ended; raises Interrupted and UnsafeError, which end the bench."""
        ...


@final
class InTurn:
    """One cell at a time, in this process."""

    at_once = 1

    def __init__(self, run_one: RunOne) -> None:
        self._run_one = run_one
        self._cells: deque[BenchRun] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin(self, cell: BenchRun) -> None:
        self._cells.append(cell)

    def ended(self) -> tuple[BenchRun, BenchRow | MaxcodeError]:
        cell = self._cells.popleft()
        try:
            return cell, self._run_one(cell)
        except (Interrupted, UnsafeError):
            raise
        except MaxcodeError as error:
            return cell, error


@final
@dataclass(frozen=True, slots=True)
class BenchState:
    """The rows in the order of the cells, the failures, the open cells (failed ones included), and whether the user
    stopped the bench."""

    rows: tuple[BenchRow, ...]
    failed: tuple[RunFailed, ...] = ()
    left: tuple[BenchRun, ...] = ()
    interrupted: bool = False


def bench(
    cells: Sequence[BenchRun],
    run: RunOne | Runs,
    finished: Callable[[BenchRun], BenchRow | None] = lambda cell: None,
    watch: Callable[[Event], None] = lambda event: None,
    clock: Callable[[], float] = time.monotonic,
) -> BenchState:
    """Rows of all cells: those that ``finished`` knows are read, the others are run in order.

    If the machine, the provider or the problem of a cell fails, the cell is reported and stays open, and the others
    continue.  UnsafeError ends the bench, because no cell can run.  Ctrl-C (Interrupted from ``run``) ends it with the
    finished rows.  At the end open cells are read again, because another process may have finished them.
    """
    rows = {cell: row for cell in cells if (row := finished(cell)) is not None}
    to_run = [cell for cell in cells if cell not in rows]
    pace = Pace(to_run)
    for cell, row in rows.items():
        pace.took(cell, row.cost.seconds)
    failed: list[RunFailed] = []
    interrupted = False
    try:
        with InTurn(run) if callable(run) else run as runs:
            for ended in _run(to_run, runs, pace, watch, clock):
                watch(ended)
                if isinstance(ended, RunFailed):
                    failed.append(ended)
                else:
                    rows[ended.row.cell] = ended.row
    except (Interrupted, KeyboardInterrupt):  # the latter between runs, and while an original is admitted
        interrupted = True
    rows |= {cell: row for cell in to_run if cell not in rows and (row := finished(cell)) is not None}
    ordered = tuple(rows[cell] for cell in cells if cell in rows)
    still = tuple(one for one in failed if one.cell not in rows)
    return BenchState(ordered, still, tuple(cell for cell in cells if cell not in rows), interrupted)


def _run(
    to_run: Sequence[BenchRun], runs: Runs, pace: Pace, watch: Callable[[Event], None], clock: Callable[[], float]
) -> Iterator[RunDone | RunFailed]:
    """Yields the result of each cell as it ends; starts cells in order, as many at once as allowed."""
    waiting, under_way = deque(to_run), dict[BenchRun, float]()
    while waiting or under_way:
        while waiting and len(under_way) < runs.at_once:
            together = min(runs.at_once, len(waiting) + len(under_way))
            left_s = None if pace.seconds_left is None else pace.seconds_left / together
            watch(RunStarted(waiting[0], len(waiting), left_s))
            cell = waiting.popleft()
            under_way[cell] = clock()
            runs.begin(cell)
        cell, found = runs.ended()
        seconds = clock() - under_way.pop(cell)
        if isinstance(found, BenchRow):
            pace.took(cell, seconds)
        pace.leave(cell)
        yield RunDone(found, seconds) if isinstance(found, BenchRow) else RunFailed(cell, found)
