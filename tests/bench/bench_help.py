"""Cells run on the table evaluator, with the real loop, record and files of a run folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec

from maxcode.bench import Cell, Cost, Row, read_row
from maxcode.errors import Interrupted
from maxcode.observe import compose
from maxcode.optimize import Method, Run, optimize
from maxcode.record import Line, Record, check_header
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem
from maxcode.types import Interval

SEARCHES = {"best-of-n": BestOfN(6, 3), "refine": Refine(6), "cuda-llm": CudaLlm(2, 3)}
MACHINE = {"node": "here", "cpu": "table", "cores": 1, "kernel": "", "compilers": {}, "sandbox": "none"}


def row(problem: str, method: str, seed: int, gain: float, counts: tuple[int, int, int] = (4, 3, 2)) -> Row:
    """A row of figures; ``counts``: candidates, correct, faster."""
    interval = Interval(gain, gain * 0.99, gain * 1.01)
    return Row(Cell(problem, method, seed), interval, *counts, Cost(seconds=1.0))


def speed(text: str) -> float | None:
    return None if int(text) % 4 == 0 else 0.5 + int(text) / 500


def write(text: str, draw: int) -> str:
    return str((int(text) * 31 + draw) % 1009)


def runner(out: Path, budget: int = 6, watch: Callable[[Line], None] = lambda line: None) -> Callable[[Cell], Row]:
    """What runs a cell in ``out`` as ``optimize_source`` does, with table and script in place of machine and model."""

    def run_one(cell: Cell) -> Row:
        folder = out / cell.name
        header = {"version": "0", "problem": cell.problem, "method": cell.method, "seed": cell.seed, "budget": budget}
        check_header(folder, header, frozenset())
        method = Method(Scripted(write=write), SEARCHES[cell.method], compose())
        with Record(folder) as record:
            run = Run(budget, cell.seed, record=record, watch=watch)
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
            "spent": Cost(seconds=0.5, calls=6),
        }
        (folder / "result.json").write_bytes(msgspec.json.encode(told))
        if result.stopped:
            raise Interrupted("stopped in the last batch")
        return read_row(cell, folder)

    return run_one
