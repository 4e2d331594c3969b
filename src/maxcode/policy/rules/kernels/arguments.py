"""Whether a call gives a function one array under two names.

Compared are paths to objects: ``c`` for ``&c[8]``, ``(double *)c + n`` and ``c.data()``; ``m.c`` for ``m->c[i]``.  Two
parts of one object count as one array, because nothing says where the first part ends.  Two variables count as two
arrays, unless their names are macros for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function, Variable
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of, walk

ALLOCATES = "malloc|calloc|aligned_alloc"
_NEW = re.compile(rf"(?:std)?(?:::)?(?:{ALLOCATES})")
_NOT_READ = ("new_expression", "sizeof_expression", "type_descriptor", "template_argument_list")
_NAMES = ("identifier", "qualified_identifier")

Object = tuple[str, ...]  # a variable and the members on the way to a part of it; () for ``*this``


def is_given_one_array_twice(unit: Unit, function: Function) -> bool:
    """Whether a call of the program gives a function one array under two names, of which it may write to one: as two
    arguments, or as one and a variable that it knows itself."""
    given = list(enumerate(function.parameters))
    shared = _shared(unit, function)
    if any(token.text == function.name for macro in unit.macros.values() for token in macro.body):
        return sum(_is_address(unit, function, at) for at, _ in given) > 1  # a macro may call it with anything
    if any(not (one.const and other.const) for (a, one), (b, other) in combinations(given, 2) if (a, b) in shared):
        return True
    used = {token.text for token in unit.tokens_in(function.body.start_byte, function.body.end_byte) if token.is_word}
    used -= {one.name for one in function.parameters}
    outside = {(one.name,) for one in unit.variables if one.home is None and one.name in used}
    return any(
        _meet(one, known)
        for call in _calls(unit, function)
        for at, passed in enumerate(call[: len(given)])
        if _is_address(unit, function, at)
        for one in passed
        for known in outside
    )


def _shared(unit: Unit, function: Function, seen: frozenset[str] = frozenset()) -> set[tuple[int, int]]:
    """The pairs of parameters through which a call gives a function parts of one object."""
    found: set[tuple[int, int]] = set()
    seen |= {function.name}
    pairs = list(combinations((at for at in range(len(function.parameters)) if _is_address(unit, function, at)), 2))
    for node, given in _calls_of(unit, function.name) if pairs else ():
        home = unit.home(node.start_byte)
        names = [one.name for one in home.parameters] if home is not None and home.name not in seen else []
        passed_on = _shared(unit, home, seen) if home is not None and names else set()
        same = {(names[a], names[b]) for a, b in passed_on}
        objects = [_sources(unit, one) for one in given]
        for a, b in pairs:
            both = [(one, other) for one in objects[a] for other in objects[b]] if b < len(given) else []
            roots = {(one[0], other[0]) for one, other in both if one and other}
            if any(_meet(*pair) for pair in both) or roots & same or {pair[::-1] for pair in roots} & same:
                found.add((a, b))
    return found


def _calls_of(unit: Unit, name: str) -> Iterator[tuple[Node, list[Node]]]:
    """The calls of a function with their arguments, also ``n::f(x)`` and ``f<double>(x)``."""
    for node in unit.nodes("call_expression"):
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is not None and given is not None:
            text = "".join(text_of(called).split()).partition("<")[0].rpartition("::")[2]
            if text == name:
                yield node, [one for one in given.named_children if one.type != "comment"]


def _is_address(unit: Unit, function: Function, at: int) -> bool:
    """Whether a parameter may name an object of the caller."""
    one = function.parameters[at]
    return one.kind != "value" or not unit.is_number(one.type)


def _calls(unit: Unit, function: Function) -> Iterator[list[set[Object]]]:
    """The objects of the arguments of each call."""
    for _, given in _calls_of(unit, function.name):
        yield [_sources(unit, one) for one in given]


def _sources(unit: Unit, node: Node, depth: int = 4) -> set[Object]:
    """The objects of an address, with those that its local variables were made to point into."""
    found = _objects(unit, node)
    for path in list(found) if depth else ():
        known = unit.variable(path[0], node.start_byte) if path else None
        if known is None or known.home is None or not _may_point(unit, known):
            continue
        values = [known.value] if known.value is not None else []
        for one in unit.nodes("assignment_expression"):
            left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if (
                left is not None
                and right is not None
                and text_of(left) == known.name
                and unit.home(one.start_byte) == known.home
            ):
                values.append(right)
        for value in values:
            if not any(map(_makes, walk(value))):
                found |= _sources(unit, value, depth - 1)
    return found


def _makes(node: Node) -> bool:
    """Whether a node is the call of a function, which may return new memory; methods return a part of their object."""
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    return node.type == "lambda_expression" or (called is not None and called.type != "field_expression")


def _may_point(unit: Unit, known: Variable) -> bool:
    """Whether a variable may be a name for a part of another: not so a copy of a vector."""
    kind = unit.resolve(known.type)
    plain = known.form == "plain" and not unit.is_number(kind) and (unit.language == "c" or "auto" in kind)
    return plain or known.form in ("pointer", "reference")


def _meet(one: Object, other: Object) -> bool:
    """Whether objects are the same, or one is a part of the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _objects(unit: Unit, node: Node) -> set[Object]:
    """The objects that an address may point into; none for new memory and for numbers."""
    if node.type in _NOT_READ:
        return set()
    if node.type in _NAMES and text_of(node) not in unit.macros:
        return {(text_of(node).rpartition("::")[2],)}
    if node.type in _NAMES:
        return _in_macro(unit, node)
    if node.type == "this":
        return {()}
    parts = {name: _objects(unit, one) for name in _PARTS.get(node.type, ()) if (one := node.child_by_field_name(name))}
    match node.type:
        case "call_expression":
            return _called(unit, node)
        case "field_expression" if (field := node.child_by_field_name("field")) and "union" not in unit.words:
            return {(*path, text_of(field)) for path in parts["argument"]}
        case "binary_expression":
            base = parts["left"] - _known(unit, "number")
            return base | (parts["right"] & _known(unit, "pointer")) if base else parts["right"]
    return set().union(*(parts.values() if parts else (_objects(unit, one) for one in node.named_children)))


