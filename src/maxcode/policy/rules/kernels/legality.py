"""Which changes of the order of loops keep every result: questions to the dependences of a nest.

A dependence must keep its direction: in the new order, too, the first non-"=" of its vector must be "<".  The order of
additions into one element may change (``+=``, ``-=``), because this policy may reassociate sums; for threads it
may not, and for vectors only where the loop is marked as a sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from maxcode.code.polyhedral.dependences import Access, Pair, Vector, later, pairs, vectors
from maxcode.code.polyhedral.polynomials import added, name, number
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.nest import Body, Loop, words_of_head

Above = tuple[Loop, ...]
_ONCE = re.compile(r"\b(?:nowait|lastprivate|linear|task\w*|sections?|single|nogroup|inscan|async)\b")


@lru_cache(maxsize=1 << 10)
def _pairs(region: Body, above: Above, sums: bool = False) -> tuple[Pair, ...] | None:
    """The pairs of accesses of items; None if they are not understood."""
    seen = effect(region, above)
    return None if seen.opaque else tuple(pairs(seen.accesses, sums))


@lru_cache(maxsize=1 << 12)
def _vectors(loop: Loop, above: Above, depth: int, sums: bool = False) -> frozenset[Vector] | None:
    """The direction vectors over ``depth`` nested loops, ``loop`` the outermost; None if the nest is not understood."""
    found = _pairs((loop,), above, sums)
    return None if found is None else vectors(found, len(above), depth)


def parallel(loop: Loop, above: Above) -> bool:
    """Whether the iterations of a loop may run in any order, or in parallel: it carries no dependence."""
    return _vectors(loop, above, 1, sums=True) == frozenset()


def waits(loop: Loop, above: Above) -> bool:
    """Whether iterations of a loop may wait for earlier ones by something other than a sum."""
    return bool(_vectors(loop, above, 1))


def interchangeable(outer: Loop, inner: Loop, above: Above) -> bool:
    """Whether a loop and the only loop inside it may change places: there is no (<, >)."""
    named = outer.var in words_of_head(inner) | {inner.var} or inner.var in words_of_head(outer)
    told = re.search("omp|ivdep|simd", " ".join((*outer.pragmas, *inner.pragmas)))  # which holds in this order
    plain = not named and told is None and computes_anywhere(inner.low, inner.high)
    return plain and permutable([outer, inner], [1, 0], above)


def computes_anywhere(*texts: str) -> bool:
    """Whether expressions may also be computed where the program does not: they read no element and divide by no
    name."""
    return not any("[" in text or re.search(r"[/%] *[^ \d]|[/%] *0", text) for text in texts)


def permutable(band: Sequence[Loop], order: Sequence[int], above: Above) -> bool:
    """Whether the loops of a perfect nest may stand in another order, given by their numbers in the present one."""
    found = _vectors(band[0], above, len(band))
    return found is not None and all(_is_positive([vector[k] for k in order]) for vector in found)


def _is_positive(vector: Sequence[str]) -> bool:
    return next((way for way in vector if way != "="), "<") == "<"


def tileable(band: Sequence[Loop], above: Above) -> bool:
    """Whether a loop over pieces of the last loop of a perfect nest may stand around the whole nest: no dependence goes
    back along that loop."""
    found = _vectors(band[0], above, len(band))
    return found is not None and all(vector[-1] != ">" for vector in found)


@lru_cache(maxsize=1 << 12)
def jammable(loop: Loop, above: Above) -> bool:
    """Whether neighbouring iterations of a loop may run statement by statement, in step through the loops inside."""
    found = _pairs((loop,), above)
    return found is not None and not any(_is_jammed(pair, len(above)) for pair in found)


def _is_jammed(pair: Pair, depth: int) -> bool:
    """Whether a dependence on a later iteration would be met in the wrong order."""
    start = ("=",) * depth + ("<",)
    inner = pair.common - len(start)
    if not pair.exists(start):
        return False
    if pair.against_text and pair.exists((*start, *"=" * inner)):
        return True
    return any(pair.exists((*start, *"=" * k, ">")) for k in range(inner))


def cuts(loop: Loop, above: Above) -> list[int]:
    """Where the body of a loop may be cut so that each part gets a loop of its own: at k, before its item k."""
    if len(loop.body) < 2 or effect((loop,), above).opaque or any(map(_ONCE.search, loop.pragmas)):
        return []  # two tasks may run in any order
    found = _pairs(loop.body, (*above, loop))
    if found is None:
        return []
    carried = ("=",) * len(above) + ("<",)
    back = [(p.second.part, p.first.part) for p in found if p.second.part < p.first.part and p.exists(carried)]
    return [k for k in range(1, len(loop.body)) if not any(first < k <= last for first, last in back)]


def fusible(first: Loop, second: Loop, above: Above) -> bool:
    """Whether one loop may run the bodies of two neighbours with the same variable and bounds: nothing in the second
    needs a later iteration of the first."""
    found = _pairs((first, second), above)
    return found is not None and not any(_prevents(pair, len(above)) for pair in found)


def _prevents(pair: Pair, depth: int) -> bool:
    if (pair.first.part, pair.second.part) != (0, 1) or min(len(pair.first.levels), len(pair.second.levels)) <= depth:
        return False
    one, other = pair.first.levels[depth].var, pair.second.levels[depth].var
    ahead = added(added(name(one), name(later(other)), -1), number(1), -1)
    return pair.exists(("=",) * depth, [ahead])


def apart(one: Access, other: Access, above: Above) -> bool:
    """Whether two accesses of one region never touch one element in the same iteration of the loops around it."""
    return not Pair(one, other).exists(("=",) * len(above))


def before(pair: Pair, depth: int) -> Iterator[Vector]:
    """The directions, below ``depth`` common loops, in which the first of a pair comes before the second."""
    same = ("=",) * depth
    for inner in range(pair.common - depth):
        yield (*same, *"=" * inner, "<")
    if pair.first.order < pair.second.order:
        yield ("=",) * pair.common
