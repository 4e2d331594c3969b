"""Steps for values that wait for the iteration before: shorten, carry.

    A[i] = (A[i - 1] + B[i] + B[i + 1]) / 3.0
    A[i] = (B[i] + B[i + 1]) * (1.0 / 3.0) + (1.0 / 3.0) * (A[i - 1])

One operation is left between an iteration and the next, which the processor can then overlap.  The last digits change
as with every other order of additions, and by the rounded reciprocal.  ``carry`` hands the value on in a scalar:
through memory it takes longer than an addition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.polyhedral.dependences import Pair
from maxcode.code.polyhedral.polynomials import added, coefficient, number, polynomial
from maxcode.code.source import Token
from maxcode.policy.rules.kernels.effects import always_read, effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import apart
from maxcode.policy.rules.kernels.nest import Assign, Branch, Declare, Item, lexed, put, substituted, words_in
from maxcode.policy.rules.kernels.registers import ELEMENT, is_innermost, with_name

_NUMBER = re.compile(r"\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+")
_FRACTION = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+")
_ARITHMETIC = re.compile(r"[\w.]+|[-+*/()\[\]]")
_REAL = words("fabs sqrt cbrt floor ceil round trunc pow exp log log2 log10 sin cos tan atan atan2 hypot fmod")


@final
class Term(NamedTuple):
    """A term of a sum with its sign."""

    sign: str
    text: str


def shorten(unit: Unit) -> Iterator[Edit]:
    """Adds what comes from the iteration before last, and multiplies by the reciprocal of a constant divisor, so that
    iterations wait less for each other."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            if not is_innermost(spot.loop) or effect((spot.loop,), spot.above).opaque:
                continue
            body = tuple(
                _shortened(kernel, spot, item) for item in spot.loop.body if isinstance(item, Assign | Declare)
            )
            if body != spot.loop.body:
                what = f"shortens what iterations of the loop over {spot.loop.var} wait for"
                change = kernel.change(put(kernel.body, spot.path, [replace(spot.loop, body=body)]))
                yield kernel.edit("shorten", spot.name, (), what, change)


def _shortened(kernel: Kernel, spot: Spot, item: Assign | Declare) -> Assign | Declare:
    """The statement in its new order, or as it is."""
    if not isinstance(item, Assign) or item.op != "=" or not kernel.is_double(item.target.partition("[")[0]):
        return item
    inside, factor = scaled(item.value)
    terms = terms_of(inside)
    if not terms or not all(is_double(kernel, term.text) for term in terms):
        return item
    late = [term for term in terms if is_late(spot, term.text)]
    rest = [term for term in terms if term not in late]
    if not late or not rest or (not factor and terms[-len(late) :] == late):
        return item
    if not factor:
        return replace(item, value=written([*rest, *late]))
    return replace(item, value=f"({written(rest)}) * {factor} + {factor} * ({written(late)})")


def scaled(text: str) -> tuple[str, str]:
    """``(x) / 3.0`` and ``(x) * 3.0`` as x and a factor; the text itself and no factor for anything else."""
    parts = lexed(text)
    data = text.encode("utf-8", "surrogateescape")
    if len(parts) < 4 or parts[0].text != "(" or parts[-2].text not in ("*", "/") or parts[-3].text != ")":
        return text, ""
    number = parts[-1].text
    depth = 0
    for word in parts[:-3]:
        depth += (word.text in "([") - (word.text in ")]")
        if depth == 0:
            return text, ""
    if _NUMBER.fullmatch(number) is None or not float(number):
        return text, ""
    inside = data[parts[0].end : parts[-3].start].decode("utf-8", "surrogateescape").strip()
    return inside, number if parts[-2].text == "*" else f"(1.0 / {number})"


def terms_of(text: str) -> list[Term]:
    """The terms of a sum; none for another expression."""
    data = text.encode("utf-8", "surrogateescape")
    cuts: list[tuple[str, int, int]] = [("+", 0, 0)]
    depth, before = 0, ""
    for word in lexed(text):
        depth += (word.text in "([") - (word.text in ")]")
        if depth == 0 and word.text in ("+", "-"):
            if not before:
                cuts[0] = (word.text, word.start, word.end)
            elif not re.fullmatch(r"[\w.]+|[)\]]", before):
                return []  # a sign of its own
            else:
                cuts.append((word.text, word.start, word.end))
        elif depth == 0 and not re.fullmatch(r"[\w.]+|[()\[\]*/]", word.text):
            return []
        before = word.text
    ends = [start for _, start, _ in cuts[1:]] + [len(data)]
    parts = [
        data[after:end].decode("utf-8", "surrogateescape").strip() for (*_, after), end in zip(cuts, ends, strict=True)
    ]
    return [Term(sign, part) for (sign, *_), part in zip(cuts, parts, strict=True)] if all(parts) else []


def written(terms: Sequence[Term]) -> str:
    first, *others = terms
    start = first.text if first.sign == "+" else f"-{first.text}"
    return start + "".join(f" {term.sign} {term.text}" for term in others)


def is_double(kernel: Kernel, term: str) -> bool:
    """Whether a term is a double: whole numbers would be added in another type in another order."""
    return elements(term) is not None and _has_double(kernel, lexed(term))


