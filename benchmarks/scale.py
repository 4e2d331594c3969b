"""Does a candidate cost the same in a run of 100,000 as in one of 1,000?  Every method, a resume, a report, a bench.

    python benchmarks/scale.py [--parts methods resume report bench] [--sizes 1000 10000 30000 100000]
                               [--methods best-of-n ... elites+maxcode] [--limit 600] [--page 10000]
                               [--problems 1000] [--at-once 16] [--json runs/scale.json]

Programs of some lines of C are rated by a table, with the real loop, methods, record and folders, so that only the cost
of maxcode is measured.  Every run has a process of its own.

methods: CPU milliseconds of a candidate since the size before, and resident megabytes at each size.  A run ends when it
has taken --limit seconds of CPU.
resume: the same folder opened again with its budget spent: CPU seconds, and the most resident megabytes.
report: a run of --page candidates: CPU seconds to write its page, and megabytes; the seconds that Chromium takes from
the address to the end of the page's "load" event and the next frame, median of five, if Chromium is on the PATH.
bench: --problems runs of eight candidates, --at-once of them at a time: seconds, CPU seconds and megabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flat import Tables, rss_mb
from maxcode.bench import BenchRow, BenchRun, Pool, bench, cells
from maxcode.core.files import write_whole
from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Problem, Program, ProgramSpec, State
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Evaluated, Line, Record, check_header
from maxcode.run.report import write_report
from maxcode.search.methods import RECIPES, method
from maxcode.search.scene import Scene
from maxcode.testing import Scripted, Table
from maxcode.testing.nodes import MACHINE

PLUS = "+maxcode"
METHODS = [recipe.name + plus for plus in ("", PLUS) for recipe in RECIPES]
PARTS = ("methods", "resume", "report", "bench")
SIZES = (1_000, 10_000, 30_000, 100_000)
KERNEL = """\
void scale(int n, double *a, const double *b) {
    for (int block = 0; block < n; block += %d)
        for (int i = block; i < block + %d && i < n; i++)
            a[i] = %d * b[i];
}
"""
OPENINGS = 5


def kernel(number: int) -> str:
    tile = 4 << number % 7
    return KERNEL % (tile, tile, number)


def problem() -> Problem:
    return Problem("scale", "program", "c", Program({"scale.c": kernel(1)}), ProgramSpec())


def write(text: str, draw: int) -> str:
    return kernel(draw % 1_000_000_007)


def speed(text: str) -> float | None:
    """A fifth of the programs are wrong; the others are half as fast to 2.5 times as fast."""
    number = int(text.rsplit("= ", 1)[1].split()[0])
    return None if number % 5 == 0 else 0.5 + number % 997 / 500


@dataclass
class Marks:
    """Notes what was spent when a run reaches one of ``sizes`` candidates."""

    sizes: Sequence[int]
    evaluated: int = 0
    rows: list[dict[str, float]] = field(default_factory=list)
    since: tuple[int, float] = (0, 0.0)

    def __call__(self, line: Line) -> None:
        if not isinstance(line, Evaluated):
            return
        self.evaluated += 1
        if self.evaluated in self.sizes:
            self.mark()

    def mark(self) -> None:
        """A row for the candidates since the last one."""
        at, cpu = self.since
        if self.evaluated > at:
            now = time.process_time()
            ms = 1e3 * (now - cpu) / (self.evaluated - at)
            self.rows.append({"candidates": self.evaluated, "ms": round(ms, 3), "rss_mb": round(rss_mb(), 1)})
            self.since = self.evaluated, now


@dataclass
class Until:
    """A search that ends after about ``limit`` seconds of CPU; the clock is read once in 64 batches, because that takes
    milliseconds on some machines."""

    search: Search
    limit: float
    batches: int = 0

    def select(self, reached: Reached) -> list[State]:
        self.batches += 1
        late = self.batches % 64 == 0 and time.process_time() > self.limit
        return [] if late else list(self.search.select(reached))


def made(name: str, budget: int, limit: float) -> Method:
    found = method(name, Scripted(write=write), budget, Scene(MACHINE))
    return Method(
        found.policy, Until(found.search, limit), found.observe, found.critic, gamma=found.gamma,
        critiques=found.critiques,
    )  # fmt: skip


def searched(folder: Path, name: str, sizes: Sequence[int], limit: float) -> list[dict[str, float]]:
    """A run, or its resume, and what it took at each size."""
    header = {"version": "0", "problem": "scale", "language": "c", "method": name, "seed": 0, "budget": sizes[-1]}
    check_header(folder, header, frozenset())
    write_whole(folder / "original" / "scale.c", kernel(1).encode())
    marks = Marks(sizes, since=(0, time.process_time()))
    with Record(folder) as record:
        optimize(problem(), made(name, sizes[-1], limit), Table(rule=speed), Run(sizes[-1], record=record, watch=marks))
    marks.mark()
    return marks.rows


# ----------------------------------------------------------------------------------------------- parts, each in a child


def child(work: str, folder: Path, *words: object) -> Any:
    """What a process of its own says of ``work``."""
    command = [sys.executable, __file__, "--child", work, str(folder), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def told(work: str, folder: Path, words: Sequence[str]) -> Any:
    """The work of a child."""
    if work == "search":
        return searched(folder, words[0], [int(one) for one in words[2:]], float(words[1]))
    before, found = time.process_time(), rss_mb()
    if work == "resume":
        searched(folder, words[0], [int(words[1])], float("inf"))
    else:
        write_report(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_s": round(time.process_time() - before, 2), "import_mb": round(found, 1), "peak_mb": round(peak, 1)}


def methods(chosen: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    found = []
    print(f"{'method':22} {'':8}" + "".join(f"{size:>10}" for size in chosen.sizes))
    for name in chosen.methods:
        folder = scratch / name
        rows = child("search", folder, name, chosen.limit, *chosen.sizes)
        shutil.rmtree(folder)
        found.append({"method": name, "rows": rows})
        print(f"{name:22} {'CPU ms':8}" + cells_of(rows, "ms", chosen.sizes))
        print(f"{'':22} {'RSS MB':8}" + cells_of(rows, "rss_mb", chosen.sizes), flush=True)
    return found


def cells_of(rows: Sequence[dict[str, float]], key: str, sizes: Sequence[int]) -> str:
    """The figures by size; those of a run that ended before a size, with the candidates that it had."""
    by_size = {row["candidates"]: row[key] for row in rows}
    line = "".join(f"{by_size[size]:10.2f}" if size in by_size else f"{'-':>10}" for size in sizes)
    last = rows[-1]
    return line if last["candidates"] in sizes else f"{line}  ({last[key]:.2f} at {last['candidates']:.0f})"


def resumed(chosen: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    found = []
    print(f"{'resume of':22} {'candidates':>10} {'file MB':>8} {'CPU s':>8} {'peak MB':>8}")
    for name in chosen.resumed:
        for size in chosen.sizes:
            folder = scratch / "resumed"
            child("search", folder, name, chosen.limit, size)
            row = {"method": name, "candidates": size, **child("resume", folder, name, size)}
            row["file_mb"] = round((folder / "events.jsonl").stat().st_size / 1e6, 1)
            shutil.rmtree(folder)
            found.append(row)
            print(f"{name:22} {size:10} {row['file_mb']:8} {row['cpu_s']:8} {row['peak_mb']:8}", flush=True)
    return found


def reported(chosen: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    found = []
    print(f"{'report of':22} {'candidates':>10} {'page MB':>8} {'CPU s':>8} {'peak MB':>8} {'opens s':>8}")
    for name in chosen.resumed:
        folder = scratch / "reported"
        child("search", folder, name, chosen.limit, chosen.page)
        row = {"method": name, "candidates": chosen.page, **child("report", folder)}
        page = folder / "report.html"
        row |= {"page_mb": round(page.stat().st_size / 1e6, 2), "opens_s": opens(page, scratch / "profile")}
        shutil.rmtree(folder)
        found.append(row)
        shown = f"{name:22} {chosen.page:10} {row['page_mb']:8} {row['cpu_s']:8} {row['peak_mb']:8}"
        print(f"{shown} {row['opens_s'] or '-':>8}", flush=True)
    return found


def opens(page: Path, profile: Path) -> float | None:
    """Seconds until the page is loaded and drawn; None without Chromium."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        return None
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.support.browser import chromium

    with chromium(profile) as browser:
        browser.look()
        found = []
        for _ in range(OPENINGS):
            browser.open(page)
            browser.driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0]))")
            found.append(float(browser.ask("return performance.now()")) / 1e3)
    return round(statistics.median(found), 2)


