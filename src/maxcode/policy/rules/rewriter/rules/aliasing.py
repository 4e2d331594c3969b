"""Whether the object of an expression, or an element of an array, changes only where the text of a loop says so."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import product

from tree_sitter import Node

from maxcode.code.cpp.aliases import distinct
from maxcode.code.cpp.declarations import ancestor, parameter
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.points_to import is_bound, reached
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.unnamed import shown_by
from maxcode.code.cpp.views import classes, has_operators, made_of_views, members, shows
from maxcode.code.cpp.words import PURE, READING
from maxcode.code.source import walk

_APART = ("int", "long", "long long", "short", "float", "double", "long double", "bool")


def untouched(unit: Unit, node: Node, start: int, end: int) -> bool:
    """Whether the object of an expression (also through pointers and references) is not written between two bytes."""
    known, given = effects(unit), _given_to_lambdas(node)
    here, asked = known.of(start, end), known.of(node.start_byte, node.end_byte)
    words = (asked.words - PURE) | shown_by(unit, asked.calls)
    called = {name for one in here.calls for name in known.closure(one).writes} | known.unnamed
    called &= {one.name for one in unit.variables if one.lasts}
    written, shown = here.writes | called, given | made_of_views(unit)
    seen = {one for one in words | written if unit.type_of(one, start) is not None or is_bound(unit, one, start)}
    fields, pointing = members(unit)
    reads, own = words & (seen | given), words & (fields - seen - READING)
    others = (written & (seen | pointing)) | (here.writes & shown)
    behind = {path[0].partition("@")[0] for path in reached(unit, [(name,) for name in reads], start) if path}
    changed = any(known.may_change(name, start, end) for name in (behind | words) - asked.words)
    if here.writes & unit.by_name.keys() and not all(_is_object(unit, one, start) for one in reads | own):
        return False  # what a function returns is changed, and may be what another name stands for
    both = [*product(reads, others), *product(own, (one for one in others if not _is_object(unit, one, start)))]
    inner = [v for v in unit.variables if v.name in here.writes - seen and start <= v.node.start_byte < end]
    inner = [v for v in inner if not _is_object(unit, v.name, v.scope[1] - 1)]
    apart = all(distinct(unit, one, other, start) for one, other in both if one != other)
    return (
        not changed and apart and all(distinct(unit, one, v.name, v.scope[1] - 1) for one in reads | own for v in inner)
    )


def are_apart(unit: Unit, targets: Collection[str], start: int, end: int, arrays: bool = False) -> bool:
    """Whether no number that is read between two bytes is, under another name, a part of what is written; ``arrays``:
    neither is an element of an array."""
    for name in effects(unit).of(start, end).words - {*targets}:
        kind, form = unit.type_of(name, start), _form(unit, name, start)
        bound = kind is None and (is_bound(unit, name, start) or name in members(unit)[1])
        number = kind is not None and unit.is_number(kind) and (arrays or form in ("plain", "value", "reference"))
        if (number or bound or (arrays and kind is not None)) and not all(
            _differ(kind, unit.type_of(one, start)) or distinct(unit, one, name, start) for one in targets
        ):
            return False
    return True


def _form(unit: Unit, name: str, offset: int) -> str:
    given, known = unit.parameter(name, offset), unit.variable(name, offset)
    return given.kind if given is not None else known.form if known is not None else ""


def _differ(one: str | None, other: str | None) -> bool:
    """Whether numbers of two types, or elements of containers of such, cannot be at one place."""
    kinds = [re.sub(r".*<|>.*|\b(?:un)?signed\b|\bconst\b", "", kind or "").strip() for kind in (one, other)]
    return kinds[0] != kinds[1] and all(kind in _APART for kind in kinds)


def _is_object(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name is that of an object of its own, that is and holds no address; of a global, also no member."""
    given, known = unit.parameter(name, offset), unit.variable(name, offset)
    if given is not None:
        return given.kind == "value" and not shows(unit, given.type)
    if known is None or known.form not in ("plain", "array") or shows(unit, unit.made(known)):
        return False
    return not known.lasts or classes(unit).keys().isdisjoint(re.findall(r"\w+", unit.made(known)))


def _given_to_lambdas(node: Node) -> frozenset[str]:
    """The names of the parameters of the lambdas around a node that may be references or pointers."""
    if (around := ancestor(node, "lambda_expression")) is None:
        return frozenset()
    head = around.child_by_field_name("declarator")
    inside = [parameter(one) for one in walk(head) if one.type.endswith("parameter_declaration")] if head else []
    return _given_to_lambdas(around) | {one.name for one in inside if one.kind != "value"}


def is_hidden(unit: Unit, body: Node, targets: Collection[str]) -> bool:
    """Whether a macro in a body stands for a use of an array that is written, or of what may be one."""
    shown = [token.text for token in unit.tokens_in(body.start_byte, body.end_byte)]
    whole = [token.text for token in expanded(unit, body.start_byte, body.end_byte)]
    hidden = any(_is_array(unit, name, body.start_byte) for name in set(whole) - set(shown))
    return hidden or any(shown.count(one) != whole.count(one) for one in targets)


def _is_array(unit: Unit, name: str, offset: int) -> bool:
    known, given = unit.variable(name, offset), unit.parameter(name, offset)
    if given is not None:
        return given.kind != "value" or not unit.is_number(given.type)
    return known is not None and (known.form != "plain" or not unit.is_number(known.type))


def stores_plainly(unit: Unit, array: str, offset: int) -> bool:
    """Whether to store an element of an array does no more: a map makes it, an operator may do anything."""
    kind = unit.type_of(array, offset) or ""
    return "map<" not in kind and not has_operators(unit, kind)
