"""The value of a constant expression of C, if the text alone gives it."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from maxcode.code.expressions import parsed

_SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8, "size_t": 8}
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*(?:unsigned\s+)?(char|short|int|float|long|double|size_t)\s*\)")
_CAST = re.compile(
    r"\(\s*(?:(?:const|unsigned|signed|long|int|short|char|s?size_t|u?int\d+_t|ptrdiff_t)\s*)+\)(?=\s*[\w(])"
)
_SUFFIX = re.compile(r"\b(0[xX][\da-fA-F]+|\d+)[uUlLzZ]+\b")
_OCTAL = re.compile(r"\b0(?=\d)")
_LONG = 400

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ast.Mod: lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    ast.LShift: lambda a, b: a << min(b, 62),
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def constant(text: str, names: Mapping[str, int]) -> int | None:
    """The value of a C expression of integers, ``names`` and ``sizeof``; None if it contains anything else."""
    if len(text) > _LONG or re.search(r"['\"?]|\*\*|//", text):
        return None
    text = _SIZEOF.sub(lambda match: str(_SIZES[match[1]]), text)
    text = _OCTAL.sub("0o", _SUFFIX.sub(r"\1", _CAST.sub("", text)))
    text = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    text = re.sub(r"!(?!\s*=)", " not ", text)
    try:
        return _value(parsed(text), names)
    except (SyntaxError, ValueError, ArithmeticError, KeyError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return int(value)
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.UnaryOp(op=op, operand=operand):
            inner = _value(operand, names)
            return {ast.USub: -inner, ast.UAdd: inner, ast.Invert: ~inner, ast.Not: int(not inner)}[type(op)]
        case ast.BoolOp(op=op, values=values):
            truths = [bool(_value(value, names)) for value in values]
            return int(all(truths) if isinstance(op, ast.And) else any(truths))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return int(_COMPARE[type(op)](_value(left, names), _value(right, names)))
    raise ValueError(ast.dump(node))
