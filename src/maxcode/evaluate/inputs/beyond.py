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

from maxcode.core.ahead import computed, started
from maxcode.core.phases import in_stage
from maxcode.core.types import Argument, FunctionSpec, Outcome, Problem
from maxcode.evaluate.function.elementwise import NUDGED, is_steady
from maxcode.evaluate.function.function import LEAST_ROUNDS, Inputs, Shape, spec_of
from maxcode.evaluate.function.habits import (
    FEW_FAR,
    GRID,
    HABITS,
    OF_ANY_SIZE,
    OF_FEW,
    TAKEN,
    USUAL,
    has_earlier,
    may_vary,
)
from maxcode.evaluate.function.second_look import OriginalNearby, shape_of
from maxcode.evaluate.function.sizes import larger_sizes, mixed_sizes, rounds_at
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.sanitize import Place, Sanitized, Sanitizers, clean_in
from maxcode.evaluate.ladder.verify import verify
from maxcode.sandbox.lanes import free_place

_CHECKS = ("undefined", "float-cast-overflow")
_CALLS = (8, LEAST_ROUNDS)  # with a few values unlike the others, at most: at the first turn and at the second
_TURNS = len(_CALLS)
_LETTERS = (*HABITS, FEW_FAR)  # two shapes with a few far values, which programs look for most
_DENSE = frozenset(HABITS) - OF_FEW
_BITS = {"int": 31, "long": 63}
_AT_JUMPS = 4  # shapes
_PLAIN = ("-O0", "-ffp-contract=off", "-fno-fast-math")
_USUAL_BITS = 10  # of whole numbers that are drawn the usual way
_NEARBY_BYTES = 64 << 20  # of the inputs nearby, and of the answers to them, in one session
_ALL_ALIKE = 0.6  # of the arrays have the call's own habit, the others any


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Which habits, how many shapes there are ``before``, how many calls at most get a few values unlike the others,
    and the bound on whole numbers of any size in bits (0: none)."""

    letters: tuple[str, ...] = _LETTERS
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
        """Such inputs as the original has an answer for, with that answer; one for each habit, two for the commonest,
        which may be drawn again where it has none: first in the same way, then with smaller whole numbers."""
        own = await self.source.own_arrays()
        found: list[Input] = []
        asked = Asked()
        for turn in range(_TURNS):
            shapes = beyond_shapes(self.problem, own, replace(asked, calls=_CALLS[turn]))
            found += await self._proven(shapes, origin)
            missing = {one.main for one in shapes if one.main} - {shape_of(one).main for one in found}
            asked = Asked((*sorted(missing),), asked.before + len(_LETTERS))
        found += await self._smaller(own, asked, origin)
        return tuple(found)

    async def _smaller(self, own: frozenset[str], asked: Asked, origin: str) -> list[Input]:
        """Those with whole numbers of as many bits as the original has an answer for, found by bisection."""
        spec = spec_of(self.problem)
        widths = [_BITS[one.ctype] for one in _free(spec, own) if one.ctype in _BITS]
        letters = {*asked.letters} & OF_ANY_SIZE
        if not widths or not letters:
            return []
        lead = FEW_FAR if FEW_FAR in letters else min(letters)
        low, high, best = _USUAL_BITS, max(widths), list[Input]()
        while high - low > 1:
            bits = (low + high) // 2
            asked = replace(asked, letters=(lead,), before=asked.before + 1, bits=bits, calls=_CALLS[0])
            made = await self._proven(beyond_shapes(self.problem, own, asked), origin)
            low, high, best = (bits, high, made) if made else (low, bits, best)
        if not best:
            return []
        others = (*sorted(letters - {lead}),)
        asked = replace(asked, letters=others, before=asked.before + 1, bits=low, calls=LEAST_ROUNDS)
        return [*best, *await self._proven(beyond_shapes(self.problem, own, asked), origin)]

    async def _proven(self, shapes: Sequence[Shape], origin: str) -> list[Input]:
        known = [one for one in await self._answered(shapes, origin) if _is_finite(one)]
        if not known:
            return []
        known = [replace(one, second_look=self.nearby) for one in known]
        async with free_place() as is_free, started(self._bench(known).of_original, now=is_free) as looked:
            steady = await self._steady(known)
            if not steady:
                return []
            found = await looked() if is_free else await self._bench(steady).of_original()
            defined = await self._defined(steady, found)
        return [one for one in steady if one.name in defined]

    async def at_jumps(self, origin: str) -> tuple[Input, ...]:
        """Inputs with numbers at which an answer may jump, such as the edge of a bin, that the original has an answer
        for which does not hang on how it is built. That of a right program may: so no verdict depends on them."""
        shapes = jump_shapes(self.problem, await self.source.own_arrays())
        answered = await self._answered(shapes, origin)
        known = await self._same_again([one for one in answered if _is_finite(one)])
        if not known:
            return ()
        spec = replace(self.problem.spec, flags=(*self.problem.spec.flags, *_PLAIN))
        plain = replace(self.problem, spec=spec)
        built = await self.builder.build(plain, plain.program, final=True, is_original=True)
        if built.artefact is None:
            return ()
        found = await verify(self.source.sandbox, self.problem, built.artefact, known, every=True)
        alike = {result.name for result in found.results if result.outcome is Outcome.CORRECT}
        alike &= await self._defined(known, await self._bench(known).of_original())
        return tuple(one for one in known if one.name in alike)

    async def _answered(self, shapes: Sequence[Shape], origin: str) -> list[Input]:
        """Calls of these shapes on fresh inputs, with the original's answers and seconds; only those that have one."""
        if not shapes:
            return []
        plans = await self.source.fresh_each(shapes)
        asked = [Input(one.name, plan, None, origin, workload=one) for one, plan in zip(shapes, plans, strict=True)]
        found = await verify(self.source.sandbox, self.problem, self.nearby.original, asked, every=True)
        seconds = {result.name: result.seconds for result in found.results}
        return [
            replace(one, expected=found.outputs[one.name], seconds=seconds[one.name])
            for one in asked
            if one.name in found.outputs
        ]

    @in_stage("steady answers")
    async def _steady(self, known: Sequence[Input]) -> list[Input]:
        """Those to which the original gives the same answer again, which hardly changes when the inputs hardly do."""
        found: list[Input] = []
        for group in _groups(await self._same_again(known)):
            nearby = await self.nearby.all_answers(self.source.sandbox, self.problem, group)
            found += [one for one, near in zip(group, nearby, strict=True) if await self._is_steady(one, near)]
        return found

    async def _same_again(self, known: Sequence[Input]) -> list[Input]:
        """Those to which the original gives the same answer again, with its seconds."""
        if not known:
            return []
        unhurried = [replace(one, seconds=0.0) for one in known]
        again = await verify(self.source.sandbox, self.problem, self.nearby.original, unhurried, every=True)
        good = {result.name: result.seconds for result in again.results if result.outcome is Outcome.CORRECT}
        return [replace(one, seconds=good[one.name]) for one in known if one.name in good]

    async def _is_steady(self, given: Input, near: Sequence[bytes]) -> bool:
        assert given.expected is not None
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
            known = await self._answered(shapes, "made")
            self.overflows.append(await self._bench(known).overflows() if known else frozenset())
        return self.overflows[0]

    async def _defined(self, inputs: Sequence[Input], found: Sanitized) -> frozenset[str]:
        """The names of those on which nothing undefined is ``found``; where that cannot be looked for, of those without
        whole numbers, which overflow."""
        names = frozenset(one.name for one in inputs)
        clean, is_whole = clean_in(found) & names, names <= {*found.inputs}
        if is_whole and clean < names and (harmless := await self._harmless()):
            clean = clean_in(found, harmless) & names
        if clean or is_whole:
            return clean
        whole = any(one.ctype in ("int", "long") for one in spec_of(self.problem).arrays)
        return frozenset() if whole else names


