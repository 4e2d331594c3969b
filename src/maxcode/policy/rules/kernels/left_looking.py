"""The step that takes a few columns through all that comes before them, while they are in the cache: left_looking.

    for k: { q[k] = f(A[k]);  for j > k: A[j] -= g(q[k], A[j]) }

for columns from j0 to j1 at a time: first what all k < j0 do to them, then the columns themselves as in the nest.  A
statement outside the loop over j belongs to column k.  The order is legal if no dependence goes to a column before.
The names are those of the literature on factorisations (Golub and Van Loan, "Matrix Computations").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access, Pair, later, pairs
from maxcode.code.polyhedral.polynomials import added, name, number, polynomial
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import before, computes_anywhere
from maxcode.policy.rules.kernels.nest import Body, Declare, Loop, least_of, printed, put, words_in
from maxcode.policy.rules.kernels.orders import contiguous_parts
from maxcode.policy.rules.kernels.scalars import privatised

_COLUMNS = (16, 32, 64, 128)


def left_looking(unit: Unit) -> Iterator[Edit]:
    """Takes a few columns through all that columns before do to them, along contiguous rows where that is legal."""
    for kernel in map(privatised, kernels(unit)):
        for spot in kernel.spots:
            place = _across(kernel, spot)
            if place is None or not _may_turn(spot.loop, spot.above, place):
                continue
            size = kernel.fresh("TILE")
            body = put(kernel.body, spot.path, [_tiled(kernel, spot, place, size)])
            for columns in _COLUMNS:
                what = f"takes {columns} columns at a time through the loop over {spot.loop.var}"
                change = kernel.change(body, [(size, columns)])
                yield kernel.edit("left_looking", spot.name, (("columns", columns),), what, change)


def _across(kernel: Kernel, spot: Spot) -> int | None:
    """Which statement of a loop is that over the columns behind; None if it has another form."""
    loop = spot.loop
    found = [place for place, item in enumerate(loop.body) if _is_behind(item, loop)]
    plain = loop.step == "1" and not loop.pragmas and len(loop.body) > 1 and computes_anywhere(loop.low, loop.high)
    if len(found) != 1 or not plain or "?" in loop.low + loop.high:
        return None
    inner = loop.body[found[0]]
    fixed = isinstance(inner, Loop) and loop.type == inner.type == "int" and kernel.counts_signed(loop, inner)
    declared = {item.name for item in loop.body if isinstance(item, Declare)}
    return None if not fixed or declared & words_in(printed((inner,))) else found[0]


def _is_behind(item: object, loop: Loop) -> bool:
    """Whether an item is a loop over all columns behind that of a loop."""
    if not isinstance(item, Loop) or item.high != loop.high or item.step != "1" or item.pragmas:
        return False
    return polynomial(item.low) == added(name(loop.var), number(1)) and item.var != loop.var


@lru_cache(maxsize=256)
def _may_turn(loop: Loop, above: tuple[Loop, ...], place: int) -> bool:
    """Whether the new order keeps all dependences: it may change only that of additions into one element."""
    seen = effect(loop.body, (*above, loop))
    whole = effect((loop,), above)
    if seen.opaque or whole.opaque or whole.scalars:
        return False
    return not any(_is_broken(pair, len(above), place) for pair in pairs(seen.accesses, sums=False))


def _is_broken(pair: Pair, depth: int, place: int) -> bool:
    """Whether a dependence goes to a column before."""
    for way in before(pair, depth):
        one, other = _column(pair.first, depth, place), _column(pair.second, depth, place)
        fixed = {level.var for level, step in zip(pair.second.levels, way, strict=False) if step == "="}
        back = added(added(name(one), name(other if other in fixed else later(other)), -1), number(1), -1)
        if pair.exists(way, [back]):
            return True
    return False


def _column(access: Access, depth: int, place: int) -> str:
    return access.levels[depth + (access.part == place)].var


def _tiled(kernel: Kernel, spot: Spot, place: int, size: str) -> Loop:
    loop, inner = spot.loop, spot.loop.body[place]
    assert isinstance(inner, Loop), "found as one"
    first = kernel.fresh(f"{inner.var}0")
    high = least_of(f"{first} + {size}", loop.high)
    parts = contiguous_parts(replace(spot, loop=inner, above=(*spot.above, loop), path=(*spot.path, 0, place)))
    # what is legal for all iterations is legal for some of them
    earlier = replace(loop, high=first, body=_clipped(parts, inner, first, high))
    own = replace(
        loop,
        low=first,
        high=high,
        body=(*loop.body[:place], *_clipped(parts, inner, inner.low, high), *loop.body[place + 1 :]),
    )
    return Loop(first, loop.low, loop.high, size, (earlier, own), type=loop.type)


def _clipped(parts: Body, inner: Loop, low: str, high: str) -> Body:
    """The items with these ends of the loops over the columns."""
    found = list[Loop]()
    for part in parts:
        assert isinstance(part, Loop), "a loop was split"
        if part.var == inner.var:
            found.append(replace(part, low=low, high=high))
        else:
            found.append(replace(part, body=_clipped(part.body, inner, low, high)))
    return tuple(found)
