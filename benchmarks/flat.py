"""Does a bench of many problems cost the same for each?  Compares seconds, memory and open files, first against last.

    python benchmarks/flat.py [--problems 1000] [--methods best-of-n cuda-llm] [--budget 8] [--json FILE]

Tiny problems run on the table evaluator, with the real loop, record and run folders, so that only the cost of maxcode
is measured.  "run": CPU milliseconds per run, over slices of a tenth of the problems; "read": the same for a repeated
command, which finds all runs finished; "kept": bytes of a finished row.  "rss": resident megabytes at the end of a
slice; "files": open descriptors.  "table" and "curves": CPU seconds for a quarter, half and all of the problems, and
milliseconds for each.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from maxcode.bench import (
    AXES,
    SUITES,
    BenchRow,
    BenchRun,
    BenchState,
    Cost,
    TableRequest,
    as_json,
    bench,
    cells,
    curves,
    finished,
    read_row,
)
from maxcode.bench import table as table_of
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.observe import compose, program, statement
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record, check_header
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem

SEARCHES: dict[str, Callable[[int], Search]] = {
    "best-of-n": lambda n: BestOfN(n=n, width=8),
    "refine": lambda n: Refine(depth=n),
    "cuda-llm": lambda n: CudaLlm(width=2, depth=n // 2),
}
MACHINE = {"cpu": "a table", "cores": 1, "sandbox": "none"}


def speed(text: str) -> float | None:
    return None if int(text) % 5 == 0 else 0.5 + int(text) % 997 / 500


def write(text: str, draw: int) -> str:
    return str((int(text) * 31 + draw) % 100_003)


@dataclass(frozen=True)
class Tables:
    """Runs cells in ``out`` on the table evaluator."""

    out: Path
    budget: int

    def run(self, cell: BenchRun) -> BenchRow:
        folder = self.out / cell.name
        header = {"version": "0", "method": cell.method, "seed": cell.seed, "budget": self.budget}
        check_header(folder, header, frozenset())
        method = Method(Scripted(write=write), SEARCHES[cell.method](self.budget), compose(statement(), program()))
        with Record(folder) as record:
            problem = toy_problem(cell.problem.removeprefix("p"), cell.problem)
            result = optimize(problem, method, Table(rule=speed), Run(self.budget, cell.seed, record=record))
        (folder / "result.json").write_bytes(msgspec.json.encode(told(result)))
        return read_row(cell, folder)

    def finished(self, cell: BenchRun) -> BenchRow | None:
        return finished(cell, self.out / cell.name, self.budget)


def told(result: Result) -> dict[str, Any]:
    """The content of a run's result.json."""
    best = result.best
    timing = best.step.evaluation.timing if best is not None and best.step is not None else None
    speedup = {"value": 1.0, "low": 1.0, "high": 1.0, "confidence": 1.0} if timing is None else asdict(timing.speedup)
    return {
        "speedup": {**speedup, "significant": timing is not None},
        "confirmed": timing is not None,
        "machine": MACHINE,
        "spent": Cost(result.spent.seconds),
    }


class Sliced:
    """Calls ``work``, and records the cost of every tenth of ``total`` calls."""

    def __init__(self, work: Callable[[BenchRun], BenchRow | None], total: int, parts: int = 10) -> None:
        self._work = work
        self._size = max(1, total // parts)
        self._calls = 0
        self._started = 0.0
        self.slices: list[dict[str, float]] = []

    def __call__(self, cell: BenchRun) -> Any:
        self._started = self._started or time.process_time()
        row = self._work(cell)
        self._calls += 1
        if self._calls % self._size == 0:
            now = time.process_time()
            files = len(os.listdir("/proc/self/fd"))
            self.slices.append({"ms": 1e3 * (now - self._started) / self._size, "rss": rss_mb(), "files": files})
            self._started = time.process_time()
        return row


def rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def costs(rows: Sequence[BenchRow], plan: Sequence[BenchRun], problems: int) -> list[dict[str, Any]]:
    """The cost of the table (with all figures), the curves, and the JSON."""
    found = []
    for share in (4, 2, 1):
        names = {f"p{n}" for n in range(problems // share)}
        some = [row for row in rows if row.cell.problem in names]
        asked = TableRequest(tuple(SUITES), tuple(cell for cell in plan if cell.problem in names))
        seconds = cost(some, asked)
        found.append({"problems": len(names), **seconds, "ms a problem": 1e3 * sum(seconds.values()) / len(names)})
    return found


def cost(rows: Sequence[BenchRow], asked: TableRequest) -> dict[str, float]:
    table, table_s = timed(lambda: table_of(rows, asked))
    drawn, curves_s = timed(lambda: [curve for axis in AXES for curve in curves(rows, axis)])
    _, json_s = timed(lambda: as_json(table, BenchState(tuple(rows)), drawn))
    return {"table": table_s, "curves": curves_s, "json": json_s}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    return work(), time.process_time() - started


def kept(runs: Tables, plan: Sequence[BenchRun]) -> float:
    """Bytes that a row keeps."""
    tracemalloc.start()
    rows = [runs.finished(cell) for cell in plan]
    held = tracemalloc.get_traced_memory()[0] / len(rows)
    tracemalloc.stop()
    return held


def measure(options: argparse.Namespace, out: Path) -> dict[str, Any]:
    runs = Tables(out, options.budget)
    plan = cells([f"p{n}" for n in range(options.problems)], options.methods, range(1))
    run, read = Sliced(runs.run, len(plan)), Sliced(runs.finished, len(plan))
    rows = bench(plan, run).rows
    assert bench(plan, runs.run, read).rows == rows
    return {
        "run": run.slices,
        "read": read.slices,
        "kept": kept(runs, plan),
        "costs": costs(rows, plan, options.problems),
    }


def show(found: dict[str, Any]) -> None:
    for what in ("run", "read"):
        print(f"{what:<6} {'ms a run':>9} {'rss MB':>8} {'files':>6}")
        for place, one in ("first", found[what][0]), ("last", found[what][-1]):
            print(f"{place:<6} {one['ms']:>9.2f} {one['rss']:>8.1f} {one['files']:>6}")
    print(f"kept   {found['kept']:.0f} bytes a row")
    print(f"{'problems':>8} {'table s':>8} {'curves s':>9} {'json s':>7} {'ms a problem':>13}")
    for one in found["costs"]:
        each = one["ms a problem"]
        print(f"{one['problems']:>8} {one['table']:>8.2f} {one['curves']:>9.2f} {one['json']:>7.2f} {each:>13.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", default=["best-of-n", "cuda-llm"], choices=SEARCHES)
    parser.add_argument("--budget", type=int, default=8)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(options, Path(scratch))
    show(found)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
