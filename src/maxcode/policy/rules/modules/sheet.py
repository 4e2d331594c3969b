"""A module file as the rules see it: layers, numbers, parameters, and forward as one operation a line.

``read`` returns None for a forward that is not a straight line of assignments, or that writes to shared memory.  Then
only the rules that do not read forward are used.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, final

from maxcode.policy.rules.modules.values import UnknownValue, constants, constructor, returned, value_of

CLASS = "ModelNew"
IN_PLACE = "# in place: results that are not needed any more are written over"
_MAKERS = {"rand": 0, "randn": 0, "zeros": 0, "ones": 0, "empty": 0, "randint": 2}
_HARMLESS = {"requires_grad", "device"}  # keep shape and type
_NO_STATEMENT = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.IfExp, ast.BoolOp)
_NO_STATEMENT += (ast.Compare, ast.NamedExpr, ast.Await, ast.Yield, ast.JoinedStr, ast.Starred)  # type: ignore[assignment]


class Layer(NamedTuple):
    """``self.NAME = nn.KIND(...)``, with the arguments whose values are known; ``whole``: all of them are known."""

    kind: str
    args: tuple[Any, ...]
    keywords: Mapping[str, Any]
    whole: bool


class Op(NamedTuple):
    """One operation of forward: the number of the value it makes, and its expression, where ``_v3`` is a value."""

    value: int
    expr: ast.expr


@final
@dataclass(frozen=True)
class Sheet:
    """A module whose forward is a straight line.

    ``inputs``      the names of forward's arguments, whose values are numbered from 0
    ``shapes``      known shapes of the inputs
    ``floats``      inputs known to hold floats
    ``known``       values of names and of ``self.NAME``, as far as the text gives them
    ``parameters``  the shapes of ``self.NAME = nn.Parameter(...)``
    ``result``      the returned expression in values
    """

    text: str
    tree: ast.Module
    cls: ast.ClassDef
    forward: ast.FunctionDef
    known: Mapping[str, Any]
    layers: Mapping[str, Layer]
    parameters: Mapping[str, tuple[int, ...] | None]
    inputs: tuple[str, ...]
    shapes: Mapping[int, tuple[int, ...]]
    floats: frozenset[int]
    inplace: bool = False
    ops: tuple[Op, ...] = ()
    result: ast.expr = field(default_factory=lambda: ast.Constant(None))

    def value(self, node: ast.expr) -> Any:
        """The plain value of an expression; raises ``UnknownValue``."""
        return value_of(node, self.known)

    def op(self, value: int | None) -> Op | None:
        """The operation that makes a value; None for an input, and for what is no value."""
        return next((op for op in self.ops if op.value == value), None)

    def uses(self, value: int) -> int:
        """How often operations and the result use a value."""
        return sum(values_in(op.expr).count(value) for op in self.ops) + values_in(self.result).count(value)


class Unreadable(Exception):
    """Forward is not a straight line of operations without side effects."""


def values_in(node: ast.expr) -> list[int]:
    """The values that an expression uses, in order, with repeats."""
    return [int(one.id[2:]) for one in walk_values(node)]


def name_of(value: int) -> ast.Name:
    """A value as an expression."""
    return ast.Name(f"_v{value}", ast.Load())


def value_named(node: ast.expr) -> int | None:
    """The value, if an expression is a value and nothing else."""
    return int(node.id[2:]) if isinstance(node, ast.Name) and node.id.startswith("_v") else None


@lru_cache(maxsize=32)
def read(text: str) -> Sheet | None:
    """The sheet of a candidate's text; None if its forward cannot be read."""
    try:
        return _sheet(text, ast.parse(text))
    except (SyntaxError, ValueError, Unreadable, RecursionError, MemoryError):
        return None


def class_of(tree: ast.Module) -> ast.ClassDef | None:
    """The class ``ModelNew``."""
    return next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == CLASS), None)


