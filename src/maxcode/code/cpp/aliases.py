"""Whether a call gives a function one array under two names.

Compared are paths to objects: ``c`` for ``&c[8]``, ``(double *)c + n`` and ``c.data()``; ``m.c`` for ``m->c[i]``.  Two
parts of one object count as one array, because nothing says where the first part ends.  Two variables count as two
arrays, unless their names are macros for one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import combinations, product

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.points_to import Object, exchanges, meet, reached, sources
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of

_NOT_VALUES = ("function_declarator", "call_expression", "qualified_identifier", "template_function")

Pair = tuple[int, int]  # the places of two parameters


def is_given_one_array_twice(unit: Unit, function: Function) -> bool:
    """Whether a call of the program gives a function one array under two names, of which it may write to one: as two
    arguments, or as one and a variable that it knows itself."""
    given, addresses = function.parameters, _addresses(unit, function)
    if function.name in _in_macros(unit):
        return len(addresses) > 1  # a macro may call it with anything
    if any(not (given[a].const and given[b].const) for a, b in _shared(unit).get(function.node.start_byte, ())):
        return True
    used = {token.text for token in unit.tokens_in(function.body.start_byte, function.body.end_byte) if token.is_word}
    known, start = sorted((_globals(unit) & used) - {one.name for one in given}), function.body.start_byte
    if any(_meet_all(*_reached(unit, one, other, start)) for one, other in combinations(known, 2)):
        return True
    outside = set[Object]().union(*(reached(unit, [(name,)], start) for name in known))
    calls = _calls(unit).get(function.name, []) if outside else []
    passed = [sources(unit, call[at]) for _, call in calls for at in addresses if at < len(call)]
    return any(_meet_all(one, outside) for one in passed)


def _reached(unit: Unit, one: str, other: str, offset: int) -> tuple[set[Object], set[Object]]:
    skipped = exchanges(unit, one, other, offset)
    return reached(unit, [(one,)], offset, skipped), reached(unit, [(other,)], offset, skipped)


def _meet_all(some: Collection[Object], others: Collection[Object]) -> bool:
    return any(meet(*both) for both in product(some, others))


def _addresses(unit: Unit, function: Function) -> list[int]:
    """The parameters that may name an object of the caller."""
    return [at for at, one in enumerate(function.parameters) if one.kind != "value" or not unit.is_number(one.type)]


@lru_cache(maxsize=8)
def _in_macros(unit: Unit) -> frozenset[str]:
    return frozenset(token.text for macro in unit.macros.values() for token in macro.body)


@lru_cache(maxsize=8)
def _globals(unit: Unit) -> frozenset[str]:
    return frozenset(one.name for one in unit.variables if one.home is None)


@lru_cache(maxsize=8)
def _shared(unit: Unit) -> dict[int, set[Pair]]:
    """By the start of each function: the pairs of parameters through which a call gives it parts of one object."""
    found: dict[int, set[Pair]] = defaultdict(set)
    passed_on: list[tuple[int, Pair, int, set[Pair]]] = []  # pairs that are one object if such pairs of the caller are
    for function in unit.functions:
        start, pairs = function.node.start_byte, list(combinations(_addresses(unit, function), 2))
        for node, given in _calls(unit).get(function.name, ()) if pairs else ():
            home = unit.home(node.start_byte)
            names = {one.name: at for at, one in enumerate(home.parameters)} if home is not None else {}
            for pair in (one for one in pairs if max(one) < len(given)):
                skipped = exchanges(unit, text_of(given[pair[0]]), text_of(given[pair[1]]), node.start_byte)
                one, other = (sources(unit, given[at], skipped) for at in pair)
                if _meet_all(one, other):
                    found[start].add(pair)
                elif home is not None:
                    passed_on.append((start, pair, home.node.start_byte, set(_roots(product(one, other), names))))
    grown = True
    while grown:
        grown = False
        for start, pair, caller, roots in passed_on:
            if pair not in found[start] and roots & found[caller]:
                found[start].add(pair)
                grown = True
    return found


def _roots(both: Iterable[tuple[Object, Object]], names: dict[str, int]) -> Iterator[Pair]:
    """The pairs of parameters that pairs of objects are parts of."""
    for one, other in both:
        if one and other and one[0] in names and other[0] in names:
            a, b = names[one[0]], names[other[0]]
            yield min(a, b), max(a, b)


@lru_cache(maxsize=8)
def _calls(unit: Unit) -> dict[str, list[tuple[Node, list[Node]]]]:
    """The calls by name, with their arguments: also ``n::f(x)``, ``f<double>(x)``, ``thread t(f, x)``, and those of
    names that no function has, as calls of each function that is used as a value."""
    found: dict[str, list[tuple[Node, list[Node]]]] = defaultdict(list)
    values = _values(unit)
    for node in unit.nodes("argument_list"):
        given = [one for one in node.named_children if one.type != "comment"]
        called = node.parent.child_by_field_name("function") if node.parent is not None else None
        if called is not None:
            name = "".join(text_of(called).split()).partition("<")[0].rpartition("::")[2]
            found[name].append((node, given))
            for other in values if name not in unit.by_name else ():
                found[other].append((node, given))
        for at, one in enumerate(given):
            if (name := text_of(one).lstrip("&")) in values:
                found[name].append((node, given[at + 1 :]))
    return found


def _values(unit: Unit) -> frozenset[str]:
    """The functions whose names stand elsewhere than in a call or a declaration."""
    named = (one for one in unit.nodes("identifier") if text_of(one) in unit.by_name and one.parent is not None)
    return frozenset(
        text_of(one)
        for one in named
        if one.parent is not None
        and one.parent.type
        not in ("function_declarator", "call_expression", "qualified_identifier", "template_function")
    )
