"""The step that computes most of a triangle of a matrix product by products of rectangles: triangle.

    for i: for j <= i: for k: C[i, j] += A[i, k] * B[k, j]

A few rows at a time: what all of them share is a rectangle, the corner at the diagonal stays a nest of loops.  The
elements on the other side of the diagonal are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.polynomials import ONE, added, name, polynomial, written_out
from maxcode.policy.rules.kernels.blocking import BLOCKS, FEW
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Loop,
    band_of,
    greatest_of,
    least_of,
    put,
    words_in,
)
from maxcode.policy.rules.kernels.orders import nested
from maxcode.policy.rules.kernels.product import Product, extent, matched, spots_and_parts
from maxcode.policy.rules.kernels.recurrences import terms_of
from maxcode.policy.rules.kernels.templates import choices, clashes


def triangle(unit: Unit) -> Iterator[Edit]:
    """Computes a triangle of a matrix product by products of rectangles, a few rows at a time."""
    for whole in kernels(unit):
        if clashes(unit):
            continue
        for kernel, spot in spots_and_parts(whole):
            size = kernel.fresh("BLOCK")
            body = _blocked(kernel, spot, size)
            for rows in BLOCKS if body is not None else ():
                for choice in choices(unit, FEW):
                    change = kernel.change(put(kernel.body, spot.path, body or ()), [(size, rows)], choice.blocks)
                    what = f"computes {rows} rows of a triangle at a time by a product, {choice.words}"
                    yield kernel.edit("triangle", spot.name, (("rows", rows), *choice.params), what, change)


def _blocked(kernel: Kernel, spot: Spot, size: str) -> Body | None:
    """The loop over blocks of rows in the place of the nest; None if it is no triangle of sums of products."""
    band, core = band_of(spot.loop)
    adds = _products(core)
    if len(band) != 3 or not adds or spot.shared or any(loop.step != "1" or loop.pragmas for loop in band):
        return None
    rows, *inner = band
    offsets = [(loop, ends) for loop in inner if (ends := _slope(loop, rows)) is not None]
    first, last = kernel.fresh(f"{rows.var}0"), kernel.fresh(f"{rows.var}1")
    if len(offsets) != 1 or not _is_plain(kernel, band, offsets[0][0]):
        return None
    column, (is_lower, offset) = offsets[0]
    edge = written_out(added(name(first if is_lower else last), {ONE: offset} if offset else {}))
    block = replace(rows, low=first, high=last)
    flat = replace(column, high=edge) if is_lower else replace(column, low=edge)
    end = (
        replace(column, low=greatest_of(edge, column.low))
        if is_lower
        else replace(column, high=least_of(edge, column.high))
    )
    products = [
        _product(kernel, [{rows.var: block, column.var: flat}.get(one.var, one) for one in band], add) for add in adds
    ]
    calls = [found.call for found in products if found is not None]
    if len(calls) < len(adds):
        return None
    corner = nested([{rows.var: block, column.var: end}.get(loop.var, loop) for loop in band], core)
    inside: Body = (
        Declare("int", last, least_of(f"{first} + {size}", rows.high)),
        Branch(f"{flat.low} < {flat.high}", tuple(calls)),
        *corner,
    )
    return (Loop(first, rows.low, rows.high, size, inside, type=rows.type),)


def _products(core: Body) -> list[Assign]:
    """The sums of a statement, each of one product; none for another statement."""
    match core:
        case (Assign(op="+=" | "-=") as add,):
            signs = {"+": add.op, "-": "-=" if add.op == "+=" else "+="}
            return [Assign(add.target, signs[term.sign], term.text) for term in terms_of(add.value)]
    return []


def _slope(loop: Loop, rows: Loop) -> tuple[bool, int] | None:
    """Whether the end of a loop, or else its start, moves with the row, and by how much it is ahead of it."""
    low, high = (rows.var in words_in(bound) for bound in (loop.low, loop.high))
    moving = polynomial(loop.high if high else loop.low) if low != high else None
    rest = added(moving, name(rows.var), -1) if moving is not None else {ONE: 0, (rows.var,): 1}
    return (high, rest.get(ONE, 0)) if not rest.keys() - {ONE} else None


def _is_plain(kernel: Kernel, band: Sequence[Loop], column: Loop) -> bool:
    """Whether the bounds of the loops depend on nothing else that moves, and can be computed anywhere."""
    names = {loop.var for loop in band}
    bounds = {loop.var: words_in(loop.low) | words_in(loop.high) for loop in band}
    bounds[column.var] = bounds[column.var] - {band[0].var}
    fixed = not any(words & names for words in bounds.values())
    signed = kernel.counts_signed(*band) and all(loop.type == "int" for loop in band)
    return fixed and signed and computes_anywhere(*(end for loop in band for end in (loop.low, loop.high)))


def _product(kernel: Kernel, loops: list[Loop], add: Assign) -> Product | None:
    """The product of a rectangle, if its rows are those of the nest."""
    found = matched(loops, add)
    rows = found is not None and found.sizes[0] == extent(loops[0])
    return found if found is not None and rows and kernel.is_double(*found.arrays) else None
