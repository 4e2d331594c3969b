"""Cells run on the table evaluator, with the real loop, record and files of a run folder."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from maxcode.bench import BenchRow, BenchRun, Cost, parted, read_row
from maxcode.core.budget import Budget
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Interval, Observation, Usage
from maxcode.errors import Interrupted
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Line, Record, check_header
from maxcode.search import Beam, BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem

SEARCHES: dict[str, Search] = {
    "best-of-n": BestOfN(6, 3),
    "refine": Refine(6),
    "cuda-llm": CudaLlm(2, 3),
    "beam": Beam(2, 2),
}
MACHINE = {"node": "here", "cpu": "table", "cores": 1, "kernel": "", "compilers": {}, "sandbox": "none"}


def row(problem: str, method: str, seed: int, gain: float, counts: tuple[int, int, int] = (4, 3, 2)) -> BenchRow:
    """A row of figures; ``counts``: candidates, correct, faster."""
    interval = Interval(gain, gain * 0.99, gain * 1.01)
    return BenchRow(BenchRun(problem, method, seed), interval, *counts, Cost(seconds=1.0))


def speed(text: str) -> float | None:
    return None if int(text) % 4 == 0 else 0.5 + int(text) / 500


def write(text: str, draw: int) -> str:
    return str((int(text) * 31 + draw) % 1009)


@dataclasses.dataclass(frozen=True)
class Paid:
    """The script, at a price for every answer."""

    tokens: int

    async def propose(self, observation: Observation) -> Action:
        action = await Scripted(write=write).propose(observation)
        return dataclasses.replace(action, usage=Usage(1, self.tokens, 0, dollars=self.tokens / 1000))


def runner(
    out: Path, budget: Budget | int = 6, watch: Callable[[Line], None] = lambda line: None, tokens: int = 0
) -> Callable[[BenchRun], BenchRow]:
    """What runs a cell in ``out`` as ``optimize_source`` does, with table and script in place of machine and model;
    every answer costs so many tokens."""
    limit = Budget(budget) if isinstance(budget, int) else budget

    def run_one(cell: BenchRun) -> BenchRow:
        folder = out / cell.name
        name, off = parted(cell.method)
        header: dict[str, Any] = {"problem": cell.problem, "method": name, "seed": cell.seed, "without": list(off)}
        header |= {"version": "0", "machine": MACHINE, "sandbox": MACHINE["sandbox"]}
        header |= {"budget": limit.candidates} if limit.unit == "candidates" else {}
        check_header(folder, header, frozenset())
        method = Method(Paid(tokens) if tokens else Scripted(write=write), SEARCHES[name], compose())
        with Record(folder) as record:
            run = Run(limit.candidates, cell.seed, record=record, watch=watch, caps=limit.caps)
            problem = toy_problem(str(len(cell.problem) + cell.seed), cell.problem)
            result = optimize(problem, method, Table(rule=speed), run)
        best = result.best
        timing = best.step.evaluation.timing if best is not None and best.step is not None else None
        speedup: dict[str, object] = {"value": 1.0, "low": 1.0, "high": 1.0, "confidence": 1.0, "significant": False}
        if timing is not None:
            speedup = {**dataclasses.asdict(timing.speedup), "significant": True}
        told = {
            "speedup": speedup,
            "confirmed": timing is not None,
            "machine": MACHINE,
            "spent": Cost(0.5, 6, result.spent.usage.prompt_tokens, dollars=result.spent.usage.dollars),
            **({"ended": result.ended} if result.ended else {}),
        }
        (folder / "result.json").write_bytes(msgspec.json.encode(told))
        if result.stopped:
            raise Interrupted("stopped in the last batch")
        return read_row(cell, folder)

    return run_one


@dataclasses.dataclass(frozen=True)
class Watched:
    """``runner`` as a pool takes it: every recorded part takes ``pause_s``; in ``deadly`` the process dies, once.  Who
    ran is told in OUT/workers."""

    out: Path
    pause_s: float = 0.0
    deadly: str = ""

    def __call__(self, cell: BenchRun, watch: Callable[[Line], None]) -> BenchRow:
        (self.out / "workers").mkdir(exist_ok=True, parents=True)
        (self.out / "workers" / str(os.getpid())).touch()
        if cell.name == self.deadly and not (self.out / "died").exists():
            (self.out / "died").touch()
            os._exit(9)

        def slowly(line: Line) -> None:
            time.sleep(self.pause_s)
            watch(line)

        return runner(self.out, watch=slowly)(cell)
