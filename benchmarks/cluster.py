"""Measures the overhead, the gain and the recovery of a cluster of benchmark nodes, on this machine.

    python benchmarks/cluster.py [--parts carry overhead slots recover] [--programs 12] [--shared-cores] [--json FILE]

carry: a task that a node answers at once, there and back through Dask and the node's thread: median of 200.
overhead: the same programs on the evaluator of this machine and on --cluster local:1, one after the other, seconds
each; this includes the 0.2 s in which the node checks its cores.
slots: the same programs, all requested at once, on local:1 and local:2, seconds in all.  Two slots need two idle cores.
recover: seconds from kill -9 of a worker, of a node process, and of a whole driver, to the next answer.  For the driver
this includes the start of the next one and its admission; a driver with nothing to resume is reported as well.

All programs differ, so that none is answered from an earlier timing.  Figures are medians with their extremes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.roles import Evaluator
from maxcode.core.types import Action, Problem, Program
from maxcode.evaluate.cluster import Cluster, ClusterRequest, WorkerAddress, opened
from maxcode.evaluate.cluster.cores import shown, usable
from maxcode.evaluate.cluster.on_dask import DaskEngine
from maxcode.evaluate.cluster.wire import Evaluate, encode
from maxcode.evaluate.machine.machine import pressure
from maxcode.evaluate.program.evaluator import open_evaluator
from maxcode.problems import load

SOURCE = """#include <stdio.h>
int main(void) {
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }
    printf("%ld\\n", sum);
    return 0;
}
"""
PARTS = ("carry", "overhead", "slots", "recover")
Row = dict[str, Any]


def problem_in(folder: Path) -> Problem:
    """A problem whose original takes about 50 ms."""
    (folder / "slow.c").write_text(SOURCE)
    (folder / "tests").mkdir()
    for number, n in enumerate((10, 150_000_000, 200_000_000)):
        (folder / "tests" / f"{number}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    return load(folder / "slow.c", folder / "tests", {}).problem


def variant(problem: Problem, number: int) -> Action:
    """A correct program that is no faster and differs from all others."""
    return Action(problem.program.with_text(SOURCE.replace("return 0;", f"return n == {-number - 1};")))


def row(what: str, seconds: Iterable[float], **more: Any) -> Row:
    some = sorted(seconds)
    return {"what": what, "median_s": statistics.median(some), "least_s": some[0], "most_s": some[-1], **more}


async def one_by_one(evaluator: Evaluator, problem: Problem, numbers: range) -> list[float]:
    found = []
    for number in numbers:
        began = time.monotonic()
        await evaluator.evaluate(problem, variant(problem, number))
        found.append(time.monotonic() - began)
    return found


async def at_once(evaluator: Evaluator, problem: Problem, numbers: range) -> float:
    began = time.monotonic()
    async with anyio.create_task_group() as group:
        for number in numbers:
            group.start_soon(evaluator.evaluate, problem, variant(problem, number))
    return time.monotonic() - began


def carry(cluster: Cluster) -> Row:
    """Times tasks that a node answers at once, because it does not know their problem."""
    task = encode(Evaluate(key="none", permitted=None, program=Program({"a.c": ""})))

    async def there_and_back() -> list[float]:
        engine = cluster.engine
        assert isinstance(engine, DaskEngine)
        places: list[WorkerAddress] = []
        while not places:
            places = list(await engine.places())
            await anyio.sleep(0.1)
        found = []
        for _ in range(210):
            began = time.monotonic()
            await engine.carry(task, places[0], False)
            found.append(time.monotonic() - began)
        return found[10:]

    return row("a task there and back", anyio.run(cluster.here, there_and_back))


def overhead(problem: Problem, count: int, shared: bool) -> list[Row]:
    async def here() -> list[float]:
        evaluator = await open_evaluator()
        await evaluator.admit(problem)
        return await one_by_one(evaluator, problem, range(count))

    rows = [row("an evaluation here", anyio.run(here))]
    with opened(ClusterRequest("local:1", shared), None) as cluster:
        evaluator = cluster.evaluator()
        anyio.run(evaluator.admit, problem)
        rows.append(row("an evaluation on local:1", anyio.run(one_by_one, evaluator, problem, range(count))))
    return rows


def slots(problem: Problem, count: int, shared: bool) -> list[Row]:
    rows = []
    for number in (1, 2):
        with opened(ClusterRequest(f"local:{number}", shared), None) as cluster:
            evaluator = cluster.evaluator()
            anyio.run(at_once, evaluator, problem, range(1000, 1000 + 2 * number))  # every slot admits
            seconds = anyio.run(at_once, evaluator, problem, range(count))
            used = cluster.report()
            rows.append(row(f"{count} evaluations on local:{number}", [seconds], slots=used.as_table()["slots"]))
    return rows


# ------------------------------------------------------------------------------------------------------------ recovery


def children(words: str, parents: set[int]) -> list[int]:
    """Processes with these words in their command line, below one of the parents."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and words in (folder / "cmdline").read_text().replace("\0", " "):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found += [int(folder.name)] if parent in parents else []
        except OSError:
            pass
    return found


