"""Steps that take several iterations at once: jam."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.legality import jammable
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    changed,
    put,
    substituted,
    words_in,
)

JAMS = (2, 3, 4, 6, 8)
_LARGEST = 80  # statements in a jammed body


def jam(unit: Unit) -> Iterator[Edit]:
    """Unrolls a loop and joins the inner loops of the copies, so that loaded values are used more than once."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            loop = spot.loop
            size = _size(loop.body)
            inside = any(isinstance(item, Loop) for item in loop.body)
            plain = loop.step == "1" and not loop.pragmas and kernel.is_signed(loop.low, loop.high)
            if not inside or not plain or size is None or _depends(loop) or not jammable(loop, spot.above):
                continue
            for factor in JAMS:
                if size * factor <= _LARGEST:
                    body = put(kernel.body, spot.path, _jammed(loop, factor))
                    what = f"takes {factor} iterations of the loop over {loop.var} at once"
                    yield kernel.edit("jam", spot.name, (("factor", factor),), what, kernel.change(body))


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


def _depends(loop: Loop) -> bool:
    """Whether the bounds of an inner loop depend on the variable, or on something declared inside."""
    declared = {loop.var} | {item.name for item in loop.body if isinstance(item, Declare)}
    inner = [item for item in loop.body if isinstance(item, Loop)]
    mentioned = (words_in(item.low) | words_in(item.high) for item in inner)
    return any(words & declared for words in mentioned) or any(
        _depends(replace(loop, body=item.body)) for item in inner
    )


def _jammed(loop: Loop, factor: int) -> list[Item]:
    whole = replace(loop, high=f"{loop.high} - {factor - 1}", step=str(factor), body=_copies(loop.body, loop, factor))
    return [whole, replace(loop, low=rounded(loop, factor))]


def rounded(loop: Loop, factor: int) -> str:
    """The first iteration that is left after those taken ``factor`` at once."""
    low = loop.low if re.fullmatch(r"\w+", loop.low) else f"({loop.low})"
    count = f"({loop.high} - {low})" if low != "0" else loop.high if loop.high.isidentifier() else f"({loop.high})"
    return f"{loop.low} + {count} / {factor} * {factor}" if low != "0" else f"{count} / {factor} * {factor}"


def _copies(body: Body, loop: Loop, factor: int, names: frozenset[str] = frozenset()) -> Body:
    found: list[Item] = []
    for item in body:
        if isinstance(item, Declare):
            names = names | {item.name}
        if isinstance(item, Loop):
            found.append(replace(item, body=_copies(item.body, loop, factor, names)))
        else:
            found += _joined([_copy(item, loop.var, number, names) for number in range(factor)])
    return tuple(found)


def _joined(copies: list[Item]) -> list[Item]:
    """Copies that all add to one element, as one statement, so that the element is loaded and stored once."""
    sums = [item for item in copies if isinstance(item, Assign) and item.op in ("+=", "-=")]
    if len(sums) < len(copies) or len({(item.target, item.op) for item in sums}) > 1:
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
