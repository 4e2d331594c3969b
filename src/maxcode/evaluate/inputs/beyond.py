"""Calls of a function on values that leave the habits of those that are drawn; part of every verification.

Each counts only where the original proves that it has an answer: it ends well and without NaN or infinity, twice with
the same answer; that answer hardly changes when the inputs hardly do; and a build with the checks for undefined
behaviour finds nothing, but for overflows of usual inputs too that change no answer.  So a sum that overflows an int,
or a quotient of two roundings, is held against nobody.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.core.ahead import computed
from maxcode.core.types import Argument, FunctionSpec, Outcome, Problem
from maxcode.evaluate.function.elementwise import NUDGED, is_steady
from maxcode.evaluate.function.function import LEAST_ROUNDS, Inputs, Shape, spec_of
from maxcode.evaluate.function.habits import FEW_FAR, HABITS, OF_ANY_SIZE, OF_FEW, USUAL, may_vary
from maxcode.evaluate.function.second_look import OriginalNearby, shape_of
from maxcode.evaluate.function.sizes import larger_sizes, rounds_at
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.sanitize import Place, Sanitizers
from maxcode.evaluate.ladder.verify import verify

_CHECKS = ("undefined", "float-cast-overflow")
_CALLS = (8, LEAST_ROUNDS)  # with a few values unlike the others, at the first turn and at the second
_TURNS = len(_CALLS)
_BITS = {"int": 31, "long": 63}
_USUAL_BITS = 10  # of whole numbers that are drawn the usual way
_ALL_ALIKE = 0.6  # of the arrays have the call's own habit, the others any


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Which habits, how many shapes there are ``before``, how many calls get a few values unlike the others, and the
    bound on whole numbers of any size in bits (0: none)."""

    letters: frozenset[str] = frozenset(HABITS)
    before: int = 0
    calls: int = _CALLS[0]
    bits: int = 0


_EVERY = Asked()


@final
@dataclass(frozen=True, slots=True)
class Beyond:
    """Makes them, and asks the original."""

    builder: Builder
    problem: Problem
    nearby: OriginalNearby
    source: Inputs
    overflows: list[frozenset[Place]] = field(default_factory=list)  # one, when it is known

    async def made(self, origin: str) -> tuple[Input, ...]:
        """Such inputs as the original has an answer for, with that answer; one for each habit at most, which may be
        drawn again where it has none: first in the same way, then with smaller whole numbers."""
        own = await self.source.own_arrays()
        found: list[Input] = []
        asked = Asked()
        for turn in range(_TURNS):
            shapes = beyond_shapes(self.problem, own, replace(asked, calls=_CALLS[turn]))
            found += await self._proven(shapes, origin)
            missing = frozenset(one.main for one in shapes if one.main) - {shape_of(one).main for one in found}
            asked = Asked(missing, asked.before + len(HABITS))
        found += await self._smaller(own, asked, origin)
        return tuple(found)

    async def _smaller(self, own: frozenset[str], asked: Asked, origin: str) -> list[Input]:
        """Those with whole numbers of as many bits as the original has an answer for, found by bisection."""
        spec = spec_of(self.problem)
        widths = [_BITS[one.ctype] for one in _free(spec, own) if one.ctype in _BITS]
        letters = asked.letters & OF_ANY_SIZE
        if not widths or not letters:
            return []
        lead = FEW_FAR if FEW_FAR in letters else min(letters)
        low, high, best = _USUAL_BITS, max(widths), list[Input]()
        while high - low > 1:
            bits = (low + high) // 2
            asked = replace(asked, letters=frozenset(lead), before=asked.before + 1, bits=bits, calls=_CALLS[0])
            made = await self._proven(beyond_shapes(self.problem, own, asked), origin)
            low, high, best = (bits, high, made) if made else (low, bits, best)
        if not best:
            return []
        asked = replace(asked, letters=letters - {lead}, before=asked.before + 1, bits=low, calls=LEAST_ROUNDS)
        return [*best, *await self._proven(beyond_shapes(self.problem, own, asked), origin)]

    async def _proven(self, shapes: Sequence[Shape], origin: str) -> list[Input]:
        asked = [Input(one.name, await self.source.fresh(one), None, origin, workload=one) for one in shapes]
        if not asked:
            return []
        sandbox, original = self.source.sandbox, self.nearby.original
        first = await verify(sandbox, self.problem, original, asked, every=True)
        known = [replace(one, expected=first.outputs[one.name]) for one in asked if one.name in first.outputs]
        known = [replace(one, second_look=self.nearby) for one in known if _is_finite(one)]
        again = await verify(sandbox, self.problem, original, known, every=True)
        good = {result.name: result.seconds for result in again.results if result.outcome is Outcome.CORRECT}
        known = [replace(one, seconds=good[one.name]) for one in known if one.name in good]
        steady = [one for one in known if await self._is_steady(one)]
        defined = await self._defined(steady) if steady else frozenset[str]()
        return [one for one in steady if one.name in defined]

    async def _is_steady(self, given: Input) -> bool:
        assert given.expected is not None
        near = await self.nearby.answers(self.source.sandbox, self.problem, given)
        steady = await computed(is_steady, shape_of(given), given.expected, near)
        return steady and len(near) == NUDGED

    def _bench(self, inputs: Sequence[Input]) -> Sanitizers:
        return Sanitizers(self.source.sandbox, self.builder, self.problem, _CHECKS, tuple(inputs))

    async def _harmless(self) -> frozenset[Place]:
        """Where the original overflows on usual values too, with the same answer where that wraps: a hash does, on
        every input, and what it does on others is no less defined."""
        if not self.overflows:
            spec = spec_of(self.problem)
            shapes = [Shape(spec, sizes, LEAST_ROUNDS) for sizes in dict.fromkeys((*spec.checked, *spec.timed[:1]))]
            usual = [Input(one.name, await self.source.fresh(one), None, "made", workload=one) for one in shapes]
            found = await verify(self.source.sandbox, self.problem, self.nearby.original, usual, every=True)
            seconds = {one.name: one.seconds for one in found.results}
            known = [
                replace(one, expected=found.outputs[one.name], seconds=seconds[one.name])
                for one in usual
                if one.name in found.outputs
            ]
            self.overflows.append(await self._bench(known).overflows() if known else frozenset())
        return self.overflows[0]

    async def _defined(self, inputs: Sequence[Input]) -> frozenset[str]:
        """The names of those on which nothing undefined is found; where that cannot be looked for, of those without
        whole numbers, which overflow."""
        bench = self._bench(inputs)
        clean, not_run = await bench.clean()
        if len(clean) < len(inputs) and not not_run and (harmless := await self._harmless()):
            clean, not_run = await bench.clean(harmless)
        if clean or not not_run:
            return clean
        whole = any(one.ctype in ("int", "long") for one in spec_of(self.problem).arrays)
        return frozenset() if whole else frozenset(one.name for one in inputs)


