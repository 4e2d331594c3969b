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

from maxcode.bench.cells import Cell
from maxcode.bench.eta import Pace
from maxcode.bench.rows import Row
from maxcode.errors import Interrupted, MaxcodeError, UnsafeError

RunOne = Callable[[Cell], Row]


@final
@dataclass(frozen=True, slots=True)
class Started:
    """A cell is run or resumed; ``left`` cells have not begun, this one counted."""

    cell: Cell
    left: int
    seconds_left: float | None


@final
@dataclass(frozen=True, slots=True)
class Done:
    """A cell is finished; ``seconds`` it took in this process."""

    row: Row
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Failed:
    """A cell is left open, and why."""

    cell: Cell
    error: MaxcodeError


Event = Started | Done | Failed


class Runs(Protocol):
    """Who runs cells.  Leaving the block ends what is still under way as Ctrl-C would, and waits for it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    @property
    def at_once(self) -> int:
        """How many cells may be under way."""
        ...

    def begin(self, cell: Cell) -> None:
        """Run or resume a cell."""
        ...

    def ended(self) -> tuple[Cell, Row | MaxcodeError]:
        """Wait until a cell that was begun has ended; raises Interrupted and UnsafeError, which end all."""
        ...


@final
class InTurn:
    """One cell at a time, in this process."""

    at_once = 1

    def __init__(self, run_one: RunOne) -> None:
        self._run_one = run_one
        self._cells: deque[Cell] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin(self, cell: Cell) -> None:
        self._cells.append(cell)

    def ended(self) -> tuple[Cell, Row | MaxcodeError]:
        cell = self._cells.popleft()
        try:
            return cell, self._run_one(cell)
        except (Interrupted, UnsafeError):
            raise
        except MaxcodeError as error:
            return cell, error


@final
@dataclass(frozen=True, slots=True)
class Bench:
    """The rows in the cells' order, what failed, what is open (the failed ones among it), and whether the user
    stopped it."""

    rows: tuple[Row, ...]
    failed: tuple[Failed, ...] = ()
    left: tuple[Cell, ...] = ()
    interrupted: bool = False


def bench(
    cells: Sequence[Cell],
    run: RunOne | Runs,
    finished: Callable[[Cell], Row | None] = lambda cell: None,
    watch: Callable[[Event], None] = lambda event: None,
    clock: Callable[[], float] = time.monotonic,
) -> Bench:
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
    failed: list[Failed] = []
    interrupted = False
    try:
        with InTurn(run) if callable(run) else run as runs:
            for ended in _run(to_run, runs, pace, watch, clock):
                watch(ended)
                if isinstance(ended, Failed):
                    failed.append(ended)
                else:
                    rows[ended.row.cell] = ended.row
    except (Interrupted, KeyboardInterrupt):  # the latter between runs, and while an original is admitted
        interrupted = True
    rows |= {cell: row for cell in to_run if cell not in rows and (row := finished(cell)) is not None}
    ordered = tuple(rows[cell] for cell in cells if cell in rows)
    still = tuple(one for one in failed if one.cell not in rows)
    return Bench(ordered, still, tuple(cell for cell in cells if cell not in rows), interrupted)


def _run(
    to_run: Sequence[Cell], runs: Runs, pace: Pace, watch: Callable[[Event], None], clock: Callable[[], float]
) -> Iterator[Done | Failed]:
    """The cells in order, as many at once as may be; each as it ends."""
    waiting, under_way = deque(to_run), dict[Cell, float]()
    while waiting or under_way:
        while waiting and len(under_way) < runs.at_once:
            together = min(runs.at_once, len(waiting) + len(under_way))
            left_s = None if pace.seconds_left is None else pace.seconds_left / together
            watch(Started(waiting[0], len(waiting), left_s))
            cell = waiting.popleft()
            under_way[cell] = clock()
            runs.begin(cell)
        cell, found = runs.ended()
        seconds = clock() - under_way.pop(cell)
        if isinstance(found, Row):
            pace.took(cell, seconds)
        pace.leave(cell)
        yield Done(found, seconds) if isinstance(found, Row) else Failed(cell, found)
