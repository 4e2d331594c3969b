"""The module-level numbers of a KernelBench file, read and replaced.

A number is found by its name (``N = 2048``, ``N = 1024 * 2``), also in an unpacked tuple (``height, width = 32, 32``).
A number in a tuple with its own name is found by its place: ``input_shape[0]`` of ``input_shape = (32768,)``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import final

from maxcode.errors import InputError, unknown

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


@final
@dataclass(frozen=True, slots=True)
class _Number:
    """A whole number and its node in the tree."""

    value: int
    node: ast.expr


def constants_of(text: str) -> dict[str, int]:
    """The module-level whole numbers by name, in order.  InputError if the file does not parse."""
    return {name: found.value for name, found in _assigned(parsed(text)).items()}


def replaced(text: str, constants: Mapping[str, int]) -> str:
    """The file with these constants.  InputError, with the nearest spelling, for a name that it does not define."""
    found = _assigned(parsed(text))
    for name in constants:
        if name not in found:
            raise unknown("constant", name, found)
    lines = text.encode().splitlines(keepends=True)  # in bytes, as `ast` counts lines; in a text \f ends one too
    chosen = [(found[name].node, value) for name, value in constants.items()]
    for node, value in sorted(chosen, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        assert node.end_lineno is not None and node.end_col_offset is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        tail = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + str(value).encode() + tail]
    return b"".join(lines).decode()


def parsed(text: str) -> ast.Module:
    """The file as a tree.  InputError if it is not Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise InputError(f"the reference is not Python: line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"the reference cannot be read as Python: {error or 'it is nested too deep'}") from error


def _assigned(tree: ast.Module) -> dict[str, _Number]:
    """Numbers by name: for a name with two numbers the last, for a number with two names the first."""
    found: dict[str, _Number] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            found |= dict(_numbers(node.targets[0], node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found |= dict(_numbers(node.target, node.value))
    return found


def _numbers(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, _Number]]:
    if isinstance(value, ast.Tuple | ast.List):
        together = isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts)
        for place, element in enumerate(value.elts):
            if isinstance(target, ast.Tuple) and together:
                yield from _numbers(target.elts[place], element)
            elif isinstance(target, ast.Name) and (number := _value(element)) is not None:
                yield f"{target.id}[{place}]", _Number(number, element)
    elif isinstance(target, ast.Name) and (number := _value(value)) is not None:
        yield target.id, _Number(number, value)


def _value(node: ast.expr) -> int | None:
    """The value of an expression of whole numbers; None for any other expression."""
    match node:
        case ast.Constant(value=int(value)) if type(value) is int:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            below = _value(inner)
            return None if below is None else -below
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            sides = _value(left), _value(right)
            if sides[0] is None or sides[1] is None or (isinstance(op, ast.FloorDiv) and sides[1] == 0):
                return None
            return _OPERATIONS[type(op)](sides[0], sides[1])
    return None
