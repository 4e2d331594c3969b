"""Finds the objects of the program that an address may point into, through the local names of a function.

A name with an address of its own (a pointer, a reference, an iterator) may point into all that is ever assigned to it,
whatever the order: the analysis of Andersen, inside one function.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import text_of, walk

ALLOCATES = "malloc|calloc|aligned_alloc"
_NEW = re.compile(rf"(?:std)?(?:::)?(?:{ALLOCATES})")
_NOT_READ = ("new_expression", "sizeof_expression", "type_descriptor", "template_argument_list")
_NAMES = ("identifier", "qualified_identifier")

_OWNER = re.compile(
    r"(?:vector|array|valarray|span|unique_ptr|basic_string)<(?:const )?(.+?)(?:\[\])?(?:,[\w ()*+-]+)?>|string"
)
_VIEW = re.compile(r"[*&]|\b(?:auto|span|mdspan|\w*string_view|\w*iterator|shared_ptr|reference_wrapper)\b")
_PASSING = words(
    "static_cast reinterpret_cast const_cast dynamic_cast bit_cast assume_aligned __builtin_assume_aligned addressof "
    "ref cref move forward begin cbegin end data next prev pair make_pair tuple make_tuple tie min max as_const launder"
)  # they return what they are given
_EXCHANGE = re.compile(r"(?:[\w ]+[ *]+)?(\w+) ?= ?(\w+) ?; ?\2 ?= ?(\w+) ?; ?\3 ?= ?\1 ?;")

Object = tuple[str, ...]  # a variable and the members on the way to a part of it; () for ``*this``


def sources(unit: Unit, node: Node, skipped: Collection[int] = ()) -> set[Object]:
    """The objects of an address, with those that its names were made to point into; ``skipped``: the starts of values
    that do not count."""
    return reached(unit, _objects(unit, node), node.start_byte, skipped)


def reached(unit: Unit, paths: Collection[Object], offset: int, skipped: Collection[int] = ()) -> set[Object]:
    """Objects at a byte, with those that their names were made to point into."""
    found, waiting = set[Object](), list(paths)
    while waiting:
        path = waiting.pop()
        if path and path not in found:
            for value in _values(unit, path, offset):
                if value.start_byte not in skipped and not any(_makes(unit, one) for one in walk(value)):
                    waiting += _objects(unit, value)
        found.add(path)
    return found


def _values(unit: Unit, path: Object, offset: int) -> Iterator[Node]:
    """What a name is made to point into in the function around a byte, or anywhere if it is one of the whole
    program."""
    known, home = unit.variable(path[0], offset), unit.home(offset)
    local = known is not None and known.home is not None
    if known is not None and _may_point(unit, known) and known.value is not None:
        yield known.value
    if local and len(path) == 1 and known is not None and not _may_point(unit, known):
        return
    for left, right in assignments(unit).get(path, ()):
        if unit.home(left.start_byte) == home or (known is not None and not local):
            yield right


@lru_cache(maxsize=8)
def assignments(unit: Unit) -> dict[Object, list[tuple[Node, Node]]]:
    """What names and their members are given: the node of the name and the value."""
    found: dict[Object, list[tuple[Node, Node]]] = defaultdict(list)
    for one in unit.nodes("assignment_expression"):
        left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
        if left is not None and right is not None and left.type in (*_NAMES, "field_expression"):
            for path in _objects(unit, left):
                found[path].append((left, right))
    for left, right in (*_bound(unit), *_filled(unit)):
        for name in (one for one in walk(left) if one.type == "identifier"):
            found[(text_of(name),)].append((left, right))
    return found


def _bound(unit: Unit) -> Iterator[tuple[Node, Node]]:
    """The names of ``for (auto &row : rows)`` and ``auto [x, y] = both``, with what they are parts of."""
    for one in unit.nodes("for_range_loop", "init_declarator"):
        left, right = one.child_by_field_name("declarator"), one.child_by_field_name("right")
        value = right or one.child_by_field_name("value")
        binds = left is not None and any(part.type == "structured_binding_declarator" for part in walk(left))
        if left is not None and value is not None and (right is not None or binds):
            yield left, value


def _filled(unit: Unit) -> Iterator[tuple[Node, Node]]:
    """The pointers whose addresses calls are given, ``set(&to, from)``, with what else they are given."""
    for one in unit.nodes("argument_list"):
        targets = [part for part in one.named_children if re.fullmatch(r"(?:\([\w *]+\) ?)?& ?\w+", text_of(part))]
        for left in targets:
            for right in one.named_children:
                if right not in targets and _objects(unit, right) - _known(unit, "number"):
                    yield left, right


def exchanges(unit: Unit, one: str, other: str, offset: int) -> frozenset[int]:
    """The starts of the values that two variables get when they change places, ``t = a; a = b; b = t``: this makes them
    no second name for one object, if they get no other value but new memory and where they are declared, together."""
    starts = _exchanges(unit).get(frozenset({one, other}), frozenset[int]())
    known = [unit.variable(name, offset) for name in (one, other)] if starts else []
    if not starts or len({None if variable is None else variable.scope[1] for variable in known}) > 1:
        return frozenset()
    home = None if any(variable is not None and variable.home is None for variable in known) else unit.home(offset)
    values = [
        right
        for name in (one, other)
        for left, right in assignments(unit).get((name,), ())
        if home is None or unit.home(left.start_byte) == home
    ]
    fresh = all(right.start_byte in starts or not _objects(unit, right) for right in values)
    return starts if fresh else frozenset()


@lru_cache(maxsize=8)
def _exchanges(unit: Unit) -> dict[frozenset[str], frozenset[int]]:
    found: dict[frozenset[str], frozenset[int]] = defaultdict(frozenset)
    for node in unit.nodes("expression_statement"):
        before, after = node.prev_named_sibling, node.next_named_sibling
        if before is None or after is None:
            continue
        made = _EXCHANGE.fullmatch(" ".join(" ".join(map(text_of, (before, node, after))).split()))
        if made is not None:
            rights = (one.child_by_field_name("right") for part in (node, after) for one in part.named_children)
            found[frozenset({made[2], made[3]})] |= {right.start_byte for right in rights if right is not None}
    return found


def _makes(unit: Unit, node: Node) -> bool:
    """Whether a node is the call of a function, which may return new memory; methods return a part of their object."""
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    if called is None or called.type == "field_expression":
        return node.type == "lambda_expression"
    name = "".join(text_of(called).split()).partition("<")[0].rpartition("::")[2]
    return name not in _PASSING and name not in _passing(unit)


@lru_cache(maxsize=8)
def _passing(unit: Unit) -> frozenset[str]:
    """The functions of the program that return a part of what they are given."""
    found = set[str]()
    for node in unit.nodes("return_statement"):
        home = unit.home(node.start_byte)
        if home is not None and {path[:1] for path in _objects(unit, node)} & {(one.name,) for one in home.parameters}:
            found.add(home.name)
    return frozenset(found)


def owns(unit: Unit, kind: str) -> bool:
    """Whether a type is a row of elements, each in memory of its own: not so the bits of a ``vector<bool>``."""
    if unit.language == "c":
        return True
    held = _OWNER.fullmatch(unit.resolve(kind))
    return held is not None and held[1] != "bool"


def _may_point(unit: Unit, known: Variable) -> bool:
    """Whether a variable may be a name for a part of another: not so a copy of a vector."""
    if known.form != "plain":
        return known.form in ("pointer", "reference")
    kind = unit.made(known)
    if unit.language == "c":
        return not unit.is_number(kind)
    return _VIEW.search(kind) is not None or not _pointing(unit).isdisjoint(re.findall(r"\w+", kind))


@lru_cache(maxsize=8)
def _pointing(unit: Unit) -> frozenset[str]:
    """The classes of the program with a member that is an address."""
    found = set[str]()
    for node in unit.nodes("struct_specifier", "class_specifier"):
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        members = [one for one in body.named_children if one.type == "field_declaration"] if body is not None else []
        if name is not None and any(
            re.search(r"[*&]|\b(?:auto|\w*span|\w*iterator)\b", text_of(one)) for one in members
        ):
            found.add(text_of(name))
    return frozenset(found)


def meet(one: Object, other: Object) -> bool:
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
    named: set[Object] = {(one.text,) for one in expanded(unit, node.start_byte, node.end_byte) if one.is_word}
    return named - _known(unit, "number")


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
