"""Python functions against themselves, and against versions whose ratio is known by construction.

    python benchmarks/python_functions.py [--sittings N]
    python benchmarks/python_functions.py --rules [--only NAME ...] [--budget N] [--out FOLDER]

A function does the same work ``n`` times; its known version does it ``n / ratio`` times, and the rest is left out.  So
results differ, and an ``is_solution`` that says yes accepts them.  What is printed: the measured ratio with its
interval, beside the known one.  The interval of the original against itself should hold 1.

``--rules``: what the built-in rules find in twenty small functions of our own (small/functions.py), as
``maxcode optimize`` measures and confirms it: a table, and FOLDER/rules.json.  Where they find nothing, the reason that
a user is told.  Functions that use numpy run in the environment of this script.  The same command resumes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from maxcode.core.types import (
    Action,
    Evaluation,
    Limits,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    PythonSpec,
    State,
    Step,
)
from maxcode.errors import Interrupted, MaxcodeError, NoRuleError
from maxcode.evaluate.python.admission import Staged
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.sandbox.selftest import open_safe
from small.functions import SMALL, Small
from trust.rows import table

LOOP = """
def work(x, n):
    for _ in range({times}):
        x = (x * 1103515245 + 12345) % 2147483648
    return x
"""
ARRAY = """
import numpy as np

def work(x, n):
    for _ in range({times}):
        x = np.sqrt(x + 1.0)
    return x
"""
NUMBERS = "import random\n\ndef inputs(seed, size):\n    return random.Random(seed).randrange(1 << 30), size\n"
ARRAYS = "import numpy as np\n\ndef inputs(seed, size):\n    return np.random.default_rng(seed).random(20_000), size\n"
KNOWN: Mapping[str, tuple[str, str, int, str]] = {
    "integers, 6 ms": (LOOP, NUMBERS, 60_000, ""),
    "integers, 60 us": (LOOP, NUMBERS, 600, ""),
    "arrays of 20,000": (ARRAY, ARRAYS, 240, sys.prefix),
}
RATIOS = (1.0, 1.2, 2.0)
YES = "def is_solution(x, n, result):\n    return True\n"


def problem_of(name: str) -> Problem:
    template, inputs, times, venv = KNOWN[name]
    spec = PythonSpec("work", inputs, times, YES, venv)
    program = Program({"work.py": template.format(times=times)})
    return Problem(name, "python", "python", program, ProgramSpec(python=spec, limits=Limits(run_s=5.0)))


async def measured(evaluator: RoundsEvaluator[Staged, Program], name: str, ratio: float) -> Evaluation:
    problem = (await evaluator.admit(problem_of(name))).problem
    template, _, times, _ = KNOWN[name]
    program = Program({"work.py": template.format(times=round(times / ratio))})
    step = Step(Action(program), Evaluation(Outcome.CORRECT), 1.0)
    state = State(problem, None, step, (1, 0))
    return next(iter((await evaluator.settle(problem, [state], None)).values()))


async def main(sittings: int) -> None:
    sandbox = await open_safe()
    evaluator = RoundsEvaluator(sandbox, PythonStages(sandbox))
    for _ in range(sittings):
        for name in KNOWN:
            for ratio in RATIOS:
                found = await measured(evaluator, name, ratio)
                said = found.timing.speedup if found.timing is not None else "; ".join(found.feedback.reasons)
                print(f"{name:18} known {ratio:.2f}x  measured {said}", flush=True)


def written(name: str, folder: Path) -> Path:
    """A small function as the folder of a problem."""
    small = SMALL[name]
    folder.mkdir(parents=True, exist_ok=True)
    venv = f"venv = {json.dumps(sys.prefix)}\n" if small.needs_numpy else ""
    (folder / "slow.py").write_text(small.source.lstrip("\n"))
    (folder / "inputs.py").write_text(small.inputs.lstrip("\n"))
    (folder / "problem.toml").write_text(
        f'kind = "function"\nsource = "slow.py"\n[python]\nfunction = "{small.function}"\n'
        f'inputs = "inputs.py"\nsize = {small.size}\n{venv}'
    )
    return folder


def ruled(name: str, budget: int, out: Path) -> dict[str, object]:
    """What the rules make of a function: a row of the table, and what a user is told."""
    place, started = out / name.replace(" ", "_"), time.monotonic()
    request = Request(written(name, place / "problem"), budget=budget, out=place / "run", certificate=False)
    try:
        found = optimize_source(request)
    except Interrupted:
        sys.exit("interrupted; repeat the command to go on")
    except MaxcodeError as error:
        gain = "no rule" if isinstance(error, NoRuleError) else "failed"
        return {"function": name, "gain": gain, "seconds": 0.0, "told": said_of(SMALL[name], str(error))}
    seconds = round(time.monotonic() - started, 1)
    gain, told = "no gain", found.why or ""
    if found.confirmed:
        gain, told = str(found.speedup), "; ".join(found.change)
    return {"function": name, "gain": gain, "seconds": seconds, "told": told, "result": json.loads(found.as_json())}


def said_of(small: Small, refusal: str) -> str:
    """Of what a refusal tells, the line of the function."""
    lines = refusal.split("\n")
    return next((line for line in lines if line.startswith(f"{small.function}: ")), lines[0])


def by_rules(names: Sequence[str], budget: int, out: Path) -> None:
    rows = []
    for name in names:
        rows.append(ruled(name, budget, out))
        print(f"{name}: {rows[-1]['gain']}", file=sys.stderr, flush=True)
        (out / "rules.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(table([{key: row[key] for key in ("function", "gain", "seconds", "told")} for row in rows]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sittings", type=int, default=1, help="how often the known ratios are measured")
    parser.add_argument("--rules", action="store_true", help="try the built-in rules on small functions")
    parser.add_argument("--only", nargs="*", choices=SMALL, help="of the small functions these alone")
    parser.add_argument("--budget", type=int, default=6, help="candidates for a small function")
    parser.add_argument("--out", type=Path, default=Path("runs/python_rules"))
    options = parser.parse_args()
    if options.rules:
        options.out.mkdir(parents=True, exist_ok=True)
        by_rules(options.only or [*SMALL], options.budget, options.out)
    else:
        anyio.run(main, options.sittings)
