"""Source text: parsing, tokens, normalised comparison, and fenced blocks in a completion.

Policies parse programs with it, the critic maps lines, the search finds duplicates, reports show differences.  Offsets
are byte offsets into ``text.encode()``, as in tree-sitter; surrogate escapes preserve a text that is not UTF-8.  A
quarter of real C++ files parse with ERROR nodes (loop macros), so no function here needs an error-free tree: ``tokens``
reads C and C++ without a tree.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from typing import NamedTuple, final

from tree_sitter import Language, Node, Parser

from maxcode.code.languages import C_FAMILY
from maxcode.code.languages import language as language_row
from maxcode.errors import unknown

# ----------------------------------------------------------------------------------------------------------- parsing

SOURCE_AT_MOST = 1_000_000  # bytes of a program that is built
_CHUNK = 1 << 16
_AGAIN_AT_MOST = 1000  # times that a scanner of tree-sitter reads to an end that is not there; no step counts it
_STEPS_AT_LEAST, _STEPS_PER_BYTE = 400, 0.1  # a step is hundreds of operations; real programs take 0.01 steps a byte


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A parsed text.  ``data``: the text as bytes; the offsets of ``root`` and its descendants refer to it."""

    language: str
    text: str
    data: bytes
    root: Node


class Patch(NamedTuple):
    """Replaces the bytes ``start`` to ``end`` by ``text``."""

    start: int
    end: int
    text: str


def parse(language: str, text: str) -> Source:
    """Parses the text with the grammar of ``language``; a malformed text gives a tree with ERROR nodes."""
    data = encode(text)
    return Source(language, text, data, read(language_row(language).grammar, data))


def read(grammar_name: str, data: bytes) -> Node:
    """The root of the tree of a text; a tree with only an ERROR node if parsing takes too many steps.

    A well-formed text takes a number of steps in proportion to its length.  Thousands of unmatched brackets, which a
    model that repeats itself writes, take the square of that: minutes for 40 KB.  The limit is in steps, not seconds,
    so that a text gives the same tree on every machine.
    """
    parser, steps = _parsers.of(grammar_name), count()

    def is_too_many(_offset: int, _has_error: bool) -> bool:
        return next(steps) > _STEPS_AT_LEAST + _STEPS_PER_BYTE * len(data)

    if _is_read_again(grammar_name, data):
        data = b")"
    try:
        tree = parser.parse(lambda at, _: data[at : at + _CHUNK], progress_callback=is_too_many)
    except ValueError:  # halted
        parser.reset()
        tree = parser.parse(b")")
    return tree.root_node


def _is_read_again(grammar_name: str, data: bytes) -> bool:
    """Whether lines without end are joined, or comments of C are opened and none is closed behind."""
    is_joined = any(splice * _AGAIN_AT_MOST in data for splice in (b"\\\n", b"\\\r\n"))
    return is_joined or (grammar_name != "python" and data.count(b"/*", data.rfind(b"*/") + 1) > _AGAIN_AT_MOST)


def encode(text: str) -> bytes:
    """The text as bytes; offsets refer to them."""
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> str:
    """The inverse of ``encode``."""
    return data.decode("utf-8", "surrogateescape")


def writable(text: str) -> str:
    """The text without lone surrogates, which a half-received answer can hold but no file and no request can."""
    return text.encode("utf-8", "replace").decode()


