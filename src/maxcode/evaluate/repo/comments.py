r"""Takes comments out of a text, but only where no reading of its language sees code there.

Which reading holds depends on the dialect: ``R"(`` begins a text in C++ and in GNU C alone, ``'`` stands in numbers of
C++14 and of C23, a ``/`` begins a pattern of JavaScript or divides, ``<!--`` begins a comment in some of it, Java reads
``\u000a`` as the end of a line.  So a comment goes only if on its line nothing stands before it that may begin a text,
other than one that surely ends there, and in the whole file before it nothing that may begin a text or a comment of
several lines.  What stays is read as code, which at worst refuses a word of a comment; that it parts two words hides
nothing (``gaps.py``).  Python that this Python reads is exact; of a language without a row here every comment stays.
"""

from __future__ import annotations

import io
import re
import tokenize

from maxcode.evaluate.repo.gaps import ENDS
from maxcode.evaluate.repo.kept_texts import kept
from maxcode.evaluate.repo.python_names import parsed

_BLANK = r"[ \t\r\f\v]*\n"  # behind a backslash, or behind its trigraph: the line goes on
_JOINED, _JOINED_IN_C = re.compile(rf"(?:\\|\?\?/){_BLANK}"), re.compile(rf"\\{_BLANK}")
_ESCAPE = re.compile(r"\\u+(?:00([0-7][0-9a-fA-F])|\{0*([0-7]?[0-9a-fA-F])\})")  # an ASCII letter of Java, JavaScript
_NUMBERED = re.compile(r"\\(?:x([2-7][0-9a-fA-F])|([01]?[0-7]{2}))")  # the same in a text of C, Rust, Go, JavaScript
_PARTED = re.compile(r"([\"'`])\s*+(?:\+\s*+)?\1")
# Texts that end for sure.  A letter or # in front may make a quote one of a raw text; ' stands in numbers such as 1.'0.
_TEXT = (
    r"(?<![\w#'\\])\"(?!\"\")(?:[^\"\\\n\r]|\\[^\n\ru])*\"|"
    r"(?<![\w.+\-#'\\])'(?:[^'\\\n\r]|\\[^\n\ru])'"
)
_PYTHON_TEXT = r"(?<!\w)(?:\"\"\"(?!\")[^\"\\]*\"\"\"|'''(?!')[^'\\]*'''|\"(?!\")[^\"\\\n]*\"|'(?!')[^'\\\n]*')"
_HEADER = r"include[ \t]*<(?:[^>\n/'\"]|/(?![/*]))*>"
# ``//*`` divides in C90, ``*/`` ends a comment that other readings have, ``//go:`` is an instruction.
_LINE = rf"//(?!\*|go:)(?:(?!\*/)[^{ENDS}])*(?![^{ENDS}])"
_PLAIN_LINE = rf"//(?!\*|go:)(?:(?!\*/)[^{ENDS}\\])*(?![^{ENDS}])"
_BLOCK, _PLAIN_BLOCK = r"/\*.*?\*/", r"/\*(?:(?!/\*|\*/)[^\\])*\*/"  # in Rust one may hold another
_CODING = r"[^\n]*coding[:=]"  # names how a file of Python is to be read


def _sure(text: str, opens: str, marks: str, comment: str) -> re.Pattern[str]:
    """Finds what is a comment for sure, and in its groups what may hide one.

    ``text``: a text that ends for sure.  ``opens``: may begin one of several lines.  ``marks``: may begin one that ends
    with its line.
    """
    on = rf"(?:\\{_BLANK}|[^\n])"
    rest = rf"(?:{opens}|(?:{marks}){on}*?(?:{opens}))[\s\S]*|(?:{marks}){on}*"
    return re.compile(rf"(?P<text>{text})|{comment}|(?P<rest>{rest})", re.DOTALL)


_MARKS, _PLAIN = r"['\"\\/]", rf"{_PLAIN_LINE}|{_PLAIN_BLOCK}"
_IN_SCRIPT = _sure(_TEXT, r"`|\"\"\"|\\u+0022|/\*", rf"{_MARKS}|<!--|-->", _PLAIN)
_SURE = {
    "python": _sure(_PYTHON_TEXT, r"'''|\"\"\"", r"['\"]", rf"\#(?!{_CODING})[^\n]*"),
    # The name of a header may hold /* and //.
    "c": _sure(
        rf"{_TEXT}|{_HEADER}", r"R\"|/\*", r"['\"]|/(?=/)|include|import|embed|dependency", rf"{_LINE}|{_BLOCK}"
    ),
    "script": _IN_SCRIPT,
    "javascript": _IN_SCRIPT,
    "rust": _sure(_TEXT, r"\"|/\*", _MARKS, _PLAIN),
}
_UNSURE = re.compile(r"//|/\*|R\"|\?\?/")
_UP_TO = re.compile(rf"(?P<text>{_TEXT})|{_UNSURE.pattern}|(?P<quote>[\"'])")
_MARKUP = re.compile(r"<\s*/|/\s*>")  # ends an element of JSX, whose text may look like a comment


@kept
def without_comments(text: str, kind: str) -> str:
    """The text with a space in place of each sure comment; C with its lines joined.  Texts stay."""
    if kind == "python":
        text = re.sub("\r\n?", "\n", text)
        if parsed(text) is not None and (exact := _of_tokens(text)) is not None:
            return exact
    if kind == "c":
        text = _JOINED_IN_C.sub("", text)
    is_unsure = (kind == "c" and "??/" in text) or (kind == "javascript" and _MARKUP.search(text))
    if kind not in _SURE or is_unsure:
        return text
    return _SURE[kind].sub(lambda found: found["text"] or found["rest"] or " ", text)


def without_unsure(code: str) -> str:
    """The beginning of what stays of C, up to the first sign that may begin a comment or a text of several lines.

    Not in a text that surely ends; behind a quote that may be none, any such sign."""
    found = next((found for found in _UP_TO.finditer(code) if not found["text"]), None)
    if found and found["quote"]:
        found = _UNSURE.search(code, found.end())
    return code[: found.start()] if found else code


def spelled_out(code: str) -> str:
    """Code whose lines go on behind each backslash, with the letters that are written as numbers."""
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), _JOINED.sub("", code))


def joined(code: str) -> str:
    """Code whose texts are joined where they are written in pieces, with their signs that are written as numbers."""
    return _PARTED.sub("", _NUMBERED.sub(_sign, code))


def _sign(found: re.Match[str]) -> str:
    sign = chr(int(found[1], 16) if found[1] else int(found[2], 8))
    return sign if sign.isascii() and sign.isprintable() and sign not in "\"'`\\" else found[0]


def _of_tokens(text: str) -> str | None:
    """Python without its comments; None if its tokens cannot be read."""
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and not re.match(_CODING, token.string):
                row, at = token.start
                lines[row - 1] = lines[row - 1][:at] + " "
    except (tokenize.TokenError, SyntaxError):
        return None
    return "\n".join(lines)
