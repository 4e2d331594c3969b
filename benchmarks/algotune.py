"""Judges solvers that language models have published for AlgoTune again.

    MAXCODE_ALGOTUNE=AlgoTune MAXCODE_ALGOTUNE_VENV=venv python benchmarks/algotune.py [--tasks NAME ...]
        [--models NAME ...] [--first 12] [--out runs/algotune] [--minutes 60] [--certify | --table]
    MAXCODE_ALGOTUNE=AlgoTune MAXCODE_ALGOTUNE_VENV=venv python benchmarks/algotune.py --admit [--tasks NAME ...]
        [--first 100] [--limit 300] [--out runs/algotune] [--minutes 60] [--table]

Each pair of a task and a model is one ``maxcode evaluate results/MODEL/TASK/solver.py --against algotune:TASK --out
RUN``: fresh inputs from the task's own generator, its own ``is_solution``, the original and the solver in sandboxes
of their own, timed in pairs.  A row is one line of OUT/rows.jsonl: what AlgoTune's table claims, and what is found
here.  The same command resumes; rows that are there are not made again.  ``--certify`` then gives the run folder of
each confirmed solver its certificate, which ``maxcode verify`` measures again.  ``--table`` only prints the tables.

OUT/environment.json has what all rows share: the commits, the packages, the machine.  A sitting elsewhere is refused.
The tasks are those that import nothing beyond NumPy, SciPy and networkx, the quickest first by AlgoTune's own times.
A solver that is wrong is judged once more with a new object for every call, as AlgoTune makes one.  Verdicts:

    confirmed       faster on fresh pairs, the lower end of the interval above 1, and no check of the speed-up failed
    in doubt        the same, but a check of the speed-up failed (the row has it)
    not faster      right, but not proved faster; or stopped, after a minute a call
    wrong           the task's own check refuses a result on fresh inputs, or it crashes; the row has the seed
    refused         it breaks a rule of the judge that AlgoTune does not have, which says nothing about its results
    not measurable  nothing was compared: it cannot be loaded, a package that it imports is not here, or a limit of the
                    sandbox was reached (memory, files, processes), or the machine was busy: judged again

``--admit`` judges no solver.  It admits each task, and times the task's own function against itself, in sessions with
new processes each, until the interval reaches 2 % to each side or --limit is over: a row of OUT/admitted.jsonl has the
ratio with its interval, or why the task is not admitted.  The tasks are then those whose imports the environment has.
The same command with a longer --limit times those again that are not so narrow yet.  What is printed last: how many
are admitted, how many ratios are within 2 % of 1, and how many intervals hold 1, of which about 95 % should.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.stats import interval_of
from maxcode.errors import InputError
from maxcode.evaluate.harness import open_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.machine.machine import BUSY_STAMP, describe
from maxcode.problems import load
from maxcode.problems.algotune import model_folder, slug
from solvers.verdicts import Row, by_task, line, read, report

# behind a solver: what AlgoTune does, so that an object that keeps something from call to call is judged by its results
ANEW = """


_Solver = Solver


class Solver:
    def solve(self, problem):
        return _Solver().solve(problem)
