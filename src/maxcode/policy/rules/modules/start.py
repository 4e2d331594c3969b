"""The first candidate: the reference under the required name, with the constants of the problem."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from maxcode.code.source import Patch, encode
from maxcode.policy.rules.modules.sheet import CLASS
from maxcode.policy.rules.rewriter.runtime import patched

_DEFINED = re.compile(rf"^class[ \t]+{CLASS}\b", re.MULTILINE)


def started(text: str, constants: Mapping[str, int]) -> str:
    """The text itself if it defines ``ModelNew``; else the reference with ``Model`` renamed and with the values of
    ``constants``.  A text that Python cannot read is returned unchanged."""
    if _DEFINED.search(text):
        return text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    data = encode(text)
    starts = [0] + [match.end() for match in re.finditer(rb"\n", data)]
    patches = [_at(starts, node, CLASS) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Model"]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            place = data.index(b"Model", starts[node.lineno - 1] + node.col_offset)
            patches.append(Patch(place, place + len("Model"), CLASS))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            patches += [_at(starts, node.value, str(constants[name])) for name in names if name in constants][:1]
    return patched(data, patches)


def _at(starts: list[int], node: ast.expr, text: str) -> Patch:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return Patch(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset, text)
