"""Code that runs though no call names it: constructors, destructors, operators, and what variables hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function, Span, ancestor
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import classes, parameters_of_templates, shows
from maxcode.code.cpp.words import KEYWORDS
from maxcode.code.source import text_of, walk

_NAMES = ("identifier", "field_identifier")


@final
@dataclass(frozen=True, slots=True)
class Unnamed:
    """A constructor, a destructor or an operator.  ``own``: its variables, parameters and the members of its object."""

    span: Span
    own: frozenset[str]


@lru_cache(maxsize=8)
def unnamed(unit: Unit) -> tuple[Unnamed, ...]:
    """The constructors, destructors and operators of a program."""
    nodes = unit.nodes("function_definition") if unit.language == "cpp" else []
    return tuple(Unnamed((node.start_byte, node.end_byte), _own(unit, node)) for node in nodes if _runs_unnamed(node))


def _head(node: Node) -> str:
    """The name of a function with what stands around it, without its parameters."""
    declarator = node.child_by_field_name("declarator")
    return text_of(declarator).split("(")[0] if declarator is not None else ""


def _runs_unnamed(node: Node) -> bool:
    return node.child_by_field_name("type") is None or "operator" in _head(node)


def _own(unit: Unit, node: Node) -> frozenset[str]:
    around = ancestor(node, "struct_specifier", "class_specifier")
    owners = [around] if around is not None else classes(unit).get(re.sub(r"\W*::.*|.*\s", "", _head(node)), [])
    fields = [one for owner in owners for one in walk(owner) if one.type == "field_declaration"]
    fields = [one for one in fields if not any(text_of(child) == "static" for child in one.children)]
    found = {text_of(one) for field in fields for one in walk(field) if one.type == "field_identifier"}
    start, end = node.start_byte, node.end_byte
    found |= {v.name for v in unit.variables if start <= v.node.start_byte < end}
    given = (one for one in walk(node) if one.type.endswith("parameter_declaration"))
    return frozenset(found | {text_of(one) for part in given for one in walk(part) if one.type in _NAMES})


def shown_by(unit: Unit, calls: Iterable[str]) -> frozenset[str]:
    """The words in functions that return a reference or an address: it may be that of any of these."""
    found = (function for name in calls for function in unit.by_name.get(name, ()))
    return frozenset[str]().union(*(words_of(unit, one.name) for one in found if returns_address(unit, one)))


def returns_address(unit: Unit, function: Function) -> bool:
    """Whether a function returns a reference, a pointer or another view of an object."""
    made = function.node.child_by_field_name("declarator")
    return shows(unit, function.returns) or made != function.declarator


@lru_cache(maxsize=1 << 8)
def words_of(unit: Unit, name: str) -> frozenset[str]:
    """The words in a function of the program and in those that it names, and their names."""
    found, waiting = {name}, [name]
    while waiting:
        for function in unit.by_name.get(waiting.pop(), ()):
            inside = expanded(unit, function.body.start_byte, function.body.end_byte)
            more = {token.text for token in inside if token.is_word} - found
            waiting += sorted(more)
            found |= more
    return frozenset(found - KEYWORDS)


@lru_cache(maxsize=8)
def holders(unit: Unit) -> frozenset[str]:
    """The pointers to functions, and the members that hold functions, by name."""
    inner = (node.child_by_field_name("declarator") for node in unit.nodes("function_declarator"))
    named = [node for node in inner if node is not None and node.type == "parenthesized_declarator"]
    for node in unit.nodes("field_declaration"):
        kind = node.child_by_field_name("type")
        if kind is not None and "function<" in unit.resolve(text_of(kind)):
            named.append(node)
    return frozenset(text_of(one) for node in named for one in walk(node) if one.type in _NAMES)


def held(unit: Unit, name: str, offset: int) -> Node | str:
    """What runs if somebody calls a variable: a lambda, a function by its name, "" for what is no code, "?" for what
    the text does not tell."""
    given = unit.parameter(name, offset)
    if given is not None:
        kind = unit.resolve(given.type)
        unknown = "function<" in kind or kind == "auto" or kind in parameters_of_templates(unit)
        return "?" if unknown else ""
    known = unit.variable(name, offset)
    if known is None:
        return "?" if name in holders(unit) else ""
    if known.value is not None and known.value.type == "lambda_expression" and known.type == "auto":
        return known.value
    value = text_of(known.value).lstrip("& ") if known.value is not None else ""
    return value if value in unit.by_name else "?" if "function<" in unit.resolve(known.type) else ""
