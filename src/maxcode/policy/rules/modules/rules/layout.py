"""Rules about memory and the mode of the interpreter; they do not change the computation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch, encode
from maxcode.policy.rules.modules.operations import known
from maxcode.policy.rules.modules.rules.fusing import lines_of
from maxcode.policy.rules.modules.sheet import CLASS, Op, class_of, method, read, value_named
from maxcode.policy.rules.modules.writing import WRITING, New, changed, replaced

_LAST = "memory_format=torch.channels_last"


def in_place(unit: Unit) -> Iterable[Edit]:
    """Overwrite an operand that is not needed later: ``x.mul_(2)`` in place of ``x * 2``.

    Only if an operation in forward with new memory made the operand, so never an input or a view.
    """
    sheet = read(unit.text)
    if sheet is None or sheet.inplace:
        return
    kinds = [found for op in sheet.ops if (found := known(sheet, op)) is not None and not found.layer]
    made = {op.value for op in sheet.ops}
    if any(kind.kind in WRITING and kind.value in made for kind in kinds):
        change = changed(sheet, New(sheet.ops, sheet.result, inplace=True))
        if ".add_(" in change.patches[0].text or re.search(r"\.\w+_\(", change.patches[0].text):
            yield Edit("in_place", "", (), "writes over results that are not needed any more", lines_of(sheet), change)


def channels_last(unit: Unit) -> Iterable[Edit]:
    """Give 2-D convolutions their input with channels last, and store their weights in that order in the
    constructor."""
    sheet = read(unit.text)
    if sheet is None or f"self.to({_LAST})" in unit.text:
        return
    kinds = [known(sheet, op) for op in sheet.ops]
    at = next((at for at, kind in enumerate(kinds) if kind is not None and kind.kind == "Conv2d"), None)
    init = method(sheet.cls, "__init__")
    if at is None or init is None or value_named(sheet.result) is None:
        return
    op, kind = sheet.ops[at], kinds[at]
    if kind is None or kind.value is None:
        return
    fresh = max(one.value for one in sheet.ops) + 1
    turned = ast.parse(f"_v{kind.value}.contiguous({_LAST})", mode="eval").body
    ops = [*sheet.ops[:at], Op(fresh, turned), Op(op.value, replaced(op.expr, {kind.value: ast.Name(f"_v{fresh}")}))]
    result = ast.parse(f"{ast.unparse(sheet.result)}.contiguous()", mode="eval").body
    ops += [*sheet.ops[at + 1 :], Op(fresh + 1, result)]
    change = changed(sheet, New(ops, ast.Name(f"_v{fresh + 1}")))
    last = init.body[-1]
    assert last.end_lineno is not None
    end = _line_end(unit.text, last.end_lineno)
    line = f"\n{' ' * last.col_offset}self.to({_LAST})"
    whole = Change((*change.patches, Patch(end, end, line)))
    yield Edit("channels_last", "", (), "keeps the channels of convolutions last in memory", lines_of(sheet), whole)


def inference_mode(unit: Unit) -> Iterable[Edit]:
    """Run forward under ``torch.inference_mode()``, which does not track views and versions."""
    tree = _tree(unit.text)
    cls = class_of(tree) if tree is not None else None
    forward = method(cls, "forward") if cls is not None else None
    if forward is None or forward.decorator_list or "import torch\n" not in unit.text:
        return
    start = _line_end(unit.text, forward.lineno - 1) + 1 if forward.lineno > 1 else 0
    patch = Patch(start, start, f"{' ' * forward.col_offset}@torch.inference_mode()\n")
    lines = ((forward.lineno, forward.lineno),)
    yield Edit("inference_mode", "", (), f"runs forward of {CLASS} in inference mode", lines, Change((patch,)))


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _line_end(text: str, line: int) -> int:
    """The offset of the end of a line (1-based), its line break not counted."""
    lines = text.split("\n")
    return sum(len(encode(one)) + 1 for one in lines[:line]) - 1
