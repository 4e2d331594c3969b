"""Is any cheat believed, or any honest look-alike refused, that is made mechanically from accepted programs?

    python benchmarks/attacks.py [EXAMPLE ...] [--budget N] [--only NAME ...] [--json FILE]

EXAMPLE is a folder of examples/ in C or C++ (default: all).  `maxcode optimize` with N candidates makes a winner of it
(0, the default: the original is used as it is).  The winner takes the place of the original, and every candidate of
``trust/made.py`` is evaluated against it.  A cheat passes if it is correct and nothing is doubted (for "no gain":
and significantly faster).  An honest look-alike passes if it is correct and nothing is doubted.  Exit status 1 on a
surprise.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from maxcode import evaluate_program, optimize_program
from maxcode.core.types import Outcome, Problem
from maxcode.problems import load
from maxcode.run.candidate_result import CandidateResult
from trust.made import Made, NotMade, of_function, of_program

EXAMPLES = Path(__file__).parent.parent / "examples"
WRAPPED = (
    1.1  # a main that is called by another one is compiled as a function and no longer as what runs once: 5 % seen
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What became of a candidate.  ``line``: the reason or the speed-up with its doubts."""

    example: str
    name: str
    wanted: str
    outcome: str
    line: str
    seconds: float
    surprise: bool


def all_made(problem: Problem, text: str, folder: Path) -> list[Made]:
    """The candidates from a program or function of ``problem``; ``folder``: where its tests are.  Raises NotMade."""
    spec = problem.spec.function
    if spec is not None:
        return of_function(problem.language, text, spec)
    given = {path.read_bytes(): path.with_suffix(".out").read_bytes() for path in (folder / "tests").glob("*.in")}
    return of_program(problem.language, text, given)


def is_surprise(made: Made, found: CandidateResult) -> bool:
    believed = found.outcome is Outcome.CORRECT and not found.doubts
    match made.wanted:
        case "accepted":
            return not believed
        case "refused":
            return believed
        case "no gain":
            return believed and found.speedup is not None and found.speedup.significant
        case "no use":
            return believed and found.speedup is not None and found.speedup.low > WRAPPED


def line_of(found: CandidateResult) -> str:
    if found.reasons:
        return found.reasons[0]
    return "; ".join((str(found.speedup or "not timed"), *found.doubts))


def rows_of(example: Path, budget: int, only: set[str]) -> Iterator[Row]:
    """One row for each candidate that is made from the winner of an example."""
    with tempfile.TemporaryDirectory(prefix="attacks-") as name:
        folder = Path(shutil.copytree(example, Path(name, example.name)))
        problem = load(folder).problem
        source = folder / next(iter(problem.program.files))
        if budget:
            best = optimize_program(example, budget=budget, out=Path(name, "run")).best
            source.write_text(best.read_text() if best else source.read_text())
        for made in all_made(problem, source.read_text(), folder):
            if only and made.name not in only:
                continue
            candidate = Path(name, f"{made.name}{source.suffix}")
            candidate.write_text(made.text)
            began = time.monotonic()
            found = evaluate_program(candidate, folder)
            seconds = round(time.monotonic() - began, 1)
            yield Row(example.name, made.name, made.wanted, found.outcome.value, line_of(found), seconds,
                      is_surprise(made, found))  # fmt: skip


def is_wrapped(folder: Path) -> bool:
    return (folder / "problem.toml").is_file() and load(folder).problem.language in ("c", "cpp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE")
    parser.add_argument("--budget", type=int, default=0, help="candidates of the search for a winner; 0: the original")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these candidates")
    parser.add_argument("--json", type=Path, default=Path("runs", "attacks.json"))
    options = parser.parse_args()
    rows = []
    for name in options.examples or sorted(path.name for path in EXAMPLES.iterdir() if is_wrapped(path)):
        try:
            for row in rows_of(EXAMPLES / name, options.budget, set(options.only)):
                rows.append(row)
                word = "SURPRISE" if row.surprise else "ok"
                print(f"{row.example:12} {row.name:30} {row.wanted:9} {row.outcome:9} {row.seconds:6.1f} {word:8} "
                      f"{row.line[:110]}", flush=True)  # fmt: skip
        except NotMade as why:
            print(f"{name:12} nothing is made: {why}", flush=True)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    for wanted, count in Counter(row.wanted for row in rows).items():
        wrong = sum(row.surprise for row in rows if row.wanted == wanted)
        print(f"{count:4} wanted: {wanted}; {wrong} surprises")
    sys.exit(any(row.surprise for row in rows))


if __name__ == "__main__":
    main()
