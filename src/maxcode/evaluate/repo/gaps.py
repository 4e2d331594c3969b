r"""What may stand between two words of code: white space, comments, and lines of the preprocessor.

A rule looks for words one after the other.  Where a comment ends depends on the language and its dialect, so between
two words each ending is tried: what stays of comments (``comments.py``) must not part the words of a rule.
"""

from __future__ import annotations

import re
from itertools import product

NESTED = 4  # how many comments may hold one another; with more, what is behind them is not found
ENDS = r"\n\r\u2028\u2029"  # of lines, in any language
_HASH = r"(?:\#|%:|\?\?=)"


def _nested(depth: int) -> str:
    inner = f"|{_nested(depth - 1)}" if depth > 1 else ""
    return rf"/\*(?:(?!/\*|\*/)[\s\S]{inner})*+\*/"


_LINES = (r"(?://|\#|<!--|-->)[^\n]*+\n", rf"(?://|\#|<!--|-->)[^{ENDS}]*+[{ENDS}]")
_BLOCKS = (r"/\*(?:(?!\*/)[\s\S])*+\*/", _nested(NESTED))
# Each reading alone: two ways through the same text at each of many comments would take for ever.
_READINGS = tuple(rf"\s|{line}|{block}" for line, block in product(_LINES, _BLOCKS))
_MORE = rf"(?:(?=[/#<\-])(?:{'|'.join(f'(?:{one})*+' for one in _READINGS)}))?"
_GAP = rf"(?:\s*{_MORE})"
_SPACED = tuple(rf"(?:\s|{block})*+" for block in _BLOCKS)
_DIRECTIVE = rf"{_HASH}(?:{'|'.join(_SPACED)})"  # up to its word; a comment that ends with its line would end it
_ANY_OF = re.compile(r"\[\^(?:;\{\}|\}|\))\]\*\??")  # all up to a sign, which a comment may hold
_PARTS = re.compile(
    rf"{_ANY_OF.pattern}|\[\\w\\s\*\]\*\?|\#\\s\*|\\s[*+]|(?<!\(\?<!\\w)::|(?<=[\w)?])\\\.(?![*+?])",
)
_SPACE = re.compile(rf"\s+|{_READINGS[0]}|{_READINGS[1]}")
_WIDE = re.compile(r"\s{2,}+")
_ENDS_WITHOUT_IT = re.compile(r"[\r\u2028\u2029]")  # the ends of lines but for ``\n``
_POINT = re.compile(r" ?(::|\.) ?")
_COMMENT = re.compile(r"/\*|\*/")


def with_gaps(pattern: str) -> str:
    r"""The pattern of a rule whose ``\s*``, ``\s+``, ``::``, ``\.`` and ``#\s*`` have room for comments."""
    return _PARTS.sub(lambda found: _roomy(found[0]), pattern)


def _roomy(part: str) -> str:
    if part == r"\s+":
        return rf"(?=[\s/#<\-]){_GAP}"
    if part == r"[\w\s*]*?":
        return rf"(?:[\w*]|{_READINGS[0]})*?"
    if _ANY_OF.fullmatch(part):
        one, how = part.rstrip("*?"), part[part.index("]") + 1 :]
        return rf"(?:{one}{how}|(?>{_READINGS[0]}|{one}){how}|(?>{_READINGS[3]}|{one}){how})"
    if part == r"\s*":
        return _GAP
    return _DIRECTIVE if part == r"#\s*" else f"{_GAP}{part}{_GAP}"


def tight(found: str) -> str:
    """What a rule found, without its comments: a change of them is no new use."""
    return _POINT.sub(r"\1", " ".join(_SPACE.sub(" ", found).split()))


def squeezed(code: str) -> str:
    """The code with little white space at each place, so that no rule takes long for much of it.

    Lines end where they did, and what was behind the second line still is (an encoding holds only in front of that)."""
    return _WIDE.sub(lambda found: _narrow(found[0]), code)


def _narrow(space: str) -> str:
    if lines := space.count("\n"):
        return "\n" * min(lines, 2) + ("" if space.endswith("\n") else " ")
    end = _ENDS_WITHOUT_IT.search(space)
    return f"{end[0]} " if end else " "


def nested(text: str) -> int:
    """How many comments hold one another at most, for a language in which they can."""
    opened, most = [0], 0
    for mark in _COMMENT.findall(text):
        if mark == "/*":
            opened.append(0)
        elif len(opened) > 1:
            height = opened.pop() + 1
            most, opened[-1] = max(most, height), max(opened[-1], height)
    return most
