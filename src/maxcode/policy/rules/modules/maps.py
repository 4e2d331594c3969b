"""Groups of elementwise operations, and the C++ that computes one in a single pass over memory."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from maxcode.code.cpp.words import words
from maxcode.policy.rules.modules import cpp
from maxcode.policy.rules.modules.operations import ELEMENTWISE, FRESH, Operation, is_number, known
from maxcode.policy.rules.modules.shapes import Shape, Shapes
from maxcode.policy.rules.modules.sheet import Sheet, value_named, values_in

FLAT_STEP = 8192  # elements of one piece of work of a thread, if all operands have the same shape


class Leaf(NamedTuple):
    """An operand from outside a group.

    ``full``    a tensor of the full shape
    ``row``     one value for each row
    ``col``     one value for each column of a row
    ``one``     a tensor with one value
    ``number``  a plain number

    ``cols``: elements of a row; ``period``: of row values.
    """

    written: str
    expr: ast.expr
    kind: str
    cols: int = 0
    period: int = 1

    @property
    def layout(self) -> tuple[str, int, int]:
        """How the operand is indexed."""
        return self.kind, self.cols, self.period


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Elementwise operations by value, in order; the result is that of the last one.  ``leaves``: the tensors, a full
    one first, then the numbers."""

    sheet: Sheet
    members: dict[int, Operation]
    leaves: tuple[Leaf, ...]

    @property
    def result(self) -> int:
        return max(self.members)

    @property
    def heavy(self) -> bool:
        """Whether an operation needs more than a few instructions."""
        return any(one.kind in HEAVY for one in self.members.values())

    @property
    def names(self) -> str:
        return " ".join(one.kind for one in self.members.values())

    @property
    def cols(self) -> int:
        return max((leaf.cols for leaf in self.leaves), default=0) or FLAT_STEP

    @property
    def period(self) -> int:
        return max((leaf.period for leaf in self.leaves), default=1)


HEAVY = words("sigmoid tanh silu mish gelu elu softplus exp softsign")


def supported(op: Operation | None) -> bool:
    """Whether an operation has a C++ form: an elementwise one whose parameters are known."""
    return op is not None and op.kind in ELEMENTWISE and expression(op, "x", "y") is not None


def expression(op: Operation, x: str, y: str) -> str | None:
    """The operation in C++; None if a parameter is not known or not supported."""
    values = op.values
    match op.kind:
        case "gelu":
            names = {"none": "gelu_", "tanh": "gelu_tanh_"}
            return f"{names[values['approximate']]}({x})" if values.get("approximate") in names else None
        case "softplus":
            return f"softplus_({x})" if (values.get("beta"), values.get("threshold")) == (1, 20) else None
        case "pow":
            powers = {2: f"({x} * {x})", 3: f"({x} * {x} * {x})"}
            return powers[values["exponent"]] if values.get("exponent") in powers else None
        case "clamp":
            return _clamped(x, values)
    try:
        return cpp.MAPS[op.kind].format(x=x, y=y, **{key: _literal(one) for key, one in values.items()})
    except (KeyError, TypeError):
        return None


def _clamped(x: str, values: Any) -> str | None:
    if set(values) != {"min", "max"} or not all(
        one is None or isinstance(one, (int, float)) for one in values.values()
    ):
        return None
    found = x if values["min"] is None else f"at_least({x}, {_literal(values['min'])})"
    return found if values["max"] is None else f"at_most({found}, {_literal(values['max'])})"


def _literal(value: Any) -> str:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError(value)
    return f"{float(value)!r}f"


# ------------------------------------------------------------------------------------------------------------- groups


def groups(sheet: Sheet) -> Iterator[Group]:
    """The largest groups of elementwise operations on floats, each value in one of them."""
    shapes = Shapes(sheet)
    taken: set[int] = set()
    for op in reversed(sheet.ops):
        if op.value not in taken and _eligible(sheet, shapes, op.value):
            members = _grown(sheet, shapes, op.value)
            taken |= set(members)
            ordered = {
                value: found for value in sorted(members) if (found := known(sheet, sheet.op(value))) is not None
            }
            leaves = _leaves(sheet, shapes, ordered)
            if leaves is not None:
                yield Group(sheet, ordered, leaves)


def operands(op: Operation) -> list[ast.expr]:
    """The operands of an elementwise operation: one or two expressions."""
    return [op.operand, *([op.other] if "other" in op.given else [])]


def _eligible(sheet: Sheet, shapes: Shapes, value: int) -> bool:
    op = known(sheet, sheet.op(value))
    if not supported(op) or value not in shapes.floats:
        return False
    assert op is not None
    shape = shapes.of.get(value)
    return all(leaf_of(sheet, shapes, node, shape, op) is not None for node in operands(op))


def _grown(sheet: Sheet, shapes: Shapes, value: int) -> set[int]:
    members = {value}
    while True:
        near = {
            one for member in members if (op := known(sheet, sheet.op(member))) is not None
            for node in operands(op) if (one := value_named(node)) is not None
        }  # fmt: skip
        more = {
            one for one in near - members
            if _eligible(sheet, shapes, one) and shapes.of.get(one) == shapes.of.get(value)
            and _users(sheet, one) <= members
        }  # fmt: skip
        if not more:
            return members
        members |= more


def _users(sheet: Sheet, value: int) -> set[int]:
    found = {op.value for op in sheet.ops if value in values_in(op.expr)}
    return found | ({-1} if value in values_in(sheet.result) else set())


