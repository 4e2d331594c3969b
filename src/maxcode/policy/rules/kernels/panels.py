"""The step that factorises a matrix a few columns at a time, and updates what is behind them by a product: panel.

    for i: { for j < i: { for k < j: A[i, j] -= A[i, k] * A[k, j];  A[i, j] /= A[j, j] }
             for j >= i: for k < i: A[i, j] -= A[i, k] * A[k, j] }

for columns from k0 to k1 at a time: the square at the diagonal, the rows below it, the rows beside it, each as in the
nest, and then A[i, j] -= sum over k0 <= k < k1 of A[i, k] * A[k, j] for all that is below and beside.  It is the
blocked right-looking factorisation of the literature (Golub and Van Loan, "Matrix Computations"; LAPACK).

An update belongs to the panel of its k, another statement to that of the lesser of its row and its column.  The order
is legal if no dependence goes to a panel before, and within a panel none to a part before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import SUMS, Access, Pair, Vector, later, pairs
from maxcode.code.polyhedral.polynomials import Poly, added, name, number
from maxcode.policy.rules.kernels.blocking import BLOCKS
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import before, computes_anywhere
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Declare,
    Item,
    Loop,
    band_of,
    changed,
    least_of,
    put,
    substituted,
    words_in,
)
from maxcode.policy.rules.kernels.orders import summed_in_place, turned_inside
from maxcode.policy.rules.kernels.product import matched
from maxcode.policy.rules.kernels.right_looking import exchanged, turned
from maxcode.policy.rules.kernels.scalars import privatised
from maxcode.policy.rules.kernels.sums import added_at_once
from maxcode.policy.rules.kernels.templates import FEW, choices, clashes
from maxcode.policy.rules.kernels.triangles import blocked
from maxcode.policy.rules.kernels.unrolling import spread, sums_of

_BEHIND = "end of the panel"  # a name that no program has
_PLACES = 8  # in which the sums of a panel are added up


def panel(unit: Unit) -> Iterator[Edit]:
    """Factorises a few columns of a matrix at a time, and updates what is below and beside them by a product."""
    for kernel in map(privatised, kernels(unit)):
        if clashes(unit):
            continue
        for spot in kernel.spots:
            found = _elimination(kernel, spot)
            size = kernel.fresh("BLOCK")
            body = _by_panels(kernel, spot, found, size) if found is not None else None
            for columns in BLOCKS if body is not None else ():
                for choice in choices(unit, FEW):
                    change = kernel.change(body or (), [(size, columns)], choice.blocks)
                    what = f"factorises {columns} columns at a time and updates the rest by a product, {choice.words}"
                    yield kernel.edit("panel", spot.name, (("columns", columns), *choice.params), what, change)


# ------------------------------------------------------------------------------------------------------- finding it


@final
@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a row: ``for columns: { for depth: update; ends }``; without ``columns`` it is the diagonal element."""

    columns: Loop | None
    update: Loop | None
    ends: tuple[Assign, ...]
    is_ahead: bool = False  # its columns are those from the diagonal on

    @property
    def items(self) -> Body:
        """The statements of the part."""
        inside = (*(() if self.update is None else (self.update,)), *self.ends)
        return inside if self.columns is None else (replace(self.columns, body=inside),)


def _elimination(kernel: Kernel, spot: Spot) -> list[_Part] | None:
    """The parts of a loop over rows that eliminates; None if it has another form or its order must stay."""
    rows = spot.loop
    plain = rows.step == "1" and not rows.pragmas and not spot.shared and computes_anywhere(rows.low, rows.high)
    parts = [_part(kernel, item, spot) for item in rows.body] if plain else []
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or not any(part.columns is not None and part.update is not None for part in found):
        return None
    whole = replace(rows, body=tuple(item for part in found for item in part.items))
    seen = effect((whole,), spot.above)
    loops = [whole, *(loop for part in found for loop in (part.columns, part.update) if loop is not None)]
    signed = kernel.counts_signed(*loops) and all(loop.type == "int" for loop in loops)
    doubles = kernel.is_double(*seen.written) and not seen.scalars
    return found if signed and doubles and _may_turn(whole, spot.above, tuple(found)) else None


def _part(kernel: Kernel, item: Item, spot: Spot) -> _Part | None:
    rows = spot.loop
    match item:
        case Assign():
            return _Part(None, None, (item,))
        case Loop() if item.step == "1" and not item.pragmas:
            if _is_update(item) and (item.low, item.high) == (rows.low, rows.var):
                return _Part(None, item, ())
            return _columns(kernel, item, spot)
    return None


