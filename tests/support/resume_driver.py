"""Run searches on the table evaluator that die by SIGKILL when asked, each in a process of its own, forked from this.

Reads lines of JSON, [FOLDER, SEARCH, MOMENT], and answers each with the process's code (-9 = it was killed). MOMENT:
``never``; ``part`` = right after writing the first new part; ``propose`` or ``evaluate`` = inside the first new call of
that kind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maxcode.core.method import Method
from maxcode.core.roles import Policy, Search
from maxcode.core.types import Action, Observation, State
from maxcode.observe import best, compose, critiques, failures, program, statement, trajectory
from maxcode.policy.reranked import Reranked
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Line, Record
from maxcode.search import Beam, BestOfN, CudaLlm, Elites, Refine, Tree
from maxcode.testing import Echo, Scripted, Table, toy_problem

SEARCHES: dict[str, Search] = {
    "best-of-n": BestOfN(n=6, width=3),
    "refine": Refine(depth=4),
    "cuda-llm": CudaLlm(width=3, depth=3),
    "beam": Beam(width=2, children=2),
    "tree": Tree(width=2),
    "elites": Elites(width=2),
    "cuda-llm by value": CudaLlm(width=3, depth=3, by="value"),
    "beam by value": Beam(width=2, children=2, by="value"),
    "tree by value": Tree(width=2, by="value"),
}
BUDGET = 9


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Dying:
    """A policy that dies in its first call."""

    async def propose(self, observation: Observation) -> Action:
        die()
        raise AssertionError


@dataclass(frozen=True)
class Digits:
    """Expects of a program the number that it is, modulo 7, so that values are recorded and differ."""

    async def estimate(self, states: Sequence[State]) -> list[float]:
        return [float(int(state.program.text) % 7) for state in states]

    async def foresee(self, state: State, actions: Sequence[Action]) -> list[float]:
        return [float(int(action.program.text) % 7) if action.program else 0.0 for action in actions]


async def die_in_evaluate(text: str) -> None:
    die()


def write(text: str, draw: int) -> str:
    return str((int(text) * 31 + draw) % 1009)


def speed(text: str) -> float | None:
    return None if int(text) % 4 == 0 else 0.5 + int(text) / 500


def run(folder: str, search: str, moment: str) -> None:
    def watch(line: Line) -> None:
        if moment == "part":
            die()

    policy: Policy = Dying() if moment == "propose" else Scripted(write=write)
    policy = Reranked(policy, Digits(), factor=2) if search.endswith("by value") else policy
    table = Table(rule=speed, before=die_in_evaluate if moment == "evaluate" else None)
    observe = compose(statement(), program(), best(), trajectory(), critiques(), failures())
    method = Method(policy, SEARCHES[search], observe, Echo(), Digits())
    optimize(toy_problem(), method, table, Run(BUDGET, record=Record(Path(folder)), watch=watch))


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                run(*json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
