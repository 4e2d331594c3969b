"""Steps that change the order of iterations: accumulate, contiguous, distribute, fuse, interchange, order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access
from maxcode.code.polyhedral.polynomials import coefficient, number
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Spot, kernels
from maxcode.policy.rules.kernels.legality import apart, computes_anywhere, cuts, fusible, interchangeable, permutable
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    after,
    band_of,
    children,
    every,
    exchanged_names,
    is_shared,
    printed,
    put,
    substituted,
    words_in,
    words_of_head,
)
from maxcode.policy.rules.kernels.scalars import privatised
from maxcode.policy.rules.kernels.sums import added_at_once


def accumulate(unit: Unit) -> Iterator[Edit]:
    """Sums into the array element instead of a scalar, so that the loops around the sum can change places."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            made = summed_in_place(spot) if not is_shared(spot.loop) else None  # the parts have no pragma
            if made is not None and _splits(spot, made) and kernel.is_double(*effect(made).written):
                what = f"sums into the array and splits the loop over {spot.loop.var}"
                body = put(kernel.body, spot.path, [replace(spot.loop, body=(item,), pragmas=()) for item in made])
                yield kernel.edit("accumulate", spot.name, (), what, kernel.change(body))
    for kernel in map(privatised, kernels(unit)):
        for spot in kernel.spots:
            made = added_at_once(kernel, spot) if summed_in_place(spot) is None else None
            if made is not None:
                what = f"sums into the array in the loop over {spot.loop.var}, and not into a term of its elements"
                body = put(kernel.body, spot.path, [replace(spot.loop, body=made)])
                yield kernel.edit("accumulate", spot.name, (), what, kernel.change(body))


def _splits(spot: Spot, made: Body) -> bool:
    """Whether every item of a new body may have a loop of its own."""
    return len(cuts(replace(spot.loop, body=made), spot.above)) == len(made) - 1


def summed_in_place(spot: Spot) -> Body | None:
    """The body of a loop ``{ double s = x; for (...) s += y; W[f] = g(s); }`` without s, if nothing reads W[f] in
    between."""
    match spot.loop.body:
        case (Declare(name=name) as start, Loop(body=(Assign() as add,)) as inner, Assign(op="=") as end):
            named = add.target == name and start.type == "double" and add.op in ("+=", "-=") and "[" in end.target
            if not named or name in words_in(add.value) | words_in(end.target) or name not in words_in(end.value):
                return None
        case _:
            return None
    if not _target_is_apart((start, inner, end), (*spot.above, spot.loop)):
        return None
    made: list[Item] = [] if start.value == end.target else [Assign(end.target, "=", start.value)]
    made.append(replace(inner, body=(Assign(end.target, add.op, add.value),), pragmas=()))
    if end.value != name:
        made.append(Assign(end.target, "=", substituted(end.value, {name: end.target})))
    return tuple(made)


def _target_is_apart(items: Body, above: tuple[Loop, ...]) -> bool:
    """Whether nothing reads the element that the last item writes while its sum is incomplete."""
    seen = effect(items, above)
    target = next((access for access in seen.accesses if access.op and access.part == 2), None)
    if target is None or seen.opaque:
        return False
    others = [access for access in seen.accesses if access.array == target.array and access is not target]
    return all((one.part == 0 and one.index == target.index) or apart(target, one, above) for one in others)


def distributed(spot: Spot) -> list[Loop]:
    """The loops into which a loop can be split, as many as dependences permit."""
    body = spot.loop.body
    ends = (0, *_places(spot), len(body))
    return [replace(spot.loop, body=body[start:end]) for start, end in pairwise(ends)]


def fissioned(spot: Spot) -> list[Loop]:
    """The same, after the loops inside it have been split in this way."""
    body: list[Item] = []
    for item in spot.loop.body:
        inner = replace(spot, loop=item, above=(*spot.above, spot.loop)) if isinstance(item, Loop) else None
        body += [item] if inner is None else fissioned(inner)
    return distributed(replace(spot, loop=replace(spot.loop, body=tuple(body))))


def _places(spot: Spot) -> list[int]:
    return [k for k in cuts(spot.loop, spot.above) if not shares_names(spot.loop.body, k)]


def distribute(unit: Unit) -> Iterator[Edit]:
    """Splits a loop over several statements into loops over some of them each, as far as dependences permit."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            places = _places(spot)
            choices: list[tuple[tuple[int, ...], tuple[tuple[str, int], ...]]] = [(tuple(places), ())]
            choices += [((k,), (("at", k),)) for k in places] if len(places) > 1 else []
            for chosen, params in choices if places else ():
                ends = (0, *chosen, len(spot.loop.body))
                parts = [spot.loop.body[start:end] for start, end in pairwise(ends)]
                body = put(kernel.body, spot.path, [replace(spot.loop, body=part) for part in parts])
                what = f"splits the loop over {spot.loop.var} into {len(parts)}"
                yield kernel.edit("distribute", spot.name, params, what, kernel.change(body))


def contiguous(unit: Unit) -> Iterator[Edit]:
    """Splits a loop over several statements and exchanges its parts with the loops inside them, where the innermost
    loop then moves through contiguous elements."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            parts, turned = distributed(spot), contiguous_parts(spot)
            if list(turned) != parts:
                count = sum(one != other for one, other in zip(parts, turned, strict=True))
                what = f"splits the loop over {spot.loop.var} into {len(parts)} and puts {count} of them inside"
                yield kernel.edit("contiguous", spot.name, (), what, kernel.change(put(kernel.body, spot.path, turned)))