def walk(node: Node) -> Iterator[Node]:
    """The node and its descendants, parents first, in the order of the text."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def text_of(node: Node) -> str:
    """The text of a node."""
    return decode(node.text or b"")


def line_of(node: Node) -> int:
    """The line (1-based) on which a node starts."""
    return node.start_point.row + 1


_GRAMMARS = ("cpp", "c", "python")


@cache
def grammar(name: str) -> Language:
    """The tree-sitter grammar called ``name`` in the table of languages."""
    if name not in _GRAMMARS:
        raise unknown("grammar", name, _GRAMMARS)
    return Language(import_module(f"tree_sitter_{name}").language())


class _Parsers(threading.local):
    """The parsers of one thread, by grammar.  A parser calls back into Python, where another thread may run, and two
    parses with one parser at once crash the process."""

    def __init__(self) -> None:
        self._known: dict[str, Parser] = {}

    def of(self, name: str) -> Parser:
        if name not in self._known:
            self._known[name] = Parser(grammar(name))
        return self._known[name]


_parsers = _Parsers()


# ------------------------------------------------------------------------------------------------- tokens of C and C++


class Token(NamedTuple):
    """A token of C or C++: ``start`` and ``end`` are byte offsets, ``directive`` marks preprocessor lines."""

    text: str
    start: int
    end: int
    directive: bool

    @property
    def is_word(self) -> bool:
        """Whether it is an identifier or a keyword."""
        return self.text[0].isalpha() or self.text[0] == "_"


_TOKEN = (
    re.compile(  # a literal that is not closed ends with its line, as for gcc: else each quote in it reads on again
        rb"""(?P<space>(?:[ \t\r\f\v]|\\\r?\n)+|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
    |(?P<newline>\n)
    |(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)
    |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*+"?
    |(?:u8|[uUL])?'(?:\\.|[^'\\\n])*+'?
    |[A-Za-z_$\x80-\xff][\w$\x80-\xff]*
    |\.?\d(?:'\w|[eEpP][+-]|[\w.])*
    |<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)""",
        re.VERBOSE | re.DOTALL,
    )
)


def tokens(text: str) -> list[Token]:
    """The tokens of a C or C++ text without comments, those of macro bodies included (marked ``directive``)."""
    return [token for token in _tokens_and_newlines(encode(text)) if token.text != "\n"]


def without_comments(text: str, keeps_literals: bool = True) -> str:
    """A C or C++ text with a blank in the place of each comment, and ``""`` in that of each literal that is not kept.

    Its lines keep their numbers.  What is not closed stays: in a language that is nearly C it may open nothing.
    """

    def put(one: re.Match[bytes]) -> bytes:
        if _CLOSED.fullmatch(one[0]) is None or (keeps_literals and one["space"] is None):
            return one[0]
        return (b'""' if one["space"] is None else b" ") + b"\n" * one[0].count(b"\n")

    return decode(_TOKEN.sub(put, encode(text)))


_CLOSED = re.compile(
    rb"""//.*|/\*.*\*/|(?:u8|[uUL])?(?:R"[^(]*\(.*"|"(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+')""", re.DOTALL
)


def _tokens_and_newlines(data: bytes) -> Iterator[Token]:
    directive = False
    fresh = True
    for match in _TOKEN.finditer(data):
        if match["space"] is not None:
            continue
        if match["newline"] is not None:
            if directive:
                yield Token("\n", match.start(), match.end(), True)
            directive, fresh = False, True
            continue
        directive = directive or (fresh and match["text"] == b"#")
        fresh = False
        yield Token(decode(match["text"]), match.start(), match.end(), directive)


# ---------------------------------------------------------------------------------------------------------- comparing

_LAYOUT = {"python": frozenset({"module", "block"})}  # grammars in which line breaks have a meaning
_ATOMS = frozenset({"string", "string_literal", "char_literal", "raw_string_literal"})


def normalise(language: str, text: str) -> str:
    """The text without comments and without white space that has no meaning; literals do not change.

    Equal results mean equal programs, except for line numbers (``__LINE__``, assertions).  A text that its grammar
    cannot read, or that is too long for a program, is returned as it is.
    """
    grammar = language_row(language).grammar
    if not grammar or len(text) > SOURCE_AT_MOST:
        return text  # exactly, because a string may hold anything
    if grammar in _LAYOUT:
        root = parse(language, text).root
        return text if root.has_error else " ".join(_leaves(root, _LAYOUT[grammar]))
    return "".join(_c_family(encode(text)))


def _c_family(data: bytes) -> Iterator[str]:
    """Tokens with a blank after each; inside directives only if the text has one: ``F (x)`` is not ``F(x)``."""
    before: Token | None = None
    for token in _tokens_and_newlines(data):
        if before is not None and token.directive and not before.directive:
            yield "\n"
        elif before is not None and token.text != "\n" and (not token.directive or token.start > before.end):
            yield " "
        yield token.text
        before = None if token.text == "\n" else token


def _leaves(root: Node, layout: frozenset[str]) -> Iterator[str]:
    waiting: list[Node | str] = [root]  # no recursion: a sum of a thousand terms is a tree of a thousand levels
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif node.type in _ATOMS or node.child_count == 0:
            if node.type != "comment":
                yield text_of(node)
        elif node.type in layout:
            lines = [child for child in node.children if child.type not in (";", "comment")]
            waiting += ["}", *(part for child in reversed(lines) for part in ("\n", child)), "{"]
        else:
            waiting.extend(reversed(node.children))


