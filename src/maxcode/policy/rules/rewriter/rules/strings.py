"""Rules for strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.aliases import distinct
from maxcode.code.cpp.edit import Edit, Spots, edits_by_site
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import members
from maxcode.code.source import text_of, walk
from maxcode.policy.rules.rewriter.rules.nests import mentions


def self_append(unit: Unit) -> Iterator[Edit]:
    """Appends in place: ``s = s + x`` becomes ``s += x`` for a string, where x does not use s."""
    found: Spots = {}
    for node in unit.nodes("assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        alone = node.parent is not None and node.parent.type == "expression_statement"
        if left is None or right is None or left.type != "identifier" or not alone or _operator(node) != "=":
            continue
        name = text_of(left)
        parts = _sum(right)
        if unit.type_of(name, node.start_byte) != "string" or len(parts) < 2 or text_of(parts[0]) != name:
            continue
        added = parts[1:]
        if any(mentions(part, name) or not effects(unit).pure(part) for part in added):
            continue
        later = {text_of(inner) for part in added[1:] for inner in walk(part) if inner.type == "identifier"}
        objects = [one for one in later if not _is_number(unit, one, node.start_byte)]
        if _is_local(unit, name, node.start_byte):
            objects = [one for one in objects if unit.type_of(one, node.start_byte) is not None]
        if _adds_strings(unit) or not all(distinct(unit, name, one, node.start_byte) for one in objects):
            continue
        text = ", ".join(f"{name} += {text_of(part)}" for part in added)
        found.setdefault(unit.place(name, node), []).append((node, (unit.replace(node, text),)))
    yield from edits_by_site(unit, "self_append", "appends in place instead of copying the string", found)


def substr_compare(unit: Unit) -> Iterator[Edit]:
    """Compares a part of a string without a copy: ``s.substr(a, n) == t``; per function."""
    found: Spots = {}
    for node in unit.nodes("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or _operator(node) not in ("==", "!="):
            continue
        cut = _substr(left) or _substr(right)
        other = right if _substr(left) else left
        if cut is None or _substr(other) is not None or other.type in ("char_literal", "number_literal"):
            continue
        text, place, size = cut
        root = re.match(r"\w+", text)
        if root is None or "string" not in (unit.type_of(root[0], node.start_byte) or ""):
            continue
        new = f"{text}.compare({place}, {size}, {text_of(other)}) {_operator(node)} 0"
        found.setdefault(unit.place("substr", node), []).append((node, (unit.replace(node, new),)))
    what = "compares in place instead of copying a part out"
    yield from edits_by_site(unit, "substr_compare", what, found, includes=("string",))


def _is_local(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name is that of an object of the function, which is no member of another."""
    known, given = unit.variable(name, offset), unit.parameter(name, offset)
    if given is not None:
        return given.kind == "value"
    return known is not None and known.form == "plain" and not known.lasts


def _is_number(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name is that of a number, and not of a pointer to numbers; or of what is no variable."""
    known, given = unit.variable(name, offset), unit.parameter(name, offset)
    form = given.kind if given is not None else known.form if known is not None else ""
    kind = unit.type_of(name, offset)
    if kind is None:
        return name not in members(unit)[0]
    return unit.is_number(kind) and form in ("plain", "value")


def _adds_strings(unit: Unit) -> bool:
    """Whether the program has a + of its own with two sides, which need not append."""
    if "operator" in unit.shared:
        return True
    for node in unit.nodes("operator_name"):
        listed = node.parent.child_by_field_name("parameters") if node.parent is not None else None
        if text_of(node).replace(" ", "") == "operator+" and listed is not None and listed.named_child_count > 1:
            return True
    return False


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return text_of(operator) if operator is not None else ""


def _sum(node: Node) -> list[Node]:
    """The parts of ``a + b + c``."""
    if node.type != "binary_expression" or _operator(node) != "+":
        return [node]
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return [*_sum(left), right] if left is not None and right is not None else [node]


def _substr(node: Node) -> tuple[str, str, str] | None:
    """The string, the place and the size of ``s.substr(place, size)``."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or arguments is None or function.type != "field_expression":
        return None
    whole, field = function.child_by_field_name("argument"), function.child_by_field_name("field")
    given = [text_of(child) for child in arguments.named_children]
    if whole is None or field is None or text_of(field) != "substr" or not 1 <= len(given) <= 2:
        return None
    if function.child_by_field_name("operator") is not None and text_of(function).count("->"):
        return None
    return text_of(whole), given[0], given[1] if len(given) == 2 else "std::string::npos"
