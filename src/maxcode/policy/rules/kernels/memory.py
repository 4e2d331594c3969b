"""Memory that steps allocate for a nest, with its release."""

from __future__ import annotations

import re

from maxcode.code.cpp.edit import Change
from maxcode.code.polyhedral.polynomials import polynomial
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.kernel import Constants, Kernel, Spot
from maxcode.policy.rules.kernels.macro_uses import words_behind
from maxcode.policy.rules.kernels.nest import Assign, Body, Declare, Loop, Other, at, every, words_in

_HEADER = re.compile(r"#[ \t]*include[ \t]*<(stdlib\.h|cstdlib|bits/stdc\+\+\.h)>")


def may_free(kernel: Kernel, spot: Spot) -> bool:
    """Whether nothing leaves the whole nest of a loop before its end, after which memory is freed."""
    nest = at(kernel.body, spot.path[:1])
    inside = [words_behind(kernel.unit, item.text) for item in every((nest,)) if isinstance(item, Other)]
    return not any(words & {"return", "goto", "throw"} for words in inside)


def allocated(kernel: Kernel, body: Body, constants: Constants = ()) -> Change:
    """The change to a body that calls malloc and free."""
    change, unit = kernel.change(body, constants), kernel.unit
    if _HEADER.search(unit.text):
        return change
    return Change((*change.patches, Patch(unit.prelude, unit.prelude, "#include <stdlib.h>\n")))


def is_fixed(kernel: Kernel, spot: Spot) -> bool:
    """Whether the end of a loop is affine in parameters that its whole nest does not change."""
    bound, given = spot.loop.high, {one.name for one in kernel.function.parameters if one.kind == "value"}
    plain = polynomial(bound) is not None and words_in(bound) <= given and kernel.is_signed(bound)
    changed_in: set[str] = set()
    for item in every((at(kernel.body, spot.path[:1]),)):
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
