"""From operations back to a file: forward line by line, our native functions in front of the class.

A result takes the name of an operand that is not needed any more, so that memory is freed as early as in the original.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.code.cpp.edit import Change
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, encode
from maxcode.policy.rules.modules.operations import FRESH, Operation, is_number, known
from maxcode.policy.rules.modules.shapes import Shapes, broadcast
from maxcode.policy.rules.modules.sheet import IN_PLACE, Op, Sheet, value_named, values_in, walk_values

BEGIN, END = "# ---- native: ", "# ---- end of native "
_BLOCK = re.compile(rf"{BEGIN}(\w+) ----\n.*?{END}\1 ----\n+", re.DOTALL)
_IMPORTS = ("import ctypes", "from maxcode.native import load")
# Methods of a tensor that overwrite it.
WRITING = words("relu sigmoid tanh abs square neg exp clamp add sub mul div")


@final
@dataclass(frozen=True, slots=True)
class New:
    """The new forward: operations in an order that computes them, the returned expression, and our native functions by
    name."""

    ops: Sequence[Op]
    result: ast.expr
    natives: dict[str, str] = field(default_factory=dict)
    inplace: bool | None = None  # None: unchanged


def changed(sheet: Sheet, new: New) -> Change:
    """The change of the text that gives the module another forward."""
    inplace = sheet.inplace if new.inplace is None else new.inplace
    lines = ([IN_PLACE] if inplace else []) + _lines(sheet, new, inplace)
    indent = " " * sheet.forward.body[0].col_offset
    body = "\n".join(indent + line for line in lines)[len(indent) :]
    first, last = _statements(sheet), sheet.forward.body[-1]
    starts = _line_starts(sheet.text)
    assert last.end_lineno is not None and last.end_col_offset is not None
    start = starts[first.lineno - 1] + first.col_offset
    start = _behind_marker(sheet, start)
    patches = [Patch(start, starts[last.end_lineno - 1] + last.end_col_offset, body)]
    return Change(tuple(patches + _natives(sheet, "\n".join(lines), new.natives, starts)))


def _statements(sheet: Sheet) -> ast.stmt:
    """The first statement behind the docstring."""
    body = sheet.forward.body
    return body[1] if ast.get_docstring(sheet.forward) is not None and len(body) > 1 else body[0]


def _behind_marker(sheet: Sheet, start: int) -> int:
    """The start of the statements, with our marker."""
    data = encode(sheet.text)
    marker = data.rfind(encode(IN_PLACE), 0, start)
    return marker if marker >= 0 and not data[marker + len(IN_PLACE) : start].strip() else start


def _natives(sheet: Sheet, body: str, more: dict[str, str], starts: list[int]) -> list[Patch]:
    """Native functions that are called are kept or added; the others are removed; imports are added with the
    first one."""
    kept = {found[1]: found for found in _BLOCK.finditer(sheet.text)}
    patches = []
    for name, found in kept.items():
        if not re.search(rf"\b{name}\(", body):
            start = len(encode(sheet.text[: found.start()]))
            patches.append(Patch(start, start + len(encode(found[0])), ""))
    place = starts[min([sheet.cls.lineno, *(one.lineno for one in sheet.cls.decorator_list)]) - 1]
    blocks = "".join(f"{BEGIN}{name} ----\n{text.strip()}\n{END}{name} ----\n\n\n" for name, text in more.items())
    imports = [line for line in _IMPORTS if line not in sheet.text.splitlines()] if more else []
    imports += ["import torch"] if more and "import torch" not in sheet.text.splitlines() else []
    if imports:
        at = _first_import(sheet, starts)
        patches.append(Patch(at, at, "\n".join(imports) + "\n"))
    return [*patches, Patch(place, place, blocks)] if blocks else patches


def _first_import(sheet: Sheet, starts: list[int]) -> int:
    found = (node for node in sheet.tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))
    node = next((one for one in found if getattr(one, "module", "") != "__future__"), None)
    return starts[node.lineno - 1] if node is not None else 0


def _line_starts(text: str) -> list[int]:
    return [0] + [match.end() for match in re.finditer(rb"\n", encode(text))]


# --------------------------------------------------------------------------------------------------------- the lines


def _lines(sheet: Sheet, new: New, inplace: bool) -> list[str]:
    last = _last_uses(new)
    names = dict(enumerate(sheet.inputs))
    taken = {one.id for one in ast.walk(sheet.tree) if isinstance(one, ast.Name)} | set(sheet.inputs)
    fresh = (name for name in (f"t{number}" for number in range(1, 10_000)) if name not in taken)
    owned = _owned(sheet, new)
    lines = []
    for at, op in enumerate(new.ops):
        dying = [value for value in dict.fromkeys(values_in(op.expr)) if last[value] == at]
        expr = _over(sheet, op, [value for value in dying if value in owned], inplace)
        written = ast.unparse(_named(expr, names))
        names[op.value] = names[dying[0]] if dying else next(fresh)
        lines.append(f"{names[op.value]} = {written}")
    returned = ast.unparse(_named(new.result, names))
    whole = lines[-1].partition(" = ") if lines else ("", "", "")
    if whole[0] == returned:
        return [*lines[:-1], f"return {whole[2]}"]
    return [*lines, f"return {returned}"]


def _last_uses(new: New) -> dict[int, int]:
    """value -> the number of the last operation that uses it; past the end for returned values."""
    found = {value: at for at, op in enumerate(new.ops) for value in values_in(op.expr)}
    return {**found, **dict.fromkeys(values_in(new.result), len(new.ops))}


def _owned(sheet: Sheet, new: New) -> set[int]:
    """Values in memory to which nothing else refers: newly made, and not used by an operation that returns a view."""
    kinds = {op.value: known(sheet, op) for op in new.ops}
    owned = {value for value, kind in kinds.items() if kind is not None and kind.kind in FRESH}
    for op in new.ops:
        kind = kinds[op.value]
        if kind is None or kind.kind not in FRESH:
            owned -= set(values_in(op.expr))
    return owned


def _over(sheet: Sheet, op: Op, free: list[int], inplace: bool) -> ast.expr:
    """The operation, written over its first operand if that is free."""
    found = known(sheet, op)
    if found is None or found.value not in free or values_in(op.expr).count(found.value) > 1:
        return op.expr
    if found.kind == "map" and isinstance(op.expr, ast.Call):
        return ast.Call(op.expr.func, op.expr.args, [ast.keyword("own", ast.Constant(True))])
    if not inplace or found.kind not in WRITING or found.layer or not same_shape(sheet, found):
        return op.expr
    args = [found.other] if "other" in found.given else []
    keywords = [ast.keyword(key, one) for key, one in found.given.items() if key != "other"]
    return ast.Call(ast.Attribute(found.operand, found.kind + "_", ast.Load()), args, keywords)


def same_shape(sheet: Sheet, found: Operation) -> bool:
    """Whether the result certainly has the shape of the first operand."""
    if "other" not in found.given or is_number(sheet, found.other):
        return True
    shapes = Shapes(sheet)
    first = shapes.operand(found.operand)
    return first is not None and broadcast(first, shapes.operand(found.other)) == first


def _named(node: ast.expr, names: dict[int, str]) -> ast.expr:
    made = copy.deepcopy(node)
    for one in walk_values(made):
        number = value_named(one)
        assert number is not None
        one.id = names[number]
    return made


# ------------------------------------------------------------------------------------------------------ changes of ops


def replaced(node: ast.expr, values: dict[int, ast.expr]) -> ast.expr:
    """The expression with some values replaced."""

    class Replace(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            number = value_named(name)
            return copy.deepcopy(values[number]) if number in values else name

    found = Replace().visit(copy.deepcopy(node))
    assert isinstance(found, ast.expr)
    return found


def without_dead(sheet: Sheet, ops: Iterable[Op], result: ast.expr) -> list[Op]:
    """The operations that are needed; unknown operations are kept, because they may have side effects."""
    needed = set(values_in(result))
    kept = []
    for op in reversed(list(ops)):
        kind = known(sheet, op)
        if op.value in needed or kind is None or kind.kind in ("BatchNorm2d",):
            kept.append(op)
            needed |= set(values_in(op.expr))
    return kept[::-1]
