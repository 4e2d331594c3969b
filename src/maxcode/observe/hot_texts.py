"""The texts of a large repository that a prompt shows beside its profile: the hot functions, what they call, who calls
them, and the types that they name.

What a name stands for is known only where a profile says the file, or where one function has the name: in the file of
the hot function, else in all files that may be edited.  Names of many, such as ``process`` or ``__init__``, are left
out: a model may ask for them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from maxcode.code.definitions import Definition, definitions, function_named, identifiers
from maxcode.code.languages import language_at
from maxcode.code.source import fenced
from maxcode.core.types import HotFunction, Problem, Program
from maxcode.observe.part import tokens

_TEXTS = 6_000  # tokens
_LONGEST = 600  # tokens of a text that is not of a hot function
_SPECIAL = re.compile(r"__\w+__|\W|\d")
_HAS_FIELDS = re.compile(r"^\s+\w+\s*[:=]", re.MULTILINE)
_METHOD = re.compile(r"^\s+(?:@|(?:async )?def )", re.MULTILINE)
_OF_PYTHON = frozenset(name for kind in (str, bytes, list, dict, set, re.Pattern, re.Match) for name in dir(kind))
"""Names of methods that a call means rather than the one function of that name in the repository."""

_Place = tuple[str, Definition]


def hot_texts(hot: Sequence[HotFunction], program: Program, problem: Problem) -> Iterator[str]:
    """The texts with their paths and lines, as long as there is room; no line twice but in a type."""
    own = [(one.file, text) for one in hot if (text := _at(program, one)) is not None]
    left, seen = _TEXTS, list[_Place]()
    for path, one in (*own, *_further(hot, own, program, problem)):
        size = tokens(one.text)
        is_shown = any(path == other and two.first <= one.first and one.last <= two.last for other, two in seen)
        if not is_shown and size <= (left if (path, one) in own else min(left, _LONGEST)):
            seen.append((path, one))
            left -= size
            yield f"{path}, lines {one.first} to {one.last}:\n{fenced(one.text)}"


def _at(program: Program, one: HotFunction) -> Definition | None:
    """The text of a hot function; of a lambda that of the function around it."""
    text = program.files.get(one.file)
    if text is None:
        return None
    language = language_at(one.file) or "javascript"
    if not one.name.startswith("<"):
        return function_named(language, text, one.name, one.line)
    around = [each for each in definitions(language, text) if not each.is_type and each.first <= one.line <= each.last]
    return around[-1] if around else None


def _further(hot: Sequence[HotFunction], own: Sequence[_Place], program: Program, problem: Problem) -> Iterator[_Place]:
    """What hot functions call, who calls them, and the types that they name."""
    functions, types = _named(program, problem)
    used: dict[str, None] = {}
    for path, one in own:
        names = identifiers(language_at(path) or problem.language, one.text)
        called = (name for name in names if re.search(rf"\b{re.escape(name)}\s*\(", one.text))
        yield from (found for name in called if name not in _OF_PYTHON for found in _only(functions, name, path))
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
    short = re.split(r"::|\.", name)[-1]
    found = [] if _SPECIAL.match(short) else functions.get(short, [])
    beside = [one for one in found if one[0] == (near if where is None else where)]
    if len(beside) == 1 or (len(found) == 1 and where is None):
        yield (beside or found)[0]


def _fields(one: Definition) -> list[Definition]:
    """A class up to its first method; nothing if no field is there."""
    method = _METHOD.search(one.text, one.text.find("\n"))
    text = (one.text[: method.start()] if method else one.text).rstrip()
    if not _HAS_FIELDS.search(text):
        return []
    return [Definition(one.name, one.first, one.first + text.count("\n"), text, is_type=True)]
