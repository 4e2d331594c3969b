"""Calls of a function on values that leave the habits of those that are drawn; part of every verification.

Each counts only where the original proves that it has an answer: it ends well and without NaN or infinity, twice with
the same answer; that answer hardly changes when the inputs hardly do; and a build with the checks for undefined
behaviour finds nothing.  So a sum that overflows an int, or a quotient of two roundings, is held against nobody.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import anyio.to_thread

from maxcode.core.types import Argument, FunctionSpec, Outcome, Problem
from maxcode.evaluate.function.elementwise import NUDGED, is_steady
from maxcode.evaluate.function.function import LEAST_ROUNDS, Inputs, Shape, spec_of
from maxcode.evaluate.function.habits import FEW_FAR, HABITS, USUAL, may_vary
from maxcode.evaluate.function.second_look import OriginalNearby, shape_of
from maxcode.evaluate.function.sizes import larger_sizes, rounds_at
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.sanitize import Sanitizers
from maxcode.evaluate.ladder.verify import verify

_CHECKS = ("undefined", "float-cast-overflow")
_TURNS = 2
_ALL_ALIKE = 0.6  # of the arrays have the call's own habit, the others any


@final
@dataclass(frozen=True, slots=True)
class Beyond:
    """Makes them, and asks the original."""

    builder: Builder
    problem: Problem
    nearby: OriginalNearby
    source: Inputs

    async def made(self, origin: str) -> tuple[Input, ...]:
        """Such inputs as the original has an answer for, with that answer; one for each habit at most, which may be
        drawn again where it has none."""
        own = await self.source.own_arrays()
        found: list[Input] = []
        missing = frozenset(HABITS)
        for turn in range(_TURNS):
            shapes = beyond_shapes(self.problem, own, missing, turn * len(HABITS))
            found += await self._proven(shapes, origin)
            missing = frozenset(one.main for one in shapes) - {shape_of(one).main for one in found}
        return tuple(found)

    async def _proven(self, shapes: Sequence[Shape], origin: str) -> tuple[Input, ...]:
        asked = [Input(one.name, await self.source.fresh(one), None, origin, workload=one) for one in shapes]
        if not asked:
            return ()
        sandbox, original = self.source.sandbox, self.nearby.original
        first = await verify(sandbox, self.problem, original, asked, every=True)
        known = [replace(one, expected=first.outputs[one.name]) for one in asked if one.name in first.outputs]
        known = [replace(one, second_look=self.nearby) for one in known if _is_finite(one)]
        again = await verify(sandbox, self.problem, original, known, every=True)
        good = {result.name: result.seconds for result in again.results if result.outcome is Outcome.CORRECT}
        known = [replace(one, seconds=good[one.name]) for one in known if one.name in good]
        steady = [one for one in known if await self._is_steady(one)]
        defined = await self._defined(steady) if steady else frozenset[str]()
        return tuple(one for one in steady if one.name in defined)

    async def _is_steady(self, given: Input) -> bool:
        assert given.expected is not None
        near = await self.nearby.answers(self.source.sandbox, self.problem, given)
        steady = await anyio.to_thread.run_sync(is_steady, shape_of(given), given.expected, near)
        return steady and len(near) == NUDGED

    async def _defined(self, inputs: Sequence[Input]) -> frozenset[str]:
        """The names of those on which nothing undefined is found; where that cannot be looked for, of those without
        whole numbers, which overflow."""
        bench = Sanitizers(self.source.sandbox, self.builder, self.problem, _CHECKS, tuple(inputs))
        clean, not_run = await bench.clean()
        if clean or not not_run:
            return clean
        whole = any(one.ctype in ("int", "long") for one in spec_of(self.problem).arrays)
        return frozenset() if whole else frozenset(one.name for one in inputs)


def beyond_shapes(
    problem: Problem,
    own: frozenset[str] = frozenset(),
    letters: frozenset[str] = frozenset(HABITS),
    before: int = 0,
) -> tuple[Shape, ...]:
    """Rounds of calls for each of the habits, in turn at checked sizes, at timed ones, and at sizes somewhat larger
    than all of them; arrays in ``own`` stay as they are. As many rounds as where it is timed, two of them with
    the habit (``generator.c``), so that neither the first calls nor their number tell a function whether it is
    verified. Two, because calls with a habit have many values in common: a function that keeps results by a few
    of them is wrong in the second. No more, because the original must have an answer in each, and a shape with
    many is soon refused. Values of which a few are far from the others come at a timed size, where a look at a
    few places is worth most. ``before``: how many there are already."""
    spec, chance = spec_of(problem), random.SystemRandom()
    free = [one for one in spec.arrays if may_vary(spec, one) and one.name not in own]
    if not free:
        return ()
    larger = (larger_sizes(spec, chance) for _ in range(2))
    sizes = [*dict.fromkeys(spec.checked), *dict.fromkeys(spec.timed), *(one for one in larger if one)]
    chance.shuffle(sizes)
    found = []
    for number, letter in enumerate(chance.sample(sorted(letters), len(letters)), before + 1):
        size = chance.choice(spec.timed) if letter == FEW_FAR else sizes[number % len(sizes)]
        offset = 0 if size in spec.timed else 8 * chance.randrange(1, 512)
        rounds = max(LEAST_ROUNDS, rounds_at(spec, size))
        found.append(Shape(spec, size, rounds, offset, _habits(spec, free, letter, chance), number, letter))
    return tuple(found)


def _habits(spec: FunctionSpec, free: Sequence[Argument], letter: str, chance: random.Random) -> tuple[str, ...]:
    """A letter for each array; one at least has this one."""
    sure = chance.choice(free)
    return tuple(
        USUAL
        if one not in free
        else letter
        if one is sure or chance.random() < _ALL_ALIKE
        else chance.choice([USUAL, *HABITS])
        for one in spec.arrays
    )


def _is_finite(given: Input) -> bool:
    assert given.expected is not None
    return given.workload.incomparable(given.expected) is None
