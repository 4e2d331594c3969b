"""Reads fenced code blocks as models write them, also where they break the rules of Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_GLUED = re.compile(r"(?<=[};)>])[ \t]*(`{3,})[ \t]*$|(?<=[:.,])[ \t]*(`{3,}[\w+#-]+)[ \t]*$", re.MULTILINE)
_WRAPPERS = {"", "md", "markdown", "text", "txt"}
_MOST_WRAPS = 3  # blocks within blocks within blocks


@final
@dataclass(frozen=True, slots=True)
class Unread:
    """No program could be read.  ``reason``: in words for the model.  ``cut``: the text ends inside its answer."""

    reason: str
    cut: bool = False


def line_end(text: str) -> str:
    """The line end of a file: CR LF if all its lines end with it, else LF."""
    return "\r\n" if 0 < text.count("\n") == text.count("\r\n") else "\n"


class FencedBlock(NamedTuple):
    """A fenced block: its info string, its content, the last line of text before it, whether it is closed, and the
    marks of its fence."""

    info: str
    body: str
    before: str
    closed: bool
    ticks: str = ""

    @property
    def tag(self) -> str:
        """The language tag in its usual spelling: ``{.C++17 title="x"}`` gives ``c++``."""
        words = re.split(r"[\s:,={}]+", self.info.lower().strip("{} \t"))
        return re.sub(r"(?<![\d.])[\d.]+$", "", words[0].removeprefix(".").removeprefix("language-"))


def blocks(text: str) -> list[FencedBlock]:
    """The fenced blocks of a text, in order.  Blocks inside a block that may be only a wrapper come after it."""
    return _unwrapped(text, _MOST_WRAPS)


def _unwrapped(text: str, wraps: int) -> list[FencedBlock]:
    found = _blocks(text)
    if not (found and _settled(found)) and (parted := _GLUED.sub(r"\n\1\2", text)) != text:
        found = _blocks(parted)
    flat: list[FencedBlock] = []
    for block in found:
        inside = _unwrapped(block.body, wraps - 1) if wraps and block.tag in _WRAPPERS else []
        flat += [block, *(inside if block.closed and _settled(inside) else [])]
    return flat


def _blocks(text: str) -> list[FencedBlock]:
    """The first reading in which every block is closed: by the rules of Markdown; else with blocks inside blocks; else
    each opening fence ends the block before it, whose closing fence is missing."""
    plain = _scan(text, "plain")
    if _settled(plain) and not any(_holds_opening(block) for block in plain):
        return plain
    nested = _scan(text, "nested")
    return nested if _settled(nested) else _scan(text, "restart")


def _settled(found: list[FencedBlock]) -> bool:
    return all(block.closed for block in found)


def _holds_opening(block: FencedBlock) -> bool:
    fences = (match for line in block.body.split("\n") if (match := _FENCE.fullmatch(line)))
    return any(fence["info"].strip() and fence["ticks"].startswith(block.ticks) for fence in fences)


@final
@dataclass(slots=True)
class _Open:
    """A block whose closing fence has not been read yet."""

    indent: int
    ticks: str
    info: str
    before: str
    lines: list[str]
    depth: int = 1

    def closes(self, fence: re.Match[str]) -> bool:
        indent = len(fence["indent"]) <= self.indent + 3
        return fence["ticks"].startswith(self.ticks) and not fence["info"].strip() and indent

    def opens(self, fence: re.Match[str]) -> bool:
        return fence["ticks"].startswith(self.ticks) and bool(fence["info"].strip())

    def block(self, closed: bool) -> FencedBlock:
        body = "".join(f"{_dedented(line, self.indent)}\n" for line in self.lines)
        return FencedBlock(self.info, body, self.before, closed, self.ticks)


def _dedented(line: str, indent: int) -> str:
    """The line without the indentation of its fence."""
    return line[min(indent, len(line) - len(line.lstrip(" \t"))) :]


def _scan(text: str, mode: Literal["plain", "nested", "restart"]) -> list[FencedBlock]:
    found: list[FencedBlock] = []
    now: _Open | None = None
    before = ""
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if now is None:
            if fence is not None:
                now, before = _opened(fence, before), ""
            elif line.strip():
                before = line
        elif fence is not None and mode == "nested" and now.opens(fence):
            now.depth += 1
            now.lines.append(line)
        elif fence is not None and mode == "restart" and now.opens(fence):
            found.append(now.block(closed=True))
            now = _opened(fence, "")
        elif fence is not None and now.closes(fence) and now.depth == 1:
            found.append(now.block(closed=True))
            now = None
        else:
            now.depth -= fence is not None and now.closes(fence)
            now.lines.append(line)
    if now is not None and (now.info or "".join(now.lines).strip()):  # a stray fence at the end opens nothing
        now.lines = now.lines[:-1] if now.lines and not now.lines[-1] else now.lines  # after the last line end
        found.append(now.block(closed=False))
    return found


def _opened(fence: re.Match[str], before: str) -> _Open:
    return _Open(len(fence["indent"]), fence["ticks"], fence["info"].strip(), before, [])
