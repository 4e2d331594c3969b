"""Run what is open, read what is finished, one cell at a time.

Each cell has a folder and a lock of its own, and rows are kept in the cells' order, not in that of completion; so more
than one may be under way (a second process on the same folder, or a pool in place of the loop here): builds and model
calls then overlap, while timings exclude one another by the machine-wide lane.  Here one run goes at a time, because
its own slots fill the cores already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.bench.cells import Cell
from maxcode.bench.pace import Pace
from maxcode.bench.rows import Row
from maxcode.errors import Interrupted, MaxcodeError, UnsafeError

RunOne = Callable[[Cell], Row]


@final
@dataclass(frozen=True, slots=True)
class Started:
    """A cell is run or resumed; ``left`` cells are open, this one counted."""

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
    run_one: RunOne,
    finished: Callable[[Cell], Row | None] = lambda cell: None,
    watch: Callable[[Event], None] = lambda event: None,
    clock: Callable[[], float] = time.monotonic,
) -> Bench:
    """Rows of all cells: those that ``finished`` knows are read, the others are run in order.

    A cell whose machine, provider or problem fails is named and left open, the others go on; UnsafeError ends it all,
    because no cell can run.  Ctrl-C (Interrupted from ``run_one``) ends it with the rows there are, that of a cell
    which was finished all the same among them.
    """
    rows = {cell: row for cell in cells if (row := finished(cell)) is not None}
    to_run = [cell for cell in cells if cell not in rows]
    pace = Pace(to_run)
    for cell, row in rows.items():
        pace.took(cell, row.cost.seconds)
    failed: list[Failed] = []
    interrupted = False
    try:
        for number, cell in enumerate(to_run):
            watch(Started(cell, len(to_run) - number, pace.seconds_left))
            started = clock()
            try:
                rows[cell] = run_one(cell)
            except (Interrupted, UnsafeError):
                raise
            except MaxcodeError as error:
                failed.append(Failed(cell, error))
                watch(failed[-1])
            else:
                pace.took(cell, seconds := clock() - started)
                watch(Done(rows[cell], seconds))
            pace.leave(cell)
    except (Interrupted, KeyboardInterrupt):  # the latter between runs, and while an original is admitted
        interrupted = True
        rows |= {cell: row for cell in to_run if cell not in rows and (row := finished(cell)) is not None}
    ordered = tuple(rows[cell] for cell in cells if cell in rows)
    return Bench(ordered, tuple(failed), tuple(cell for cell in cells if cell not in rows), interrupted)
