"""Integer expressions over named sizes, for the extents and the work of a problem: ``2*m*n*k``.  Pure functions."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from maxcode.errors import InputError

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
}
_RUN_TOGETHER = re.compile(r"\b(?!0[xX][\da-fA-F]+\b|0[bB][01]+\b|0[oO][0-7]+\b|\d[\d_]*\b)\d\w*")


def parsed(expression: str) -> ast.expr:
    """Parses an expression as Python does; SyntaxError also for a number joined to a word (``64if``), which Python
    accepts with a warning on the terminal."""
    if (match := _RUN_TOGETHER.search(expression)) is not None:
        raise SyntaxError(f"`{match[0]}` is not a whole number")
    return ast.parse(expression.strip(), mode="eval").body


def value_of(expression: str, values: Mapping[str, int]) -> int:
    """The value of an expression of + - * / // and parentheses over integers and the names in ``values``.

    Both slashes divide as C does for positive numbers.  InputError for any other expression.
    """
    try:
        return _evaluate(parsed(expression), values)
    except (SyntaxError, ZeroDivisionError, RecursionError, MemoryError, _Unknown) as error:
        raise InputError(
            f"cannot compute '{expression}' from {', '.join(values)}: {error}; use + - * / and parentheses"
        ) from error


class _Unknown(Exception):
    """A part of an expression that is not allowed."""


def _evaluate(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, values), _evaluate(right, values))
    raise _Unknown(f"`{ast.unparse(node)}` is not a number or a size")
