"""The texts of a large repository that a prompt shows beside its profile: the hot functions, what they call, who calls
them, and the types that they name.

What a name stands for is known only where a profile says the file, or where one function has the name: in the file of
the hot function, else in all files that may be edited.  Names of many, such as ``process`` or ``__init__``, are left
out: a model may ask for them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from maxcode.code.definitions import Definition, definitions, function_at, identifiers, short_name
from maxcode.code.languages import language_at
from maxcode.code.source import fenced
from maxcode.core.types import HotFunction, Problem, Program
from maxcode.observe.part import tokens

_TEXTS = 6_000  # tokens
_LONGEST = 600  # tokens of a text that is not of a hot function
_LITTLE = 0.04  # share of the time; a longer function with less of it waits
_SPECIAL = re.compile(r"__\w+__|\W|\d")
_HAS_FIELDS = re.compile(r"^\s+\w+\s*[:=]", re.MULTILINE)
_METHOD = re.compile(r"^\s+(?:@|(?:async )?def )", re.MULTILINE)
_OF_PYTHON = frozenset(name for kind in (str, bytes, list, dict, set, re.Pattern, re.Match) for name in dir(kind))
"""Names of methods that a call means rather than the one function of that name in the repository."""

_Place = tuple[str, Definition]


def hot_texts(hot: Sequence[HotFunction], program: Program, problem: Problem) -> Iterator[str]:
    """The texts with their paths and lines, each a whole function or type, as long as there is room; no line twice but
    in a type.  Long functions of little time come last."""
    own = {place: one.share for one in hot if (place := _at(program, one)) is not None}
    rare = [place for place, share in own.items() if share < _LITTLE and tokens(place[1].text) > _LONGEST]
    first = [place for place in own if place not in rare]
    for path, one in _fitting((*first, *_further(hot, first, program, problem), *rare), own):
        yield f"{path}, lines {one.first} to {one.last}:\n{fenced(one.text)}"


def _fitting(places: Sequence[_Place], own: Collection[_Place]) -> list[_Place]:
    """Those that there is room for, in order; ``own``: those that may be long.  What holds others takes their place."""
    left, kept = _TEXTS, list[_Place]()
    for place in places:
        inside = [one for one in kept if _holds(place, one)]
        size = tokens(place[1].text) - sum(tokens(one.text) for _, one in inside)
        if any(_holds(one, place) for one in kept) or size > (left if place in own else min(left, _LONGEST)):
            continue
        at = kept.index(inside[0]) if inside else len(kept)
        kept = [*kept[:at], place, *(one for one in kept[at:] if one not in inside)]
        left -= size
    return kept


def _holds(one: _Place, other: _Place) -> bool:
    return one[0] == other[0] and one[1].first <= other[1].first and other[1].last <= one[1].last


def _at(program: Program, one: HotFunction) -> _Place | None:
    """The text of a hot function; of a lambda that of the function around it."""
    text = program.files.get(one.file)
    found = function_at(language_at(one.file) or "javascript", text, one.name, one.line) if text is not None else None
    return (one.file, found) if found is not None else None


def _further(hot: Sequence[HotFunction], own: Sequence[_Place], program: Program, problem: Problem) -> Iterator[_Place]:
    """What hot functions call, who calls them, and the types that they name."""
    functions, types = _named(program, problem)
    used: dict[str, None] = {}
    for path, one in own:
        names = identifiers(language_at(path) or problem.language, one.text)
        called = (name for name in names if re.search(rf"\b{re.escape(name)}\s*\(", one.text))
        yield from (found for name in called if not _is_pythons(name, path) for found in _only(functions, name, path))
        used |= dict.fromkeys(names)
    for function in hot:
        files = function.called_from or (None,) * len(function.callers)
        for caller, file in zip(function.callers, files, strict=False):
            yield from _only(functions, caller, function.file, file)
    for path, one in (found for name in used for found in types.get(name, ())):
        yield from ((path, each) for each in (_fields(one) if path.endswith(".py") else [one]))


def _named(program: Program, problem: Problem) -> tuple[Mapping[str, list[_Place]], Mapping[str, list[_Place]]]:
    """The functions, and the types with a body, of all files by name."""
    functions, types = defaultdict[str, list[_Place]](list), defaultdict[str, list[_Place]](list)
    for path, text in program.files.items():
        for one in definitions(language_at(path) or problem.language, text):
            if not one.is_type:
                functions[one.name].append((path, one))
            elif "\n" in one.text:
                types[one.name].append((path, one))
    return functions, types


def _only(functions: Mapping[str, list[_Place]], name: str, near: str, where: str | None = None) -> Iterator[_Place]:
    """The function of a name, if it is the only one of it in the file ``where``; if that is not known, in the file
    ``near``, else in all files."""
    short = short_name(name)
    found = [] if _SPECIAL.match(short) else functions.get(short, [])
    beside = [one for one in found if one[0] == (near if where is None else where)]
    if len(beside) == 1 or (len(found) == 1 and where is None):
        yield (beside or found)[0]


def _is_pythons(name: str, path: str) -> bool:
    return name in _OF_PYTHON and path.endswith(".py")


def _fields(one: Definition) -> list[Definition]:
    """A class up to its first method; nothing if no field is there."""
    method = _METHOD.search(one.text, one.text.find("\n"))
    text = (one.text[: method.start()] if method else one.text).rstrip()
    if not _HAS_FIELDS.search(text):
        return []
    return [Definition(one.name, one.first, one.first + text.count("\n"), text, is_type=True)]
