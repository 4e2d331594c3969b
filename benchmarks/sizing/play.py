"""The real loop and record with an evaluator that only waits; this shows the overlap on a machine with any load.

Programs are numbers.  Each number sets its outcome, its speed-up and its passes, and takes the time in a table of
costs.  The places are those of a site: a number of builders and of slots.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

import anyio

from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Evaluation, Interval, Outcome, Problem, RaceVerdict, State, StateId, Timing
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record, check_header
from maxcode.search import Beam, BestOfN, CudaLlm, Elites, Refine, Tree
from maxcode.testing import Scripted, toy_problem
from sizing.costs import Costs
from sizing.model import Site
from sizing.workload import Contest, Recorded, recorded

SEARCHES: dict[str, Callable[[int], Search]] = {
    "refine": lambda n: Refine(depth=n),
    "best-of-n": lambda n: BestOfN(n=n, width=8),
    "cuda-llm": lambda n: CudaLlm(width=5, depth=n),
    "beam": lambda n: Beam(width=3, children=3),
    "tree": lambda n: Tree(width=5),
    "elites": lambda n: Elites(width=5),
}
NUMBERS = 10_007


@final
class Waiting:
    """An evaluator and referee that take the time of ``costs`` on the places of ``site``.  Only for use in a run."""

    def __init__(self, costs: Costs, site: Site) -> None:
        self._costs = costs
        self._builders = anyio.CapacityLimiter(site.builders)
        self._slots = anyio.CapacityLimiter(site.slots)

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        assert action.program is not None
        found = evaluation_of(action.program.text, incumbent is not None)
        async with self._builders:
            await anyio.sleep(self._costs.build_s if found.timing else self._costs.stopped_s)
        if found.timing is not None:
            sides, beside = 2 + (incumbent is not None), 1 / found.timing.speedup.value
            beside += (
                1 / _speed(incumbent.program.text) if incumbent is not None and incumbent.program is not None else 0.0
            )
            async with self._slots:
                await anyio.sleep(found.timing.pairs * self._costs.of_pass(sides, beside))
        return found

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """The fastest challenger, confirmed if it is faster than the incumbent."""
        standing = [*challengers, *([incumbent] if incumbent is not None else [])]
        best = max(standing, key=lambda state: _speed(state.program.text))
        wins = best is not incumbent
        passes, beside = 15 * wins, 1 / _speed(best.program.text)
        contest = Contest(len(standing), len(standing) - 1, int(wins), passes, beside)
        async with self._slots:
            await anyio.sleep(self._costs.of_contest(contest))
        return {best.id: confirmed(best, passes)} if wins else {}


def _draws(text: str) -> random.Random:
    return random.Random(f"played {text}")


def _speed(text: str) -> float:
    return round(math.pow(2.0, _draws(text).gauss(0.4, 0.8)), 6)


def evaluation_of(text: str, beside_rival: bool) -> Evaluation:
    """The evaluation of a number: one in four fails its tests, the rest are timed."""
    chance, speed = _draws(text), _speed(text)
    chance.random()
    if chance.random() < 0.25:
        return Evaluation(Outcome.WRONG)
    passes = chance.choice((2, 2, 5, 9, 9, 15))
    interval = Interval(speed, speed * 0.97, speed * 1.03)
    samples = ((speed, 1.0),) * (passes - 1) + ((speed, 1.0 + int(text) * 1e-9),)  # no two programs share them
    verdict: RaceVerdict = "faster" if speed > 1.03 else "slower"
    incumbent = Interval(1.5, 1.4, 1.6) if beside_rival else None
    timing = Timing("cpu", interval, verdict == "faster", verdict, passes, samples=samples, over_rival=incumbent)
    return Evaluation(Outcome.CORRECT, timing=timing)


def confirmed(state: State, passes: int) -> Evaluation:
    assert state.step is not None and state.step.evaluation.timing is not None
    timing = replace(state.step.evaluation.timing, confirmed=True, pairs=passes)
    return replace(state.step.evaluation, timing=timing)


def played(name: str, budget: int, costs: Costs, site: Site, folder: Path) -> Recorded:
    """Runs the real loop; returns the content of its record."""
    header = {"problem": "waiting", "method": name, "policy": "scripted"}
    check_header(folder, header, frozenset())
    policy = Scripted(write=lambda text, draw: str((int(text) * 31 + draw) % NUMBERS), delay_s=costs.propose_s)
    method = Method(policy, SEARCHES[name](budget), compose())
    evaluator = Waiting(costs, site)
    with Record(folder) as record:
        run = Run(budget, concurrency=site.concurrency, record=record)
        optimize(toy_problem("1"), method, evaluator, run, referee=evaluator)
    return recorded(folder)


def usual() -> Costs:
    """Costs of a small kernel, in tenths of a second."""
    return Costs(0.2, 0.33, 0.25, 0.03, 0.15, 1.0, 0.4, 1.0, 0.5)


def shrunk(costs: Costs, by: float) -> Costs:
    """The same costs ``by`` times as fast, so that playing takes less time."""
    parts = {name: getattr(costs, name) / by for name in Costs.__slots__ if name.endswith("_s") and name != "per_cpu_s"}
    return replace(costs, **parts)
