"""Run folders made by the real loop and record on a table evaluator: a world in which some words make programs faster.

Every problem has a program of its own, so nothing is shared between problems unless a test wants it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record, check_header
from maxcode.run.report.run_view import read_run
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem
from maxcode.train.to_go.pairs import Pair, pairs_of

SEARCHES: dict[str, Search] = {
    "refine": Refine(depth=8, width=3),
    "cuda-llm": CudaLlm(width=4, depth=6),
    "best-of-n": BestOfN(n=24, width=8),
}
BUDGET = 24
LINES = ("y = reserve(x)", "y = sorted(x)", "x = {}", "for i in x: pass", "print(x)", "while x: break")


def original(problem: str) -> str:
    return f"name = '{problem}'\nx = input()\n"


def write(text: str, draw: int) -> str:
    return f"{text}{LINES[draw % len(LINES)]}\n"


def speed(text: str) -> float | None:
    """Reserving is fast, sorting slow, a loop that breaks is wrong."""
    if "while" in text:
        return None
    return 1.0 * 1.4 ** text.count("reserve") * 1.1 ** text.count("{}") * 0.8 ** text.count("sorted")


def run(
    folder: Path, problem: str, method: str = "cuda-llm", seed: int = 0, policy: str = "rewriter", suite: str = ""
) -> Result:
    """A finished run in ``folder``, with the files that training reads."""
    header = {"problem": problem, "language": "python", "method": method, "seed": seed, "policy": policy}
    origin = {"suite": {"suite": suite}} if suite else {}
    check_header(folder, {**header, **origin, "budget": BUDGET, "version": "0"}, frozenset())
    (folder / "original").mkdir(exist_ok=True)
    (folder / "original" / "toy.py").write_text(original(problem))
    made = Method(Scripted(write=write), SEARCHES[method.partition("+")[0]], compose())
    with Record(folder) as record:
        return optimize(
            toy_problem(original(problem), problem), made, Table(rule=speed), Run(BUDGET, seed, record=record)
        )


def several(folder: Path, problems: Sequence[str], methods: Sequence[str] = ("refine", "cuda-llm")) -> Path:
    """A run of every problem by every method; the folder that holds them."""
    for problem in problems:
        for method in methods:
            run(folder / f"{problem}-{method}", problem, method, seed=sum(map(ord, problem)))
    return folder


def pairs_in(folder: Path, gamma: float = 1.0) -> list[Pair]:
    return pairs_of(read_run(folder), "max", gamma)
