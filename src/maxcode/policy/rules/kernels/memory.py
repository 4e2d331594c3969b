"""Memory that steps allocate for a nest, with its release."""

from __future__ import annotations

import re

from maxcode.code.cpp.edit import Change
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.kernel import Constants, Kernel
from maxcode.policy.rules.kernels.nest import Body, Item, Other, every, words_in

_HEADER = re.compile(r"#[ \t]*include[ \t]*<(stdlib\.h|cstdlib|bits/stdc\+\+\.h)>")


def may_free(nest: Item) -> bool:
    """Whether nothing leaves a nest before its end, after which memory is freed."""
    inside = [words_in(item.text) for item in every((nest,)) if isinstance(item, Other)]
    return not any(words & {"return", "goto", "throw"} for words in inside)


def allocated(kernel: Kernel, body: Body, constants: Constants = ()) -> Change:
    """The change to a body that calls malloc and free."""
    change, unit = kernel.change(body, constants), kernel.unit
    if _HEADER.search(unit.text):
        return change
    return Change((*change.patches, Patch(unit.prelude, unit.prelude, "#include <stdlib.h>\n")))