def fingerprint(files: Mapping[str, str], language: str) -> str:
    """A SHA-256 (hexadecimal) that is equal for programs (path -> text) that differ only in comments and layout.

    Files whose name is not one of ``language`` count as they are: ``#define`` is no comment in a C file beside Python.
    """
    row = language_row(language)
    own = C_FAMILY if row.by_gcc else row.suffixes
    parts = {path: normalise(language, text) if path.endswith(own) else text for path, text in files.items()}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def unified_diff(before: str, after: str, name: str = "program") -> str:
    """The unified diff of two texts, empty if they are equal; the labels are ``a/name`` and ``b/name``."""
    lines = difflib.unified_diff(lines_of(before), lines_of(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def paths_of(diff: str) -> Iterator[str]:
    """The paths that a difference changes or adds.  The lines of a hunk are counted: one may look like a path."""
    before = after = 0
    for line in diff.split("\n"):
        if before > 0 or after > 0:
            before -= line[:1] in ("-", " ")
            after -= line[:1] in ("+", " ")
        elif (hunk := _HUNK.match(line)) is not None:
            before, after = int(hunk[1] or 1), int(hunk[2] or 1)
        elif line.startswith("+++ b/"):
            yield line.removeprefix("+++ b/").removesuffix("\t")
        elif (empty := _EMPTY.fullmatch(line)) is not None:
            yield empty[1]


_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_EMPTY = re.compile(r"diff --git a/(.{1,4096}) b/\1")  # a new file without a line has no other header


def lines_of(text: str) -> list[str]:
    """Lines as git counts them, with their newlines: a form feed or a carriage return ends none."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


# -------------------------------------------------------------------------------------------------------- completions


class Fence(NamedTuple):
    """A fenced code block of a Markdown text: its language tag in lower case, and its content."""

    tag: str
    body: str


_FENCE = re.compile(r" {0,3}(?P<ticks>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`]*)[^`]*")
_CLOSING = re.compile(r" {0,3}(?P<ticks>[`~]{3,})[ \t]*")
_REASONING = re.compile(
    r"(?P<open>^[ \t]*(?:<(?i:think|thinking|reasoning)>|\[THINK\]))"
    r"|(?<![\"'])(?<!(?<!`)`)(?:</(?i:think|thinking|reasoning)>|\[/THINK\])(?![\"']|`(?!`))",
    re.MULTILINE,
)


def fences(text: str) -> list[Fence]:
    """The closed fenced blocks of a text, in order."""
    lines = text.split("\n")
    closings = [(at, found["ticks"]) for at, line in enumerate(lines) if (found := _CLOSING.fullmatch(line))][::-1]
    fenced_blocks: list[Fence] = []
    free, unclosed = 0, tuple[str, ...]()  # the line behind the last block; ticks that nothing behind it closes
    for at, line in enumerate(lines):
        opened = _FENCE.fullmatch(line) if at >= free else None
        if opened is None or opened["ticks"].startswith(unclosed):
            continue
        while closings and closings[-1][0] <= at:
            closings.pop()
        end = next((end for end, ticks in reversed(closings) if ticks.startswith(opened["ticks"])), None)
        if end is None:
            unclosed = (*unclosed, opened["ticks"])
        else:
            fenced_blocks.append(Fence(opened["tag"].lower(), "".join(f"{one}\n" for one in lines[at + 1 : end])))
            free = end + 1
    return fenced_blocks


def answer_of(completion: str) -> str:
    """A completion without its reasoning.  Reasoning is the text between tags, the text after a tag that is never
    closed, and the text before a closing tag without an opening one (the template of the model had opened it).

    An opening tag is at the beginning of a line; a closing tag in quotes is part of a string, so it does not count.
    """
    kept: list[str] = []
    start, reasoning = 0, False
    for tag in _REASONING.finditer(completion):
        if tag["open"] is None:
            kept = kept if reasoning else []
            start, reasoning = tag.end(), False
        elif not reasoning:
            kept.append(completion[start : tag.start()])
            reasoning = True
    return "".join(kept if reasoning else [*kept, completion[start:]])


def fenced(text: str, tag: str = "") -> str:
    """The text as a fenced block that ``fences`` reads back, whatever the text contains."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{tag}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{ticks}"
