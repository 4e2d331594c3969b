"""Programs in colour: which words of a line are keywords, texts, numbers, types, functions and comments.

Found by the queries that the grammars bring along for this purpose (``highlights.scm``); they are in the core already,
read a text of any shape in time that grows with its length, and need no other library.  What has no colour has no
markup, so that a page of thousands of lines stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TypeAlias

from tree_sitter import Node, Query, QueryCursor

from maxcode.code.languages import LANGUAGES
from maxcode.code.source import grammar, read
from maxcode.run.report.html import Html, element, join

Run: TypeAlias = tuple[str, str]  # a class of the style sheet (empty: none) and text
MOST_BYTES = 200_000  # a longer text has no colours

_PAINTS = {  # the captures that have a colour, the weakest first
    "constant": "d",
    "number": "d",
    "type": "t",
    "constructor": "t",
    "function": "f",
    "keyword": "k",
    "string": "s",
    "comment": "c",
}
_STRENGTH = {name: at for at, name in enumerate(_PAINTS)}


def colored(language: str, text: str) -> list[list[Run]]:
    """The lines of ``text``, each as runs that make it when they are joined."""
    if language not in LANGUAGES or len(text) > MOST_BYTES:
        return [[("", line)] for line in text.split("\n")]
    return _colored(LANGUAGES[language].grammar, text)


def code(language: str, text: str) -> Html:
    """A text as coloured markup."""
    return join((markup(line) for line in colored(language, text)), "\n")


def markup(runs: list[Run]) -> Html:
    """Runs of a line as markup."""
    return join(element("i", text, class_=kind) if kind else text for kind, text in runs)


def cut(runs: list[Run], start: int, end: int) -> list[Run]:
    """The characters ``start`` to ``end`` of a line."""
    found, at = [], 0
    for kind, text in runs:
        part = text[max(0, start - at) : max(0, end - at)]
        found += [(kind, part)] if part else []
        at += len(text)
    return found


@lru_cache(maxsize=64)
def _colored(name: str, text: str) -> list[list[Run]]:
    data = text.encode("utf-8", "surrogatepass")
    kinds = [""] * len(data)
    for kind, node in _captured(name, data):
        kinds[node.start_byte : node.end_byte] = [kind] * (node.end_byte - node.start_byte)
    found, start = [], 0
    for line in data.split(b"\n"):
        found.append(list(_runs(line, kinds[start : start + len(line)])))
        start += len(line) + 1
    return found


def _runs(line: bytes, kinds: list[str]) -> Iterator[Run]:
    start = 0
    for at in range(1, len(line) + 1):
        if at == len(line) or kinds[at] != kinds[start]:
            yield kinds[start], line[start:at].decode("utf-8", "surrogatepass")
            start = at


def _captured(name: str, data: bytes) -> list[tuple[str, Node]]:
    """Classes and what has them; what lies inside another, or is stronger on the same place, comes later."""
    captures = QueryCursor(_query(name)).captures(read(name, data))
    found = [(_base(capture), node) for capture, nodes in captures.items() for node in nodes]
    kept = [(base, node) for base, node in found if base in _PAINTS]
    kept.sort(key=lambda entry: (entry[1].start_byte - entry[1].end_byte, _STRENGTH[entry[0]]))
    return [(_PAINTS[base], node) for base, node in kept]


def _base(capture: str) -> str:
    return capture.split(".")[0]


@cache
def _query(name: str) -> Query:
    return Query(grammar(name), _QUERIES[name]())


def _c() -> str:
    import tree_sitter_c

    return tree_sitter_c.HIGHLIGHTS_QUERY


def _cpp() -> str:
    import tree_sitter_cpp

    return _c() + tree_sitter_cpp.HIGHLIGHTS_QUERY


def _python() -> str:
    import tree_sitter_python

    return tree_sitter_python.HIGHLIGHTS_QUERY


_QUERIES: dict[str, Callable[[], str]] = {"c": _c, "cpp": _cpp, "python": _python}
