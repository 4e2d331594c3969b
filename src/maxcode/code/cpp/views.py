"""Which types of a program may show elements of another object: pointers, iterators, spans, and classes with one."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of, walk

_VIEW = re.compile(
    r"[*&]|\b(?:auto|__auto_type|decltype|typeof|__typeof__|span|mdspan|\w*string_view|\w*iterator|shared_ptr"
    r"|reference_wrapper)\b|^unique_ptr\b"
)
_ONE_VIEW = re.compile(  # no container of views; the group is what a pointer points to
    r"(?:const )?(?:auto|__auto_type|([\w ]+)\*(?: ?const)?|span<[\w ]+>|\w*string_view|[\w:<>, ]+iterator)"
)
_FOREIGN = re.compile(  # the same in another file
    r"\btypedef\b[^;{}]*\*\s*(\w+)\s*;|\busing\s+(\w+)\s*=[^;]*[*&]\s*;|\b(?:struct|class)\s+(\w+)[^;{}]*\{[^}]*[*&]"
)
_COMPARES = (["<"], [">"], ["=="], ["!="], ["<="], [">="], ["("])


def shows(unit: Unit, kind: str) -> bool:
    """Whether a value of a type may show elements of another object; so may a type that the text does not name."""
    kind = unit.resolve(kind)
    return _VIEW.search(kind) is not None or not _showing(unit).isdisjoint(re.findall(r"\w+", kind))


def is_one_view(unit: Unit, kind: str) -> bool:
    """Whether a value of a resolved type shows the elements of one object and nothing behind them."""
    view = _ONE_VIEW.fullmatch(kind)
    return view is not None and (view[1] is None or not shows(unit, view[1]))


def takes_over(unit: Unit, function: Function, number: int, is_address: bool) -> bool:
    """Whether a function may change what its argument number ``number`` is, or shows.  ``is_address``: whether it shows
    another object, such as an iterator."""
    if number >= len(function.parameters):
        return True
    given = function.parameters[number]
    if given.kind != "value":
        return not given.const
    kind = unit.resolve(given.type)
    is_open = kind == "auto" or kind in parameters_of_templates(unit)  # of a template
    return is_address if is_open else shows(unit, kind) and re.search(r"\bconst\b|string_view", kind) is None


@lru_cache(maxsize=8)
def parameters_of_templates(unit: Unit) -> frozenset[str]:
    """The types that are parameters of templates."""
    return frozenset(text_of(node).split()[-1] for node in unit.nodes("type_parameter_declaration"))


@lru_cache(maxsize=8)
def _showing(unit: Unit) -> frozenset[str]:
    """The types by name that have a pointer, a reference or a view in them, or may: the parameters of templates."""
    held: dict[str, str] = {}
    for name, node in ((name, node) for name, nodes in classes(unit).items() for node in nodes):
        parts = [text_of(child) for child in node.children if child.type == "base_class_clause"]
        body = node.child_by_field_name("body")
        for field in body.named_children if body is not None else ():
            made, kind = field.children_by_field_name("declarator"), field.child_by_field_name("type")
            if field.type == "field_declaration" and made:
                parts += ["*" for one in made if one.type in ("pointer_declarator", "reference_declarator")]
                parts.append(unit.resolve(text_of(kind)) if kind is not None else "")
        held[name] = " ".join((held.get(name, ""), *parts))
    found = {name for name, text in held.items() if _VIEW.search(text)}
    while more := {name for name, text in held.items() if not found.isdisjoint(re.findall(r"\w+", text))} - found:
        found |= more
    return frozenset(
        found
        | parameters_of_templates(unit)
        | {word for text in unit.others for one in _FOREIGN.findall(text) for word in one if word}
    )


@lru_cache(maxsize=8)
def made_of_views(unit: Unit) -> frozenset[str]:
    """The names in ``Shows name(...)``, which the grammar takes for functions."""
    kinds = "|".join(sorted(_showing(unit)))
    return frozenset(re.findall(rf"\b(?:{kinds})\s+(\w+)\s*\(", unit.text)) if kinds else frozenset()


@lru_cache(maxsize=8)
def members(unit: Unit) -> tuple[frozenset[str], frozenset[str]]:
    """The members of the classes of the program, and those of them that may show elements of another object."""
    found, pointing = set[str](), set[str]()
    for field in unit.nodes("field_declaration"):
        kind = field.child_by_field_name("type")
        for made in field.children_by_field_name("declarator"):
            name = next((text_of(one) for one in walk(made) if one.type == "field_identifier"), "")
            marks = made.type in ("pointer_declarator", "reference_declarator")
            if made.type != "function_declarator" and kind is not None:
                found.add(name)
                pointing |= {name} if marks or shows(unit, text_of(kind)) else set()
    return frozenset(found), frozenset(pointing)


def copies(unit: Unit, left: Node, right: Node) -> bool:
    """Whether an assignment copies an object that holds no address into another such object."""
    if right.type != "identifier" or not _is_object(unit, right):
        return False
    field = left.child_by_field_name("field") if left.type == "field_expression" else None
    if field is None:
        return left.type == "identifier" and _is_object(unit, left)
    found, pointing = members(unit)
    return text_of(field) in found - pointing


def _is_object(unit: Unit, name: Node) -> bool:
    given, known = unit.parameter(text_of(name), name.start_byte), unit.variable(text_of(name), name.start_byte)
    if given is not None:
        return given.kind == "value" and not shows(unit, given.type)
    return known is not None and known.form == "plain" and not shows(unit, known.type)


@lru_cache(maxsize=8)
def classes(unit: Unit) -> dict[str, list[Node]]:
    """The classes of the program by name, where they are declared or defined."""
    found: dict[str, list[Node]] = defaultdict(list)
    for node in unit.nodes("struct_specifier", "class_specifier"):
        if (name := node.child_by_field_name("name")) is not None:
            found[text_of(name)].append(node)
    return found


@lru_cache(maxsize=1 << 8)
def has_operators(unit: Unit, kind: str) -> bool:
    """Whether a class of the program in a type may have an operator that does more than to compare two values."""
    if classes(unit).keys().isdisjoint(re.findall(r"\w+", kind)):
        return False
    texts = [token.text for token in unit.tokens]
    made = [(texts[k - 1], texts[k + 1 : k + 2]) for k, text in enumerate(texts) if text == "operator"]
    return "operator" in unit.shared or any(before != "bool" or after not in _COMPARES for before, after in made)