@dataclass(frozen=True)
class Watched:
    """Runs cells on the table evaluator in another process."""

    tables: Tables

    def __call__(self, cell: BenchRun, watch: Callable[[Line], None]) -> BenchRow:
        return self.tables.run(cell)


def benched(chosen: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    found = []
    print(f"{'at once':>7} {'runs':>6} {'wall s':>8} {'CPU s':>8} {'parent MB':>10} {'worker MB':>10}")
    for at_once in sorted({1, chosen.at_once}):
        plan = cells([f"p{n}" for n in range(chosen.problems)], ["best-of-n"], range(1))
        began, cpu = time.monotonic(), all_cpu()
        done = bench(plan, Pool(Watched(Tables(scratch / f"bench{at_once}", 8)), at_once, lambda cell: None))
        assert len(done.rows) == len(plan)
        row = {
            "at_once": at_once,
            "runs": len(plan),
            "wall_s": round(time.monotonic() - began, 1),
            "cpu_s": round(all_cpu() - cpu, 1),
            "parent_mb": round(rss_mb(), 1),
            "worker_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 1),
        }
        found.append(row)
        print(
            f"{at_once:7} {len(plan):6} {row['wall_s']:8} {row['cpu_s']:8} {row['parent_mb']:10} {row['worker_mb']:10}"
        )
    return found


def all_cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system


WORK = {"methods": methods, "resume": resumed, "report": reported, "bench": benched}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--resumed", nargs="+", default=["cuda-llm+maxcode", "tree"], help="methods of the other parts")
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds of one run")
    parser.add_argument("--page", type=int, default=10_000, help="candidates of the report")
    parser.add_argument("--problems", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--json", type=Path, default=Path("runs/scale.json"))
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    chosen = options()
    if chosen.child:
        work, folder, *words = chosen.child
        print(json.dumps(told(work, Path(folder), words)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        found = {part: WORK[part](chosen, Path(scratch)) for part in chosen.parts}
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
