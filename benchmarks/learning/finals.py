"""The last race of a comparison: the fastest kernels of every arm, timed again in one sitting.

    a few finalists of each arm -> one measurement each -> the fastest of each arm -> rounds, in each of which every
    arm's kernel is timed once, in random order

So no arm is judged by a lucky measurement, a disturbance meets all arms alike, and a ratio is one of the same round.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import anyio

from learning.arms import speed
from learning.cells import Row
from maxcode.core.stats import median_interval
from maxcode.core.types import Action, Interval, Problem
from maxcode.errors import MachineError
from maxcode.train.evaluators import TrainTarget

FINALISTS = 5  # of an arm, in the order of what was read on the way
ROUNDS = 6  # the fewest of which a median has a 95 % interval


def raced(bench: TrainTarget, problem: Problem, arms: Mapping[str, Sequence[str]], seed: int) -> Row:
    """The best kernel of each arm, its rates by round, and their median with its interval; arms without a kernel are
    left out."""
    return anyio.run(_raced, bench, problem, {name: texts for name, texts in arms.items() if texts}, seed)


async def _raced(bench: TrainTarget, problem: Problem, arms: Mapping[str, Sequence[str]], seed: int) -> Row:
    async def timed(text: str) -> float:
        action = Action(problem.program.with_text(text))
        found = speed(await bench.assessing.evaluate(problem, action))
        if not found:
            raise MachineError(f"a kernel of {problem.id} that was correct is not, measured again:\n{text}")
        return found

    winners = {name: _fastest([(text, await timed(text)) for text in texts]) for name, texts in arms.items()}
    draw, rounds = random.Random(seed), []
    for _ in range(ROUNDS):
        order = draw.sample(sorted(winners), len(winners))
        rounds.append({name: await timed(winners[name]) for name in order})
    best = {name: told(median_interval([one[name] for one in rounds])) for name in winners}
    return {"problem": problem.id, "seed": seed, "best": best, "rounds": rounds, "winners": winners}


def _fastest(found: Sequence[tuple[str, float]]) -> str:
    return max(found, key=lambda one: one[1])[0]


def told(found: Interval) -> dict[str, float]:
    """An interval as JSON."""
    return {"low": found.low, "value": found.value, "high": found.high}


def over(race: Row, arm: str, other: str) -> dict[str, float] | None:
    """The ratio of an arm to another, round by round; None if one of them has no kernel."""
    if arm not in race["best"] or other not in race["best"]:
        return None
    return told(median_interval([one[arm] / one[other] for one in race["rounds"]]))