def leaf_of(sheet: Sheet, shapes: Shapes, node: ast.expr, shape: Shape | None, op: Operation) -> Leaf | None:
    """The kind of an operand in a group whose result has ``shape``; None if it cannot be determined."""
    written = ast.unparse(node)
    if is_number(sheet, node):
        return Leaf(written, node, "number")
    value = value_named(node)
    if value is not None and value not in shapes.floats:
        return None
    tensors = [one for one in operands(op) if not is_number(sheet, one)]
    if value is not None and all(ast.unparse(one) == written for one in tensors):
        return Leaf(written, node, "full")
    own = shapes.operand(node)
    if own is None or shape is None:
        return None
    return _placed(written, node, own, shape)


def _placed(written: str, node: ast.expr, own: Shape, shape: Shape) -> Leaf | None:
    if own == shape:
        return Leaf(written, node, "full") if value_named(node) is not None else None
    if math.prod(own) == 1:
        return Leaf(written, node, "one")
    padded = (1,) * (len(shape) - len(own)) + own
    first = next(at for at, size in enumerate(padded) if size != 1)
    last = len(padded) - next(at for at, size in enumerate(padded[::-1]) if size != 1)
    if padded[first:last] != shape[first:last]:
        return None
    if last == len(shape):
        return Leaf(written, node, "col", math.prod(shape[first:]))
    return Leaf(written, node, "row", math.prod(shape[last:]), math.prod(padded))


def _leaves(sheet: Sheet, shapes: Shapes, members: dict[int, Operation]) -> tuple[Leaf, ...] | None:
    """The operands from outside; None if no single layout of rows fits them all."""
    found: dict[str, Leaf] = {}
    for op in members.values():
        for node in operands(op):
            if value_named(node) in members:
                continue
            leaf = leaf_of(sheet, shapes, node, shapes.of.get(max(members)), op)
            if leaf is None or found.get(leaf.written, leaf).layout != leaf.layout:
                return None
            found[leaf.written] = leaf
    tensors = [leaf for leaf in found.values() if leaf.kind != "number"]
    full = [leaf for leaf in tensors if leaf.kind == "full"]
    if not full or len({leaf.cols for leaf in tensors if leaf.cols}) > 1:
        return None
    if len({leaf.period for leaf in tensors if leaf.kind == "row"}) > 1:
        return None
    full.sort(key=lambda leaf: -_spent(sheet, leaf))
    rest = [leaf for leaf in tensors if leaf.kind != "full"]
    return (*full, *rest, *(leaf for leaf in found.values() if leaf.kind == "number"))


def _spent(sheet: Sheet, leaf: Leaf) -> bool:
    """Whether an operand may be overwritten: an operation made it, and only one uses it."""
    value = value_named(leaf.expr)
    op = known(sheet, sheet.op(value))
    return op is not None and op.kind in FRESH and value is not None and sheet.uses(value) == 1


# ---------------------------------------------------------------------------------------------------------------- C++


def steps(group: Group, names: dict[str, str], indent: str) -> tuple[str, str]:
    """The statements that compute the members from named operands, and the C++ of the result."""
    lines = []
    for value, op in group.members.items():
        given = [names.get(ast.unparse(node), ast.unparse(node)) for node in operands(op)]
        made = expression(op, given[0], given[-1])
        lines.append(f"{indent}const float _v{value} = {made};\n")
    return "".join(lines), f"_v{group.result}"


def native(group: Group, name: str) -> str:
    """The native function of a group."""
    tensors = [leaf for leaf in group.leaves if leaf.kind != "number"]
    numbers = [leaf for leaf in group.leaves if leaf.kind == "number"]
    read, row_values, names = [], [], {}
    for at, leaf in enumerate(tensors):
        names[leaf.written] = f"a{at}"
        if leaf.kind in ("row", "one"):
            place = "0" if leaf.kind == "one" else "row % period"
            row_values.append(f"        const float a{at} = x{at}[{place}];\n")
        else:
            read.append(f"            const float a{at} = x{at}[{'i' if leaf.kind == 'full' else 'j'}];\n")
    names |= {leaf.written: f"s{at}" for at, leaf in enumerate(numbers)}
    lines, result = steps(group, names, " " * 12)
    parameters = [f"const float *x{at}" for at in range(len(tensors))] + [f"float s{at}" for at in range(len(numbers))]
    source = cpp.MAP.format(
        parameters="".join(f"{one}, " for one in parameters), row_values="".join(row_values),
        steps="".join(read) + lines, result=result,
    )  # fmt: skip
    arguments = [f"x{at}" for at in range(len(tensors))] + [f"s{at}" for at in range(len(numbers))]
    given = [cpp.pointer(f"x{at}") for at in range(len(tensors))]
    given += [f"ctypes.c_float(s{at})" for at in range(len(numbers))]
    given += [cpp.pointer("y"), *cpp.longs(group.cols, group.period, "y.numel()")]
    body = [*_dense(tensors), "y = x0 if own else torch.empty_like(x0)"]
    return cpp.call(name, source, [*arguments, "own=False"], body, group.names, given)


def _dense(tensors: list[Leaf]) -> list[str]:
    """The Python that converts operands to the memory order that the loop reads."""
    if len(tensors) > 1:
        return [f"x{at} = x{at}.contiguous()" for at in range(len(tensors))]
    last = "x0.dim() == 4 and x0.is_contiguous(memory_format=torch.channels_last)"
    return [f"if not (x0.is_contiguous() or ({last})):", "    x0 = x0.contiguous()"]


def call_of(group: Group, name: str) -> ast.expr:
    """The call that replaces the last operation of a group."""
    return ast.Call(ast.Name(name, ast.Load()), [leaf.expr for leaf in group.leaves], [])