def _groups(inputs: Sequence[Input]) -> list[list[Input]]:
    """The inputs in the same order, some together whose nearby ones and answers are not too large for one session."""
    found: list[list[Input]] = []
    left = 0
    for one in inputs:
        size = NUDGED * (one.stdin.size + len(one.expected or b""))
        if not found or size > left:
            found.append([])
            left = _NEARBY_BYTES
        found[-1].append(one)
        left -= size
    return found


def _free(spec: FunctionSpec, own: frozenset[str]) -> list[Argument]:
    """The arrays whose values may be drawn in another way; those in ``own`` stay as they are."""
    return [one for one in spec.arrays if may_vary(spec, one) and one.name not in own]


def beyond_shapes(problem: Problem, own: frozenset[str] = frozenset(), asked: Asked = _EVERY) -> tuple[Shape, ...]:
    """Rounds of calls for each of the habits, in turn at checked sizes, at timed ones, at sizes somewhat larger than
    all of them, and in other proportions; arrays in ``own`` stay as they are, and where all do, only those sizes are
    left. As many rounds as where it is timed, so that neither the first calls nor their number tell a function whether
    it is verified. Values of which a few are unlike the others come at a timed size, where a look at some places is
    worth most."""
    spec, chance = spec_of(problem), random.SystemRandom()
    free = _free(spec, own)
    larger = [one for one in (larger_sizes(spec, chance) for _ in range(2)) if one]
    mixed = mixed_sizes(spec, chance)
    if not free:
        usual = (USUAL,) * len(spec.arrays)
        others = [*larger, *mixed[:1]]
        shapes = (
            Shape(spec, one, rounds_at(spec, one), 8 * chance.randrange(1, 512), usual, number)
            for number, one in enumerate(others, 1)
        )
        return () if asked.before else tuple(shapes)
    sizes = [*dict.fromkeys(spec.checked), *dict.fromkeys(spec.timed), *larger, *mixed]
    chance.shuffle(sizes)
    places = {kind: _places(sum(one in kind for one in asked.letters), chance) for kind in (OF_FEW, _DENSE)}
    found = []
    for number, letter in enumerate(chance.sample(asked.letters, len(asked.letters)), asked.before + 1):
        size = chance.choice(spec.timed) if letter in OF_FEW else sizes[number % len(sizes)]
        offset = 0 if size in spec.timed else 8 * chance.randrange(1, 512)
        rounds = max(LEAST_ROUNDS, rounds_at(spec, size))
        takes = letter in OF_FEW and len(places[OF_FEW]) % 2 == 0
        habits = _taken(spec, free, letter) if takes else ()
        habits = habits or _habits(spec, free, letter, chance)
        shape = Shape(spec, size, rounds, offset, habits, number, letter, bits=asked.bits)
        found.append(_with_calls(shape, asked.calls, places[OF_FEW if letter in OF_FEW else _DENSE].pop()))
    return tuple(found)


