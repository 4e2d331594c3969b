"""Whether two names, or two arguments of a call, may mean one object.

Two parts of one object count as one, because nothing says where the first part ends.  Two variables count as two,
unless they are made to point into one, or their names are macros for one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations, product

from maxcode.code.cpp.declarations import Function, Variable
from maxcode.code.cpp.points_to import (
    Object,
    all_are_seen,
    assignments,
    calls,
    declared,
    given,
    is_shown,
    meet,
    reached,
    sources,
)
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import classes, shows
from maxcode.code.source import text_of

_EXCHANGE = re.compile(r"(?:[\w ]+[ *]+)?(\w+) ?= ?(\w+) ?; ?\2 ?= ?(\w+) ?; ?\3 ?= ?\1 ?;")
Shared = tuple[int, int, int]  # the start of a function and the places of two of its parameters, ascending


@lru_cache(maxsize=1 << 10)
def distinct(unit: Unit, first: str, second: str, offset: int) -> bool:
    """Whether two names at a byte certainly refer to different storage."""
    skipped, home = exchanges(unit, first, second, offset), unit.home(offset)
    one, other = (reached(unit, [(name,)], offset, skipped, strict=True) for name in (first, second))
    return not any(_may_be_one(unit, home, *both) for both in product(one, other))


def addresses(unit: Unit, function: Function) -> list[int]:
    """The parameters that may name an object of the caller."""
    return [at for at, one in enumerate(function.parameters) if one.kind != "value" or shows(unit, one.type)]


@lru_cache(maxsize=16)
def shared(unit: Unit, strict: bool = False) -> set[Shared]:
    """The pairs of parameters through which a call gives a function parts of one object; ``strict``: may give it."""
    found = set[Shared]()
    passed_on: list[tuple[Shared, Shared]] = []  # a pair that is one object if such a pair of the caller is
    for function in unit.functions:
        start, pairs = function.node.start_byte, list(combinations(addresses(unit, function), 2))
        if strict and not all_are_seen(unit, function):
            found |= {(start, *pair) for pair in pairs}
            continue
        for node, arguments in calls(unit).get(function.name, ()) if pairs else ():
            home = unit.home(node.start_byte)
            for pair in (one for one in pairs if max(one) < len(arguments)):
                both = [arguments[at] for at in pair]
                skipped = exchanges(unit, text_of(both[0]), text_of(both[1]), node.start_byte)
                for objects in product(*(sources(unit, one, skipped, strict) for one in both)):
                    places = _places(unit, home, objects)
                    if home is not None and len(places) == 2 and places[0] != places[1]:
                        passed_on.append(((start, *pair), (home.node.start_byte, places[0], places[1])))
                    elif _may_be_one(unit, home if strict else None, *objects):
                        found.add((start, *pair))
    while more := {pair for pair, outer in passed_on if outer in found} - found:
        found |= more
    return found


def _places(unit: Unit, home: Function | None, paths: Iterable[Object]) -> list[int]:
    """The places of the parameters of a function that objects are behind, ascending."""
    known = [declared(unit, path) for path in paths if path]
    places = [(at, home.parameters[at]) for at in addresses(unit, home)] if home is not None else []
    return [at for at, taken in places for one in known if one == taken]


def _may_be_one(unit: Unit, home: Function | None, one: Object, other: Object) -> bool:
    """Whether two objects may be one in a function, or may meet; None for what its parameters are given."""
    if not one or not other:
        return not (one or other) or is_shown(unit, one or other)
    places = _places(unit, home, (one, other))
    if home is None or meet(one, other) or not places:
        return meet(one, other)
    if len(places) == 2:
        return places[0] == places[1] or (home.node.start_byte, places[0], places[1]) in shared(unit, strict=True)
    return _is_given(unit, home, places[0], other if _places(unit, home, [one]) else one)


def _is_given(unit: Unit, function: Function, at: int, path: Object) -> bool:
    """Whether a parameter of a function may point into an object."""
    known, taken = declared(unit, path), function.parameters[at]
    if isinstance(known, Variable) and known.home == function and not known.lasts:
        own = not classes(unit).keys().isdisjoint(re.findall(r"\w+", taken.type)) and shows(unit, taken.type)
        return (own or text_of(taken.node).count("*") > 1) and is_shown(unit, path)  # it is new, but may be put there
    return any(_may_be_one(unit, None, path, more) for more in given(unit, function, at))


def exchanges(unit: Unit, one: str, other: str, offset: int) -> frozenset[int]:
    """The starts of the values that two variables get when they change places, ``t = a; a = b; b = t``: this makes them
    no second name for one object, if they get no other value but new memory and where they are declared, together."""
    starts = _exchanges(unit).get(frozenset({one, other}), frozenset[int]())
    known = [unit.variable(name, offset) for name in (one, other)] if starts else []
    if not starts or len({None if variable is None else variable.scope[1] for variable in known}) > 1:
        return frozenset()
    home = None if any(variable is not None and variable.home is None for variable in known) else unit.home(offset)
    listed = [each for name in (one, other) for each in assignments(unit).get(name, ()) if len(each[0]) == 1]
    values = [right for _, left, right in listed if home is None or unit.home(left.start_byte) == home]
    fresh = all(right.start_byte in starts or not sources(unit, right) for right in values)
    return starts if fresh else frozenset()


@lru_cache(maxsize=8)
def _exchanges(unit: Unit) -> dict[frozenset[str], frozenset[int]]:
    found: dict[frozenset[str], frozenset[int]] = defaultdict(frozenset)
    for node in unit.nodes("expression_statement"):
        parts = [one for one in (node.prev_named_sibling, node, node.next_named_sibling) if one is not None]
        made = _EXCHANGE.fullmatch(" ".join(" ".join(map(text_of, parts)).split()))
        if made is not None:
            rights = (one.child_by_field_name("right") for part in parts[1:] for one in part.named_children)
            found[frozenset({made[2], made[3]})] |= {right.start_byte for right in rights if right is not None}
    for _, _, both in unit.calls("swap"):
        found[frozenset(map(text_of, both))] |= {one.start_byte for one in both}
    return found


def is_given_one_array_twice(unit: Unit, function: Function) -> bool:
    """Whether a call of the program gives a function one array under two names, of which it may write to one: as two
    arguments, or as one and a variable that it knows itself."""
    taken, places = function.parameters, addresses(unit, function)
    if any(function.name == token.text for macro in unit.macros.values() for token in macro.body):
        return len(places) > 1  # a macro may call it with anything
    pairs = [(a, b) for at, a, b in shared(unit) if at == function.node.start_byte]
    if any(not (taken[a].const and taken[b].const) for a, b in pairs):
        return True
    used = {token.text for token in unit.tokens_in(function.body.start_byte, function.body.end_byte) if token.is_word}
    outer = {one.name for one in unit.variables if one.home is None}
    known, start = sorted((outer & used) - {one.name for one in taken}), function.body.start_byte
    for both in combinations(known, 2):
        skipped = exchanges(unit, *both, start)
        if any(meet(*two) for two in product(*(reached(unit, [(name,)], start, skipped) for name in both))):
            return True
    outside = set[Object]().union(*(reached(unit, [(name,)], start) for name in known))
    listed = calls(unit).get(function.name, []) if outside else []
    passed = [sources(unit, call[at]) for _, call in listed for at in places if at < len(call)]
    return any(meet(*both) for one in passed for both in product(one, outside))
