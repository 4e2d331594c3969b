"""Steps that change the order of iterations: accumulate, distribute, interchange, tile, jam."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.algebra import Access, apart, digits, effect, interchangeable, only_sums, parallel
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    at,
    changed,
    put,
    substituted,
    words_in,
)

TILES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
JAMS = (2, 3, 4, 6, 8)
_LARGEST = 80  # statements in a jammed body


def accumulate(unit: Unit) -> Iterator[Edit]:
    """Sums into the array element instead of a scalar, so that the loops around the sum can change places."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            made = _accumulated(spot)
            if made is not None and kernel.is_double(*effect(made).written):
                what = f"sums into the array and splits the loop over {spot.loop.var}"
                body = put(kernel.body, spot.path, [replace(spot.loop, body=(item,), pragmas=()) for item in made])
                yield kernel.edit("accumulate", spot.name, (), what, kernel.change(body))


def _accumulated(spot: Spot) -> Body | None:
    """The body of a loop ``{ double s = x; for (...) s += y; W[f] = g(s); }`` without s, if it may be split."""
    match spot.loop.body:
        case (Declare(name=name) as start, Loop(body=(Assign() as add,)) as inner, Assign(op="=") as end):
            named = add.target == name and start.type == "double" and add.op in ("+=", "-=") and "[" in end.target
            if not named or name in words_in(add.value) | words_in(end.target) or name not in words_in(end.value):
                return None
        case _:
            return None
    if not _target_is_apart(start, inner, end, (*spot.above, spot.loop)):
        return None
    made: list[Item] = [] if start.value == end.target else [Assign(end.target, "=", start.value)]
    made.append(replace(inner, body=(Assign(end.target, add.op, add.value),), pragmas=()))
    if end.value != name:
        made.append(Assign(end.target, "=", substituted(end.value, {name: end.target})))
    return tuple(made) if parallel(replace(spot.loop, body=tuple(made)), spot.above) else None


def _target_is_apart(start: Declare, inner: Loop, end: Assign, above: tuple[Loop, ...]) -> bool:
    """Whether nothing reads the element while its sum is incomplete."""
    target = next((access for access in effect((end,), above).accesses if access.op), None)
    if target is None or effect((end,), above).opaque:
        return False
    before, during = effect((start,), above).accesses, effect((inner,), above).accesses
    after = [access for access in effect((end,), above).accesses if not access.op]
    same: list[Access] = [access for access in before if access.array == target.array]
    reads = [access for access in (*during, *after) if access.array == target.array]
    return all(access.index == target.index for access in same) and all(apart(target, access) for access in reads)


def distribute(unit: Unit) -> Iterator[Edit]:
    """Splits a loop over several statements into one loop for each."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            parts = spot.loop.body
            plain = len(parts) > 1 and not any(isinstance(item, Declare | Other) for item in parts)
            if plain and parallel(spot.loop, spot.above):
                body = put(kernel.body, spot.path, [replace(spot.loop, body=(item,)) for item in parts])
                what = f"splits the loop over {spot.loop.var} into {len(parts)}"
                yield kernel.edit("distribute", spot.name, (), what, kernel.change(body))


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
            last = _contiguous(band, spot.above) if _permutable(band, core, spot.above) else None
            for chosen in permutations(band) if last is not None else ():
                if chosen[-1].var == last and chosen != tuple(band):
                    names = "_".join(loop.var for loop in chosen)
                    what = f"orders the loops as {', '.join(loop.var for loop in chosen)}"
                    change = kernel.change(put(kernel.body, spot.path, nested(chosen, core)))
                    yield kernel.edit("order", spot.name, (("loops", names),), what, change)


def band_of(loop: Loop) -> tuple[list[Loop], Body]:
    """The loops of a perfect nest, outermost first, and what is inside."""
    band, core = [loop], loop.body
    while len(core) == 1 and isinstance(core[0], Loop):
        band.append(core[0])
        core = core[0].body
    return band, core


def nested(loops: Sequence[Loop], core: Body) -> Body:
    """The loops nested in their order, the last one around ``core``."""
    for loop in reversed(loops):
        core = (replace(loop, body=core),)
    return core


def _permutable(band: list[Loop], core: Body, above: tuple[Loop, ...]) -> bool:
    """Whether the loops may have any order: of any two, one is parallel, or the nest only sums."""
    names = {loop.var for loop in band}
    fixed = any(names & (words_in(loop.low) | words_in(loop.high)) or loop.pragmas for loop in band)
    if fixed or not 3 <= len(band) <= 4:
        return False
    bound = [loop for k, loop in enumerate(band) if not parallel(loop, (*above, *band[:k]))]
    return len(bound) <= 1 or only_sums(core)


def _contiguous(band: list[Loop], above: tuple[Loop, ...]) -> str | None:
    """The loop along which the elements written are contiguous."""
    written = (digits(access) for access in effect((band[0],), above).accesses if access.op)
    lowest = {found[0][0] if found else None for found in written}
    return lowest.pop() if len(lowest) == 1 else None


def tile(unit: Unit) -> Iterator[Edit]:
    """Splits a loop into pieces and puts the loop over the pieces around the outer loops, for the cache."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            height = _height(spot)
            if height == 0:
                continue
            name = kernel.fresh(f"TILE_{spot.loop.var.upper()}")
            body = _tiled(kernel, spot, height, name)
            around = spot.above[-height].var
            for size in TILES:
                what = f"cuts the loop over {spot.loop.var} into pieces of {size}, outside the loop over {around}"
                change = kernel.change(body, [(name, size)])
                yield kernel.edit("tile", spot.name, (("size", size),), what, change)


