"""Functions and types of a text by its braces, for languages that tree-sitter does not read here: Go, Rust, Java,
JavaScript and their like.

Braces in comments, strings and characters do not count.  What a pair of braces holds is told by the words before it.
For prompts alone: an unusual text gives no definition, or one too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEAD_AT_MOST = 600  # characters before a brace
_COMMENTS = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
_STRING = r'"(?:\\.|[^"\\\n])*+(?:"|\\?(?=\n|\Z))'
_CHARACTER = r"'(?:\\[^\n][^'\n]{0,8}|[^\\'\n])'"  # and no lifetime of Rust
_REGEX = r"(?:(?<=[(,=:\[!&|?;])|(?<=\breturn))[ \t]*+/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n]){0,80}+\]|[^/\\\[\n]){1,200}+/"
_QUOTED = {  # what has no end in the text goes on to its end
    "go": (r"`[^`]*+(?:`|\Z)", _STRING, _CHARACTER),
    "rust": (
        r'\br(?P<hashes>#*)"(?:(?!"(?P=hashes)).|\n)*+(?:"(?P=hashes)|\Z)',
        *(r'"(?:\\[\s\S]|[^"\\])*+(?:"|\\?\Z)', _CHARACTER),
    ),
    "java": (r'"""(?:(?!""").|\n)*+(?:"""|\Z)', _STRING, _CHARACTER),
    "javascript": (r"`(?:\\[\s\S]|[^`\\])*+(?:`|\\?\Z)", _STRING, _STRING.replace('"', "'"), _REGEX),
}
_SKIPPED = {name: re.compile("|".join((_COMMENTS, *parts))) for name, parts in _QUOTED.items()}
_NO_BODY = re.compile(r"\b(interface|struct)\{\}|(=\s*+)\{\}(?=\s*[,)])")
_SIGN = re.compile(r"[{}()\[\];]")
_MODIFIERS = (
    r"^[ \t]*+(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:pub(?:\([a-z]+\))?|async|unsafe|const|extern|export|default|static|"
    r"public|private|protected|final|abstract|synchronized|get|set)\s+)*"
)
_FUNCTION = re.compile(
    rf"{_MODIFIERS}(?:fn|func|function)\b[ \t*]*(?:\([^)]*\)\s*)?(?P<name>[\w$]+)\s*[(<\[]", re.MULTILINE
)
_TYPE = re.compile(
    rf"{_MODIFIERS}(?:type\s+(?P<name>\w+)(?:\[[^\n]*\])?\s+(?:struct|interface)\s*\Z|(?:struct|enum|union)\s+(?P<rust>\w+))",
    re.MULTILINE,
)
_ASSIGNED = re.compile(
    r"(?P<name>[\w$]+)\s*[:=]\s*(?:async\s*)?(?:function\b[^={}]*|(?:\([^{}]*\)|[\w$]+)\s*(?::[^=(){}]*)?=>)\s*\Z"
)
_METHOD = re.compile(
    rf"{_MODIFIERS}(?:(?P<before>\w[\w<>\[\],.? ]*)\s)?[*#]?(?P<name>[\w$]+)\s*(?P<given>\(.*\))[^()=]*\Z",
    re.MULTILINE | re.DOTALL,
)
_WORDS = frozenset(
    ("if", "for", "while", "switch", "match", "catch", "with", "return", "else", "new", "function", "throw", "await",
     "yield", "let", "var", "case", "in", "of", "do", "try", "synchronized", "using", "lock")
)  # fmt: skip


class Braced(NamedTuple):
    """``first``, ``last``: lines, from 1."""

    name: str
    first: int
    last: int
    is_type: bool


class _Open(NamedTuple):
    at: int
    begin: int  # of its head
    depth: int  # of the parentheses around


def braced(language: str, text: str) -> list[Braced]:
    """The functions and types with a body in braces, in order."""
    bare = _bare(language, text)
    found = [one for head, at, end in _pairs(bare) if (one := _told(language, bare, head, at, end)) is not None]
    return sorted(found, key=lambda one: (one.first, -one.last))


def _bare(language: str, text: str) -> str:
    """The text, as long as before, with blanks for comments, strings and characters."""
    skipped = _SKIPPED.get(language, _SKIPPED["javascript"])
    blank = skipped.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return _NO_BODY.sub(r"\1\2  ", blank)


def _pairs(bare: str) -> Iterator[tuple[int, int, int]]:
    """Where the head before a pair of braces begins, and where the two are."""
    opened: list[_Open] = []
    begin, depth = 0, 0
    for sign in _SIGN.finditer(bare):
        at, kind = sign.start(), sign[0]
        if kind == "{":
            opened.append(_Open(at, begin, depth))
            begin, depth = at + 1, 0
        elif kind == "}" and opened:
            last = opened.pop()
            yield last.begin, last.at, at
            begin, depth = at + 1, last.depth
        elif kind in "([":
            depth += 1
        elif kind in ")]":
            depth = max(0, depth - 1)
        elif kind == ";" and not depth:
            begin = at + 1


def _told(language: str, bare: str, head: int, at: int, end: int) -> Braced | None:
    head = max(head, at - _HEAD_AT_MOST)
    words = bare[head:at]
    found = _last(_FUNCTION, words) or _last(_TYPE, words)
    if found is None and language not in ("go", "rust"):
        found = _ASSIGNED.search(words) or _method(words)
    if found is None:
        return None
    is_type = found.re is _TYPE
    name, of = ("rust", "rust") if is_type and found["rust"] else ("name", "name")
    first = bare.count("\n", 0, head + found.start(of)) + 1
    return Braced(found[name], first, bare.count("\n", 0, end) + 1, is_type)


def _last(kind: re.Pattern[str], words: str) -> re.Match[str] | None:
    return next(reversed(list(kind.finditer(words))), None)


def _method(words: str) -> re.Match[str] | None:
    """A method of Java or of a class of JavaScript; none for a statement or a call."""
    begin = 0
    while (found := _METHOD.search(words, begin)) is not None:
        first = (found["before"] or "").split()[:1]
        is_even = found["given"].count("(") == found["given"].count(")")
        if is_even and found["name"] not in _WORDS and not _WORDS.intersection(first):
            return found
        begin = words.find("\n", found.start("name")) + 1
        if not begin:
            return None
    return None
