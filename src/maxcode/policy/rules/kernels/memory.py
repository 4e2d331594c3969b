"""Memory that steps allocate for a nest, with its release."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Change
from maxcode.code.polyhedral.polynomials import coefficient, polynomial
from maxcode.code.source import Patch, text_of
from maxcode.policy.rules.kernels.effects import Effect, elements, sides
from maxcode.policy.rules.kernels.kernel import Constants, Kernel, Spot
from maxcode.policy.rules.kernels.macro_uses import words_behind
from maxcode.policy.rules.kernels.nest import Assign, Declare, Item, Loop, Other, at, every, put_between, words_in

_LENT = re.compile(r"&[\s(]*\w+[\s)]*")  # the address of a variable
_HEADER = re.compile(r"#[ \t]*include[ \t]*<(stdlib\.h|cstdlib|bits/stdc\+\+\.h)>")


def may_free(kernel: Kernel, spot: Spot) -> bool:
    """Whether nothing leaves the whole nest of a loop before its end, after which memory is freed."""
    nest = at(kernel.body, spot.path[:1])
    inside = [words_behind(kernel.unit, item.text) for item in every((nest,)) if isinstance(item, Other)]
    return not any(words & {"return", "goto", "throw"} for words in inside)


def has_an_element_each(seen: Effect, depth: int) -> bool:
    """Whether an array has an element for each iteration of the loop below ``depth`` others: another is no larger."""
    inside = (one for one in seen.accesses if one.index and len(one.levels) > depth)
    moves = (coefficient(one.index[0] or {}, one.levels[depth].var) for one in inside)
    return any(moves)


@final
class Array(NamedTuple):
    """An array that a step allocates: its name, the type of its elements, and the sizes whose product is their number.
    A size may be negative: then there are none.  One more is allocated, as malloc may return NULL for none."""

    name: str
    type: str
    sizes: tuple[str, ...]


def with_arrays(
    kernel: Kernel, spot: Spot, items: Sequence[Item], arrays: Sequence[Array], constants: Constants = ()
) -> Change:
    """The change that replaces a loop by items, with arrays allocated before its whole nest and freed behind it."""
    before = []
    for name, kind, sizes in arrays:
        count = " * ".join(f"(size_t)({size} > 0 ? {size} : 0)" for size in sizes)
        before.append(Other(f"{kind} *{name} = ({kind} *)malloc(({count} + 1) * sizeof({kind}));"))
    behind = tuple(Other(f"free({one.name});") for one in arrays)
    change, unit = kernel.change(put_between(kernel.body, spot.path, items, before, behind), constants), kernel.unit
    if _HEADER.search(unit.text):
        return change
    return Change((*change.patches, Patch(unit.prelude, unit.prelude, "#include <stdlib.h>\n")))


def is_fixed(kernel: Kernel, spot: Spot) -> bool:
    """Whether the end of a loop is affine in parameters that its whole nest does not change."""
    bound, given = spot.loop.high, {one.name for one in kernel.function.parameters if one.kind == "value"}
    plain = polynomial(bound) is not None and words_in(bound) <= given and kernel.is_signed(bound)
    changed_in = lent(kernel)
    for item in every((at(kernel.body, spot.path[:1]),)):
        unclear = [text for text, _ in sides(item) if elements(text) is None]
        changed_in |= words_behind(kernel.unit, " ".join(unclear))
        match item:
            case Assign():
                changed_in.add(item.target.partition("[")[0])
            case Other():
                changed_in |= words_behind(kernel.unit, item.text)
            case Declare():
                changed_in.add(item.name)
            case Loop():
                changed_in.add(item.var)
    return plain and not words_in(bound) & changed_in


def lent(kernel: Kernel) -> set[str]:
    """The names of which a function takes the address, and those in its lambdas and in functions inside it: a call
    elsewhere may change them."""
    start, end = kernel.function.body.start_byte, kernel.function.body.end_byte
    nodes = kernel.unit.nodes("pointer_expression", "lambda_expression", "function_definition")
    found = [node for node in nodes if start <= node.start_byte < end]
    texts = (text_of(node) for node in found if node.type != "pointer_expression" or _LENT.fullmatch(text_of(node)))
    return {word for text in texts for word in words_in(text)}