def _is_update(item: Item) -> bool:
    match item:
        case Loop(step="1", pragmas=(), body=(Assign(op=op),)):
            return op in SUMS
    return False


def _columns(kernel: Kernel, loop: Loop, spot: Spot) -> _Part | None:
    """The part of a loop over columns: those before the diagonal, or those from it on."""
    rows = spot.loop
    here = replace(spot, loop=loop, above=(*spot.above, rows))
    body = summed_in_place(here) or added_at_once(kernel, here) or loop.body
    update = body[0] if body and _is_update(body[0]) else None
    ends = tuple(item for item in body if isinstance(item, Assign))
    if not isinstance(update, Loop) or len(ends) + 1 < len(body) or loop.var in words_in(rows.high):
        return None
    is_before = (loop.low, loop.high, update.high) == (rows.low, rows.var, loop.var)
    is_ahead = (loop.low, loop.high, update.high) == (rows.var, rows.high, rows.var)
    return _Part(loop, update, ends, is_ahead) if (is_before or is_ahead) and update.low == rows.low else None


# --------------------------------------------------------------------------------------------------------- legality


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """The time, the column and the row of a statement, as the variables of loops."""

    time: Poly
    column: Poly
    row: Poly


@lru_cache(maxsize=256)
def _may_turn(whole: Loop, above: tuple[Loop, ...], parts: tuple[_Part, ...]) -> bool:
    """Whether the new order keeps all dependences: it may change only that of additions into one element."""
    seen = effect((whole,), above)
    times = _times(parts)
    if seen.opaque or not {access.order for access in seen.accesses} <= times.keys():
        return False
    return not any(_is_broken(pair, len(above), times) for pair in pairs(seen.accesses, sums=False))


def _times(parts: Sequence[_Part]) -> dict[int, tuple[int, int]]:
    """By the number of each assignment in the text: which loops, the one over rows being 0, are its time and column."""
    found: dict[int, tuple[int, int]] = {}
    count = 1  # the loop over rows
    for part in parts:
        columns = 0 if part.columns is None else 1
        count += columns
        if part.update is not None:
            count += 2
            found[count] = (columns + 1, columns)
        for _ in part.ends:
            count += 1
            found[count] = (0 if part.is_ahead else columns, columns)
    return found


def _place(access: Access, depth: int, times: dict[int, tuple[int, int]], names: dict[str, str]) -> _Place:
    time, column = times[access.order]
    given = [access.levels[depth + at].var for at in (time, column, 0)]
    return _Place(*(name(names.get(var, var)) for var in given))


def _is_broken(pair: Pair, depth: int, times: dict[int, tuple[int, int]]) -> bool:
    """Whether a dependence would be met in the wrong order."""
    return any(
        pair.exists(way, rows)
        for way in (*before(pair, depth), ("=",) * depth)  # the last: any two iterations
        for rows in _wrong(*_places(pair, depth, times, way), is_ordered=len(way) > depth)
    )


def _places(pair: Pair, depth: int, times: dict[int, tuple[int, int]], way: Vector) -> tuple[_Place, _Place]:
    fixed = {level.var for level, one in zip(pair.second.levels, way, strict=False) if one == "="}
    names = {level.var: later(level.var) for level in pair.second.levels if level.var not in fixed}
    return _place(pair.first, depth, times, {}), _place(pair.second, depth, times, names)


def _wrong(one: _Place, other: _Place, is_ordered: bool) -> Iterator[list[Poly]]:
    """Conditions, of which none may hold for a dependence: it goes to a panel before, or to a part before; in the
    product there may be none at all."""
    end = name(_BEHIND)
    here = [_below(one.time, end), _below(other.time, end)]
    if not is_ordered:
        product = [_below(end, place, 0) for two in (one, other) for place in (two.row, two.column)]
        yield [*here, *product]
        return
    yield [_below(other.time, one.time)]
    yield [*here, _below(end, one.column, 0), _below(other.column, end)]
    below = [_below(end, one.row, 0), _below(other.row, end)]
    yield [*here, *below, _below(one.column, end), _below(other.column, end)]
    yield [*here, *below, _below(end, one.column, 0), _below(end, other.column, 0)]


def _below(one: Poly, other: Poly, by: int = 1) -> Poly:
    """At least 0 if ``one + by <= other``."""
    return added(added(other, one, -1), number(by), -1)


# -------------------------------------------------------------------------------------------------------- making it


