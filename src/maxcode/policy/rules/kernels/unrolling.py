"""Steps that take several iterations at once: jam, overlap, accumulators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import SUMS
from maxcode.code.polyhedral.polynomials import ONE, added, coefficient, number, polynomial, written_out
from maxcode.policy.rules.kernels.effects import effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import apart, jammable, waits
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    changed,
    every,
    greatest_of,
    hides,
    least_of,
    printed,
    put,
    substituted,
    words_in,
    words_of_head,
)
from maxcode.policy.rules.kernels.scalars import privatised

JAMS = (2, 3, 4, 6, 8)
ROWS = (4, 8)
COUNTS = (2, 4, 8, 16)
_LARGEST = 80  # statements in a jammed body


def jam(unit: Unit) -> Iterator[Edit]:
    """Unrolls a loop and joins the inner loops of the copies, so that loaded values are used more than once."""
    for kernel, spot, joins in _jammable(unit):
        yield from _jams(kernel, spot, joins, ("jam", JAMS))


def overlap(unit: Unit) -> Iterator[Edit]:
    """Takes several rows at once, in each of which a value waits for the one before it, so that the waits overlap."""
    for kernel, spot, joins in _jammable(unit):
        inner = [item for item in spot.loop.body if isinstance(item, Loop)]
        if any(waits(item, (*spot.above, spot.loop)) for item in inner):
            yield from _jams(kernel, spot, joins, ("overlap", ROWS))


def _jammable(unit: Unit) -> Iterator[tuple[Kernel, Spot, frozenset[str]]]:
    """The loops whose iterations may be taken together, with the elements to which copies are added as one sum."""
    for kernel in map(privatised, kernels(unit)):
        for spot in kernel.spots:
            loop = spot.loop
            inside = any(isinstance(item, Loop) for item in loop.body)
            plain = loop.step == "1" and not loop.pragmas and kernel.counts_signed(loop, *_moving(loop))
            if (
                not inside
                or not plain
                or _size(loop.body) is None
                or hides((loop,))
                or _depends(loop, loop.body)
                or not jammable(loop, spot.above)
            ):
                continue
            sums = (item for item in every(loop.body) if isinstance(item, Assign) and item.op in SUMS)
            yield kernel, spot, frozenset(item.target for item in sums if _keeps_type(kernel, item))


def _jams(kernel: Kernel, spot: Spot, joins: frozenset[str], step: tuple[str, tuple[int, ...]]) -> Iterator[Edit]:
    rule, factors = step
    for factor in factors:
        if (_size(spot.loop.body) or 0) * factor <= _LARGEST and not _hide_others(spot.loop, factor):
            body = put(kernel.body, spot.path, _jammed(spot.loop, factor, joins))
            what = f"takes {factor} iterations of the loop over {spot.loop.var} at once"
            yield kernel.edit(rule, spot.name, (("factor", factor),), what, kernel.change(body))


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


def _moving(loop: Loop) -> list[Loop]:
    """The loops inside whose ends move with the variable of a loop."""
    inner = [item for item in every(loop.body) if isinstance(item, Loop)]
    return [item for item in inner if loop.var in words_of_head(item)]


def _hide_others(loop: Loop, factor: int) -> bool:
    """Whether names of copies are in the loop already; names declared in it get others, too, apart from corners."""
    declared = {item.name for item in every(loop.body) if isinstance(item, Declare)}
    kept = words_in(printed((loop,))) - (set() if _moving(loop) else declared)
    return any(f"{name}_{number}" in kept for name in declared for number in range(factor))


def _depends(loop: Loop, around: Body, declared: frozenset[str] = frozenset()) -> bool:
    """Whether copies of the loops in a body cannot run in step: their bounds use a name declared inside, or move with
    the variable in other steps than one."""
    declared = declared.union(item.name for item in around if isinstance(item, Declare))
    inner = [item for item in around if isinstance(item, Loop)]
    moves = any(_moves_far(loop, item) for item in inner)
    words = (words_of_head(item) for item in inner)
    return (
        moves or any(found & declared for found in words) or any(_depends(loop, item.body, declared) for item in inner)
    )


def _moves_far(loop: Loop, inner: Loop) -> bool:
    """Whether the range of a loop inside moves from one iteration to the next, but not in steps of one."""
    moving = [bound for bound in (inner.low, inner.high) if loop.var in words_in(bound)]
    values = [polynomial(bound) for bound in moving]
    one = all(value is not None and coefficient(value, loop.var) == number(1) for value in values)
    return loop.var in words_in(inner.step) or (bool(moving) and not (one and inner.step == "1"))


def _keeps_type(kernel: Kernel, item: Assign) -> bool:
    """Whether a sum of two values that a statement adds has the type of the element: an int would overflow before it
    is a long."""
    types = {kernel.type_of_elements(array) for array, _ in elements(item.value) or []}
    return bool(types) and types == {kernel.type_of_elements(_place(item))} - {""}


def _jammed(loop: Loop, factor: int, joins: frozenset[str]) -> list[Item]:
    """``joins``: the elements to which copies are added as one sum."""
    copies = _copies(loop.body, loop, factor, joins)
    whole = replace(loop, high=f"{loop.high} - {factor - 1}", step=str(factor), body=copies)
    return [whole, replace(loop, low=rounded(loop, factor))]


def rounded(loop: Loop, factor: int) -> str:
    """The first iteration that is left after those taken ``factor`` at once."""
    low = loop.low if re.fullmatch(r"\w+", loop.low) else f"({loop.low})"
    count = f"({loop.high} - {low})" if low != "0" else loop.high if loop.high.isidentifier() else f"({loop.high})"
    return f"{loop.low} + {count} / {factor} * {factor}" if low != "0" else f"{count} / {factor} * {factor}"


def _copies(body: Body, loop: Loop, factor: int, joins: frozenset[str], names: frozenset[str] = frozenset()) -> Body:
    found: list[Item] = []
    for item in body:
        if isinstance(item, Declare):
            names = names | {item.name}
        if isinstance(item, Loop):
            found += _in_step(item, loop, factor, joins, names)
        else:
            copies = [_copy(item, loop.var, number, names) for number in range(factor)]
            found += _joined(copies) if isinstance(item, Assign) and item.target in joins else copies
    return tuple(found)


def _in_step(inner: Loop, loop: Loop, factor: int, joins: frozenset[str], names: frozenset[str]) -> list[Item]:
    """The copies of a loop inside: what all of them share is one loop, with the corners of a triangle before and after
    it."""
    last = factor - 1
    starts = [_moved(inner.low, loop, number) for number in range(factor)]
    ends = [_moved(inner.high, loop, number) for number in range(factor)]
    whole = replace(inner, low=starts[last], high=ends[0], body=_copies(inner.body, loop, factor, joins, names))
    own = names | {item.name for item in inner.body if isinstance(item, Declare)}
    bodies = [tuple(_copy(item, loop.var, k, own) for item in inner.body) for k in range(factor)]
    before = [(k, starts[k], least_of(starts[last], ends[k])) for k in range(last) if starts[k] != starts[last]]
    after = [(k, greatest_of(ends[0], starts[last]), ends[k]) for k in range(1, factor) if ends[k] != ends[0]]
    corners = [
        [replace(inner, low=low, high=high, body=bodies[k]) for k, low, high in side] for side in (before, after)
    ]
    return [*corners[0], whole, *corners[1]]


def _moved(bound: str, loop: Loop, number: int) -> str:
    """A bound for a later iteration."""
    value = polynomial(bound) if loop.var in words_in(bound) else None
    return bound if value is None else written_out(added(value, {ONE: number} if number else {}))


def _joined(copies: list[Item]) -> list[Item]:
    """Copies that all add to one element, as one statement, so that the element is loaded and stored once."""
    sums = [item for item in copies if isinstance(item, Assign) and item.op in ("+=", "-=")]
    alike = len({(item.target, item.op) for item in sums}) == 1
    if len(sums) < len(copies) or not alike or sums[0].target.partition("[")[0] in words_in(sums[0].value):
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


def accumulators(unit: Unit) -> Iterator[Edit]:
    """Adds up in several scalars instead of one place, so that additions do not wait for each other."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            sums = sums_of(kernel, spot)
            for count in COUNTS if sums else ():
                body = put(kernel.body, spot.path, spread(kernel, spot.loop, sums, count))
                what = f"adds up in {count} places in the loop over {spot.loop.var}"
                yield kernel.edit("accumulators", spot.name, (("count", count),), what, kernel.change(body))


