"""The cost of maxcode: CPU per candidate, memory, import time; and candidates per second with a model that takes 50 ms.

    python benchmarks/overhead.py [--parts searches model] [--most 10000] [--json FILE]
                                  [--parallel 1 2 8 32] [--rounds 5] [--width W] [--peer-python PATH]

searches: scripted policy, trivial evaluator, a record on disk; every search; 100 to 10,000 candidates.  "process" adds
a real process boundary (a pipe to another process) to the evaluator.  CPU seconds are this process's own.

model: best-of-n through an endpoint with a pause of 50 ms, with an evaluator that waits 1 ms.  It is compared with the
bare OpenAI client's calls per second on the same endpoint, and with OpenEvolve if --peer-python names the interpreter
of an environment with `pip install openevolve`.  Medians over rounds, with their extremes; at p = 8 also for 100 to
10,000 candidates.  "of_client" is the rate over the client's in the same round; "peak MB" is PSS of the whole process
tree.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.evaluate.machine.machine import pressure
from maxcode.observe import best, compose, critiques, failures, feedback, program, run_best, statement, trajectory
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import Beam, BestOfN, CudaLlm, Elites, Refine, Tree
from maxcode.testing import Echo, Scripted, Table, toy_problem
from peers import rates

SEARCHES: dict[str, Callable[[int], Search]] = {
    "best-of-n": lambda n: BestOfN(n=n, width=8),
    "refine": lambda n: Refine(depth=n),
    "cuda-llm": lambda n: CudaLlm(width=8, depth=n),
    "beam": lambda n: Beam(width=4, children=4),
    "tree": lambda n: Tree(width=8),
    "elites": lambda n: Elites(width=8),
}
SIZES = (100, 1000, 10_000)
OBSERVE = compose(
    statement(), program(), feedback(), best(), run_best(), trajectory(), critiques("the original is slow"), failures()
)


def speed(text: str) -> float | None:
    number = int(text)
    return None if number % 5 == 0 else 0.5 + number % 997 / 500


class Boundary:
    """Calls another process for every candidate: one line there, one line back."""

    def __init__(self) -> None:
        echo = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
        self._process = subprocess.Popen(
            [sys.executable, "-c", echo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    async def ask(self, text: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == text

    def close(self) -> None:
        self._process.communicate()


def measure(name: str, candidates: int, boundary: bool) -> dict[str, float | int | str]:
    other = Boundary() if boundary else None
    with tempfile.TemporaryDirectory() as folder, Record(Path(folder)) as record:
        policy = Scripted(write=lambda text, draw: str(draw % 1_000_003))
        method = Method(policy, SEARCHES[name](candidates), OBSERVE, Echo())
        table = Table(rule=speed, before=other.ask if other is not None else None)
        started = time.process_time()
        result = optimize(toy_problem(), method, table, Run(candidates, record=record))
        spent = time.process_time() - started
    if other is not None:
        other.close()
    found = result.reached.candidates
    return {
        "search": name,
        "boundary": "process" if boundary else "none",
        "candidates": found,
        "cpu_ms_per_candidate": round(spent / found * 1e3, 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def import_cpu_s() -> float:
    """CPU seconds of `import maxcode` beyond an empty interpreter; the least of five."""

    def cpu(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(cpu("import maxcode") for _ in range(5)) - min(cpu("pass") for _ in range(5))


def searches(most: int) -> list[dict[str, float | int | str]]:
    sizes = [size for size in SIZES if size <= most]
    rows = [measure(name, size, boundary) for boundary in (False, True) for name in SEARCHES for size in sizes]
    print(f"{'search':10} {'boundary':8} {'candidates':>10} {'CPU ms each':>12} {'peak MB':>8}")
    for r in rows:
        print(
            f"{r['search']:10} {r['boundary']:8} {r['candidates']:10} {r['cpu_ms_per_candidate']:12} {r['peak_mb']:8}"
        )
    return rows


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("searches", "model"), default=["searches", "model"])
    parser.add_argument("--most", type=int, default=10_000, help="candidates of the longest runs")
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 2, 8, 32])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=0, help="batch size of best-of-n (default: the method's own)")
    parser.add_argument("--peer-python", help="interpreter of an environment with OpenEvolve")
    parser.add_argument("--json", type=Path, default=Path("runs/overhead.json"))
    return parser.parse_args()


def main() -> None:
    chosen = options()
    told: dict[str, object] = {"pressure_before": pressure()}
    if "searches" in chosen.parts:
        told["rows"] = searches(chosen.most)
        told["import_cpu_s"] = round(import_cpu_s(), 3)
        print(f"import maxcode: {told['import_cpu_s']} s of CPU")
    if "model" in chosen.parts:
        sizes = [size for size in SIZES if size <= chosen.most]
        rows = rates.measure(rates.Plan(chosen.parallel, sizes, chosen.rounds, chosen.peer_python, chosen.width))
        print(rates.shown(rows))
        told["model"] = rows
    print(f"CPU pressure before: {told['pressure_before']} %")
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