def after_kill(cluster: Cluster, problem: Problem, first: int, victims: list[int]) -> float:
    """Seconds from a kill during four evaluations until all four results are there."""
    evaluator = cluster.evaluator()
    killed = 0.0

    async def kill() -> None:
        nonlocal killed
        await anyio.sleep(1.0)
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(at_once, evaluator, problem, range(first, first + 4))
            group.start_soon(kill)

    anyio.run(everything)
    return time.monotonic() - killed


def recover(problem: Problem, folder: Path, shared: bool) -> list[Row]:
    rows = []
    with opened(ClusterRequest("local:2", shared), None) as cluster:
        evaluator = cluster.evaluator()
        anyio.run(at_once, evaluator, problem, range(2000, 2004))
        nodes = children("cluster node", {os.getpid()})
        workers = children("multiprocessing", set(nodes))
        rows.append(row("four evaluations, undisturbed", [anyio.run(at_once, evaluator, problem, range(2004, 2008))]))
        for at, (name, victims) in enumerate((("worker", workers[:1]), ("node", nodes[:1]))):
            seconds = after_kill(cluster, problem, 2008 + 4 * at, victims)
            rows.append(row(f"the same, from kill -9 of a {name} on", [seconds]))
    return [*rows, *driver(folder, shared)]


def driver(folder: Path, shared: bool) -> list[Row]:
    words = ["optimize", "slow.c", "--tests", "tests", "--method", "best-of-n", "--budget", "6", "--out", "run",
             "--cluster", "local:2", "--no-certificate", *(["--shared-cores"] if shared else [])]  # fmt: skip

    def next_answer(known: int) -> tuple[subprocess.Popen[bytes], float]:
        began = time.monotonic()
        run = subprocess.Popen(
            [sys.executable, "-m", "maxcode", *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while evaluated(folder / "run" / "events.jsonl") <= known and run.poll() is None:
            time.sleep(0.05)
        return run, time.monotonic() - began

    run, fresh = next_answer(0)
    run.kill()
    run.wait()
    again, resumed = next_answer(evaluated(folder / "run" / "events.jsonl"))
    again.wait()
    return [
        row("a driver: start to first answer", [fresh]),
        row("after kill -9 of the driver: start to next answer", [resumed], finished=again.returncode == 0),
    ]


def evaluated(path: Path) -> int:
    return path.read_bytes().count(b'"part":"evaluated"') if path.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--shared-cores", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem = problem_in(folder)
        for part in given.parts:
            if part == "carry":
                with opened(ClusterRequest("local:1", given.shared_cores), None) as cluster:
                    rows.append(carry(cluster))
            elif part == "recover":
                rows += recover(problem, folder, given.shared_cores)
            else:
                rows += {"overhead": overhead, "slots": slots}[part](problem, given.programs, given.shared_cores)
    told = {"cores": shown(usable()), "pressure": pressure(), "shared_cores": given.shared_cores, "rows": rows}
    print(f"cores {told['cores']}, CPU pressure {told['pressure']} %")
    for one in rows:
        print(f"{one['what']:<52} {one['median_s']:9.3f} s  [{one['least_s']:.3f}, {one['most_s']:.3f}]")
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
