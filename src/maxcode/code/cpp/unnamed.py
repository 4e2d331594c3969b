"""Code that runs though no call names it: constructors, destructors, operators, and what variables hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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

_HOLDS = re.compile(r"function<|\(\*\)")
_BEHIND = frozenset({"const", "noexcept", "override", "final", "try", "requires"})
_MAKERS = frozenset({"bind", "bind_front", "bind_back", "not_fn", "mem_fn", "ref"})
_NO_HEAD = frozenset({".", "->", "new", "return", ":", ","})  # in front of a name that is no function's
_WITH_VALUES = ("optional_parameter_declaration", "field_declaration")
_NAMES = ("identifier", "field_identifier")


@final
@dataclass(frozen=True, slots=True)
class Unnamed:
    """A constructor, a destructor, an operator, or a value.  ``own``: its variables, parameters and the members of its
    object."""

    span: Span
    own: frozenset[str]


@lru_cache(maxsize=8)
def unnamed(unit: Unit) -> tuple[Unnamed, ...]:
    """The constructors, destructors and operators of a program, and the values that parameters and members have if none
    is given."""
    if unit.language != "cpp":
        return ()
    functions = [node for node in unit.nodes("function_definition") if _runs_unnamed(node)]
    given = (one.child_by_field_name("default_value") for one in unit.nodes(*_WITH_VALUES))
    values = [one for one in given if one is not None and "(" in text_of(one)]
    found = [Unnamed((node.start_byte, node.end_byte), _own(unit, node)) for node in functions]
    return (*found, *(Unnamed((one.start_byte, one.end_byte), frozenset()) for one in values))


def _head(node: Node) -> str:
    """The name of a function with what stands around it, without its parameters."""
    declarator = node.child_by_field_name("declarator")
    return text_of(declarator).split("(")[0] if declarator is not None else ""


def _runs_unnamed(node: Node) -> bool:
    return node.child_by_field_name("type") is None or "operator" in _head(node)


def _own(unit: Unit, node: Node) -> frozenset[str]:
    around = ancestor(node, "struct_specifier", "class_specifier")
    owners = [around] if around is not None else classes(unit).get(re.sub(r"\W*::.*|.*\s", "", _head(node)), [])
    fields = (one for owner in owners for one in walk(owner) if one.type == "field_declaration")
    found = _members(one for one in fields if not _is_static(one))
    start, end = node.start_byte, node.end_byte
    found |= {v.name for v in unit.variables if start <= v.node.start_byte < end}
    given = [one for one in walk(node) if one.type.endswith("parameter_declaration")]
    bound = (one.child_by_field_name("declarator") for one in walk(node) if one.type == "for_range_loop")
    parts = [*given, *(one for one in bound if one is not None)]
    return frozenset(found | {text_of(one) for part in parts for one in walk(part) if one.type in _NAMES})


def hands_on_this(texts: Sequence[str]) -> bool:
    """Whether tokens give the object of a method to others: ``f(*this)``, ``*this += 1``."""
    for k, text in enumerate(texts):
        if text != "this" or texts[k + 1 : k + 2] in (["->"], ["]"], ["=="], ["!="]):
            continue
        before, around = texts[max(0, k - 2) : k], texts[max(0, k - 2) : k + 3]
        is_member = around == ["(", "*", "this", ")", "."]
        if not (is_member or before[-1:] in (["["], ["return"], ["=="], ["!="]) or before == ["return", "*"]):
            return True
    return False


@lru_cache(maxsize=8)
def lasting(unit: Unit) -> frozenset[str]:
    """The variables of the program that last, and the static members of its classes, by name."""
    members = _members(one for one in unit.nodes("field_declaration") if _is_static(one))
    return frozenset(members | {v.name for v in unit.variables if v.lasts})


def _is_static(field: Node) -> bool:
    return any(text_of(child) == "static" for child in field.children)


def _members(fields: Iterable[Node]) -> set[str]:
    return {text_of(one) for field in fields for one in walk(field) if one.type == "field_identifier"}


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
def unread(unit: Unit) -> frozenset[str]:
    """The functions that the text defines in a form that the parser does not read: by a macro, without a type, with a
    word of another file in front of it, or with ``try``."""
    found = [token for token in unit.tokens if not token.directive]
    texts = [token.text for token in found]
    behind = _BEHIND if unit.language == "cpp" else None
    names = set(_made_by_macros(unit, texts))
    for k, after in _behind_brackets(texts):
        word = after[:1].isalpha() or after[:1] == "_"
        if found[k].is_word and (after == "{" or (word and (behind is None or after in behind))):
            names.add(texts[k])
    known = {*unit.by_name, *unit.macros, *classes(unit), "alignas", "static_assert", "explicit", *KEYWORDS}
    return frozenset(name for name in names - known if not name.startswith("__"))


def _behind_brackets(texts: list[str]) -> Iterator[tuple[int, str]]:
    """For each word in front of a bracket its place, and what stands behind the bracket."""
    waiting: list[int] = []
    for k, text in enumerate(texts):
        if text == "(":
            waiting.append(k)
        elif text == ")" and waiting:
            opening = waiting.pop()
            if opening > 0 and (opening < 2 or texts[opening - 2] not in _NO_HEAD):
                yield opening - 1, texts[k + 1] if k + 1 < len(texts) else ""


def _made_by_macros(unit: Unit, texts: list[str]) -> Iterator[str]:
    """The names of the functions that uses of macros define."""
    for macro in unit.macros.values():
        body = " ".join(token.text for token in macro.body)
        heads = re.findall(r"(\w+(?: ?## ?\w+)*) \([^()]*\) \{", body) if macro.params and "{" in body else []
        for k, text in enumerate(texts if heads else ()):
            if text == macro.name and texts[k + 1 : k + 2] == ["("]:
                given = dict(
                    zip(macro.params or (), "".join(texts[k + 2 : k + 40]).split(")")[0].split(","), strict=False)
                )
                yield from ("".join(given.get(part, part) for part in re.split(" ?## ?", head)) for head in heads)


@lru_cache(maxsize=8)
def holders(unit: Unit) -> frozenset[str]:
    """The pointers to functions, and the members that hold functions, by name."""
    inner = (node.child_by_field_name("declarator") for node in unit.nodes("function_declarator"))
    named = [node for node in inner if node is not None and node.type == "parenthesized_declarator"]
    types = {text_of(one) for node in named for one in walk(node) if one.type == "type_identifier"}  # of a typedef
    for node in unit.nodes("field_declaration"):
        kind = node.child_by_field_name("type")
        if kind is not None and (text_of(kind) in types or _HOLDS.search(unit.resolve(text_of(kind)))):
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
    if known.type == "auto" and re.fullmatch(r"\w+", value) and value != name and value not in unit.by_name:
        return held(unit, value, known.node.start_byte)
    made = re.match(r"(?:std::)?(\w+)\(", value)
    if made is not None and known.type == "auto":
        kinds = {function.returns for function in unit.by_name.get(made[1], ())}
        unknown = made[1] in _MAKERS or "auto" in kinds or bool(held(unit, made[1], known.node.start_byte))
        return "?" if unknown else ""
    return value if value in unit.by_name else "?" if _HOLDS.search(unit.resolve(known.type)) else ""
