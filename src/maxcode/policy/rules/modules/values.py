"""The values that a KernelBench file shows without running it: its numbers, and the constructor's arguments."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
Known = Mapping[str, Any]


class UnknownValue(Exception):
    """The text alone does not give the value of an expression."""


def value_of(node: ast.expr, known: Known) -> Any:
    """The number, text, None, tuple or list of an expression, given the values of some names; raises
    ``UnknownValue``."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Attribute() if (name := ast.unparse(node)) in known:
            return known[name]
        case ast.Attribute() if ast.unparse(node) == "math.pi":
            return math.pi
        case ast.Call(func=ast.Attribute(), args=[arg], keywords=[]) if ast.unparse(node.func) == "math.sqrt":
            return _root(value_of(arg, known))
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            found = [one for item in elts for one in _items(item, known)]
            return tuple(found) if isinstance(node, ast.Tuple) else found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand, known)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _applied(_BINARY[type(op)], value_of(left, known), value_of(right, known))
    raise UnknownValue(ast.unparse(node))


def _applied(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    try:
        return function(left, right)
    except (TypeError, ArithmeticError) as error:
        raise UnknownValue(str(error)) from error


def _root(value: Any) -> float:
    if type(value) not in (int, float) or value < 0:
        raise UnknownValue(f"the root of {value!r}")
    return math.sqrt(value)


def _items(node: ast.expr, known: Known) -> Iterable[Any]:
    if isinstance(node, ast.Starred):
        found = value_of(node.value, known)
        if not isinstance(found, (tuple, list)):
            raise UnknownValue(ast.unparse(node))
        return found
    return [value_of(node, known)]


def constants(tree: ast.Module) -> dict[str, Any]:
    """The values of the names that the module assigns at its top level; the last assignment counts."""
    found: dict[str, Any] = {}
    for name, node in (pair for one in tree.body if isinstance(one, ast.Assign) for pair in _pairs(one)):
        try:
            found[name] = value_of(node, found)
        except UnknownValue:
            found.pop(name, None)
    return found


def _pairs(node: ast.Assign) -> Iterable[tuple[str, ast.expr]]:
    """The expression assigned to each name: ``a = b = 1`` and ``a, b = 1, 2`` too."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            parts = zip(target.elts, node.value.elts, strict=False)
            yield from ((one.id, value) for one, value in parts if isinstance(one, ast.Name))


def returned(tree: ast.Module, name: str) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """The elements of the list that a function without arguments returns, and its plain local assignments."""
    found = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)
    if found is None or not isinstance(found.body[-1], ast.Return):
        return [], {}
    result = found.body[-1].value
    local = {
        node.targets[0].id: node.value
        for node in found.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return (list(result.elts) if isinstance(result, (ast.List, ast.Tuple)) else []), local


def constructor(tree: ast.Module, init: ast.FunctionDef | None) -> dict[str, Any]:
    """The constants, updated with the arguments that ``get_init_inputs`` gives the constructor."""
    known = constants(tree)
    if init is None:
        return known
    names = [one.arg for one in init.args.args[1:]]
    defaults = init.args.defaults
    given, _ = returned(tree, "get_init_inputs")
    for name in names:
        known.pop(name, None)
    pairs = [*zip(names[len(names) - len(defaults) :], defaults, strict=True), *zip(names, given, strict=False)]
    for name, node in pairs:
        try:
            known[name] = value_of(node, constants(tree))
        except UnknownValue:
            known.pop(name, None)
    return known
