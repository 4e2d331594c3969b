"""Checks a suite: how many of its problems load here, and are correct and not faster against themselves?

    python benchmarks/suites.py polybench:all [--out runs/suites.jsonl]

Each problem is admitted (built, verified, timed), evaluated as its own candidate, and timed against itself, one after
the other.  A significant speed-up, or an outcome other than correct, is a fault of the suite or of maxcode.  The same
command resumes.  A kernel takes about a minute on two busy cores.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.stats import RaceRule, interval_of, is_faster
from maxcode.core.types import Action, Evaluation, Problem
from maxcode.errors import InputError
from maxcode.evaluate.harness import open_harness
from maxcode.problems import expanded, load

Cells = dict[str, Any]
SESSIONS = (3, 3, 3, 3)  # pairs of a problem with itself


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="names of suites, folders, files suite.toml")
    parser.add_argument("--out", type=Path, default=Path("runs/suites.jsonl"), help="one line for each problem")
    options = parser.parse_args()
    listing = expanded(options.sources)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    known = resumed(options.out)
    for one in listing.sources:
        if str(one.path) not in known:
            known[str(one.path)] = row = {"name": str(one.path), **measured(one.path, dict(one.options))}
            with options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(line(row), flush=True)
    rows = [known[str(one.path)] for one in listing.sources]
    print("\n".join(f"left out: {one}" for one in listing.left_out))
    print(json.dumps(totals(rows, len(listing.left_out))))


def resumed(path: Path) -> dict[str, Cells]:
    """The rows of a file by name."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {row["name"]: row for row in rows}


def measured(source: Path, options: Cells) -> Cells:
    """The result of one problem."""
    began = time.monotonic()
    try:
        problem = load(source, None, options).problem
        found, ratios = anyio.run(against_itself, problem)
    except InputError as error:
        return {"loads": False, "why": str(error), "seconds": round(time.monotonic() - began, 1)}
    timing, ratio = found.timing, interval_of(ratios, SESSIONS)
    return {
        "loads": True,
        "outcome": found.outcome.value,
        "reasons": list(found.feedback.reasons),
        "speedup": [ratio.low, ratio.value, ratio.high],
        "significant": is_faster(ratios, RaceRule(), SESSIONS) or (timing is not None and timing.significant),
        "gflops": None if timing is None or timing.gflops is None else timing.gflops.value,
        "seconds": round(time.monotonic() - began, 1),
    }


async def against_itself(problem: Problem) -> tuple[Evaluation, list[float]]:
    """The evaluation of the original, and its ratios to itself."""
    harness = await open_harness(problem)
    admitted = await harness.admit(problem)
    found = await harness.evaluate(admitted.problem, Action(problem.program))
    check = await harness.check(admitted.problem, problem.program)
    return found, [pair.ratio("original", "candidate") for pair in await check.control(SESSIONS)]


def totals(rows: list[Cells], left_out: int) -> dict[str, int]:
    return {
        "problems": len(rows) + left_out,
        "load": sum(row["loads"] for row in rows),
        "correct": sum(row.get("outcome") == "correct" for row in rows),
        "timed": sum(row.get("speedup") is not None for row in rows),
        "falsely faster": sum(bool(row.get("significant")) for row in rows),
    }


def line(row: Cells) -> str:
    if not row["loads"]:
        return f"{row['name']:<36} {row['why']}"
    ratio = "not timed" if row["speedup"] is None else "{:.3f} {:.3f} {:.3f}".format(*row["speedup"])
    rate = "" if row["gflops"] is None else f"{row['gflops']:.2f} GFLOPS"
    return f"{row['name']:<36} {row['outcome']:<8} {ratio:<18} {rate:<14} {row['seconds']} s"


if __name__ == "__main__":
    main()