def contiguous_parts(spot: Spot) -> tuple[Loop, ...]:
    """The parts of a loop over several statements, each turned where its accesses are then contiguous."""
    parts = distributed(spot)
    return tuple(turned_inside(part, spot.above) for part in parts) if len(parts) > 1 else tuple(parts)


def turned_inside(outer: Loop, above: tuple[Loop, ...]) -> Loop:
    """A loop inside the only loop that it holds, if fewer accesses jump then; else as it is."""
    match outer.body:
        case (Loop() as inner,) if interchangeable(outer, inner, above):
            accesses, depth = effect((outer,), above).accesses, len(above)
            if jumps(accesses, depth) < jumps(accesses, depth + 1):
                return replace(inner, body=(replace(outer, body=inner.body),))
    return outer


def jumps(accesses: Iterable[Access], depth: int) -> int:
    """How many accesses inside the loop at a depth move by something other than one element along it."""
    inside = (access for access in accesses if access.index and len(access.levels) > depth)
    moves = (coefficient(access.index[0] or {}, access.levels[depth].var) for access in inside)
    return sum(move not in ({}, number(1)) for move in moves)


def shares_names(body: Body, place: int) -> bool:
    """Whether the items from a place on use what the items before it declare."""
    declared = {item.name for item in body[:place] if isinstance(item, Declare)}
    return any(words_in(printed((item,))) & declared for item in body[place:])


def fuse(unit: Unit) -> Iterator[Edit]:
    """Joins a loop with the next one over the same range, so that an element is used while it is in the cache."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            other = after(kernel.body, spot.path)
            joined = _joined(spot.loop, other) if isinstance(other, Loop) else None
            if joined is not None and fusible(spot.loop, joined, spot.above):
                whole = replace(spot.loop, body=(*spot.loop.body, *joined.body))
                rest = put(kernel.body, (*spot.path[:-1], spot.path[-1] + 1), [])
                body = put(rest, spot.path, [whole])
                what = f"joins the loop over {spot.loop.var} with the next"
                yield kernel.edit("fuse", spot.name, (), what, kernel.change(body))


def _joined(loop: Loop, other: Loop) -> Loop | None:
    """The second of two neighbours with the variable of the first, if their ranges are the same."""
    ranges = [(one.low, one.high, one.step, one.type, one.pragmas) for one in (loop, other)]
    names = [{item.name for item in every(one.body) if isinstance(item, Declare)} for one in (loop, other)]
    texts = [words_in(printed(one.body)) for one in (loop, other)]
    if ranges[0] != ranges[1] or loop.pragmas or names[0] & texts[1] or names[1] & (texts[0] | {other.var}):
        return None
    if other.var == loop.var:
        return other
    return exchanged_names(other, loop.var) if _only_counts(other.body, loop.var) else None


def _only_counts(body: Body, name: str) -> bool:
    """Whether a name is only used as the variable of loops, inside them."""
    for item in body:
        if isinstance(item, Loop) and item.var == name:
            if name in words_of_head(item):
                return False
        elif name in words_in(printed((_without(item),))) or not all(_only_counts(one, name) for one in children(item)):
            return False
    return True


def _without(item: Item) -> Item:
    """An item without what is inside."""
    match item:
        case Loop():
            return replace(item, body=())
        case Branch():
            return replace(item, then=(), other=())
    return item


def interchange(unit: Unit) -> Iterator[Edit]:
    """Exchanges a loop and the only loop inside it."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            outer = spot.loop
            if len(outer.body) != 1 or not isinstance(inner := outer.body[0], Loop):
                continue
            if interchangeable(outer, inner, spot.above):
                body = put(kernel.body, spot.path, [replace(inner, body=(replace(outer, body=inner.body),))])
                what = f"puts the loop over {inner.var} around that over {outer.var}"
                yield kernel.edit("interchange", spot.name, (("inner", inner.var),), what, kernel.change(body))


def order(unit: Unit) -> Iterator[Edit]:
    """Puts three or four nested loops in another order, so that the innermost moves through contiguous elements."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            band, core = band_of(spot.loop)
            last = _contiguous(band, spot.above) if _is_square(band) else None
            for chosen in permutations(range(len(band))) if last is not None else ():
                loops = [band[k] for k in chosen]
                if loops[-1].var == last and loops != band and permutable(band, chosen, spot.above):
                    names = "_".join(loop.var for loop in loops)
                    what = f"orders the loops as {', '.join(loop.var for loop in loops)}"
                    change = kernel.change(put(kernel.body, spot.path, nested(loops, core)))
                    yield kernel.edit("order", spot.name, (("loops", names),), what, change)


def nested(loops: Sequence[Loop], core: Body) -> Body:
    """The loops nested in their order, the last one around ``core``."""
    for loop in reversed(loops):
        core = (replace(loop, body=core),)
    return core


def _is_square(band: list[Loop]) -> bool:
    """Whether three or four loops have bounds that do not depend on each other."""
    names = {loop.var for loop in band}
    fixed = any(names & words_of_head(loop) or loop.pragmas for loop in band)
    steady = computes_anywhere(*(end for loop in band for end in (loop.low, loop.high)))
    return not fixed and steady and 3 <= len(band) <= 4 and len(names) == len(band)


def _contiguous(band: list[Loop], above: tuple[Loop, ...]) -> str | None:
    """The loop along which the elements written are contiguous."""
    found: set[str | None] = set()
    for access in effect((band[0],), above).accesses:
        if access.op and access.index:
            index = access.index[0] or {}
            near = [level.var for level in access.levels if coefficient(index, level.var) == number(1)]
            found.add(near[0].partition(".")[0] if len(near) == 1 else None)
    return found.pop() if len(found) == 1 else None
