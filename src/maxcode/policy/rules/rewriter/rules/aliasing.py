"""Whether two names may refer to the same storage; needed before a value is kept in a register or moved past a
store."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.declarations import parameter as parameter_of
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import ITERATORS, PURE, words
from maxcode.code.source import text_of, walk

_VIEWS = words(
    "auto __auto_type decltype typeof __typeof__ span mdspan string_view basic_string_view iterator const_iterator "
    "reverse_iterator shared_ptr reference_wrapper"
)
_COMPARES = (["<"], [">"], ["=="], ["!="], ["<="], [">="], ["("])


def untouched(unit: Unit, node: Node, start: int, end: int) -> bool:
    """Whether the object of an expression (also through pointers and references) is not written between two bytes."""
    reads = (effects(unit).of(node.start_byte, node.end_byte).words | walked(node)) - PURE
    given = _given_to_lambdas(node)
    indirect = [name for name in reads if name in given or _is_indirect(unit, name, start)]
    writes = effects(unit).of(start, end).writes
    objects = [name for name in writes if _declared_before(unit, name, start) or name in _made_of_views(unit)]
    known = [name for name in objects if not _is_own_number(unit, name, start)]
    views = [name for name in known if not _owns(unit, name, start)]
    shown = [name for name in reads - set(indirect) if views and _is_shown(unit, name, start)]
    pairs = [(name, other) for name in indirect for other in known] + [(a, b) for a in shown for b in views]
    return all(distinct(unit, name, other, start) for name, other in pairs)


def walked(node: Node) -> frozenset[str]:
    """The words of the ranges whose elements a node names by reference: ``v`` of ``for (auto& row : v)`` around it."""
    names = {text_of(inner) for inner in walk(node) if inner.type == "identifier"}
    found: set[str] = set()
    around = node.parent
    while around is not None:
        declarator, whole = around.child_by_field_name("declarator"), around.child_by_field_name("right")
        if around.type == "for_range_loop" and declarator is not None and whole is not None and whole != node:
            bound = {text_of(inner) for inner in walk(declarator) if inner.type == "identifier"}
            if declarator.type == "reference_declarator" and bound & (names | found):
                found |= {text_of(inner) for inner in walk(whole) if inner.type == "identifier"}
        around = around.parent
    return frozenset(found)


def _given_to_lambdas(node: Node) -> frozenset[str]:
    """The names of the parameters of the lambdas around a node that may be references or pointers."""
    found: set[str] = set()
    around = node.parent
    while around is not None:
        head = around.child_by_field_name("declarator") if around.type == "lambda_expression" else None
        listed = head.child_by_field_name("parameters") if head is not None else None
        given = [parameter_of(child) for child in listed.named_children if child.type != "comment"] if listed else []
        found |= {one.name for one in given if one.kind != "value"}
        around = around.parent
    return frozenset(found)


def _is_indirect(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name stands for an object that may have another name, or shows one."""
    return _declared_before(unit, name, offset) and not _owns(unit, name, offset)


