"""Steps that keep an element of an array in a scalar through an inner loop: promote, index_split.

A compiler does the same only where it can show that no other access touches the element; here the dependences show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import SUMS
from maxcode.code.polyhedral.polynomials import added, coefficient, multiplied, name, number, polynomial, written_out
from maxcode.policy.rules.kernels.effects import always_read, effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import apart
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Loop,
    changed,
    extremes,
    greatest_of,
    least_of,
    put,
    words_in,
)

ELEMENT = re.compile(r"(\w+)\[([^\[\]]*)\]")


def is_innermost(loop: Loop) -> bool:
    """Whether a loop counts by one and holds nothing but statements."""
    return loop.step == "1" and not loop.pragmas and all(isinstance(item, Assign | Declare) for item in loop.body)


def promote(unit: Unit) -> Iterator[Edit]:
    """Keeps the elements that an inner loop reads and writes in the same places in scalars meanwhile."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            targets = _fixed(kernel, spot) if is_innermost(spot.loop) else {}
            if targets:
                body = put(kernel.body, spot.path, [_promoted(kernel, spot.loop, targets)])
                what = f"keeps {', '.join(targets)} in scalars during the loop over {spot.loop.var}"
                yield kernel.edit("promote", spot.name, (), what, kernel.change(body))


def _fixed(kernel: Kernel, spot: Spot) -> dict[str, str]:
    """The elements that a loop writes, which no other access in it touches, with their types; none for a loop of sums
    of doubles, which several scalars suit better."""
    found: dict[str, str] = {}
    items = [item for item in spot.loop.body if isinstance(item, Assign)]
    moving = {spot.loop.var, *(item.name for item in spot.loop.body if isinstance(item, Declare))}
    moving |= {item.target for item in items}
    for item in items:
        element = ELEMENT.fullmatch(item.target)
        if element is None or polynomial(element[2]) is None or words_in(element[2]) & moving:
            continue
        kind = kernel.type_of_elements(element[1])
        if kind and _is_alone(spot, item.target):
            found[item.target] = kind
    sums = all(item.op in SUMS for item in items) and len(items) == len(spot.loop.body)
    return {} if sums and set(found.values()) == {"double"} else found


def _is_alone(spot: Spot, target: str) -> bool:
    """Whether all accesses in a loop to an element of this text are by this text."""
    rest = with_name(spot.loop.body, target, "promoted")
    marked = replace(spot.loop, body=(Assign(target, "=", "0.0"), *rest))
    seen = effect((marked,), spot.above)
    array = target.partition("[")[0]
    mark, *others = (access for access in seen.accesses if access.array == array)
    return not seen.opaque and all(apart(mark, other, spot.above) for other in others)


def with_name(body: Body, element: str, scalar: str) -> Body:
    """The items with a name in the place of an element."""
    return changed(body, lambda text: re.sub(rf"(?<![\w.]){re.escape(element)}", scalar, text))


def _promoted(kernel: Kernel, loop: Loop, targets: dict[str, str]) -> Branch:
    """The loop with scalars; the branch keeps it from an element that may not be there without an iteration."""
    names: dict[str, str] = {}
    body = loop.body
    for target in targets:
        names[target] = kernel.fresh(f"{target.partition('[')[0]}_kept", names.values())
        body = with_name(body, target, names[target])
    before = (Declare(kind, names[target], target) for target, kind in targets.items())
    after = (Assign(target, "=", names[target]) for target in targets)
    return Branch(f"{loop.low} < {loop.high}", (*before, replace(loop, body=body), *after))


def index_split(unit: Unit) -> Iterator[Edit]:
    """Splits an inner loop where it writes an element that all its iterations read, which is a scalar before and
    after."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            found = met(kernel, spot) if is_innermost(spot.loop) else None
            if found is not None:
                element, place = found
                body = put(kernel.body, spot.path, [split_at(kernel, spot.loop, element, place)])
                what = f"splits the loop over {spot.loop.var} at {place}, where it writes {element}"
                yield kernel.edit("index_split", spot.name, (), what, kernel.change(body))


def met(kernel: Kernel, spot: Spot) -> tuple[str, str] | None:
    """The one element that every iteration of a loop of one statement reads, and which iteration writes it."""
    loop = spot.loop
    match loop.body:
        case (Assign() as item,) if not effect((loop,), spot.above).opaque and kernel.counts_signed(loop):
            target = ELEMENT.fullmatch(item.target)
        case _:
            return None
    index = polynomial(target[2]) if target is not None else None
    if target is None or index is None or coefficient(index, loop.var) != number(1):
        return None
    here = dict.fromkeys(text for array, text in elements(item.value) or [] if array == target[1])
    still = [text for text in here if loop.var not in words_in(text)]
    is_there = len(still) == 1 and (target[1], still[0]) in always_read(item.value)
    read = polynomial(still[0]) if is_there else None
    if read is None:
        return None
    start = added(index, multiplied(name(loop.var), number(1)), -1)
    place = added(read, start, -1)
    text = written_out(place)
    plain = all(len(product) <= 1 for product in place) and kernel.is_signed(text)
    split_before = f"{text} + 1" in extremes(loop.high, "<")
    kind = kernel.type_of_elements(target[1])
    return (f"{target[1]}[{still[0]}]", text) if plain and kind and not split_before else None


def split_at(kernel: Kernel, loop: Loop, element: str, place: str) -> Branch:
    array = element.partition("[")[0]
    first = kernel.fresh(f"{array}_before")
    last = kernel.fresh(f"{array}_after", (first,))
    kind = kernel.type_of_elements(array)
    after = f"{place} + 1"
    parts = (
        Declare(kind, first, element),
        replace(loop, high=least_of(place, loop.high), body=with_name(loop.body, element, first)),
        replace(loop, low=greatest_of(place, loop.low), high=least_of(after, loop.high)),
        Declare(kind, last, element),
        replace(loop, low=greatest_of(after, loop.low), body=with_name(loop.body, element, last)),
    )
    return Branch(f"{loop.low} < {loop.high}", parts)
