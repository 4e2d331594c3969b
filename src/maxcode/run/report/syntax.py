"""Syntax colours: finds keywords, strings, numbers, types, functions and comments in a line.

Pygments finds them; the markup is ours, because a page also makes control and direction characters visible.  Text
without a colour has no markup, so that a page of thousands of lines stays small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String

from maxcode.run.report.html import Html, element, join

Run: TypeAlias = tuple[str, str]  # a class of the style sheet (empty: none) and text
MOST_CHARACTERS = 64_000  # a longer text has no colours

_COLORS = (  # the first match counts
    (Comment.PreprocFile, "s"),
    (Comment.Preproc, "k"),
    (Comment, "c"),
    (Keyword.Type, "t"),
    (Keyword.Constant, "d"),
    (Keyword, "k"),
    (String, "s"),
    (Number, "d"),
    (Name.Class, "t"),
    (Name.Function, "f"),
)
# C and C++ begin inside a function: outside of one, Pygments looks for definitions with a regular expression whose time
# can grow exponentially with the text.  A name before a parenthesis is a function in any case.
_START = {"c": ("function",), "cpp": ("function",), "python": ("root",)}
_BLANKS = re.compile(r"[\s&*]{200}")
_MOST_OPENINGS = 1_000


def colored(language: str, text: str) -> list[list[Run]]:
    """The lines of ``text``, each as runs; the joined runs are the line."""
    if language not in _START or _is_slow(text):
        return [[("", line)] for line in text.split("\n")]
    return _colored(language, text)


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


def _is_slow(text: str) -> bool:
    """Whether Pygments may need time that grows at least with the square of the text's length."""
    openings = max(text.count("/*"), text.count('R"'))
    return len(text) > MOST_CHARACTERS or openings > _MOST_OPENINGS or _BLANKS.search(text) is not None


@lru_cache(maxsize=64)
def _colored(language: str, text: str) -> list[list[Run]]:
    lines: list[list[Run]] = [[]]
    for kind, runs in groupby(_runs(language, text), key=itemgetter(0)):
        first, *rest = "".join(part for _, part in runs).split("\n")
        lines[-1] += [(kind, first)] if first else []
        lines += [[(kind, line)] if line else [] for line in rest]
    return lines[:-1]  # the added line break starts one more line


def _runs(language: str, text: str) -> Iterator[Run]:
    """The words of the text and of one more line break, which Pygments needs to see a comment at the end."""
    whole = text + "\n"
    for at, token, part in get_lexer_by_name(language).get_tokens_unprocessed(whole, _START[language]):
        is_called = token in Name and whole.startswith("(", at + len(part))
        yield "f" if is_called else _color(token), part


@cache
def _color(token: Any) -> str:
    return next((color for kind, color in _COLORS if token in kind), "")