_PARTS = {
    "field_expression": ("argument",),
    "subscript_expression": ("argument",),
    "binary_expression": ("left", "right"),
    "conditional_expression": ("consequence", "alternative"),
}


def _called(unit: Unit, node: Node) -> set[Object]:
    """The objects of a call: that of a method, those that a function is given, or the function's own."""
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = text_of(called).replace(" ", "") if called is not None else ""
    if called is None or given is None or _NEW.fullmatch(name):
        return set()
    if name in unit.macros:
        return _in_macro(unit, node)
    passed = _objects(unit, given)
    if called.type == "field_expression" and (owner := called.child_by_field_name("argument")) is not None:
        return _objects(unit, owner) | (passed & _known(unit, "pointer"))
    return passed - _known(unit, "number") or {(name,)}


def _in_macro(unit: Unit, node: Node) -> set[Object]:
    words: set[Object] = {(one.text,) for one in expanded(unit, node.start_byte, node.end_byte) if one.is_word}
    return words - _known(unit, "number")


@lru_cache(maxsize=8)
def _known(unit: Unit, kind: str) -> frozenset[Object]:
    """The variables that are pointers or arrays by a declaration, or numbers by all of them."""
    found = [*_declared(unit)]
    pointers, others = ({name for name, known in found if known == one} for one in ("pointer", ""))
    numbers = {name for name, known in found if known == "number"} - pointers - others
    return frozenset((name,) for name in (pointers if kind == "pointer" else numbers))


def _declared(unit: Unit) -> Iterator[tuple[str, str]]:
    given = [(one.name, one.type, one.kind) for function in unit.functions for one in function.parameters]
    for name, kind, form in (*given, *((one.name, one.type, one.form) for one in unit.variables)):
        number = form in ("value", "plain") and unit.is_number(kind)
        yield name, "pointer" if form in ("pointer", "array") else "number" if number else ""
