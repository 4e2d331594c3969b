"""Python functions against themselves, and against versions whose ratio is known by construction.

    python benchmarks/python_functions.py [--sittings N]

A function does the same work ``n`` times; its known version does it ``n / ratio`` times, and the rest is left out.  So
results differ, and an ``is_solution`` that says yes accepts them.  What is printed: the measured ratio with its
interval, beside the known one.  The interval of the original against itself should hold 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

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
from maxcode.evaluate.python.staging import PythonStages, Staged
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.sandbox.selftest import open_safe

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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sittings", type=int, default=1, help="how often")
    anyio.run(main, parser.parse_args().sittings)