def method(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _sheet(text: str, tree: ast.Module) -> Sheet:
    cls = class_of(tree)
    forward = method(cls, "forward") if cls is not None else None
    if cls is None or forward is None or forward.args.vararg or forward.args.kwonlyargs or forward.args.kwarg:
        raise Unreadable
    init = method(cls, "__init__")
    known = constructor(tree, init)
    attributes = _attributes(init)
    layers = {name: layer for name, node in attributes.items() if (layer := _layer(node, known)) is not None}
    parameters = {name: _parameter(node, known) for name, node in attributes.items() if _is_parameter(node)}
    numbers = {f"self.{name}": _plain(node, known) for name, node in attributes.items()}
    outside = {**constants(tree), **{name: value for name, value in numbers.items() if value is not None}}
    names = tuple(one.arg for one in forward.args.args[1:])
    for name in names:
        outside.pop(name, None)
    shapes, floats = _inputs(tree, len(names))
    ours = IN_PLACE in (ast.get_source_segment(text, forward) or "")
    line = _Line(names, ours)
    result = line.read(forward)
    ops = tuple(line.ops)
    return Sheet(text, tree, cls, forward, outside, layers, parameters, names, shapes, floats, ours, ops, result)


# --------------------------------------------------------------------------------------------------- the constructor


def _attributes(init: ast.FunctionDef | None) -> dict[str, ast.expr]:
    """The attributes that the constructor assigns at its top level, exactly once each."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in ast.walk(init) if init is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                twice |= {target.attr} & found.keys()
                found[target.attr] = node.value  # type: ignore[attr-defined]
    return {name: node for name, node in found.items() if name not in twice}


def _layer(node: ast.expr, known: Mapping[str, Any]) -> Layer | None:
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith(("nn.", "torch.nn.")):
        return None
    kind = ast.unparse(node.func).split(".")[-1]
    args = [_plain(one, known) for one in node.args]
    keywords = {one.arg: _plain(one.value, known) for one in node.keywords if one.arg is not None}
    plain = [_is_plain(one, known) for one in (*node.args, *(one.value for one in node.keywords))]
    return None if kind == "Parameter" else Layer(kind, tuple(args), keywords, all(plain))


def _is_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("nn.Parameter", "torch.nn.Parameter")


def _parameter(node: ast.expr, known: Mapping[str, Any]) -> tuple[int, ...] | None:
    inside = node.args[0] if isinstance(node, ast.Call) and node.args else node
    while isinstance(inside, ast.BinOp):
        inside = inside.left if isinstance(inside.left, (ast.Call, ast.BinOp)) else inside.right
    return _made(inside, known)


def _made(node: ast.expr, known: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The shape of a tensor made by ``torch.rand`` and its like."""
    name = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
    if name not in _MAKERS or not isinstance(node, ast.Call) or {one.arg for one in node.keywords} - _HARMLESS:
        return None
    try:
        given = value_of(ast.Tuple(node.args[_MAKERS[name] :], ast.Load()), known)
    except UnknownValue:
        return None
    shape = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    return tuple(shape) if shape and all(isinstance(one, int) for one in shape) else None


def _plain(node: ast.expr, known: Mapping[str, Any]) -> Any:
    try:
        return value_of(node, known)
    except UnknownValue:
        return None


def _is_plain(node: ast.expr, known: Mapping[str, Any]) -> bool:
    try:
        value_of(node, known)
    except UnknownValue:
        return False
    return True


def _inputs(tree: ast.Module, count: int) -> tuple[dict[int, tuple[int, ...]], frozenset[int]]:
    """Shapes of the inputs by number, and the inputs that hold floats."""
    known = constants(tree)
    given, local = returned(tree, "get_inputs")
    nodes = [local.get(one.id, one) if isinstance(one, ast.Name) else one for one in given]
    shapes = {at: shape for at, node in enumerate(nodes[:count]) if (shape := _made(node, known)) is not None}
    return shapes, frozenset(at for at in shapes if "randint" not in ast.unparse(nodes[at]))


# ----------------------------------------------------------------------------------------------------------- forward


class _Line:
    """Reads the statements of forward into operations."""

    def __init__(self, names: tuple[str, ...], ours: bool) -> None:
        self._ours = ours
        self.ops: list[Op] = []
        self._next = len(names)
        self._named: dict[str, int] = {name: at for at, name in enumerate(names)}
        self._kept: dict[str, ast.expr] = {}  # names that are not values, such as self.weight

    def read(self, forward: ast.FunctionDef) -> ast.expr:
        """The returned expression, after all operations."""
        for node in forward.body[:-1]:
            self._statement(node)
        last = forward.body[-1]
        if not isinstance(last, ast.Return) or last.value is None:
            raise Unreadable
        if isinstance(last.value, (ast.Tuple, ast.List)):
            return self._parts(last.value)
        return self._flat(last.value)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found = self._flat(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found = self._flat(value)
            case _:
                raise Unreadable
        number = value_named(found)
        if number is None:
            self._kept[name] = found
            self._named.pop(name, None)
        else:
            self._named[name] = number
            self._kept.pop(name, None)

    def _flat(self, node: ast.expr) -> ast.expr:
        """The expression as a value, if it uses any; its parts become operations."""
        if isinstance(node, ast.Name):
            return name_of(self._named[node.id]) if node.id in self._named else self._kept.get(node.id, node)
        inside = self._parts(node)
        if not values_in(inside):
            return inside
        if isinstance(inside, (ast.Tuple, ast.List)):
            return inside
        if self._ours:
            inside = _functional(inside)
        _refuse_writing(inside)
        self.ops.append(Op(self._next, inside))
        self._next += 1
        return name_of(self._next - 1)

    def _parts(self, node: ast.expr) -> ast.expr:
        """The same expression with flat operands."""
        if isinstance(node, _NO_STATEMENT):
            if any(one.id in self._named for one in ast.walk(node) if isinstance(one, ast.Name)):
                raise Unreadable
            return node
        made = copy.copy(node)
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and name == "func"):
                setattr(made, name, self._flat(child))
            elif isinstance(child, list):
                setattr(made, name, [self._item(one) for one in child])
        if isinstance(node, ast.Call) and isinstance(made, ast.Call):
            made.func = self._function(node.func)
        return made

    def _item(self, node: Any) -> Any:
        if isinstance(node, ast.keyword):
            return ast.keyword(node.arg, self._flat(node.value))
        return self._flat(node) if isinstance(node, ast.expr) else node

    def _function(self, node: ast.expr) -> ast.expr:
        """The called function; a method keeps its object separate, ``_v1.relu``."""
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self._flat(node.value), node.attr, ast.Load())
        if isinstance(node, ast.Name) and (node.id in self._named or node.id in self._kept):
            raise Unreadable
        return node


def _functional(node: ast.expr) -> ast.expr:
    """An operation that we made write over its operand, changed back."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        return ast.Call(ast.Attribute(node.func.value, node.func.attr[:-1], ast.Load()), node.args, node.keywords)
    return node


def _refuse_writing(node: ast.expr) -> None:
    """Refuse operations that write to their operands, except our own."""
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        keywords = {one.arg: one.value for one in call.keywords}
        inplace = keywords.get("inplace", ast.Constant(False))
        if "out" in keywords or not (isinstance(inplace, ast.Constant) and inplace.value is False):
            raise Unreadable
        if name.endswith("_") and not name.endswith("__"):
            raise Unreadable


def walk_values(node: ast.expr) -> Iterator[ast.Name]:
    """The places of values in an expression."""
    return (one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id.startswith("_v"))
