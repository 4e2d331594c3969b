"""The script and the types of a unit, read once."""

from __future__ import annotations

import re
from functools import lru_cache

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.inferred import types_of


def reading(unit: Unit) -> Reading | None:
    """The program for the rules; None if they leave it alone."""
    outside = frozenset(name for text in unit.others for name in re.findall(r"\w+", text))
    return _read(unit.text, outside)


@lru_cache(maxsize=64)
def _read(text: str, outside: frozenset[str]) -> Reading | None:
    types = types_of(text, outside)
    return None if types is None else Reading(types.script, types)
