"""The step that takes several pivots of a matrix at once: pivots.

    for k: for i: for j: W[i, j] = min(W[i, j], W[i, k] + W[k, j])

Iteration k uses row k alone beside the row that it changes.  So the rows of a few pivots are taken through their
iterations first, and every other row then goes through all of them at once, while it is in the cache.  Row k as it was
before iteration k changes it serves the rows above, and as it is afterwards those below; both are kept.  This is the
blocked algorithm of Floyd and Warshall (Venkataraman, Sahni and Mukhopadhyaya), by rows, and it changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access
from maxcode.code.polyhedral.polynomials import name, polynomial, renamed
from maxcode.policy.rules.kernels.effects import always_read, effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere
from maxcode.policy.rules.kernels.memory import Array, is_fixed, may_free, with_arrays
from maxcode.policy.rules.kernels.nest import Assign, Body, Branch, Loop, band_of, greatest_of, least_of, words_of_head
from maxcode.policy.rules.kernels.registers import met, split_at, with_name

BLOCKS = (4, 8, 16, 32, 64)


@final
class Pivots(NamedTuple):
    """The loops over pivots, rows and columns, the element of the row of the pivot, and the type of its numbers."""

    pivot: Loop
    row: Loop
    column: Loop
    element: str
    kind: str


def pivots(unit: Unit) -> Iterator[Edit]:
    """Takes every row of a matrix through the iterations of several pivots at once, while it is in the cache."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            found = _pivots(kernel, spot) if may_free(kernel, spot) else None
            if found is not None:
                size = kernel.fresh("BLOCK")
                array = found.element.partition("[")[0]
                above = kernel.fresh(f"{array}_above")
                below = kernel.fresh(f"{array}_below", (above,))
                blocked = [_blocked(kernel, spot, found, (size, above, below))]
                arrays = [Array(one, found.kind, (size, found.column.high)) for one in (above, below)]
                for rows in BLOCKS:
                    change = with_arrays(kernel, spot, blocked, arrays, [(size, rows)])
                    what = f"takes rows through {rows} iterations of the loop over {spot.loop.var} at once"
                    yield kernel.edit("pivots", spot.name, (("rows", rows),), what, change)


def _pivots(kernel: Kernel, spot: Spot) -> Pivots | None:
    """The nest as pivots, rows and columns; None if iterations use more than their row and that of their pivot."""
    band, core = band_of(spot.loop)
    if len(band) != 3 or len(core) != 1 or not isinstance(core[0], Assign) or not _is_plain(kernel, spot, band):
        return None
    pivot, row, column = band
    seen, depth = effect((pivot,), spot.above), len(spot.above)
    written = next((one for one in seen.accesses if one.op), None)
    if seen.opaque or seen.scalars or written is None:
        return None
    ours = [one for one in seen.accesses if one.array == written.array]
    levels = [level.var for level in written.levels[depth:]]
    rows = [_row(one) for one in ours]
    apart = any(one is None or one not in (name(levels[0]), name(levels[1])) for one in rows)
    if apart or _row(written) != name(levels[1]) or sum(bool(one.op) for one in ours) != 1:
        return None
    theirs = [one for one, line in zip(ours, rows, strict=True) if line == name(levels[0])]
    if len(theirs) != 1 or theirs[0].digits is None or theirs[0].digits[0] != name(levels[2]):
        return None
    names = dict(zip((one.var for one in band), levels, strict=True))
    texts = {f"{array}[{index}]" for array, index in elements(core[0].value) or [] if array == written.array}
    found = [text for text in texts if _index(text, names) == theirs[0].index[0]]
    always = {f"{array}[{index}]" for array, index in always_read(core[0].value)}
    kind = kernel.type_of_elements(written.array)
    if not kind or len(found) != 1 or found[0] not in always:
        return None
    rest = with_name(core, found[0], "taken")[0]  # a macro may have a blank before the index
    left = elements(rest.value) if isinstance(rest, Assign) else None
    whole = left is not None and found[0] not in {f"{array}[{index}]" for array, index in left}
    return Pivots(pivot, row, column, found[0], kind) if whole else None


def _is_plain(kernel: Kernel, spot: Spot, band: Sequence[Loop]) -> bool:
    """Whether three loops form a box, and the end of the innermost is the same in the whole nest around them."""
    names = {loop.var for loop in band}
    fixed = len(names) == 3 and not any(names & words_of_head(loop) for loop in band)
    plain = all(loop.step == "1" and loop.type == "int" and not loop.pragmas for loop in band)
    ends = [end for loop in band for end in (loop.low, loop.high)]
    inner = replace(spot, path=(*spot.path, 0, 0, 0, 0), loop=band[2])
    return (
        fixed
        and plain
        and not spot.shared
        and computes_anywhere(*ends)
        and kernel.counts_signed(*band)
        and is_fixed(kernel, inner)
    )


def _row(access: Access) -> object:
    """The row of a matrix with two subscripts that an access is in; None if that is not known."""
    return access.digits[1] if access.digits is not None and len(access.digits) == 2 else None


def _index(element: str, names: dict[str, str]) -> object:
    found = polynomial(element.partition("[")[2][:-1])
    return renamed(found, names) if found is not None else None


def _blocked(kernel: Kernel, spot: Spot, found: Pivots, names: Sequence[str]) -> Branch:
    """The loop over blocks of pivots; the branch keeps it from elements that may not be there without an
    iteration."""
    size, before, after = names
    pivot, row, column = found.pivot, found.row, found.column
    first = kernel.fresh(f"{pivot.var}0")
    last = least_of(f"{first} + {size}", pivot.high)
    inner = replace(spot, path=(*spot.path, 0, 0, 0, 0), loop=column, above=(*spot.above, pivot, row))
    place = met(kernel, inner)
    block = replace(pivot, low=first, high=last)

    def held(array: str) -> str:
        return f"{array}[({pivot.var} - {first}) * ({column.high}) + {column.var}]"

    def through(change: Callable[[Body], Body]) -> Body:
        made = replace(column, body=change(column.body))
        return split_at(kernel, made, *place).then if place is not None else (made,)

    def others(low: str, high: str, array: str) -> Loop:
        whole = through(lambda body: with_name(body, found.element, held(array)))
        return replace(row, low=low, high=high, body=(replace(block, body=whole),))

    kept = [replace(column, body=(Assign(held(one), "=", found.element),)) for one in (before, after)]
    own = replace(row, low=greatest_of(first, row.low), high=least_of(last, row.high), body=through(lambda body: body))
    inside: Body = (
        replace(block, body=(kept[0], own, kept[1])),
        others(row.low, least_of(first, row.high), before),
        others(greatest_of(last, row.low), row.high, after),
    )
    whole = Loop(first, pivot.low, pivot.high, size, inside, type=pivot.type)
    return Branch(f"{row.low} < {row.high} && {column.low} < {column.high}", (whole,))
