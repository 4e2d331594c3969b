"""What arms reach on kernels that are held out, by the number of measurements.

    arm, kernel -> distinct kernels in order, each measured once -> the best of the first k, for every k
                -> timed again in one sitting -> ratios of arms, kernel by kernel

The best of the first k is chosen by the measurement on the way, as a user's run chooses it, and counts by the later
timing.  A kernel on which nothing helped counts as its original.  So does one whose best failed when it was timed
again; the table names those.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, final

import anyio

from learning.arms import Tried, speed
from learning.cells import Row, Setting, kept, mark_of
from maxcode.core.stats import bootstrap, geometric_mean, median_interval, sign_flip_p
from maxcode.core.types import Action, Problem
from maxcode.errors import MachineError
from maxcode.train.evaluators import TrainTarget

ROUNDS = 3  # timings of each best, of several pairs each
Arm = Callable[[Problem], Sequence[Tried]]


@final
@dataclass(frozen=True, slots=True)
class Test:
    """The kernels, after how many measurements arms are compared, the beginning of the cells' names, and what the arms
    depend on."""

    problems: Sequence[Problem]
    at: Sequence[int]
    name: str
    given: Mapping[str, Any]


def held_out(setting: Setting, test: Test, arms: Mapping[str, Arm]) -> list[Row]:
    """For every kernel: how many each arm measured, and the rate of its best of the first k."""
    found = []
    for problem in test.problems:
        given = {**test.given, "most": max(test.at), "kernel": mark_of(problem.program.text)}
        name = f"{test.name} {problem.id}"
        tried = {
            arm: kept(setting, f"{name} {arm}", partial(_tried, make, problem), given)["tried"]
            for arm, make in arms.items()
        }
        again = partial(_again, setting.bench, problem, tried, test.at)
        found.append(kept(setting, f"{name} again", again, {"at": list(test.at), "tried": mark_of(tried)}))
    return found


def _tried(make: Arm, problem: Problem) -> Row:
    return {"tried": [{"text": one.text, "rate": one.rate} for one in make(problem)]}


def _again(bench: TrainTarget, problem: Problem, tried: Mapping[str, Sequence[Row]], at: Sequence[int]) -> Row:
    chosen = {arm: {k: _best(problem, found[:k]) for k in at} for arm, found in tried.items()}
    texts = sorted({text for by_count in chosen.values() for text in by_count.values()} | {problem.program.text})
    rates = anyio.run(_timed, bench, problem, texts)
    if not rates[problem.program.text]:
        raise MachineError(f"the original of {problem.id} failed when it was timed again; repeat the command")
    return {
        "problem": problem.id,
        "original": rates[problem.program.text],
        "measured": {arm: len(found) for arm, found in tried.items()},
        "valid": {arm: sum(one["rate"] > 0 for one in found) / max(1, len(found)) for arm, found in tried.items()},
        "best": {arm: {str(k): rates[text] for k, text in by_count.items()} for arm, by_count in chosen.items()},
    }


def _best(problem: Problem, found: Sequence[Row]) -> str:
    best: Row = max(found, key=lambda one: float(one["rate"]), default={"rate": 0.0})
    return str(best["text"]) if best["rate"] else problem.program.text


async def _timed(bench: TrainTarget, problem: Problem, texts: Sequence[str]) -> dict[str, float]:
    rates: dict[str, list[float]] = {text: [] for text in texts}
    draw = random.Random(0)
    for _ in range(ROUNDS):
        for text in draw.sample(texts, len(texts)):
            action = Action(problem.program.with_text(text))
            rates[text].append(speed(await bench.assessing.evaluate(problem, action)))
    return {text: median_interval(found).value if min(found) else 0.0 for text, found in rates.items()}


# --------------------------------------------------------------------------------------------------------------- table


def gain(row: Row, arm: str, count: int) -> float:
    """The best of the first ``count`` over the original, 1 where it is slower or failed when it was timed again."""
    return max(1.0, float(row["best"][arm][str(count)]) / float(row["original"]))


def failures(found: Sequence[Row], arms: Sequence[str], at: Sequence[int]) -> Iterator[str]:
    """For each arm the bests that were correct once, and failed when they were timed again."""
    for arm in arms:
        failed = [f"{row['problem']} after {k}" for row in found for k in at if not row["best"][arm][str(k)]]
        if failed:
            yield f"{arm}: {len(failed)} failed when timed again and count as 1.00: {', '.join(failed)}"


def ratio(found: Sequence[Row], arm: str, count: int, other: str, of: int) -> Row:
    """The geometric mean over kernels of one arm over another, with its interval over kernels, and p by sign flips.

    The rows of a kernel with several seeds are one: they are no independent kernels."""
    logs: dict[str, list[float]] = {}
    for row in found:
        logs.setdefault(row["problem"], []).append(math.log(gain(row, arm, count) / gain(row, other, of)))
    means = [fmean(some) for some in logs.values()]
    mean = bootstrap([math.exp(one) for one in means], geometric_mean)
    return {"low": mean.low, "value": mean.value, "high": mean.high, "p": sign_flip_p(means), "kernels": len(means)}


def table(found: Sequence[Row], arms: Sequence[str], at: Sequence[int]) -> Iterator[str]:
    """The gain of every arm on every kernel by measurements."""
    heads = [f"{arm} {k}" for arm in arms for k in at]
    yield f"{'speed-up after':20}" + "".join(f"{head:>16}" for head in heads)
    for row in found:
        yield f"{row['problem']:20}" + "".join(f"{gain(row, arm, k):16.2f}" for arm in arms for k in at)
    yield from failures(found, arms, at)
    means = [geometric_mean([gain(row, arm, k) for row in found]) for arm in arms for k in at]
    yield f"{'geometric mean':20}" + "".join(f"{mean:16.2f}" for mean in means)


def compared(found: Sequence[Row], arm: str, others: Sequence[str], at: Sequence[int]) -> Iterator[str]:
    """The ratios of an arm to others at the same number of measurements, and at the most to fewer."""
    for other in others:
        for count, of in [(k, k) for k in at] + [(k, at[-1]) for k in at[:-1]]:
            one = ratio(found, arm, count, other, of)
            told = f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}], p = {one['p']:.3f}"
            yield f"{arm} after {count} over {other} after {of}: {told}, {one['kernels']} kernels"
