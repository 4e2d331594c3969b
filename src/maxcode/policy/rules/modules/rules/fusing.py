"""Elementwise operations, in C++, in one pass over memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.modules.maps import Group, call_of, groups, native
from maxcode.policy.rules.modules.operations import NATIVE
from maxcode.policy.rules.modules.sheet import Op, Sheet, read
from maxcode.policy.rules.modules.writing import New, changed


def fuse(unit: Unit) -> Iterable[Edit]:
    """Do a chain of elementwise operations (activations, clamps, sums and products with numbers, biases or residuals)
    in C++, in one pass, over the memory of its operand if that is not needed later.

    A single operation is fused only if it costs more than the pass over memory (gelu, tanh, mish, ...).
    """
    sheet = read(unit.text)
    if sheet is None:
        return
    found = [group for group in groups(sheet) if len(group.members) > 1 or group.heavy]
    if len(found) > 1:
        yield _edit(sheet, "everything", found)
    for number, group in enumerate(reversed(found), 1):
        yield _edit(sheet, f"{group.names}#{number}", [group])


def _edit(sheet: Sheet, site: str, found: Sequence[Group]) -> Edit:
    names = fresh_names(sheet.text, "map", len(found))
    natives = {name: native(group, name) for name, group in zip(names, found, strict=True)}
    ops = list(sheet.ops)
    for name, group in zip(names, found, strict=True):
        ops = replaced_by(ops, set(group.members), group.result, call_of(group, name))
    told = "; ".join(group.names for group in found)
    change = changed(sheet, New(ops, sheet.result, natives))
    return Edit("fuse", site, (), f"does {told} in one pass, in C++", lines_of(sheet), change)


def replaced_by(ops: Sequence[Op], members: set[int], result: int, call: ast.expr) -> list[Op]:
    """The operations with several replaced by one, at the place of the last of them."""
    return [
        Op(result, call) if op.value == result else op for op in ops if op.value == result or op.value not in members
    ]


def fresh_names(text: str, kind: str, count: int) -> list[str]:
    """Names for native functions that the text does not use yet."""
    taken = set(re.findall(rf"\b{NATIVE}{kind}_(\d+)\b", text))
    free = (str(number) for number in range(1, 10_000) if str(number) not in taken)
    return [f"{NATIVE}{kind}_{next(free)}" for _ in range(count)]


def lines_of(sheet: Sheet) -> tuple[tuple[int, int], ...]:
    """The lines of forward."""
    return ((sheet.forward.lineno, sheet.forward.end_lineno or sheet.forward.lineno),)
