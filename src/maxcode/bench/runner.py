"""Run what is open, read what is finished: one cell after the other, or several at once (``pool.py``).

Each cell has a folder and a lock of its own, and rows are kept in the cells' order, not in that of completion; so more
than one may be under way (here, or in a second process on the same folder): builds and model calls then overlap, while
timings exclude one another by the machine-wide lane.
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
    """A cell is run or resumed; ``left`` cells have not begun, this one counted."""

    cell: BenchRun
    left: int
    seconds_left: float | None


@final
@dataclass(frozen=True, slots=True)
class RunDone:
    """A cell is finished; ``seconds`` it took in this process."""

    row: BenchRow
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class RunFailed:
    """A cell is left open, and why."""

    cell: BenchRun
    error: MaxcodeError


Event = RunStarted | RunDone | RunFailed


class Runs(Protocol):
    """Who runs cells.  Leaving the block ends what is still under way as Ctrl-C would, and waits for it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    @property
    def at_once(self) -> int:
        """How many cells may be under way."""
        ...

    def begin(self, cell: BenchRun) -> None:
        """Run or resume a cell."""
        ...

    def ended(self) -> tuple[BenchRun, BenchRow | MaxcodeError]:
        """Wait until a cell that was begun has ended; raises Interrupted and UnsafeError, which end all."""
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
    """The rows in the cells' order, what failed, what is open (the failed ones among it), and whether the user
    stopped it."""

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

    A cell whose machine, provider or problem fails is named and left open, the others go on; UnsafeError ends it all,
    because no cell can run.  Ctrl-C (Interrupted from ``run``) ends it with the rows there are.  In the end open cells
    are looked at once more: some were finished all the same, here or by another process that held them.
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
    """The cells in order, as many at once as may be; each as it ends."""
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