"""
STANDARD = frozenset(sys.stdlib_module_names)
PACKAGES = frozenset({"numpy", "scipy", "networkx", "AlgoTuneTasks"})
SESSIONS = (3, 3, 3, 3)  # pairs of a task with itself
NEAR = 0.02
PLACES = "lib/python3*/site-packages/*"
ONE_OBJECT = "right with a new object for every call, and not where one answers all, as here"
# the names in reports/agent_summary.json where they are not the folder's name in small letters with hyphens
CLAIMED_AS = {
    "claude-opus-4": "claude-opus-4-20250514", "claude-opus-4.1": "claude-opus-4-1-20250805", "r1": "deepseek-reasoner",
    "gpt-5-pro-medium": "gpt-5-pro (medium)",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", help="names of tasks")
    parser.add_argument("--first", type=int, default=12, help="without --tasks: so many tasks, the quickest first")
    parser.add_argument("--models", nargs="*", default=["GPT-5", "Claude Opus 4.5", "Gemini 2.5 Pro", "o4-mini"])
    parser.add_argument("--out", type=Path, default=Path("runs/algotune"))
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no further pair after so many minutes")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one pair, or one task of --admit")
    parser.add_argument("--table", action="store_true", help="only print the tables of the rows that are there")
    parser.add_argument("--admit", action="store_true", help="admit tasks, and time each against itself")
    parser.add_argument("--certify", action="store_true", help="make the certificates of confirmed solvers")
    options = parser.parse_args()
    place = Path(os.environ.get("MAXCODE_ALGOTUNE", ""))
    options.out.mkdir(parents=True, exist_ok=True)
    (admit_all if options.admit else certify_all if options.certify else judge_all)(options, place)


def judge_all(options: argparse.Namespace, place: Path) -> None:
    """Judges the solvers that have no row yet, and prints the tables of all."""
    rows = resumed(options.out / "rows.jsonl")
    if not options.table:
        keep_environment(options.out / "environment.json", place)
    until = time.monotonic() + options.minutes * 60
    for task in (options.tasks or usable(place)[: options.first]) if not options.table else ():
        for model in options.models:
            name = model_folder(place, model).name
            if is_open(rows.get((task, name))) and time.monotonic() < until:
                row = judged(place, task, name, options.out, options.limit)
                rows[task, name] = row
                with (options.out / "rows.jsonl").open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(line(row), flush=True)
    print(f"{report(rows.values())}\n\n{by_task(rows.values())}")


def certify_all(options: argparse.Namespace, place: Path) -> None:
    """Makes the certificates that confirmed solvers have not yet: each is measured again from its file."""
    rows = resumed(options.out / "rows.jsonl")
    keep_environment(options.out / "environment.json", place)
    until = time.monotonic() + options.minutes * 60
    for (task, model), row in rows.items():
        if row["verdict"] == "confirmed" and "certificate" not in row and time.monotonic() < until:
            solver = model_folder(place, model) / task / "solver.py"
            found = evaluated(solver, task, options.out / row["run"], options.limit)
            if (path := options.out / row["run"] / "certificate.json").exists():
                rows[task, model] = row = row | found | {"certificate": str(path.relative_to(options.out))}
                with (options.out / "rows.jsonl").open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(line(row), "" if path.exists() else f"no certificate: {found.get('why', '')}", flush=True)
    print(f"{report(rows.values())}\n\n{by_task(rows.values())}")


def is_open(row: Row | None) -> bool:
    """Whether a pair has no row yet, or one of a machine that was too busy to say."""
    return row is None or (row["verdict"] == "not measurable" and BUSY_STAMP in row.get("why", ""))


def admit_all(options: argparse.Namespace, place: Path) -> None:
    """Admits the tasks that have no row yet, and prints what became of all."""
    path, until = options.out / "admitted.jsonl", time.monotonic() + options.minutes * 60
    rows = {task: row for (task, _), row in resumed(path).items()}
    tasks = options.tasks or usable(place, importable)[: options.first]
    for task in tasks if not options.table else ():
        if not done(rows.get(task), options.limit) and time.monotonic() < until:
            rows[task] = row = against_itself(task, options.limit)
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
    print(json.dumps(totals(list(rows.values()))))


def done(row: Row | None, limit: float) -> bool:
    """Whether a task needs no further try: its ratio is narrow, it is refused, or it had as many seconds before."""
    if row is None:
        return False
    return is_narrow(row.get("ratio")) or row.get("limit", 0) >= limit or row.get("refused", False)


def is_narrow(ratio: Sequence[float] | None) -> bool:
    """Whether an interval reaches so little to each side that the ratio says something about ``NEAR``."""
    return ratio is not None and ratio[2] - ratio[1] <= 2 * NEAR


def against_itself(task: str, limit: float) -> Row:
    """The row of one task: admitted within so many seconds or not, and its ratio to itself."""
    began, row = time.monotonic(), {"task": task, "admitted": False, "limit": limit}
    try:
        row |= anyio.run(timed_with_itself, task, limit)
    except InputError as error:
        row |= {"why": str(error), "refused": True}
    return row | {"seconds": round(time.monotonic() - began, 1)}


async def timed_with_itself(task: str, limit: float) -> Row:
    """Seconds of the admission and of a call, and the ratio of a task to itself, as far as the seconds reach."""
    row: Row = {"why": f"not admitted after {limit:g} s"}
    with anyio.move_on_after(limit):
        began, problem = time.monotonic(), load(Path(f"algotune:{task}"), None, {}).problem
        harness = await open_harness(problem, HarnessTerms(goes_on=True))
        found = await harness.admit(problem)
        row = {"admitted": True, "admission_s": round(found.saved_s or time.monotonic() - began, 1)}
        row |= {"call_s": round(found.baseline.measures["calls"], 6), "notes": list(found.notes)}
        row["why"] = f"not timed after {limit:g} s"
        check, ratios = await harness.check(found.problem, found.problem.program), list[float]()
        while not is_narrow(row.get("ratio")):
            ratios += [pair.ratio("original", "candidate") for pair in await check.control(SESSIONS)]
            ratio = interval_of(ratios, SESSIONS * (len(ratios) // sum(SESSIONS)))
            row |= {"ratio": [round(one, 4) for one in (ratio.value, ratio.low, ratio.high)], "why": ""}
            row["pairs"] = len(ratios)
    return row


def totals(rows: Sequence[Row]) -> dict[str, int]:
    """How many tasks were tried, admitted and timed, and how many ratios are what they should be."""
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    return {
        "tasks": len(rows),
        "admitted": sum(row["admitted"] for row in rows),
        "timed": len(ratios),
        "within 2 %": sum(abs(value - 1) <= NEAR for value, _, _ in ratios),
        "interval holds 1": sum(low <= 1 <= high for _, low, high in ratios),
    }


def resumed(path: Path) -> dict[tuple[str, str], Row]:
    """The rows of a file, by task and model."""
    rows = [json.loads(one) for one in path.read_text().splitlines()] if path.exists() else []
    return {(row["task"], row.get("model", "")): row for row in rows}


def usable(place: Path, fits: Callable[[Path, str], bool] | None = None) -> list[str]:
    """The tasks whose imports are all here, the quickest first by AlgoTune's own times."""
    table = json.loads((place / "reports/generation.json").read_text())
    found = {task: seconds(entry) for task, entry in table.items() if (fits or only_known)(place, task)}
    return sorted(found, key=lambda task: (found[task], task))


