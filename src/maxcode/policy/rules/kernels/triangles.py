"""The step that computes most of a triangle of a matrix product by products of rectangles: triangle.

    for i: for j <= i: for k: C[i, j] += A[i, k] * B[k, j]

A few rows at a time: what all of them share is a rectangle.  The square around the corner at the diagonal is computed
beside the matrix, and its half is added, so that the elements on the other side of the diagonal are not touched.  Where
the depth is an edge of the triangle (``k < i``), the corner stays a nest of loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.polynomials import ONE, added, name, number, polynomial, written_out
from maxcode.policy.rules.kernels.blocking import BLOCKS
from maxcode.policy.rules.kernels.effects import elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Loop,
    Other,
    band_of,
    greatest_of,
    least_of,
    put,
    words_in,
)
from maxcode.policy.rules.kernels.orders import nested
from maxcode.policy.rules.kernels.product import Operand, matched, roles, spots_and_parts
from maxcode.policy.rules.kernels.recurrences import terms_of
from maxcode.policy.rules.kernels.templates import FEW, choices, clashes


def triangle(unit: Unit) -> Iterator[Edit]:
    """Computes a triangle of a matrix product by products of rectangles, a few rows at a time."""
    for whole in kernels(unit):
        if clashes(unit):
            continue
        for kernel, spot in spots_and_parts(whole):
            size = kernel.fresh("BLOCK")
            body = blocked(kernel, spot, size)
            for rows in BLOCKS if body is not None else ():
                for choice in choices(unit, FEW):
                    change = kernel.change(put(kernel.body, spot.path, body or ()), [(size, rows)], choice.blocks)
                    what = f"computes {rows} rows of a triangle at a time by a product, {choice.words}"
                    yield kernel.edit("triangle", spot.name, (("rows", rows), *choice.params), what, change)


@final
@dataclass(frozen=True, slots=True)
class _Triangle:
    """A nest over a triangle: ``edge`` is the loop whose end (or else its start) is ``offset`` ahead of ``rows``.

    ``first``, ``last``: the names of the ends of a block of rows; ``size``: that of its greatest length.
    """

    rows: Loop
    edge: Loop
    loops: tuple[Loop, ...]
    adds: tuple[Assign, ...]
    is_lower: bool
    offset: int
    first: str
    last: str
    size: str

    @property
    def end(self) -> str:
        """The end of the rectangle along the edge."""
        return _ahead(self.first if self.is_lower else self.last, self.offset)

    @property
    def rectangle(self) -> Loop:
        """The loop over the edge that all rows of a block share."""
        return replace(self.edge, high=self.end) if self.is_lower else replace(self.edge, low=self.end)

    @property
    def corner(self) -> Loop:
        """The loop over the rest of the edge."""
        low, high = greatest_of(self.end, self.edge.low), least_of(self.end, self.edge.high)
        return replace(self.edge, low=low) if self.is_lower else replace(self.edge, high=high)

    def of(self, rows: Loop, edge: Loop) -> list[Loop]:
        """The three loops with these in place."""
        return [{self.rows.var: rows, self.edge.var: edge}.get(one.var, one) for one in self.loops]


def blocked(kernel: Kernel, spot: Spot, size: str, recurrent: bool = False) -> Body | None:
    """The loop over blocks of rows in the place of a nest; None if it is no triangle of sums of products.

    ``recurrent``: other elements of the target may be factors.
    """
    found = _triangle(kernel, spot, size)
    if found is None:
        return None
    block = replace(found.rows, low=found.first, high=found.last)
    products = [matched(found.of(block, found.rectangle), add, recurrent) for add in found.adds]
    if any(one is None or not kernel.is_double(*one.arrays) for one in products):
        return None
    calls = [one.call for one in products if one is not None]
    inside: Body = (
        Declare("int", found.last, least_of(f"{found.first} + {size}", found.rows.high)),
        Branch(f"{found.rectangle.low} < {found.rectangle.high}", tuple(calls)),
        *_corner(kernel, found, recurrent),
    )
    return (Loop(found.first, found.rows.low, found.rows.high, size, inside, type=found.rows.type),)


def _triangle(kernel: Kernel, spot: Spot, size: str) -> _Triangle | None:
    band, core = band_of(spot.loop)
    adds = _products(core)
    if (
        _calls_itself(kernel)
        or len(band) != 3
        or not adds
        or spot.shared
        or any(loop.step != "1" or loop.pragmas for loop in band)
    ):
        return None
    rows, *inner = band
    edges = [(loop, ends) for loop in inner if (ends := _slope(loop, rows)) is not None]
    if len(edges) != 1 or not _is_plain(kernel, band, edges[0][0]):
        return None
    edge, (is_lower, offset) = edges[0]
    first, last = kernel.fresh(f"{rows.var}0"), kernel.fresh(f"{rows.var}1")
    return _Triangle(rows, edge, tuple(band), tuple(adds), is_lower, offset, first, last, size)


def _calls_itself(kernel: Kernel) -> bool:
    """Whether a function may run in itself: the corners of all of them may not fit on the stack."""
    body, own, known = kernel.function.body, kernel.function.name, effects(kernel.unit)
    if any(one.text == own for one in kernel.unit.tokens_in(body.start_byte, body.end_byte)):
        return True
    return any(own in known.closure(one).calls for one in known.of(body.start_byte, body.end_byte).calls)


def _ahead(name_of: str, offset: int) -> str:
    return written_out(added(name(name_of), number(offset)))


def _corner(kernel: Kernel, found: _Triangle, recurrent: bool) -> Body:
    """What a block computes behind its rectangle."""
    where = roles(found.of(found.rows, found.edge), (elements(found.adds[0].target) or [("", "")])[0][1])
    assert where is not None, "a product was matched"
    block = replace(found.rows, low=found.first, high=found.last)
    loops = found.of(block, found.corner)
    if where[2].var in (found.rows.var, found.edge.var):
        if where[1].var != found.rows.var:  # else the edge needs it outside
            loops.sort(key=lambda loop: loop.var == where[1].var)
        return nested(loops, tuple(found.adds))
    square, from_edge = kernel.fresh("corner"), kernel.fresh("from")
    if found.is_lower:
        ends: Body = (Declare("int", from_edge, found.corner.low),)
        rows = replace(block, low=_ahead(from_edge, 1 - found.offset))
        edge = replace(found.edge, low=from_edge, high=_ahead(found.last, found.offset - 1))
        half = replace(found.edge, low=from_edge)
    else:
        from_edge, to = found.first, kernel.fresh("to")
        farthest = written_out(added(polynomial(found.edge.high) or {}, number(-found.offset)))
        ends = (Declare("int", to, least_of(found.last, farthest)),)
        rows = replace(block, high=to)
        edge = replace(found.edge, low=_ahead(from_edge, found.offset), high=_ahead(to, found.offset))
        half = replace(found.edge, high=edge.high)
    products = [matched(found.of(rows, edge), add, recurrent) for add in found.adds]
    target = Operand(square, {}, (name(found.size), number(1)))
    calls = [
        replace(one, target=target, fresh=place == 0).call for place, one in enumerate(products) if one is not None
    ]
    at_row = {rows.var: rows, edge.var: edge}[where[0].var]
    at_column = {rows.var: rows, edge.var: edge}[where[1].var]
    place = f"({_from(at_row)}) * {found.size} + {_from(at_column)}"
    add = Assign(found.adds[0].target, "+=", f"{square}[{place}]")
    made = (Other(f"double {square}[{found.size} * {found.size}];"), *calls)
    whole = replace(rows, body=(replace(half, body=(add,)),))
    depth = where[2]  # without an iteration of it, the element may not be there
    return (*ends, Branch(f"{rows.low} < {rows.high} && {depth.low} < {depth.high}", (*made, whole)))


def _from(loop: Loop) -> str:
    """How far a loop is from its start."""
    return f"{loop.var} - {loop.low}" if loop.low.isidentifier() else f"{loop.var} - ({loop.low})"


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
