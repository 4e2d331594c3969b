"""Steps that turn a larger computation into matrix products: blocked substitution, and half of a symmetric product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access
from maxcode.code.polyhedral.polynomials import Poly, added, name, names_in, number, polynomial
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import apart
from maxcode.policy.rules.kernels.nest import Assign, Body, Declare, Item, Loop, put, words_in
from maxcode.policy.rules.kernels.orders import shares_names, turned_inside
from maxcode.policy.rules.kernels.product import Product, has_rows_apart, matched, product_at, replaced, spots_and_parts
from maxcode.policy.rules.kernels.product import with_clearing as cleared
from maxcode.policy.rules.kernels.templates import FEW, choices, clashes

BLOCKS = (16, 32, 64, 128)


# ------------------------------------------------------------------------------------------------------- substitution


@final
@dataclass(frozen=True, slots=True)
class Recurrence:
    """``for i { before; for p in low..i, for j: W[i, j] -= L[i, p] * W[p, j]; after }``; the nest is at ``place``.

    ``is_ahead``: p runs from i + 1 to the end of i, over rows that are still as they were.
    """

    loop: Loop
    place: int
    depth: Loop
    across: Loop
    add: Assign
    is_ahead: bool


def block(unit: Unit) -> Iterator[Edit]:
    """Solves a few rows at a time, and updates them from all rows before, or behind, by one matrix product."""
    for whole in kernels(unit):
        if clashes(unit):
            continue
        for kernel, spot in spots_and_parts(whole):
            found = _recurrence(spot)
            if found is None:
                continue
            size = kernel.fresh("BLOCK")
            body = _blocked(kernel, spot, found, size)
            for rows in BLOCKS if body is not None else ():
                for choice in choices(unit, FEW):
                    change = kernel.change(body or (), [(size, rows)], choice.blocks)
                    what = f"solves {rows} rows at a time and updates them by a product, {choice.words}"
                    yield kernel.edit("block", spot.name, (("rows", rows), *choice.params), what, change)


def _recurrence(spot: Spot) -> Recurrence | None:
    loop = spot.loop
    if loop.step != "1" or loop.pragmas or spot.shared:
        return None
    for place, item in enumerate(loop.body):
        found = _nest(loop, item)
        if found is not None:
            if shares_names(loop.body, place):
                return None  # they are in loops of their own
            made = Recurrence(loop, place, *found)
            return made if _rows_only(made, spot.above) else None
    return None


def _nest(loop: Loop, item: Item) -> tuple[Loop, Loop, Assign, bool] | None:
    match item:
        case Loop(body=(Loop(body=(Assign(op="-=" | "+=") as add,)) as inner,)) as outer:
            for depth, across in ((outer, inner), (inner, outer)):
                after = added(name(loop.var), number(1))
                is_ahead = depth.high == loop.high and polynomial(depth.low) == after
                is_behind = depth.high == loop.var and depth.low == loop.low
                bounds = words_in(across.low) | words_in(across.high)
                if (is_ahead or is_behind) and depth.step == across.step == "1" and not bounds & {loop.var, depth.var}:
                    return depth, across, add, is_ahead
    return None


def _rows_only(found: Recurrence, above: tuple[Loop, ...]) -> bool:
    """Whether everything but the factor W[p, j] touches row i of W alone, and nothing else is written."""
    around = (*above, found.loop)
    seen = effect(found.loop.body, around)
    if seen.opaque or seen.scalars or len(seen.written) != 1:
        return False
    array = next(iter(seen.written))
    touched = [access for access in seen.accesses if access.array == array]
    inside = [access for access in touched if access.part == found.place]
    target = next(access for access in inside if access.op)
    row = _row(target, len(above))
    reads = [access for access in inside if not access.op]
    same = all(_row(access, len(above)) == row for access in touched if access.part != found.place)
    return row is not None and len(reads) == 1 and apart(target, reads[0], around) and same


def _row(access: Access, depth: int) -> int | None:
    """The subscript that is the variable of the loop at a depth, if no other subscript depends on it."""
    var = access.levels[depth].var
    index = access.digits or access.index
    places = [place for place, value in enumerate(index) if value is None or var in names_in(value)]
    return places[0] if len(places) == 1 and index[places[0]] == name(var) else None


def _blocked(kernel: Kernel, spot: Spot, found: Recurrence, size: str) -> Body | None:
    loop = found.loop
    first = kernel.fresh(f"{loop.var}0")
    last = kernel.fresh(f"{loop.var}1")
    rows = replace(loop, low=first, high=last)
    before, after = loop.body[: found.place], loop.body[found.place + 1 :]
    depth = replace(found.depth, low=last) if found.is_ahead else replace(found.depth, high=first)
    update = matched([rows, depth, found.across], found.add, recurrent=True)
    if update is None or not kernel.is_double(*update.arrays):
        return None
    item, var = loop.body[found.place], found.depth.var
    assert isinstance(item, Loop), "a nest of two loops"
    item = turned_inside(item, (*spot.above, loop))  # what is legal for all rows is legal for some of them
    end = f"({first} + {size} < {loop.high} ? {first} + {size} : {loop.high})"
    parts: Body
    if found.is_ahead:  # no row may change before those that read it as it was
        nest = _with_ends(item, var, found.depth.low, last)
        parts = (replace(rows, body=(*before, nest)), update.call, *((replace(rows, body=after),) if after else ()))
    else:
        nest = _with_ends(item, var, first, found.depth.high)
        parts = (*((replace(rows, body=before),) if before else ()), update.call, replace(rows, body=(nest, *after)))
    inside = (Declare("int", last, end), *parts)
    return put(kernel.body, spot.path, [Loop(first, loop.low, loop.high, size, inside, type=loop.type)])


def _with_ends(item: Item, var: str, low: str, high: str) -> Item:
    """The nest whose loop over ``var`` has these ends."""
    assert isinstance(item, Loop), "a nest of two loops"
    if item.var == var:
        return replace(item, low=low, high=high)
    return replace(item, body=tuple(_with_ends(inner, var, low, high) for inner in item.body))


# ----------------------------------------------------------------------------------------------------------- symmetry


def half(unit: Unit) -> Iterator[Edit]:
    """Computes half of a symmetric matrix product by panels, and mirrors it."""
    for kernel in kernels(unit):
        if clashes(unit):
            continue
        for spot in kernel.spots:
            found = product_at(spot)
            found = cleared(kernel, spot, found) if found is not None and has_rows_apart(spot, found) else None
            if found is None or not _symmetric(found) or not kernel.is_double(*found.arrays):
                continue
            size = kernel.fresh("BLOCK")
            body = replaced(kernel, spot, found, found.around(_halves(kernel, found, size)))
            for rows in BLOCKS[1:]:
                for choice in choices(unit, FEW):
                    change = kernel.change(body, [(size, rows)], choice.blocks)
                    what = (
                        f"computes half of {found.target.array} and mirrors it, {rows} rows at a time, {choice.words}"
                    )
                    yield kernel.edit("half", spot.name, (("rows", rows), *choice.params), what, change)


def _symmetric(found: Product) -> bool:
    one, other = found.left, found.right
    same = one.array == other.array and one.offset == other.offset and one.strides == other.strides[::-1]
    plain = not found.target.offset and found.sizes[0] == found.sizes[1] and found.sizes[0].isidentifier()
    return same and plain and found.fresh and found.scale == "1.0" and _whole(found.target.strides[0])


def _whole(stride: Poly) -> bool:
    return len(stride) == 1 and len(next(iter(stride))) == 1 and next(iter(stride.values())) == 1


def _halves(kernel: Kernel, found: Product, size: str) -> Body:
    """The blocks of rows from the diagonal on, and the loop that mirrors them."""
    row, column, first = kernel.fresh("row"), kernel.fresh("column"), kernel.fresh("row0")
    count, width = found.sizes[0], next(iter(found.target.strides[0]))[0]
    rows = Loop(row, first, f"({first} + {size} < {count} ? {first} + {size} : {count})", "1", ())
    left = found.left.moved(0, first)
    right = found.right.moved(1, first)
    target = found.target.moved(0, first).moved(1, first)
    sizes = (f"{rows.high} - {first}", f"{count} - {first}", found.sizes[2])
    call = replace(found, sizes=sizes, left=left, right=right, target=target).call
    array = found.target.array
    mirror = Assign(f"{array}[{row} * {width} + {column}]", "=", f"{array}[{column} * {width} + {row}]")
    columns = Loop(column, "0", row, "1", (mirror,))
    return (Loop(first, "0", count, size, (call,)), Loop(row, "0", count, "1", (columns,)))