def _height(spot: Spot) -> int:
    """The number of loops around a loop that the loop over its pieces may cross, from the inside out."""
    loop, count, inner = spot.loop, 0, spot.loop
    if loop.step != "1" or "?" in loop.high or loop.pragmas or not re.fullmatch(r"[\w ]+", loop.low + loop.high):
        return 0
    bounds = words_in(loop.low) | words_in(loop.high)
    free = only_sums(loop.body) or parallel(loop, spot.above)
    for depth in range(len(spot.above) - 1, -1, -1):
        outer = spot.above[depth]
        perfect = outer.body == (inner,)
        legal = outer.var not in bounds and (free or parallel(outer, spot.above[:depth]))
        if not perfect or not legal or outer.pragmas:
            break
        inner, count = outer, count + 1
    return count


def _tiled(kernel: Kernel, spot: Spot, height: int, size: str) -> Body:
    loop = spot.loop
    first = kernel.fresh(f"{loop.var}0")
    end = f"{first} + {size}"
    piece = replace(loop, low=first, high=f"({end} < {loop.high} ? {end} : {loop.high})")
    top = spot.path[: len(spot.path) - 2 * height]
    inside = put((at(kernel.body, top),), (0, *spot.path[len(top) :]), [piece])
    return put(kernel.body, top, [Loop(first, loop.low, loop.high, size, inside, type=loop.type)])


def jam(unit: Unit) -> Iterator[Edit]:
    """Unrolls a loop and joins the inner loops of the copies, so that loaded values are used more than once."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            loop = spot.loop
            size = _size(loop.body)
            inside = any(isinstance(item, Loop) for item in loop.body)
            plain = (
                loop.step == "1" and re.fullmatch(r"\w+", loop.low) and loop.high.isidentifier() and not loop.pragmas
            )
            plain = plain and kernel.is_signed(loop.high)
            if not inside or not plain or size is None or _depends(loop) or not _may_jam(spot):
                continue
            for factor in JAMS:
                if size * factor <= _LARGEST:
                    body = put(kernel.body, spot.path, _jammed(loop, factor))
                    what = f"takes {factor} iterations of the loop over {loop.var} at once"
                    yield kernel.edit("jam", spot.name, (("factor", factor),), what, kernel.change(body))


def _may_jam(spot: Spot) -> bool:
    """Whether the copies may be joined: that moves the loop inwards by some iterations, so it must be
    interchangeable."""
    if parallel(spot.loop, spot.above):
        return True
    match spot.loop.body:
        case (Loop(body=(Assign(),)) as inner,):
            return interchangeable(spot.loop, inner, spot.above)
    return False


def _size(body: Body) -> int | None:
    """The number of statements; None if copies cannot be joined."""
    total = 0
    for item in body:
        if isinstance(item, Loop):
            inside = _size(item.body) if not item.pragmas else None
            if inside is None:
                return None
            total += inside
        elif isinstance(item, Branch | Other):
            return None
        total += 1
    return total


def _depends(loop: Loop) -> bool:
    """Whether the bounds of an inner loop depend on the variable, or on something declared inside."""
    declared = {loop.var} | {item.name for item in loop.body if isinstance(item, Declare)}
    inner = [item for item in loop.body if isinstance(item, Loop)]
    mentioned = (words_in(item.low) | words_in(item.high) for item in inner)
    return any(words & declared for words in mentioned) or any(
        _depends(replace(loop, body=item.body)) for item in inner
    )


def _jammed(loop: Loop, factor: int) -> list[Item]:
    whole = replace(loop, high=f"{loop.high} - {factor - 1}", step=str(factor), body=_copies(loop.body, loop, factor))
    rest = f"({loop.high} - {loop.low})" if loop.low != "0" else loop.high
    start = f"{rest} / {factor} * {factor}"
    return [whole, replace(loop, low=start if loop.low == "0" else f"{loop.low} + {start}")]


def _copies(body: Body, loop: Loop, factor: int, names: frozenset[str] = frozenset()) -> Body:
    found: list[Item] = []
    for item in body:
        if isinstance(item, Declare):
            names = names | {item.name}
        if isinstance(item, Loop):
            found.append(replace(item, body=_copies(item.body, loop, factor, names)))
        else:
            found += _joined([_copy(item, loop.var, number, names) for number in range(factor)])
    return tuple(found)


def _joined(copies: list[Item]) -> list[Item]:
    """Copies that all add to one element, as one statement, so that the element is loaded and stored once."""
    sums = [item for item in copies if isinstance(item, Assign) and item.op in ("+=", "-=")]
    if len(sums) < len(copies) or len({(item.target, item.op) for item in sums}) > 1:
        return copies
    return [replace(sums[0], value=" + ".join(_as_term(item.value) for item in sums))]


def _as_term(text: str) -> str:
    return text if re.fullmatch(r"[\w\[\]()+* ]+", text) and not _sums_outside(text) else f"({text})"


def _sums_outside(text: str) -> bool:
    """Whether an expression is a sum, apart from brackets."""
    while (inner := re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)) != text:
        text = inner
    return "+" in text


def _copy(item: Item, var: str, number: int, names: frozenset[str]) -> Item:
    shifted = {var: f"{var} + {number}"} if number else {}
    renamed = {name: f"{name}_{number}" for name in names}
    copy = changed((item,), lambda text: substituted(text, {**shifted, **renamed}))[0]
    return replace(copy, name=renamed[copy.name]) if isinstance(copy, Declare) else copy