def seconds(entry: Mapping[str, Any]) -> float:
    """The best time of the original that AlgoTune has written down."""
    runs = [run["avg_min_ms"] for run in entry.get("baseline_runs", {}).values() if run.get("success")]
    return min(runs, default=math.inf) / 1000


def only_known(place: Path, task: str) -> bool:
    """Whether a task imports nothing beyond the standard library, NumPy, SciPy and networkx."""
    path = place / "AlgoTuneTasks" / task / f"{task}.py"
    return path.is_file() and imports(path.read_text()) <= STANDARD | PACKAGES


def importable(place: Path, task: str) -> bool:
    """Whether the environment has all that a task imports."""
    path = place / "AlgoTuneTasks" / task / f"{task}.py"
    return path.is_file() and not absent(imports(path.read_text()) - {"AlgoTuneTasks"}, environment(place))


def imports(text: str) -> set[str]:
    """The packages that a text imports, anywhere in it."""
    found: set[str] = set()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return found  # the judge says so
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def environment(place: Path) -> Path:
    """The virtual environment that the suite takes."""
    return Path(os.environ.get("MAXCODE_ALGOTUNE_VENV", "") or place / ".venv")


def absent(packages: Iterable[str], venv: Path) -> list[str]:
    """The packages that neither the standard library nor the environment has: a solver that falls back to something
    slower without one is not the published one."""
    return sorted(set(packages) - STANDARD - {one.name.partition(".")[0] for one in venv.glob(PLACES)})