def _has_double(kernel: Kernel, parts: Sequence[Token]) -> bool:
    """Whether an operand of arithmetic is a double, not counting indices and arguments; False for all that has casts,
    comparisons or choices."""
    found, depth, start = False, 0, 0
    for at, part in enumerate(parts):
        before, after = (parts[k].text if 0 <= k < len(parts) else "" for k in (at - 1, at + 1))
        depth -= part.text in (")", "]")
        if depth == 0 and part.text == ")" and not re.match(r"\w", parts[start - 1].text if start else ""):
            if re.match(r"[\w(]", after):
                return False  # a cast
            found = found or _has_double(kernel, parts[start + 1 : at])
        elif depth == 0 and part.text == "[":
            found = found or kernel.is_double(before)
        elif depth == 0 and part.is_word and after != "[":
            found = found or (part.text in _REAL if after == "(" else kernel.is_double_number(part.text))
        elif depth == 0:
            if not _ARITHMETIC.fullmatch(part.text):
                return False
            found = found or _FRACTION.fullmatch(part.text) is not None
        if part.text in ("(", "["):
            start = start if depth else at
            depth += 1
    return found


def is_late(spot: Spot, term: str) -> bool:
    """Whether a term reads what an earlier iteration of the loop writes."""
    writes = tuple(Assign(item.target, "=", "0.0") for item in spot.loop.body if isinstance(item, Assign))
    seen = effect((replace(spot.loop, body=(*writes, Declare("double", "term", term))),), spot.above)
    reads = [access for access in seen.accesses if not access.op]
    carried = (*"=" * len(spot.above), "<")
    return any(Pair(one, read).exists(carried) for one in seen.accesses if one.op for read in reads)


def carry(unit: Unit) -> Iterator[Edit]:
    """Hands an element that an inner loop writes on to the next iteration in a scalar, not through memory."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            if not is_innermost(spot.loop) or effect((spot.loop,), spot.above).opaque:
                continue
            found = _handed_on(kernel, spot)
            if found:
                body = put(kernel.body, spot.path, [_carried(kernel, spot, found)])
                what = f"hands {', '.join(one.target for one in found)} on in scalars in the loop over {spot.loop.var}"
                yield kernel.edit("carry", spot.name, (), what, kernel.change(body))


@final
class HandedOn(NamedTuple):
    """An element that each iteration writes, with the type of its numbers, and how the next one reads it."""

    target: str
    kind: str
    element: str


def _handed_on(kernel: Kernel, spot: Spot) -> list[HandedOn]:
    items = [item for item in spot.loop.body if isinstance(item, Assign)]
    moving = {item.name for item in spot.loop.body if isinstance(item, Declare)} | {item.target for item in items}
    values = [item.value for item in spot.loop.body if isinstance(item, Assign | Declare)]
    reads = sorted({pair for value in values for pair in elements(value) or []})
    found: list[HandedOn] = []
    for item in items:
        target = ELEMENT.fullmatch(item.target)
        index = polynomial(target[2]) if target is not None else None
        if target is None or index is None or item.op != "=" or words_in(target[2]) & moving:
            continue
        stride = coefficient(index, spot.loop.var)
        before = added(index, stride or {}, -1)
        near = [text for array, text in reads if array == target[1] and polynomial(text) == before]
        always = any((target[1], text) in always_read(value) for text in near for value in values)
        steady = stride in (number(1), number(-1)) or len(spot.loop.body) == 1  # another stride may be 0
        kind = kernel.type_of_elements(target[1])
        if stride and steady and always and kind and len(near) == 1 and _writes_alone(spot, items, item):
            found.append(HandedOn(item.target, kind, f"{target[1]}[{near[0]}]"))
    return found


def _writes_alone(spot: Spot, items: Sequence[Assign], item: Assign) -> bool:
    """Whether no other statement of a loop writes an element that this one writes, or one before it: the first
    iteration reads an element that no iteration writes."""
    array = item.target.partition("[")[0]
    writers = [other for other in items if other.target.partition("[")[0] == array]
    seen = [access for access in effect((spot.loop,), spot.above).accesses if access.array == array]
    writes = [access for access in seen if access.op]
    if len(writes) != len(writers):
        return False
    mine = writes[writers.index(item)]
    index = mine.index[0] or {}
    before = added(index, coefficient(index, mine.levels[len(spot.above)].var) or {}, -1)
    touched = [mine, *(access for access in seen if not access.op and access.index[0] == before)]
    others = [other for other in writes if other is not mine]
    return all(apart(one, other, spot.above) for one in touched for other in others)


def _carried(kernel: Kernel, spot: Spot, found: Sequence[HandedOn]) -> Branch:
    loop, body = spot.loop, spot.loop.body
    names: list[str] = []
    before: list[Item] = []
    last: list[Item] = []
    for one in found:
        array = one.target.partition("[")[0]
        held, now = kernel.fresh(f"{array}_before", names), kernel.fresh(f"{array}_now", names)
        names += [held, now]
        before.append(Declare(one.kind, held, substituted(one.element, {loop.var: loop.low})))
        last.append(Assign(held, "=", now))
        items: list[Item] = []
        for item in with_name(body, one.element, held):
            if isinstance(item, Assign) and item.target == one.target:
                items += [Declare(one.kind, now, item.value), replace(item, value=now)]
            else:
                items.append(item)
        body = tuple(items)
    return Branch(f"{loop.low} < {loop.high}", (*before, replace(loop, body=(*body, *last))))