def sums_of(kernel: Kernel, spot: Spot) -> list[Assign]:
    """The statements of a loop that only adds to places that do not move and that nothing else in it uses; none if it
    does more."""
    loop = spot.loop
    sums = [item for item in loop.body if isinstance(item, Assign) and item.op in SUMS]
    fixed = not any(loop.var in words_in(item.target) for item in sums)
    plain = fixed and loop.step == "1" and not loop.pragmas and kernel.counts_signed(loop)
    seen = effect((loop,), spot.above)
    if not sums or len(sums) < len(loop.body) or not plain or seen.opaque:
        return []
    places = [_place(item) for item in sums]
    written = [access for access in seen.accesses if access.op]
    others = [(one, other) for one in written for other in seen.accesses if one is not other]
    alone = all(apart(one, other, spot.above) for one, other in others)
    doubles = all(kernel.is_double(place) or kernel.is_double_number(place) for place in places)
    return sums if alone and doubles and len(written) == len(sums) else []


def _place(item: Assign) -> str:
    """The array or the scalar that a statement writes."""
    return item.target.partition("[")[0]


def spread(kernel: Kernel, loop: Loop, sums: list[Assign], count: int) -> list[Item]:
    names: list[list[str]] = []
    for item in sums:
        first = count * sum(_place(other) == _place(item) for other in sums[: len(names)])
        row: list[str] = []
        for k in range(count):
            row.append(kernel.fresh(f"{_place(item)}_{first + k}", {name for one in (*names, row) for name in one}))
        names.append(row)
    wholes: list[Loop] = []  # one for each sum: compilers make vectors of the places of one
    for item, row in zip(sums, names, strict=True):
        values = [substituted(item.value, {loop.var: f"{loop.var} + {k}"} if k else {}) for k in range(count)]
        copies = tuple(Assign(name, "+=", value) for name, value in zip(row, values, strict=True))
        wholes.append(replace(loop, high=f"{loop.high} - {count - 1}", step=str(count), body=copies))
    rest = replace(loop, low=rounded(loop, count))
    ends: list[Item] = [replace(item, value=" + ".join(row)) for item, row in zip(sums, names, strict=True)]
    if any("[" in item.target for item in sums):  # without an iteration, the element may not be there
        ends = [Branch(f"{loop.low} < {loop.high}", tuple(ends), ())]
    return [*(Declare("double", name, "0.0") for row in names for name in row), *wholes, rest, *ends]
