"""The step that turns a left-looking factorisation into a right-looking one: right_looking.

    for j: { for k < j: A[j] -= L[k] * A[k][j];  A[j] /= d[j] }
    for k: { A[k] /= d[k];  for j > k: A[j] -= L[k] * A[k][j] }

It is the interchange of the two loops of a triangle with statements before and behind the inner one, which run as soon
as their element is final: those before it only if their order with the updates is free, as that of extrema is.  The
names are those of the literature on factorisations (Golub and Van Loan, "Matrix Computations").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access, Pair, later, pairs
from maxcode.code.polyhedral.polynomials import added, name, number
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Item,
    Loop,
    changed,
    every,
    printed,
    put,
    substituted,
    words_in,
)
from maxcode.policy.rules.kernels.orders import jumps, summed_in_place
from maxcode.policy.rules.kernels.registers import is_innermost
from maxcode.policy.rules.kernels.scalars import privatised


def right_looking(unit: Unit) -> Iterator[Edit]:
    """Updates all later elements once an element is final, instead of each from all before it, along contiguous
    rows."""
    for kernel in kernels(unit):
        whole = privatised(kernel)
        for spot in whole.spots:
            made = turned(whole, spot)
            if made is not None:
                what = f"updates what comes after each {spot.loop.var} as soon as it is final"
                change = whole.change(put(whole.body, spot.path, [made]))
                yield whole.edit("right_looking", spot.name, (), what, change)


def turned(kernel: Kernel, spot: Spot) -> Loop | None:
    """The nest with its inner loop outside; None if it has another form or a dependence forbids it."""
    made = summed_in_place(spot)
    if made is not None and not kernel.is_double(*effect(made).written):
        return None
    loop = replace(spot.loop, body=spot.loop.body if made is None else made)
    inner = next((item for item in loop.body if isinstance(item, Loop)), None)
    if inner is None or not is_innermost(inner) or not all(map(_is_end, every(_around(loop, inner)))):
        return None
    triangle = inner.low == loop.low and inner.high == loop.var and loop.step == "1" and not loop.pragmas
    ends = _around(loop, inner)
    bounds = words_in(loop.low) | words_in(loop.high)
    named = bounds | words_in(printed(ends))
    fixed = inner.var not in named and loop.var not in bounds and computes_anywhere(loop.low, loop.high)
    seen = effect((loop,), spot.above)
    if not triangle or not fixed or seen.opaque or seen.scalars or not kernel.counts_signed(loop, inner):
        return None
    depth = len(spot.above)
    updates = [access for access in seen.accesses if _is_update(access, depth)]
    if jumps(updates, depth) >= jumps(updates, depth + 1) or any(
        _is_late(pair, depth) for pair in pairs(seen.accesses, sums=False)
    ):
        return None
    return exchanged(loop, inner)


def exchanged(loop: Loop, inner: Loop) -> Loop:
    """``for j: { for k < j: update; ends }`` with the loop over k outside."""
    here = {loop.var: inner.var}
    final = changed(_around(loop, inner), lambda text: substituted(text, here))
    after = replace(inner, var=loop.var, low=f"{inner.var} + 1", high=loop.high, type=loop.type)
    return replace(loop, var=inner.var, body=(*final, after), type=inner.type)


def _around(loop: Loop, inner: Loop) -> Body:
    """What is before and behind an inner loop."""
    return tuple(item for item in loop.body if item is not inner)


def _is_end(item: Item) -> bool:
    return isinstance(item, Assign | Branch)


def _is_late(pair: Pair, depth: int) -> bool:
    """Whether a dependence would be met in the wrong order."""
    first, second = (_is_update(access, depth) for access in (pair.first, pair.second))
    same = ("=",) * depth
    if first and second:  # (j, k) -> (k, j)
        return pair.exists((*same, "<", ">"))
    if not first and second:  # an end at j before an update (j', k), which is now before it if k < j
        end, behind = pair.first.levels[depth].var, pair.first.order > pair.second.order
        for way in "<" if behind else "<=":  # one before the inner loop is before the updates of j, too
            update = later(pair.second.levels[depth + 1].var)
            if pair.exists((*same, way), [added(added(name(end), name(update), -1), number(1), -1)]):
                return True
    return False  # an update (j, k) and an end at j' >= j: k < j


def _is_update(access: Access, depth: int) -> bool:
    return len(access.levels) > depth + 1