def jump_shapes(problem: Problem, own: frozenset[str]) -> tuple[Shape, ...]:
    """Rounds of calls at some of the sizes with multiples of 1/32 among the real numbers, none of them twice: equal
    numbers are a question of its own, which the habits ask."""
    spec, chance = spec_of(problem), random.SystemRandom()
    reals = [one for one in _free(spec, own) if one.ctype in ("double", "float")]
    habits = tuple(GRID if one in reals else USUAL for one in spec.arrays)
    sizes = [*dict.fromkeys((chance.choice(spec.timed), *chance.sample(spec.checked, len(spec.checked))))]
    return tuple(
        Shape(spec, size, max(LEAST_ROUNDS, rounds_at(spec, size)), 0, habits, number, GRID)
        for number, size in enumerate(sizes[:_AT_JUMPS] if reals else (), 1)
    )


def _places(count: int, chance: random.Random) -> list[float]:
    """Numbers in [0, 1) in any order, one in each of as many equal parts."""
    return [(part + chance.random()) / count for part in chance.sample(range(count), count)]


def _with_calls(shape: Shape, most: int, place: float) -> Shape:
    """The shape with the number of calls that have its habit, and a place before which none has (``generator.c``). Else
    a function that looks at all values in its first calls, and sees nothing, could know that it is timed. In half of
    the calls at most, for the same reason, but in more than two where a few values are unlike the others: a look at
    a quarter of the places misses one value in three calls of four. Elsewhere in two, because calls with a habit
    have many values in common: a function that keeps results by a few of them is wrong in the second. No more,
    because the original must have an answer in each, and a shape with many is soon refused."""
    calls = rounds_at(shape.spec, shape.sizes) * shape.spec.slots  # as many as where it is timed
    few = shape.main in OF_FEW and calls >= LEAST_ROUNDS
    unusual = min(most, calls // 2) if few else LEAST_ROUNDS
    return replace(shape, unusual=unusual, first=int(place * max(1, calls - 1)))


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


def _taken(spec: FunctionSpec, free: Sequence[Argument], letter: str) -> tuple[str, ...]:
    """The letter for arrays before which none has their type, and values of those for the others, so that arrays are
    related: the same, in another order, with one value changed.  Empty where none can be made so."""
    made = [one for one in free if has_earlier(spec, one)]
    if not made:
        return ()
    return tuple(TAKEN if one in made else letter if one in free else USUAL for one in spec.arrays)


def _is_finite(given: Input) -> bool:
    assert given.expected is not None
    return given.workload.incomparable(given.expected) is None
