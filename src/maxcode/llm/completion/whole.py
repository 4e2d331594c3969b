"""Reads a whole program from an answer: for each file, the last fenced block that looks like that file."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal

from maxcode.code.languages import language as language_row
from maxcode.code.source import Token, line_of, parse, tokens, walk
from maxcode.core.types import Program
from maxcode.llm.completion.blocks import FencedBlock, Unread, blocks, line_end
from maxcode.llm.completion.edits import holds_edits

Answer = Literal["whole", "edits"]

_C = {"c", "h", "cpp", "c++", "cc", "cxx", "hpp", "hh", "gnu++", "gnu", "cplusplus"}
_TAGS = {
    "cpp": _C,
    "c": _C,
    "python": {"python", "py", "pypy", "cpython", "ipython"},
    "rust": {"rust", "rs"},
    "go": {"go", "golang"},
    "java": {"java"},
    "javascript": {"javascript", "js", "node", "nodejs", "cjs"},
}
_NEUTRAL = {"", "code", "text", "txt", "plaintext", "plain"}
_DIFF = re.compile(r"^(?:@@ |diff --git |--- \S.*\n\+\+\+ )", re.MULTILINE)
_LEFT_OUT = re.compile(
    r"(?://|#|/\*)[ \t]*[\[(<]*(?:\.{3}|…).*"
    r"\b(?:code|program|implementation|functions?|includes|unchanged|omitted|as before)\b"
    r"|(?://|#|/\*)[ \t]*[\[(<]*(?:the )?(?:rest of|remaining|existing|previous)\b.*?"
    r"\b(?:code|program|implementation|functions?|includes)\b"
    r"(?:[^;.]*\b(?:unchanged|omitted|as before)"
    r"|(?:[ \t,:;=()-]|\b(?:is|are|remains?|stays?|exactly|all|here|goes|go|follows?)\b)*(?:(?:the )?same|\.{3}|…))"
    r"(?:(?:[ \t]+(?:as|from|for|in|here)\b|[ \t]*[,;:(.]).*)?\W*$",
    re.IGNORECASE,
)
_LEFT_OUT_AT_MOST = 200  # characters of a line that the pattern sees
_INPUT = re.compile(
    r"\b(?:input|stdin|fileinput|open|fdopen|FileIO|mmap)\b|\b(?:os|posix)(?:\.|[ \t]+import\b[^\n]{0,200}\b)readv?\b"
)
_DEFINITION = (  # of a name in Python
    r"^(?:[ \t]*(?:class|(?:async )?def) +{0}\b|{0}\s*(?::.*)?=(?!=)"
    r"|[ \t]*from [\w.]+ import (?:[^\n]{{0,200}}[ ,(])?{0}[ \t]*(?:[,)#]|$))"
)
_MAIN = {  # what the whole program has, and a part of it lacks, in languages without a grammar
    "rust": re.compile(r"\bfn\s+main\s*\("),
    "go": re.compile(r"\bfunc\s+main\s*\("),
    "java": re.compile(r"\bvoid\s+main\s*\("),
    "javascript": re.compile(r"stdin|readline|createReadStream|\bfs\.read|\bread(?:File|v)?Sync\b"),
}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d+|#x[0-9a-fA-F]+);")
_DEFINING = ("c", "cpp")  # grammars of languages whose programs begin at a function
_AFTER_PARAMETERS = {"{", "->", ":"}


def whole(
    answer: str, program: Program, language: str, entry: str, complete: bool = False, is_open: bool = False
) -> Program | Unread:
    """The program that an answer gives in full: for each file, the last block that looks like it.

    A block names its file in its info string, in the line before it, or in a comment in its first line.  A block
    without a name is the file that defines ``entry``.  An answer without fences may be that file itself.  If the last
    block is never closed, the answer was cut, whatever came before, unless it is ``complete``.  Of a repository
    (``is_open``) every file is in a block with a name: what has none is prose, or a part of a file.
    """
    reader = _Reader(program, language, entry, is_open)
    found = blocks(answer)
    if found and not found[-1].closed and reader.suits(found[-1]) and not complete:
        return Unread("the last code block is never closed: the answer was cut", cut=True)
    if not found and is_open:
        return Unread(reader.nothing(False))
    found = found or [FencedBlock("", answer, "", False)]
    files: dict[str, str] = {}
    reasons: list[str] = []
    for block in found:
        path = reader.path(block)
        body = _unescaped(block.body, language)
        if (reason := reader.objection(block, path, body)) is None:
            files[path] = body.replace("\n", line_end(program.files[path]))
        else:
            reasons.append(reason)
    if files:
        return Program({**program.files, **files})
    return Unread(next((reason for reason in reversed(reasons) if reason), reader.nothing(found[0].closed)))


class _Reader:
    """Decides which block replaces which file of the program."""

    def __init__(self, program: Program, language: str, entry: str, is_open: bool) -> None:
        self._program = program
        self._is_open = is_open
        self._language = language
        self._entry = entry
        self._grammar = language_row(language).grammar
        files = program.files
        defining = [path for path in files if self._grammar in _DEFINING and defines(files[path], entry)]
        self._main = defining[0] if defining else program.name
        self._defined = bool(defining)  # false if a macro writes the definition

    def suits(self, block: FencedBlock) -> bool:
        """Whether the tag of the block may mean the language."""
        known = _TAGS.get(self._language, {self._language}) | _NEUTRAL
        return block.tag in known or block.tag.rsplit(".")[-1] in known or self._named(block.info) is not None

    def path(self, block: FencedBlock) -> str:
        """The path of the file that the block replaces."""
        if len(self._program.files) == 1:
            return self._main
        return self._names_file(block) or self._main

    def _names_file(self, block: FencedBlock) -> str | None:
        first = block.body.lstrip().split("\n", 1)[0]
        comment = first if re.match(r"//|#(?!\s*include)|/\*|<!--", first) else ""
        return self._named(block.info) or self._named(block.before) or self._named(comment)

    def _named(self, line: str) -> str | None:
        """The file of the program that a line names; None if it names none, or several."""
        words = set(re.findall(r"[\w./+-]+", line))
        words |= {word.rstrip(".") for word in words} | {PurePosixPath(word).name for word in words}
        names = {path for path in self._program.files if path in words or PurePosixPath(path).name in words}
        return names.pop() if len(names) == 1 else None

    def objection(self, block: FencedBlock, path: str, body: str) -> str | None:
        """Why the block cannot be the file; empty if it is something unrelated, None if it is the file."""
        if not self.suits(block) or not body.strip():
            return "" if block.tag not in ("diff", "patch") else _NO_DIFF
        is_unclear = self._is_open or (not self._entry and len(self._program.files) > 1)
        if is_unclear and not self._names_file(block):
            return "the code block names no file: write its path in the line before it"
        if _DIFF.search(body) is not None:
            return _NO_DIFF
        if holds_edits(body) and not holds_edits(self._program.files[path]):
            return "the code block holds edits"
        if (left_out := self._left_out(path, body)) is not None:
            return left_out
        if not block.closed and (not self._grammar or self._errors(body) > self._errors(self._program.files[path])):
            return ""
        if self._grammar == "python":
            return self._python_objection(path, body)
        return self._c_objection(path, body) if self._grammar in _DEFINING else self._part_objection(path, body)

    def _left_out(self, path: str, body: str) -> str | None:
        known = self._program.files[path]
        # only the beginning of each line: if a model repeats itself without end, the pattern takes minutes
        lines = (line[:_LEFT_OUT_AT_MOST].strip() for line in body.split("\n"))
        line = next((line for line in lines if _LEFT_OUT.match(line) and line not in known), None)
        return None if line is None else f"code was left out (`{line[:80]}`): give all of it"

    def _c_objection(self, path: str, body: str) -> str | None:
        if path != self._main or defines(body, self._entry):
            return None
        if not self._defined and self._entry in body:
            return None
        return f"no code block defines {self._entry}(): give the whole program"

    def _part_objection(self, path: str, body: str) -> str | None:
        main = _MAIN.get(self._language)
        if main is None or path != self._main or self._entry != "main" or main.search(body) is not None:
            return None
        lacks = "reads the input" if self._language == "javascript" else "defines main()"
        is_there = main.search(self._program.files[path]) is not None
        return f"no code block {lacks}: give the whole program" if is_there else None

    def _python_objection(self, path: str, body: str) -> str | None:
        wrong = (node for node in walk(parse(self._language, body).root) if node.is_error or node.is_missing)
        if (first := next(wrong, None)) is not None:
            return f"the code block is not Python: see its line {line_of(first)}"
        if path != self._main or not self._entry:
            return None
        if self._entry != "main":
            is_there = re.search(_DEFINITION.format(re.escape(self._entry)), body, re.MULTILINE) is not None
            return None if is_there else f"no code block defines {self._entry}: give the whole file"
        is_there = _INPUT.search(self._program.files[path]) is None or _INPUT.search(body) is not None
        return None if is_there else "no code block reads the input: give the whole program"

    def _errors(self, text: str) -> int:
        return sum(node.is_error or node.is_missing for node in walk(parse(self._language, text).root))

    def nothing(self, fenced: bool) -> str:
        """The reason if no block gave one."""
        return f"no code block is {self._language}" if fenced else "there is no code block"


_NO_DIFF = "the answer is a diff, which is not read"


def defines(text: str, name: str) -> bool:
    """Whether a C or C++ text defines the function ``name``; comments, strings and calls do not count."""
    found = [token for token in tokens(text) if not token.directive]
    return any(_defined_at(found, closing) for closing in _closings(found, name))


def _closings(found: Sequence[Token], name: str) -> Iterator[int]:
    """The positions of the closing parentheses of ``name ( ... )``."""
    opened: list[int] = []
    for at, token in enumerate(found):
        if token.text == "(":
            opened.append(at)
        elif token.text == ")" and opened:
            start = opened.pop()
            if start and found[start - 1].text == name:
                yield at


def _defined_at(found: Sequence[Token], closing: int) -> bool:
    after = found[closing + 1] if closing + 1 < len(found) else None
    return after is not None and (after.is_word or after.text in _AFTER_PARAMETERS)


def _unescaped(body: str, language: str) -> str:
    """The body without HTML escapes, if all of it is escaped: every & begins an escape, and there is no < or >."""
    if "<" in body or ">" in body or _ENTITY.search(body) is None or body.count("&") != len(_ENTITY.findall(body)):
        return body
    plain = html.unescape(body).replace("\xa0", " ")
    if language_row(language).grammar == "python":
        return plain if parse(language, body).root.has_error else body
    return plain if any(token.text == "&" for token in tokens(body)) else body
