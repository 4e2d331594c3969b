"""Preprocesses a text of C or C++ as a compiler does: no comments, no line splices, no macros.

Macros must be expanded before techniques are looked for, because ``#define V __m512d`` would hide one.  Headers are not
opened: names that they define do not change.  A condition is decided only if the text alone decides it; otherwise all
branches of the ``#if`` are kept.  If they cannot be kept together (a macro with two meanings, a branch that leaves a
brace open), that is reported in ``obscure``, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

from maxcode.code.source import Token, tokens
from maxcode.code.techniques.integer_constants import constant

STEPS_AT_MOST = 200_000  # of expansion, so that macros that expand without end are reported and do not hang


class Piece(NamedTuple):
    """A token of the expanded text.  ``line``: the line of the token, or of the use of the macro it came from."""

    text: str
    line: int
    hidden: frozenset[str] = frozenset()  # the macros it came from, which do not expand in it again


class Remark(NamedTuple):
    """A text about a line (1-based): the text of a pragma, an included name, or a reason."""

    line: int
    text: str


@final
@dataclass(frozen=True, slots=True)
class Expanded:
    """An expanded text.  ``text`` has its tokens on the lines of the original, without pragmas and includes."""

    text: str
    pieces: tuple[Piece, ...]
    pragmas: tuple[Remark, ...]
    includes: tuple[Remark, ...]
    obscure: tuple[Remark, ...]


def expand(text: str) -> Expanded:
    """The text without comments and macros.  The time is linear in the text and its expansion."""
    reader = _Reader()
    for line, content in _logical_lines(text):
        if content.lstrip().startswith("#"):
            reader.directive(line, content)
        elif reader.live:
            reader.waiting += [Piece(token.text, line) for token in tokens(content)]
            reader.count_braces(content)
    reader.flush()
    pieces = tuple(_without_operators(reader.pieces, reader.pragmas))
    return Expanded(
        _rendered(pieces), pieces, tuple(sorted(reader.pragmas)), tuple(reader.includes), tuple(reader.obscure)
    )


# ------------------------------------------------------------------------------------------------------------ lines

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_LEXEMES = re.compile(
    r"""(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<inside>.*?)(?:\)(?P=mark)"|\Z))
    |(?P<literal>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?))
    |(?P<word>[A-Za-z_$\x80-\U0010ffff][\w$\x80-\U0010ffff]*|\.?\d(?:'\w|[eEpP][+-]|[\w.])*)
    |(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<newline>\n)
    |(?P<digraph>%:|<%|%>|<:|:>)""",
    re.VERBOSE | re.DOTALL,
)
_DIGRAPHS = {"%:": "#", "<%": "{", "%>": "}", "<:": "[", ":>": "]"}


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines after splicing, without comments, each with the number of its first line; a directive is one line."""
    rows, joined = _spliced(text)
    row, line, parts, last = 0, rows[0], "", 0
    for found in _LEXEMES.finditer(joined):
        parts += joined[last : found.start()]
        last = found.end()
        breaks = found.group().count("\n")
        if found["newline"] or (found["comment"] and breaks and not parts.lstrip().startswith("#")):
            yield line, parts
            row, parts = row + breaks, ""
            line = rows[row]
            continue
        row += breaks
        parts += _plain(found)
    yield line, parts + joined[last:]


def _spliced(text: str) -> tuple[list[int], str]:
    """The text with its continued lines joined, and the original number of each line that is left."""
    rows, line, parts = [], 1, []
    for piece in _SPLICE.sub("\0", text).split("\n"):
        rows.append(line)
        line += 1 + piece.count("\0")
        parts.append(piece.replace("\0", ""))
    return rows, "\n".join(parts)


def _plain(found: re.Match[str]) -> str:
    if found["comment"]:
        return " "
    if found["raw"]:
        return '"' + found["inside"].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return _DIGRAPHS.get(found.group(), found.group())


# ------------------------------------------------------------------------------------------------------- directives


@final
@dataclass(frozen=True, slots=True)
class _Macro:
    """A macro.  ``parameters``: None for an object-like macro."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]
    variadic: bool = False


@final
@dataclass(slots=True)
class _Branch:
    """An open ``#if``: whether a branch was certainly taken, whether this one is kept, and whether that is certain."""

    taken: bool
    kept: bool
    certain: bool
    balance: int = 0


@final
@dataclass(slots=True)
class _Reader:
    """The state of reading one text from top to bottom."""

    macros: dict[str, _Macro] = field(default_factory=dict)
    meanings: dict[str, _Macro] = field(default_factory=dict)
    branches: list[_Branch] = field(default_factory=list)
    waiting: list[Piece] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    pragmas: list[Remark] = field(default_factory=list)
    includes: list[Remark] = field(default_factory=list)
    obscure: list[Remark] = field(default_factory=list)
    steps: int = 0

    @property
    def live(self) -> bool:
        """Whether the current line may reach the compiler."""
        return all(branch.kept for branch in self.branches)

    def count_braces(self, content: str) -> None:
        """Counts the braces and parentheses that this branch opens and does not close."""
        if self.branches and not self.branches[-1].certain:
            plain = re.sub(r'"(?:\\.|[^"\\])*+"?', "", content)
            self.branches[-1].balance += sum((c in "{(") - (c in "})") for c in plain)

    def directive(self, line: int, content: str) -> None:
        """Executes one directive."""
        found = re.match(r"\s*#\s*(\w*)(.*)", content, re.DOTALL)
        name, rest = (found[1], found[2]) if found else ("", "")
        if name in ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"):
            self._conditional(line, name, rest)
            return
        if not self.live:
            return
        self.flush()
        if name == "define":
            self._define(line, rest)
        elif name == "undef":
            self.macros.pop(rest.strip(), None)
        elif name in ("include", "include_next", "import"):
            self._include(line, rest.strip())
        elif name == "pragma":
            self._pragma(line, rest)

    def flush(self) -> None:
        """Expands the text since the last directive: the arguments of a macro may span lines, but not directives."""
        self.pieces += self.expanded(self.waiting)
        self.waiting = []

    def _define(self, line: int, rest: str) -> None:
        parts = tokens(rest)
        if not parts:
            return
        name, macro = parts[0].text, _macro(parts[0].end, parts[1:])
        if self.meanings.setdefault(name, macro) != macro:
            self.obscure.append(Remark(line, f"macro {name} has two meanings"))
        self.macros[name] = macro

    def _include(self, line: int, name: str) -> None:
        if not name.startswith(("<", '"')):
            name = "".join(piece.text for piece in self.expanded([Piece(t.text, line) for t in tokens(name)]))
        self.includes.append(Remark(line, name))

    def _pragma(self, line: int, rest: str) -> None:
        words = self.expanded([Piece(token.text, line) for token in tokens(rest)])
        self.pragmas.append(Remark(line, " ".join(piece.text for piece in words)))

    def _conditional(self, line: int, name: str, rest: str) -> None:
        if name.startswith("if"):
            truth = self._truth(name.removeprefix("if"), rest)
            self.branches.append(_Branch(truth is True, truth is not False, truth is not None))
            return
        if not self.branches:
            return
        branch = self.branches[-1]
        if branch.balance:
            self.obscure.append(Remark(line, "a branch of a condition that leaves a brace open"))
        if name == "endif":
            self.branches.pop()
            return
        truth = True if name == "else" else self._truth(name.removeprefix("elif"), rest)
        branch.kept = not branch.taken and truth is not False
        branch.certain = branch.certain and truth is not None
        branch.taken, branch.balance = branch.taken or truth is True, 0

    def _truth(self, kind: str, rest: str) -> bool | None:
        """Whether a condition holds; None if only the compiler knows."""
        if kind in ("def", "ndef"):
            return (kind == "def") if rest.strip() in self.macros else None
        rest = re.sub(r"\bdefined\s*\(?\s*(\w+)\s*\)?", lambda m: "1" if m[1] in self.macros else m[0], rest)
        words = self.expanded([Piece(token.text, 0) for token in tokens(rest)])
        value = constant(" ".join(piece.text for piece in words), {})
        return None if value is None else bool(value)

    # ---------------------------------------------------------------------------------------------------- expansion

    def expanded(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces with every macro replaced, in the order of the C standard (6.10.3)."""
        stack, done = list(reversed(pieces)), list[Piece]()
        while stack:
            piece = stack.pop()
            macro = self.macros.get(piece.text) if piece.text not in piece.hidden else None
            if macro is None or self.steps > STEPS_AT_MOST:
                done.append(piece)
                continue
            given: dict[str, list[Piece]] = {}
            if macro.parameters is not None:
                if not stack or stack[-1].text != "(":
                    done.append(piece)
                    continue
                given = _arguments(macro, stack)
            body = self._substituted(macro, given, piece)
            self.steps += 1 + len(body)
            if self.steps > STEPS_AT_MOST:
                self.obscure.append(Remark(piece.line, f"macro {piece.text} expands without end"))
            stack += reversed(body)
        return done

    def _substituted(self, macro: _Macro, given: dict[str, list[Piece]], use: Piece) -> list[Piece]:
        hidden = use.hidden | {use.text}
        body: list[Piece] = []
        texts, at = macro.body, 0
        while at < len(texts):
            text = texts[at]
            if text == "#" and at + 1 < len(texts) and texts[at + 1] in given:
                quoted = " ".join(piece.text for piece in given[texts[at + 1]])
                body.append(Piece('"' + quoted.replace("\\", "\\\\").replace('"', '\\"') + '"', use.line, hidden))
                at += 1
            elif text == "##" and body and at + 1 < len(texts):
                right = given.get(texts[at + 1], [Piece(texts[at + 1], use.line)])
                body[-1:] = _pasted(body[-1], right, hidden)
                at += 1
            elif text in given:
                raw = "##" in texts[at + 1 : at + 2]
                argument = given[text] if raw else self.expanded(given[text])
                body += [Piece(p.text, use.line, p.hidden | hidden) for p in argument] or [Piece("", use.line)] * raw
            else:
                body.append(Piece(text, use.line, hidden))
            at += 1
        return [piece for piece in body if piece.text]


def _macro(end: int, rest: Sequence[Token]) -> _Macro:
    """The macro whose name ends at ``end``; a parenthesis directly after it opens its parameters."""
    texts = [token.text for token in rest]
    if not texts or texts[0] != "(" or rest[0].start != end or ")" not in texts:
        return _Macro(None, tuple(texts))
    close = texts.index(")")
    head = [text for text in texts[1:close] if text != ","]
    variadic = head[-1:] == ["..."]
    if variadic:
        head = head[:-1] if texts[close - 2] not in ("(", ",") else [*head[:-1], "__VA_ARGS__"]
    return _Macro(tuple(head), tuple(texts[close + 1 :]), variadic)


def _arguments(macro: _Macro, stack: list[Piece]) -> dict[str, list[Piece]]:
    """The arguments of a call whose opening parenthesis is on top of the stack; removes the call from the stack."""
    names = macro.parameters or ()
    found: list[list[Piece]] = [[]]
    depth = 1
    stack.pop()
    while stack:
        piece = stack.pop()
        depth += (piece.text == "(") - (piece.text == ")")
        if depth == 0:
            break
        if piece.text == "," and depth == 1 and not (macro.variadic and len(found) == len(names)):
            found.append([])
        else:
            found[-1].append(piece)
    return {name: found[at] if at < len(found) else [] for at, name in enumerate(names)}


def _pasted(left: Piece, right: Sequence[Piece], hidden: frozenset[str]) -> list[Piece]:
    if not right:
        return [left]
    joined = [Piece(token.text, left.line, hidden) for token in tokens(left.text + right[0].text)]
    return [*joined, *(Piece(piece.text, left.line, piece.hidden | hidden) for piece in right[1:])]


# ------------------------------------------------------------------------------------------------------------ output


def _without_operators(pieces: Sequence[Piece], pragmas: list[Remark]) -> Iterator[Piece]:
    """The pieces without each ``_Pragma("...")``, which is added to ``pragmas``."""
    at = 0
    while at < len(pieces):
        if pieces[at].text == "_Pragma" and at + 3 < len(pieces):
            quoted = pieces[at + 2].text
            pragmas.append(Remark(pieces[at].line, quoted[quoted.find('"') + 1 : -1].replace('\\"', '"')))
            at += 4
        else:
            yield pieces[at]
            at += 1


def _rendered(pieces: Iterable[Piece]) -> str:
    lines: list[list[str]] = [[]]
    for piece in pieces:
        while len(lines) < piece.line:
            lines.append([])
        lines[-1].append(piece.text)
    return "\n".join(" ".join(line) for line in lines) + "\n"
