"""A folder laid out as AlgoTune is, with a task and solvers of our own."""

from __future__ import annotations

import json
from pathlib import Path

TASK = '''"""A task: the sums of all pairs."""
import logging
from typing import Any

from AlgoTuneTasks.base import register_task, Task


@register_task("pair_sums")
class PairSums(Task):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def generate_problem(self, n: int, random_seed: int = 1) -> dict[str, Any]:
        state, values = random_seed % 99991 + 1, []
        for _ in range(n):
            state = state * 48271 % 2147483647
            values.append(state % 1000)
        return {"values": values}

    def solve(self, problem: dict[str, Any]) -> dict[str, int]:
        values, total = problem["values"], 0
        for one in values:
            for other in values:
                total += one + other
        return {"total": total}

    def is_solution(self, problem: dict[str, Any], solution: dict[str, int]) -> bool:
        if "total" not in solution:
            logging.error("no total")
            return False
        return solution["total"] == 2 * len(problem["values"]) * sum(problem["values"])
'''
FAST = """from typing import Any


class Solver:
    def solve(self, problem: dict[str, Any], **kwargs) -> Any:
        values = problem["values"]
        return {"total": 2 * len(values) * sum(values), "method": "closed form"}
"""
WRONG = FAST.replace("2 * len(values)", "2 * max(len(values), 1) // 1 + values[0] * 0 if values[0] % 2 else 1")


def write_algotune(folder: Path) -> Path:
    """Tasks pair_sums, and broken (whose class is not registered); models Fast One, Wrong One, Built One, Two Files."""
    for task, text in (("pair_sums", TASK), ("broken", TASK.replace('@register_task("pair_sums")', ""))):
        (folder / "AlgoTuneTasks" / task).mkdir(parents=True)
        (folder / "AlgoTuneTasks" / task / f"{task}.py").write_text(text)
    for model, text in (("Fast One", FAST), ("Wrong One", WRONG), ("Built One (high)", FAST)):
        (folder / "results" / model / "pair_sums").mkdir(parents=True)
        (folder / "results" / model / "pair_sums" / "solver.py").write_text(text)
    (folder / "results" / "Built One (high)" / "pair_sums" / "core.pyx").write_text("x = 1\n")
    (folder / "results" / "Two Files" / "pair_sums").mkdir(parents=True)
    (folder / "results" / "Two Files" / "pair_sums" / "solver.py").write_text("from beside import Solver\n")
    (folder / "results" / "Two Files" / "pair_sums" / "beside.py").write_text(FAST)
    (folder / "reports").mkdir()
    sizes = {task: {"n": 700, "target_time_ms": 100} for task in ("pair_sums", "broken")}
    (folder / "reports" / "generation.json").write_text(json.dumps(sizes))
    claims = {"pair_sums": {"fast-one": {"final_speedup": "20.5"}, "wrong-one": {"final_speedup": "N/A"}}}
    (folder / "reports" / "agent_summary.json").write_text(json.dumps(claims))
    return folder
