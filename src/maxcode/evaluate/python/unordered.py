"""Puts the items of two sets into one order, so that real numbers that a rounding moved stand beside one another.

An order is a proposal: whoever asks compares item by item, so one that does not fit refuses and never accepts.
"""

from __future__ import annotations

import itertools
import math
import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from maxcode.evaluate.python.nodes import Items, Node, expanded

Real = tuple[str, float]  # the format of struct, and the value
Reals = tuple[Real, ...]
Gap = Callable[[str, float, float], float]  # of a format, a value and the scale of all: what is nearer belongs together
FORMATS = {"f8": "d", "c16": "d", "f4": "f", "c8": "f", "f2": "e"}


class Nested(Exception):
    """An item that holds a set, or names an object of another place: its order would be looked for at every depth."""


def in_one_order(want: Items, got: Items, gap: Gap) -> tuple[Items, Items] | None:
    """The items of both sets, those that may be the same at the same place; None if that is not possible.

    Nested where an item cannot be put into an order.
    """
    sides = [list(map(_taken_apart, expanded(items))) for items in (want, got)]
    alike: dict[str, list[Reals]] = defaultdict(list)
    for words, reals in itertools.chain(*sides):
        alike[words].append(reals)
    groups = {words: _groups(found, gap) for words, found in alike.items()}
    keys = [[(words, groups[words](reals), reals) for words, reals in side] for side in sides]
    orders = [sorted(range(len(side)), key=side.__getitem__) for side in keys]
    if any(keys[0][one][:2] != keys[1][other][:2] for one, other in zip(*orders, strict=True)):
        return None
    return _permuted(want, orders[0]), _permuted(got, orders[1])


def _groups(found: Sequence[Reals], gap: Gap) -> Callable[[Reals], tuple[int, ...]]:
    """What gives of the real numbers of an item, for each place in it, which group of near numbers it belongs to."""
    columns = [_groups_of_one(column, gap) for column in zip(*found, strict=True)]
    return lambda reals: tuple(column[one] for column, (_, one) in zip(columns, reals, strict=True))


def _groups_of_one(column: Sequence[Real], gap: Gap) -> dict[float, int]:
    code, values = column[0][0], sorted({one for _, one in column})
    known = [one for one in values if math.isfinite(one)]
    scale = math.sqrt(math.fsum(one * one for one in known) / max(1, len(known)))
    groups, group = {}, 0
    for before, one in zip([*values[:1], *values], values, strict=False):
        group += one - before > gap(code, one, scale)
        groups[one] = group
    return groups


def _taken_apart(node: Node) -> tuple[str, Reals]:
    """All of a node but its real numbers, as text, and these.  NaN is a word: it has no order."""
    reals: list[Real] = []
    return repr(_without(node, reals)), tuple(reals)


def _without(part: Any, reals: list[Real]) -> Any:
    if part.__class__ is float:
        return _word("d", part, reals)
    if part.__class__ is complex:
        return _word("d", part.real, reals), _word("d", part.imag, reals)
    if part.__class__ is dict:
        return {name: _without(one, reals) for name, one in part.items()}
    if part.__class__ not in (tuple, list):
        return part
    if len(part) == 2 and part[0] in ("S", "Z", "R"):
        raise Nested
    if len(part) == 3 and part[0] == "f" and part[2].__class__ is bytes:
        return "f", [_word("d", one, reals) for one in array("d", part[2])]
    if len(part) == 3 and part[0] == "G" and (code := FORMATS.get(part[1].lstrip("<=|"))):
        return "G", part[1], [_word(code, one, reals) for (one,) in struct.iter_unpack(f"<{code}", part[2])]
    return [_without(one, reals) for one in part]


def _word(code: str, value: float, reals: list[Real]) -> str:
    if math.isnan(value):
        return "nan"
    reals.append((code, value))
    return code


def _permuted(items: Items, order: Sequence[int]) -> Items:
    """The items in this order, in columns where they were."""
    if items[0] == "f":
        values = array("d", items[2])
        return "f", items[1], array("d", map(values.__getitem__, order)).tobytes()
    if items[0] == "r":
        return (*items[:3], [_permuted(column, order) for column in items[3]])
    nodes = expanded(items)
    return "x", items[1], [nodes[at] for at in order]
