"""The sizes of a function: those to check, those that nobody was told of, those to time."""

from __future__ import annotations

import random
from itertools import combinations

from maxcode.code.domains import Domain, domain_of
from maxcode.core.types import FunctionSpec, Problem
from maxcode.evaluate.function.function import Shape, spec_of

DRAWN = 3  # sizes that nobody was told of
LARGER = 0.125  # by how much sizes go beyond the largest given ones, at most
_LARGEST_BYTES = 64 << 20  # of the arrays of a round at a size up to the end of its domain
_MOST_BYTES = 256 << 20  # of the arrays of all rounds at one size
_TRIES = 20
_MIXED = 2  # sizes in other proportions than those given
_ODD = range(1, 512, 2)  # doubles behind the start of a page, such that no vector of two is aligned


def rounds_at(spec: FunctionSpec, sizes: tuple[int, ...]) -> int:
    """As many rounds as where the function is timed, so that their number does not tell it where it is."""
    return max(1, min(spec.calls, _MOST_BYTES // max(1, Shape(spec, sizes).held)))


def checked_shapes(problem: Problem) -> tuple[Shape, ...]:
    """The sizes that are verified only, at alignments that a double just has: a function must not count on more."""
    spec = spec_of(problem)
    wanted = (sizes for sizes in dict.fromkeys(spec.checked) if sizes not in spec.timed)
    return tuple(Shape(spec, sizes, rounds_at(spec, sizes), 8 * random.randrange(1, 512)) for sizes in wanted)


def drawn_shapes(problem: Problem, count: int = DRAWN) -> tuple[Shape, ...]:
    """Sizes that nobody was told of, between the least and the largest checked ones, on the way from a checked one to a
    timed one, and up to the ends of the domain where the problem gives one for a size; and a timed size at addresses
    where it is not timed."""
    spec, seeds = spec_of(problem), random.SystemRandom()
    return (*_drawn(spec, seeds, count if spec.checked else 0), *_moved(spec, seeds, count))


def _moved(spec: FunctionSpec, seeds: random.Random, count: int) -> tuple[Shape, ...]:
    """A timed size, or several, where no array is aligned for more than a double."""
    sizes = [*dict.fromkeys(spec.timed)]
    chosen = seeds.sample(sizes, min(len(sizes), max(1, count // DRAWN)))
    return tuple(Shape(spec, one, rounds_at(spec, one), 8 * seeds.choice(_ODD)) for one in chosen)


def _drawn(spec: FunctionSpec, seeds: random.Random, count: int) -> tuple[Shape, ...]:
    if not count:
        return ()
    ranges = [(min(values), max(values)) for values in zip(*spec.checked, strict=True)]
    drawn = [tuple(seeds.randint(low, high) for low, high in ranges) for _ in range(count)]
    drawn += [_on_the_way(spec, seeds) for _ in range(max(1, count // DRAWN)) if spec.timed]
    drawn += _up_to_the_ends(spec, seeds, max(1, count // DRAWN))
    known = {*spec.checked, *spec.timed}
    return tuple(
        Shape(spec, sizes, rounds_at(spec, sizes), 8 * seeds.randrange(1, 512))
        for sizes in dict.fromkeys(drawn)
        if sizes not in known
    )


def _on_the_way(spec: FunctionSpec, seeds: random.Random) -> tuple[int, ...]:
    """A size between a checked and a timed one; sizes that keep an order in both keep it in between."""
    share = seeds.random()
    ends = zip(seeds.choice(spec.checked), seeds.choice(spec.timed), strict=True)
    return tuple(round(one + share * (other - one)) for one, other in ends)


def _up_to_the_ends(spec: FunctionSpec, seeds: random.Random, count: int) -> list[tuple[int, ...]]:
    """Sizes within their domains, no larger and with no more work than a pass may have; none where none has ends."""
    ends = _ends(spec)
    found: list[tuple[int, ...]] = []
    for _ in range(_TRIES * count if ends else 0):
        base = seeds.choice(spec.checked)
        names = [one.name for one in spec.scalars]
        sizes = tuple(
            _within(ends[name], seeds) if name in ends else size for name, size in zip(names, base, strict=True)
        )
        if len(found) < count and _fits(spec, sizes):
            found.append(sizes)
    return found


def _within(domain: Domain, seeds: random.Random) -> int:
    """An end in half of the cases, where programs are wrong most, else any size."""
    low, high = int(domain.low), int(domain.high)
    return seeds.choice((low, high)) if seeds.random() < 0.5 else seeds.randint(low, high)


def _fits(spec: FunctionSpec, sizes: tuple[int, ...]) -> bool:
    """Whether a round is no larger and has no more work than one of a pass may have."""
    shape, most = Shape(spec, sizes), 4 * max((Shape(spec, one).flop for one in spec.timed), default=0)
    return min(shape.array_bytes) >= 0 and shape.held <= _LARGEST_BYTES and shape.flop <= most


def mixed_sizes(spec: FunctionSpec, chance: random.Random) -> list[tuple[int, ...]]:
    """Sizes of which some are those of a timed shape and some those of a checked one, such as many rows of few columns;
    two at most.  Of any two sizes the order is one that given shapes show.  None where ``inputs.c`` may not be written
    for them, or a size is "drawn"."""
    given, names = {*spec.checked, *spec.timed}, [one.name for one in spec.scalars]
    said = {name: text for name, text in spec.domain if name in names}
    if "drawn" in said.values() or (spec.inputs and {*names} - _ends(spec).keys()) or not (spec.checked and spec.timed):
        return []
    shown = {_order(sizes) for sizes in given}
    seen = [{order[at] for order in shown} for at in range(len(names) * (len(names) - 1) // 2)]
    found: dict[tuple[int, ...], None] = {}
    for _ in range(4 * _TRIES):
        ends = chance.choice(spec.checked), chance.choice(spec.timed)
        sizes = tuple(pair[chance.randrange(2)] for pair in zip(*ends, strict=True))
        is_shown = all(order in known for order, known in zip(_order(sizes), seen, strict=True))
        if len(found) < _MIXED and sizes not in given and is_shown and _fits(spec, sizes):
            found[sizes] = None
    return [*found]


def _order(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """-1, 0 or 1 for each two of the sizes, in order."""
    return tuple((one > other) - (one < other) for one, other in combinations(sizes, 2))


def _ends(spec: FunctionSpec) -> dict[str, Domain]:
    """The domains of scalars that have ends."""
    scalars = {one.name for one in spec.scalars}
    given = {name: domain_of(text, {}, True) for name, text in spec.domain if name in scalars}
    return {name: one for name, one in given.items() if one.which == "between"}


def larger_sizes(spec: FunctionSpec, chance: random.Random) -> tuple[int, ...]:
    """Sizes somewhat beyond the largest given ones, all by the same factor, so that equal ones stay equal and an order
    stays; empty if one leaves its domain."""
    given = max((*spec.timed, *spec.checked), key=lambda sizes: Shape(spec, sizes).held)
    factor = 1 + chance.uniform(0.01, LARGER)
    ends = _ends(spec)
    sizes = tuple(max(size + 1, round(factor * size)) for size in given)
    named = zip((one.name for one in spec.scalars), sizes, strict=True)
    return () if any(name in ends and size > ends[name].high for name, size in named) else sizes


def timed_shapes(problem: Problem) -> tuple[Shape, ...]:
    """The sizes that are timed, arrays at the start of a page."""
    spec = spec_of(problem)
    return tuple(Shape(spec, sizes, spec.calls) for sizes in dict.fromkeys(spec.timed))
