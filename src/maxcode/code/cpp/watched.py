"""Finds uses of memory that others watch: volatile and atomic variables, whose accesses keep their number and order."""

from __future__ import annotations

import re
from functools import lru_cache

from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of, walk

_WATCHED = re.compile(r"\b(?:volatile|_Atomic|sig_atomic_t|atomic(?:_\w+)?)\b")


def is_watched(unit: Unit, start: int, end: int) -> bool:
    """Whether the text between two bytes uses what is volatile or atomic."""
    if (watched := _watched(unit)) is None:
        return False
    words = {token.text for token in expanded(unit, start, end) if token.is_word}
    return not words.isdisjoint(watched) or any(map(_WATCHED.fullmatch, words))


@lru_cache(maxsize=8)
def _watched(unit: Unit) -> frozenset[str] | None:
    """The variables, parameters and types that are declared so, by name; None if no text names such a kind."""
    if not any(map(_WATCHED.search, (unit.text, *unit.others))):
        return None
    variables = [(one.name, text_of(one.declaration)) for one in unit.variables]
    given = [(one.name, text_of(one.node)) for function in unit.functions for one in function.parameters]
    types: set[str] = set()
    for node in unit.nodes("type_definition", "alias_declaration"):
        named = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if named is not None and _WATCHED.search(text_of(node)):
            types |= {text_of(one) for one in walk(named) if one.type == "type_identifier"}
    kinds = re.compile("|".join([_WATCHED.pattern, *(rf"\b{kind}\b" for kind in types)]))
    elsewhere = (
        found for text in unit.others for found in re.findall(rf"{_WATCHED.pattern}[^;(){{}}]*?(\w+)\s*[;=\[]", text)
    )
    return frozenset({*(name for name, text in (*variables, *given) if kinds.search(text)), *elsewhere, *types} - {""})