def _is_own_number(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name is a number of the function itself that has no other name."""
    variable = unit.variable(name, offset)
    local = variable is not None and variable.home is not None and variable.form == "plain"
    return variable is not None and local and unit.is_number(variable.type) and not _is_shown(unit, name, offset)


def _is_shown(unit: Unit, name: str, offset: int) -> bool:
    """Whether a variable may have a second name: a reference or a pointer to it is made, or it is passed on."""
    variable, home = unit.variable(name, offset), unit.home(offset)
    if variable is None and unit.parameter(name, offset) is None:
        return False
    scope = variable.scope if variable is not None else (home.node.start_byte, home.node.end_byte) if home else (0, 0)
    texts = [token.text for token in unit.tokens_in(*scope)]
    number = variable is None or (variable.form == "plain" and unit.is_number(variable.type))
    for k in (k for k, text in enumerate(texts) if text == name):
        before, after = texts[k - 1] if k else "", texts[k + 1] if k + 1 < len(texts) else ""
        start = next((j for j in range(k, -1, -1) if texts[j] in (";", "{", "}")), -1) + 1
        bound = any(texts[j] in ("&", "&&", "*") and texts[j + 2] in ("=", ":") for j in range(start, k - 2))
        taken = before == "&" and texts[k - 2] in ("(", ",", "=", "return", "{")
        kept = before in ("=", "return") and not number and after != "[" and (after != "." or texts[k + 2] in ITERATORS)
        kept_inside = variable is not None and (variable.home is None or bool(_showing(unit)))
        given = kept_inside and before in ("(", ",", "{") and after in (")", ",", "}")
        if taken or bound or kept or (given and (not number or _takes_numbers(unit))):
            return True
    return False


def _takes_numbers(unit: Unit) -> bool:
    """Whether a function of the program takes a number by reference."""
    given = [parameter for function in unit.functions for parameter in function.parameters]
    return any(one.kind == "reference" and not one.const and unit.is_number(one.type) for one in given)


def _declared_before(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name has a meaning already at a byte, so that it may refer to the same object as another."""
    return unit.variable(name, offset) is not None or unit.parameter(name, offset) is not None


def distinct(unit: Unit, first: str, second: str, offset: int) -> bool:
    """Whether two names at a byte certainly refer to different storage."""
    owns = [_owns(unit, name, offset) for name in (first, second)]
    home = unit.home(offset)
    given = [unit.parameter(name, offset) for name in (first, second)]
    local = [_is_local(unit, name, offset) for name in (first, second)]
    if all(owns) or (local[0] and given[1] is not None) or (local[1] and given[0] is not None):
        return True
    if home is None:
        return False
    if any(parameter is None and not own for parameter, own in zip(given, owns, strict=True)):
        return False
    names = [name if own else None for name, own in zip((first, second), owns, strict=True)]
    return _arguments_differ(unit, home, [p.name if p is not None else None for p in given], names)


def _is_local(unit: Unit, name: str, offset: int) -> bool:
    """Whether a variable was declared in the function itself, so that no parameter can refer to it."""
    variable = unit.variable(name, offset)
    return _owns(unit, name, offset) and variable is not None and variable.home is not None


def _owns(unit: Unit, name: str, offset: int) -> bool:
    """Whether a variable holds its own elements: an array, a container by value, or newly allocated memory."""
    variable, parameter = unit.variable(name, offset), unit.parameter(name, offset)
    if parameter is not None:
        return parameter.kind == "value" and not _is_view(unit, parameter.type)
    if variable is None or variable.form == "reference":
        return False
    if variable.form != "pointer":
        return not _is_view(unit, unit.made(variable))
    value = text_of(variable.value) if variable.value is not None else ""
    fresh = re.match(r'"|(?:\([^()]*\))?\s*(?:std::)?(?:malloc|calloc|aligned_alloc|new)\b', value)
    texts = [token.text for token in unit.tokens_in(*variable.scope)]
    assigned = sum(
        1 for k in range(len(texts) - 1) if texts[k] == name and texts[k + 1] in ("=", "++", "--", "+=", "-=")
    )
    return bool(fresh) and assigned == 1


def _is_view(unit: Unit, kind: str) -> bool:
    """Whether a value of a type may show elements of another object: a pointer, an iterator, a span, a type that the
    text does not name."""
    named = set(re.findall(r"\w+", unit.resolve(kind)))
    given = {text_of(node).split()[-1] for node in unit.nodes("type_parameter_declaration")}
    own = not named.isdisjoint(_showing(unit) | (classes(unit) if _has_operators(unit) else frozenset()))
    return "*" in unit.resolve(kind) or own or not named.isdisjoint(given | _VIEWS)


@lru_cache(maxsize=8)
def classes(unit: Unit) -> frozenset[str]:
    """The classes of the program."""
    named = (node.child_by_field_name("name") for node in unit.nodes("struct_specifier", "class_specifier"))
    return frozenset(text_of(name) for name in named if name is not None)


@lru_cache(maxsize=8)
def _has_operators(unit: Unit) -> bool:
    """Whether a class of the program may have an operator that does more than to compare two values."""
    texts = [token.text for token in unit.tokens]
    made = [(texts[k - 1], texts[k + 1 : k + 2]) for k, text in enumerate(texts) if text == "operator"]
    return "operator" in unit.shared or any(before != "bool" or after not in _COMPARES for before, after in made)


@lru_cache(maxsize=8)
def _showing(unit: Unit) -> frozenset[str]:
    """The classes of the program that have a pointer, a reference or a view in them."""
    held: dict[str, set[str]] = {}
    for node in unit.nodes("struct_specifier", "class_specifier"):
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            continue
        for field in body.named_children if body is not None else ():
            if field.type == "field_declaration" and field.child_by_field_name("declarator") is not None:
                declarators = {child.type for child in field.children_by_field_name("declarator")}
                marks = {"*"} if declarators & {"pointer_declarator", "reference_declarator"} else set()
                kind = field.child_by_field_name("type")
                held.setdefault(text_of(name), set()).update(
                    marks | set(re.findall(r"\w+|\*", unit.resolve(text_of(kind)) if kind is not None else ""))
                )
        bases = [text_of(child) for child in node.children if child.type == "base_class_clause"]
        held.setdefault(text_of(name), set()).update(re.findall(r"\w+", " ".join(bases)))
    found = {name for name, parts in held.items() if not parts.isdisjoint({"*"} | _VIEWS)}
    while more := {name for name, parts in held.items() if name not in found and parts & found}:
        found |= more
    return frozenset(found)


@lru_cache(maxsize=8)
def _made_of_views(unit: Unit) -> frozenset[str]:
    """The names in ``Shows name(...)``, which the grammar takes for functions."""
    kinds = "|".join(sorted(_showing(unit)))
    return frozenset(re.findall(rf"\b(?:{kinds})\s+(\w+)\s*\(", unit.text)) if kinds else frozenset()


def is_hidden(unit: Unit, body: Node, targets: Collection[str]) -> bool:
    """Whether a macro in a body stands for a use of an array that is written, or of what may be one."""
    shown = [token.text for token in unit.tokens_in(body.start_byte, body.end_byte)]
    whole = [token.text for token in expanded(unit, body.start_byte, body.end_byte)]
    hidden = any(_is_array(unit, name, body.start_byte) for name in set(whole) - set(shown))
    return hidden or any(shown.count(one) != whole.count(one) for one in targets)


def _is_array(unit: Unit, name: str, offset: int) -> bool:
    variable, parameter = unit.variable(name, offset), unit.parameter(name, offset)
    if parameter is not None:
        return parameter.kind != "value" or not unit.is_number(parameter.type)
    return variable is not None and (variable.form != "plain" or not unit.is_number(variable.type))


def stores_plainly(unit: Unit, array: str, offset: int) -> bool:
    """Whether to store an element of an array does no more: a map makes it, an operator may do anything."""
    kind = unit.type_of(array, offset) or ""
    own = _has_operators(unit) and not classes(unit).isdisjoint(re.findall(r"\w+", kind))
    return "map<" not in kind and not own


def _arguments_differ(unit: Unit, home: Function, given: list[str | None], owned: list[str | None]) -> bool:
    """Whether every call passes different variables for the two names, each with its own elements."""
    calls = unit.calls(home.name)
    mentions = sum(1 for token in unit.tokens if token.text == home.name)
    others = sum(1 for f in unit.functions if f.name == home.name) + _prototypes(unit, home.name)
    if home.method or not calls or mentions != len(calls) + others or others - _prototypes(unit, home.name) != 1:
        return False
    numbers = {parameter.name: k for k, parameter in enumerate(home.parameters)}
    for _, node, arguments in calls:
        passed: list[str] = []
        for parameter, own in zip(given, owned, strict=True):
            if parameter is None or own is not None:
                passed.append(own or "")
                continue
            if numbers[parameter] >= len(arguments):
                return False
            root = re.fullmatch(r"&?(\w+)((\[0\])*|\.data\(\))", text_of(arguments[numbers[parameter]]))
            if root is None or not _owns(unit, root[1], node.start_byte):
                return False
            passed.append(root[1])
        if passed[0] == passed[1]:
            return False
    return True


def _prototypes(unit: Unit, name: str) -> int:
    found = 0
    for node in unit.nodes("function_declarator"):
        declared = node.child_by_field_name("declarator")
        if declared is not None and text_of(declared) == name and node.parent is not None:
            found += node.parent.type == "declaration"
    return found
