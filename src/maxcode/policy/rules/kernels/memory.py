"""Memory that steps allocate for a nest, with its release."""

from __future__ import annotations

import re

from maxcode.code.cpp.edit import Change
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.kernel import Kernel
from maxcode.policy.rules.kernels.nest import Body, Other, words_in

_HEADER = re.compile(r"#[ \t]*include[ \t]*<(stdlib\.h|cstdlib|bits/stdc\+\+\.h)>")


def may_free(kernel: Kernel) -> bool:
    """Whether a function reaches its end, where memory is freed."""
    return not any("return" in words_in(item.text) for item in kernel.body if isinstance(item, Other))


def allocated(kernel: Kernel, body: Body) -> Change:
    """The change to a body that calls malloc and free."""
    change, unit = kernel.change(body), kernel.unit
    if _HEADER.search(unit.text):
        return change
    return Change((*change.patches, Patch(unit.prelude, unit.prelude, "#include <stdlib.h>\n")))
