"""The names of a profile as prompts show them: a candidate can write its own profile, and a name is no place to speak.

A name passes if each of its words stands in the repository's texts, or is one of a language's own, and if it is built
as a name is: no line, no sentence.  Of others the last word stays, if the texts have that; else only where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from maxcode.core.types import HotFunction

UNNAMED, ELSEWHERE = "(a function without a known name)", "library code"
_WORD = re.compile(r"[^\W\d]\w*")
_OF_LANGUAGES = frozenset(_WORD.findall(
    "anonymous as bool char class clone closure cold const constprop delete dictcomp double dyn enum float for fn "
    "genexpr get impl int isra lambda level listcomp long main module mut namespace new operator part self set setcomp "
    "short signed static std struct top unsigned void volatile"
))  # fmt: skip
# Those of them that say something without the words in front of them.
_SHORT = frozenset(["clone", "closure", "get", "lambda", "level", "main", "new", "part", "set", "top"])
_MADE = re.compile(r"func\d+|h[0-9a-f]{16}")  # by compilers
_SIGNS = re.compile(r"(?:operator ?[-+*/%^&|~!=<>]{1,3}|[\w<>(){}\[\]*&~$#]|::|\.(?!\s)|(?<=\w)-(?=\w)|, ?| |'\d)++")
_PAIR = re.compile(r"(?=(?<!\w)(\w+) +(\w+))")
_COMMA = re.compile(r"[^<(\[]*,")  # outside of arguments
_ARGUMENTS = re.compile(r"(?<=\w)(?:[(<\[].*)")
_LAST = re.compile(r"(\w+)\W*(?: of '\w+' objects>)?$")


def with_told_names(functions: Iterable[HotFunction], texts: Mapping[str, str]) -> tuple[HotFunction, ...]:
    """The functions with names that can be shown.  ``texts``: those of the repository's files, by path."""
    words = set(_OF_LANGUAGES)
    for text in texts.values():
        words.update(_WORD.findall(text))
    return tuple(_told(one, words) for one in functions)


def _told(one: HotFunction, words: Set[str]) -> HotFunction:
    files = one.called_from or ("",) * len(one.callers)
    callers: dict[str, str] = {}
    for caller, file in zip(one.callers, files, strict=True):
        callers.setdefault(_name(caller, words) or ELSEWHERE, file)
    name = _name(one.name, words) or UNNAMED
    return replace(one, name=name, callers=tuple(callers), called_from=tuple(callers.values()))


def _name(name: str, words: Set[str]) -> str:
    """The name, or its last word; empty if that is not known either."""
    if not name.isprintable() or "\\" in name:  # which stands for what cannot be printed
        return ""
    if _SIGNS.fullmatch(name) and not _COMMA.match(name) and _is_known(name, words) and _is_one(name):
        return name
    short = _LAST.search(_ARGUMENTS.sub("", name))
    is_told = short is not None and _is_known(short[1], words) and short[1] not in _OF_LANGUAGES - _SHORT
    return short[1] if short is not None and is_told else ""


def _is_known(name: str, words: Set[str]) -> bool:
    """Whether the texts have each word, or each part of one that macros join."""
    found = [word for word in _WORD.findall(name) if word not in words and not _MADE.fullmatch(word)]
    return all(part in words or part.isdecimal() for word in found for part in word.split("_") if part)


def _is_one(name: str) -> bool:
    """Whether no two words follow each other, but for those such as ``unsigned`` and ``as``."""
    pairs = _PAIR.findall(name)
    return all(before in _OF_LANGUAGES or after in _OF_LANGUAGES for before, after in pairs)
