"""The step that divides once where several statements divide by the same value: divide_once.

    p[i] = -c / (a * p[i - 1] + b);             double inverse = 1.0 / (a * p[i - 1] + b);
    q[i] = x[i] / (a * p[i - 1] + b);           p[i] = -c * inverse;  q[i] = x[i] * inverse;

A processor divides a few times more slowly than it multiplies, and one division after the other.  The last digit may
change, as by the reciprocal of a constant in ``shorten``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Token
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import apart
from maxcode.policy.rules.kernels.nest import Assign, Declare, Item, lexed, put, words_in
from maxcode.policy.rules.kernels.recurrences import is_double
from maxcode.policy.rules.kernels.registers import is_innermost


@final
class Quotient(NamedTuple):
    """``over / under``; ``key``: the divisor without blanks."""

    over: str
    under: str
    key: str


def divide_once(unit: Unit) -> Iterator[Edit]:
    """Multiplies by one reciprocal where several statements of an inner loop divide by the same value."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            body = _shared(kernel, spot) if is_innermost(spot.loop) else None
            if body is not None:
                what = f"divides once in an iteration of the loop over {spot.loop.var}"
                change = kernel.change(put(kernel.body, spot.path, [replace(spot.loop, body=body)]))
                yield kernel.edit("divide_once", spot.name, (), what, change)


def _shared(kernel: Kernel, spot: Spot) -> tuple[Item, ...] | None:
    """The statements of a loop with one reciprocal for the first divisor that several of them share; None if there is
    none."""
    body = spot.loop.body
    found = {place: part for place, item in enumerate(body) if (part := _quotient(kernel, item)) is not None}
    for first, part in found.items():
        places = [place for place, other in found.items() if place >= first and other.key == part.key]
        if len(places) > 1 and _is_steady(spot, part.under, first, places[-1]):
            name = kernel.fresh("inverse")
            made = [*body[:first], Declare("double", name, f"1.0 / {part.under}"), *body[first:]]
            for place in places:
                item = body[place]
                assert isinstance(item, Assign)
                made[place + 1] = replace(item, value=f"{found[place].over} * {name}")
            return tuple(made)
    return None


def _quotient(kernel: Kernel, item: Item) -> Quotient | None:
    """The quotient of doubles that a statement assigns to an element; None for another statement."""
    if not isinstance(item, Assign) or item.op != "=" or not kernel.is_double(item.target.partition("[")[0]):
        return None
    outer = _outside(item.value)
    places = [at for at, word in enumerate(outer) if word.text == "/"]
    plain = all(word.text[0].isalnum() or word.text[0] in "_*/.()[]" for word in outer[outer[0].text == "-" :])
    if len(places) != 1 or not plain or any(word.text == "*" for word in outer[places[0] :]):
        return None
    data, cut = item.value.encode("utf-8", "surrogateescape"), outer[places[0]]
    over, under = (data[a:b].decode("utf-8", "surrogateescape").strip() for a, b in ((0, cut.start), (cut.end, None)))
    return Quotient(over, under, "".join(under.split())) if is_double(kernel, under) else None


def _outside(text: str) -> list[Token]:
    """The tokens of an expression outside brackets, and the brackets around the others."""
    depth, found = 0, []
    for word in lexed(text):
        depth -= word.text in (")", "]")
        if depth == 0:
            found.append(word)
        depth += word.text in ("(", "[")
    return found


def _is_steady(spot: Spot, under: str, first: int, last: int) -> bool:
    """Whether a divisor has one value in the statements of a loop from one place to another."""
    between = spot.loop.body[first:last]
    above = (*spot.above, spot.loop)
    seen = effect((Declare("double", "divisor", under), *between), above)
    reads = [one for one in seen.accesses if one.part == 0]
    writes = [one for one in seen.accesses if one.part > 0 and one.op]
    made = {item.name for item in between if isinstance(item, Declare)}
    return not seen.opaque and not made & words_in(under) and all(apart(w, r, above) for w in writes for r in reads)
