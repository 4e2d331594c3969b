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

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of

ALLOCATES = "malloc|calloc|aligned_alloc"
_NEW = re.compile(rf"(?:std)?(?:::)?(?:{ALLOCATES})")
_NUMBER = re.compile(
    r"(?:(?:const|unsigned|signed|int|long|short|char|bool|_Bool|double|float|size_t|ptrdiff_t|u?int\d+_t) ?)+"
)
_NOT_READ = ("new_expression", "sizeof_expression", "type_descriptor", "template_argument_list")
_NAMES = ("identifier", "qualified_identifier")

Object = tuple[str, ...]  # a variable and the members on the way to a part of it; () for ``*this``


def is_given_one_array_twice(unit: Unit, function: Function) -> bool:
    """Whether a call of the program gives a function one array under two names, of which it may write to one."""
    pointers = [(at, one.const) for at, one in enumerate(function.parameters) if one.kind == "pointer"]
    pairs = [(a, b) for (a, reads_a), (b, reads_b) in combinations(pointers, 2) if not (reads_a and reads_b)]
    for _, _, given in unit.calls(function.name) if pairs else ():
        objects = [_objects(unit, one) for one in given]
        if any(_meet(one, other) for a, b in pairs if b < len(given) for one in objects[a] for other in objects[b]):
            return True
    return False


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
        number = form in ("value", "plain") and is_number(unit, kind)
        yield name, "pointer" if form in ("pointer", "array") else "number" if number else ""


def is_number(unit: Unit, kind: str) -> bool:
    """Whether a type is one of numbers."""
    return _NUMBER.fullmatch(unit.resolve(kind)) is not None