def _free(spec: FunctionSpec, own: frozenset[str]) -> list[Argument]:
    """The arrays whose values may be drawn in another way; those in ``own`` stay as they are."""
    return [one for one in spec.arrays if may_vary(spec, one) and one.name not in own]


def beyond_shapes(problem: Problem, own: frozenset[str] = frozenset(), asked: Asked = _EVERY) -> tuple[Shape, ...]:
    """Rounds of calls for each of the habits, in turn at checked sizes, at timed ones, and at sizes somewhat larger
    than all of them; arrays in ``own`` stay as they are, and where all do, only the larger sizes are left. As many
    rounds as where it is timed, two of them with the habit (``generator.c``), so that neither the first calls nor
    their number tell a function whether it is verified. Two, because calls with a habit have many values in common:
    a function that keeps results by a few of them is wrong in the second. No more, because the original must have an
    answer in each, and a shape with many is soon refused. Values of which a few are unlike the others come at a
    timed size, where a look at some places is worth most, and in more calls at first: a look at a quarter of the
    places misses one value in three calls of four."""
    spec, chance = spec_of(problem), random.SystemRandom()
    free = _free(spec, own)
    larger = [one for one in (larger_sizes(spec, chance) for _ in range(2)) if one]
    if not free:
        usual = (USUAL,) * len(spec.arrays)
        pages = (8 * chance.randrange(1, 512) for _ in larger)
        shapes = (Shape(spec, one, rounds_at(spec, one), at, usual) for one, at in zip(larger, pages, strict=True))
        return () if asked.before else tuple(shapes)
    sizes = [*dict.fromkeys(spec.checked), *dict.fromkeys(spec.timed), *larger]
    chance.shuffle(sizes)
    found = []
    for number, letter in enumerate(chance.sample(sorted(asked.letters), len(asked.letters)), asked.before + 1):
        size = chance.choice(spec.timed) if letter in OF_FEW else sizes[number % len(sizes)]
        offset = 0 if size in spec.timed else 8 * chance.randrange(1, 512)
        rounds = max(LEAST_ROUNDS, rounds_at(spec, size))
        calls = asked.calls if letter in OF_FEW else LEAST_ROUNDS
        habits = _habits(spec, free, letter, chance)
        found.append(Shape(spec, size, rounds, offset, habits, number, letter, calls, asked.bits))
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