def _by_panels(kernel: Kernel, spot: Spot, parts: Sequence[_Part], size: str) -> Body | None:
    """The body with a loop over panels in the place of the nest."""
    rows, depth = spot.loop, next(part.update for part in parts if part.update is not None)
    first, last = kernel.fresh(f"{depth.var}0"), kernel.fresh(f"{depth.var}1")
    square, below = replace(rows, low=first, high=last), replace(rows, low=last)
    around = (*spot.above, rows)
    items: list[Item] = [replace(square, body=_rows(kernel, around, parts, (first, rows.var, last)))]
    left = [part for part in parts if part.columns is not None and not part.is_ahead]
    if left:
        items.append(replace(below, body=_rows(kernel, around, left, (first, last, last))))
    if ahead := [part for part in parts if part.is_ahead]:
        items.append(replace(square, body=_rows(kernel, around, ahead, (first, last, rows.high), beside=last)))
    count = len(items) + 1
    items += _updates(parts, below, first, last)
    end = Declare("int", last, least_of(f"{first} + {size}", rows.high))
    body = put(kernel.body, spot.path, [Loop(first, rows.low, rows.high, size, (end, *items), type=rows.type)])
    made = replace(kernel, body=body)
    for place in range(len(items), count - 1, -1):
        at = next(one for one in made.spots if one.path == (*spot.path, 0, place))
        new = _multiplied(made, at, size)
        if new is None:
            return None
        made = replace(made, body=put(made.body, at.path, new))
    return made.body


def _rows(
    kernel: Kernel, around: tuple[Loop, ...], parts: Sequence[_Part], ends: tuple[str, str, str], beside: str = ""
) -> Body:
    """The parts of a row within a panel, along contiguous rows or with sums in several places where that is legal.

    ``ends``: where the panel begins, the end of the columns before the diagonal, and that of those from it on.
    ``beside``: where the latter begin, if not at the diagonal.
    """
    first, end, ahead = ends
    items: list[Item] = []
    for part in parts:
        columns, update = part.columns, part.update
        clipped = replace(update, low=first) if update is not None else None
        if columns is None or update is None or clipped is None:
            items += [*(() if clipped is None else (clipped,)), *part.ends]
            continue
        inner = Spot((), update, (*around, columns), "")
        whole = replace(columns, body=(update, *part.ends))
        low, high = (beside or columns.low, ahead) if part.is_ahead else (first, end)
        made = replace(columns, low=low, high=high, body=(clipped, *part.ends))
        # what is legal for the whole nest is legal for a part of its iterations
        if not part.is_ahead and turned(kernel, Spot((), whole, around, "")) is not None:
            items.append(exchanged(made, clipped))
        elif turned_inside(whole, around) is not whole:
            items.append(replace(clipped, body=(replace(made, body=clipped.body),)))
        elif sums := sums_of(kernel, inner):
            items.append(replace(made, body=(*spread(kernel, clipped, sums, _PLACES), *part.ends)))
        else:
            items.append(made)
    return tuple(items)


def _updates(parts: Sequence[_Part], below: Loop, first: str, last: str) -> Iterator[Loop]:
    """The updates of what is below and beside a panel; those that touch at the diagonal as one, if they are the
    same."""
    nests: list[Loop] = []
    for part in parts:
        if part.update is None:
            continue
        depth = replace(part.update, low=first, high=last)
        columns = Loop(below.var, below.var, f"{below.var} + 1", "1", ()) if part.columns is None else part.columns
        columns = replace(columns, low=columns.low if part.is_ahead or part.columns is None else last, body=(depth,))
        twin = next((at for at, one in enumerate(nests) if one.high == columns.low and _same(one, columns)), None)
        if twin is None:
            nests.append(columns)
        else:
            nests[twin] = replace(nests[twin], high=columns.high)
    for columns in nests:
        yield replace(below, body=columns.body if columns.var == below.var else (columns,))


def _same(one: Loop, other: Loop) -> bool:
    """Whether the nests of two ranges of columns do the same; of the columns of ``other``, there may be one alone."""
    (inner,), (twin,) = one.body, other.body
    if not isinstance(inner, Loop) or not isinstance(twin, Loop):
        return False
    named = {one.var: other.var, inner.var: twin.var}
    return changed(inner.body, lambda text: substituted(text, named)) == twin.body


def _multiplied(kernel: Kernel, spot: Spot, size: str) -> Body | None:
    """The update as a product, of a rectangle or of the rectangles of a triangle; of one column as it is."""
    band, core = band_of(spot.loop)
    names = {loop.var for loop in band}
    if len(band) < 3:
        return (spot.loop,)
    if any((words_in(loop.low) | words_in(loop.high)) & names for loop in band):
        return blocked(kernel, spot, size, recurrent=True)
    match core:
        case (Assign() as add,):
            found = matched(band, add, recurrent=True)
            return (found.call,) if found is not None and kernel.is_double(*found.arrays) else None
    return None
