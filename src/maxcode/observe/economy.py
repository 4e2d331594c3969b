"""The part "Economy" of a repository: what can be won at most, what a judgement takes, how many candidates are left."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from statistics import median

from maxcode.core.budget import MANY
from maxcode.core.history import Reached
from maxcode.core.types import Facts, Section, State
from maxcode.core.types.measured import JUDGED
from maxcode.observe.part import Part
from maxcode.observe.repository import profiled_best, profiled_program

_LATEST = 24  # candidates whose time is told: the cost does not grow with the run
_LEAST_OUTSIDE = 0.001  # a smaller share bounds nothing


def economy(facts: Facts, budget: int) -> Part:
    """ "Economy": the share of the benchmark's time that no change of the files can spare, in base and in the best
    program, the seconds that base and candidates take, and how many candidates of the ``budget`` are left.  None for
    other kinds."""

    def part(state: State, reached: Reached) -> Section | None:
        if facts.base is None:
            return None
        lines = [*_bounds(facts, state, reached), *_seconds(facts, reached), _left(budget, reached)]
        return Section("Economy", "\n".join(lines))

    return part


def _bounds(facts: Facts, state: State, reached: Reached) -> Iterator[str]:
    if facts.outside is None:
        return
    yield (
        f"{facts.outside:.1%} of the benchmark's time in base is neither in the files that you may edit nor in what "
        f"they call, by its profile{_at_most(facts.outside, 'over base')}"
    )
    best = profiled_best(state, reached)
    share = best.step.evaluation.outside if best is not None and best.step is not None else None
    if best is not None and share is not None:
        yield f"in {profiled_program(best, state)}, it is {share:.1%}{_at_most(share, 'over that')}"


def _at_most(share: float, over: str) -> str:
    return f": at most {1 / share:.3g}x can be won {over}" if share >= _LEAST_OUTSIDE else ""


def _seconds(facts: Facts, reached: Reached) -> Iterator[str]:
    assert facts.base is not None
    told = {"its build": facts.base.build, "its tests": facts.base.tests, "one run of its benchmark": facts.base.run}
    yield "base took " + ", ".join(f"{seconds:.2g} s for {name}" for name, seconds in told.items() if seconds)
    latest = (one.step.evaluation.measures.get(JUDGED) for one in islice(reached.newest(), _LATEST) if one.step)
    if seconds := [one for one in latest if one is not None]:
        among = f" (median of the last {len(seconds)}: {min(seconds):.2g} to {max(seconds):.2g} s)"
        yield f"a candidate takes {median(seconds):.2g} s to be judged{among if len(seconds) > 1 else ''}"


def _left(budget: int, reached: Reached) -> str:
    if budget >= MANY:  # the budget is of tokens, money or time
        return f"candidates: {reached.candidates} judged"
    left = max(0, budget - reached.candidates)
    return f"candidates: {reached.candidates} of {budget} judged, {left} left, with those asked for now"
