"""Sums that go straight into what they are added to: where the result of a loop is a term of an element.

    double s = 0;  for k: { ...; s += y }  W = x + f * s;      becomes      W = x;  for k: { ...; W += f * y }
    double s = 0;  for k: { ...; s += y }  W += f * s;         becomes              for k: { ...; W += f * y }

Then the loop is one of sums into an array, which can be split off and may be a product.
"""

from __future__ import annotations

import re
from dataclasses import replace

from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot
from maxcode.policy.rules.kernels.legality import apart
from maxcode.policy.rules.kernels.nest import Assign, Body, Declare, Item, Loop, lexed, words_in, words_of_head
from maxcode.policy.rules.kernels.recurrences import Term, is_double, terms_of
from maxcode.policy.rules.kernels.registers import ELEMENT, is_innermost

_ZERO = re.compile(r"0|0?\.0*|0\.0+")


def added_at_once(kernel: Kernel, spot: Spot) -> Body | None:
    """The body of a loop whose sum is a term of an element, with the sum in the element; None if it has another form or
    a dependence forbids it."""
    match spot.loop.body:
        case (Declare(type="double", name=name) as start, Loop() as inner, Assign(op="=" | "+=" | "-=") as end) if (
            is_innermost(inner)
        ):
            pass
        case _:
            return None
    parts = _parts(kernel, end.value, name)
    sums = [item for item in inner.body if isinstance(item, Assign) and item.target == name]
    uses = sum(name in words_in(text) for item in inner.body for text in _texts(item))
    if parts is None or len(sums) != 1 or uses != 1 or not _ZERO.fullmatch(start.value) or "[" not in end.target:
        return None
    add = sums[0]
    if add.op not in ("+=", "-=") or name in words_in(end.target) or not kernel.is_double(end.target.partition("[")[0]):
        return None
    declared = {item.name for item in inner.body if isinstance(item, Declare)}
    if (
        name in words_of_head(inner)
        or declared & words_in(f"{end.target} {end.value}")
        or inner.var in words_in(f"{end.target} {end.value}")
    ):
        return None
    if not _is_apart((start, inner, end), (*spot.above, spot.loop)):
        return None
    rest, sign, factors = parts
    op = "-=" if "".join((sign, end.op, add.op)).count("-") % 2 else "+="
    value = add.value if _is_product(kernel, add.value) else f"({add.value})"
    if len(factors) > 1 and not _is_real(kernel, add.value):  # its product with whole numbers would overflow
        value = f"(double){value}"
    summed = Assign(end.target, op, " * ".join(value if factor == name else factor for factor in factors))
    body = tuple(summed if item is add else item for item in inner.body)
    first = () if end.op != "=" and not rest else (Assign(end.target, end.op, rest or "0.0"),)
    return (*first, replace(inner, body=body))


def _is_product(kernel: Kernel, text: str) -> bool:
    """Whether an expression is a product of doubles, which may be multiplied by others in any order."""
    factors = _factors(text)
    given = {one.name for one in kernel.function.parameters if one.kind == "value" and one.type == "double"}
    for factor in factors or [""]:
        element = ELEMENT.fullmatch(factor)
        if element is not None and kernel.is_double(element[1]):
            continue
        if factor not in given and not kernel.is_double_number(factor) and not re.fullmatch(r"\d+\.\d*", factor):
            return False
    return True


def _texts(item: Item) -> list[str]:
    match item:
        case Assign():
            return [item.target, item.value]
        case Declare():
            return [item.value]
    return []


def _is_real(kernel: Kernel, text: str) -> bool:
    return is_double(kernel, text) or _is_product(kernel, text)


def _parts(kernel: Kernel, text: str, name: str) -> tuple[str, str, list[str]] | None:
    """The other terms of a sum, the sign of the one term with a name, and the factors of that; None if the others
    may be whole numbers that are added to each other only without it."""
    terms = terms_of(text)
    with_name = [term for term in terms if name in words_in(term.text)]
    if len(with_name) != 1:
        return None
    factors = _factors(with_name[0].text)
    if factors is None or factors.count(name) != 1 or any(name in words_in(one) for one in factors if one != name):
        return None
    rest = [term for term in terms if term is not with_name[0]]
    same = terms[-1] is with_name[0] or [term.sign for term in rest] == ["+"]
    if not same and not all(_is_real(kernel, term.text) for term in rest):
        return None
    return _written(rest), with_name[0].sign, factors


def _factors(text: str) -> list[str] | None:
    """The factors of a term; None if it divides or has another form."""
    data = text.encode("utf-8", "surrogateescape")
    cuts, depth = [0], 0
    for word in lexed(text):
        depth += (word.text in "([") - (word.text in ")]")
        if depth == 0 and not word.is_word and word.text not in ("*", ")", "]") and not re.match(r"[\d.]", word.text):
            return None
        if depth == 0 and word.text == "*":
            cuts += [word.start, word.end]
    ends = [*cuts[1:], len(data)]
    return [
        data[start:end].decode("utf-8", "surrogateescape").strip()
        for start, end in zip(cuts[::2], ends[::2], strict=True)
    ]


def _written(terms: list[Term]) -> str:
    if not terms:
        return ""
    first, *others = terms
    return ("" if first.sign == "+" else "-") + first.text + "".join(f" {one.sign} {one.text}" for one in others)


def _is_apart(items: Body, above: tuple[Loop, ...]) -> bool:
    """Whether the last item may come before the second one: in one iteration around them, neither touches what the
    other writes."""
    seen = effect(items, above)
    loop = [access for access in seen.accesses if access.part == 1]
    end = [access for access in seen.accesses if access.part == 2]
    crossing = [(one, other) for one in loop for other in end if one.array == other.array and (one.op or other.op)]
    return not seen.opaque and all(apart(one, other, above) for one, other in crossing)