def claimed(place: Path, task: str, model: str) -> float | None:
    """The speed-up in AlgoTune's table; None where it has none."""
    table = json.loads((place / "reports/agent_summary.json").read_text()).get(task, {})
    key = CLAIMED_AS.get(slug(model), slug(model))
    said = str(table.get(key, {}).get("final_speedup", "N/A"))
    return float(said) if said.replace(".", "", 1).isdigit() else None


def judged(place: Path, task: str, model: str, out: Path, limit: float) -> Row:
    """The row of one published solver."""
    row: Row = {"task": task, "model": model, "claimed": claimed(place, task, model)}
    row["maxcode"] = commit(Path(__file__).parent)
    folder = model_folder(place, model) / task
    files = [path.name for path in folder.glob("*") if path.is_file() and not path.name.startswith(".")]
    if "solver.py" not in files:
        return row | {"verdict": "not measurable", "why": "there is no published solver"}
    if len(files) > 1:
        return row | {"verdict": "not measurable", "why": f"it has further files: {', '.join(sorted(files))}"}
    text = (folder / "solver.py").read_text()
    row["solver"] = hashlib.sha256(text.encode()).hexdigest()
    if missing := absent(imports(text), environment(place)):
        return row | {"verdict": "not measurable", "why": f"it imports what is not here: {', '.join(missing)}"}
    run = out / "runs" / f"{task}-{slug(model)}"
    seen = evaluated(folder / "solver.py", task, run, limit, "--no-certificate")
    found = row | seen | {"run": str(run.relative_to(out))}
    return judged_anew(found, text, out, limit) if found["verdict"] == "wrong" else found


def evaluated(solver: Path, task: str, run: Path, limit: float, *further: str) -> Row:
    """What ``maxcode evaluate`` says of a solver, and its seconds; ``further``: options."""
    began = time.monotonic()

    def command(path: str, out: str) -> list[str]:
        return ["maxcode", "evaluate", path, "--against", f"algotune:{task}", "--out", out, "--json", *further]

    row: Row = {"command": shlex.join(command("/".join(solver.parts[-4:]), "RUN"))}  # in a checkout of AlgoTune
    try:
        argv = [sys.executable, "-m", *command(str(solver), str(run))]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return row | {"verdict": "not measurable", "why": f"not finished after {limit:g} s", "seconds": limit}
    return row | read(done.stdout, done.stderr) | {"seconds": round(time.monotonic() - began, 1)}


def judged_anew(row: Row, text: str, out: Path, limit: float) -> Row:
    """The row of a wrong solver, which stays wrong if it is so with a new object for every call too."""
    folder = out / "anew" / Path(row["run"]).name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "solver.py").write_text(text + ANEW)
    again = evaluated(folder / "solver.py", row["task"], folder / "run", limit, "--no-certificate")
    row["anew"] = {key: again[key] for key in ("verdict", "why", "speedup", "seconds") if key in again}
    if again["verdict"] in ("confirmed", "in doubt", "not faster") and again.get("outcome") == "correct":
        row |= {"verdict": "refused", "why": f"{ONE_OBJECT}: {row['why']}"}
    return row


def keep_environment(path: Path, place: Path) -> None:
    """Writes down what all rows share, or stops where the rows that are there were made with something else."""
    packages = sorted(one.stem for one in environment(place).glob(f"{PLACES}.dist-info"))
    found = {"algotune": commit(place), "packages": packages, "machine": describe("").cpu}
    known = json.loads(path.read_text()) if path.exists() else found
    if changed := [key for key in found if known.get(key) != found[key]]:
        raise SystemExit(f"{path}: {', '.join(changed)} changed since the rows there were made; give another --out")
    path.write_text(json.dumps(found, indent=1) + "\n")


def commit(folder: Path) -> str:
    """The commit of a checkout; empty where it has none."""
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
