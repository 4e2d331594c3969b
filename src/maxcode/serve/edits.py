"""SEARCH/REPLACE blocks from two versions of a program, written so that every common reader applies them exactly.

Readers differ: some take the first match, some want exactly one, some ignore blanks at the ends of lines, some strip
what stands in a block.  So every SEARCH is unique in the program even when all indentation is ignored, and ends with a
line that is not blank and does not change, where there is one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Program
from maxcode.llm.completion import read

SEARCH, DIVIDER, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


@final
@dataclass(frozen=True, slots=True)
class Block:
    """Lines to look for, and the lines that take their place."""

    search: tuple[str, ...]
    replace: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines ``start:end`` of the program become ``new_start:new_end`` of the new one; ``context`` lines around."""

    start: int
    end: int
    new_start: int
    new_end: int
    context: int


def edits(before: str, after: str) -> str | None:
    """The blocks that turn ``before`` into ``after``, as text; checked by reading them.

    Equal programs give one block that changes nothing.  None where no block can say it: the program holds a line that
    looks like a marker, or is empty, or the two differ in how the last line ends.
    """
    old, new = _lines(before), _lines(after)
    hunks = _hunks(old, new) or [_Hunk(0, 0, 0, 0, 1)]
    while True:
        spans = _spans(hunks, len(old))
        blocks = [_block(old, new, span) for span in spans]
        told = written(blocks)
        wrong = [span for span, block in zip(spans, blocks, strict=True) if not _is_unique(block.search, old)]
        if not wrong and not _has_marker(blocks) and _apply_in_turn(blocks, old, new) and _gives(before, told, after):
            return told
        if len(spans) == 1 and spans[0].end - spans[0].start == len(old):
            return None
        grow = wrong or spans
        hunks = [_grown(hunk) if _is_in(hunk, grow) else hunk for hunk in hunks]


def written(blocks: list[Block]) -> str:
    """The blocks as text, a blank line between them."""
    return "\n\n".join("\n".join((SEARCH, *one.search, DIVIDER, *one.replace, REPLACE)) for one in blocks)


def _gives(before: str, told: str, after: str) -> bool:
    """Whether the blocks, read as any completion is, turn one program into the other."""
    if before == after:
        return True
    return read(told, Program({"program": before}), "cpp", "edits") == Program({"program": after})


def _apply_in_turn(blocks: list[Block], old: list[str], new: list[str]) -> bool:
    """Whether a reader gets it right that puts one block after another where its text is found first: what a block
    looks for may stand in what an earlier one has brought."""
    text = _text(old)
    for block in blocks:
        text = text.replace(_text(block.search), _text(block.replace), 1)
    return text == _text(new)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _has_marker(blocks: list[Block]) -> bool:
    """Whether a loose reader would take a line of a program for a marker."""
    lines = [line for one in blocks for line in (*one.search, *one.replace)]
    return any(
        line.rstrip().endswith(DIVIDER) or line.lstrip().startswith(("<<<<<<<", ">>>>>>>", "&lt;&lt;&lt;&lt;&lt;"))
        for line in lines
    )


def _lines(text: str) -> list[str]:
    """The lines without their newlines; only a newline ends a line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _hunks(old: list[str], new: list[str]) -> list[_Hunk]:
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    return [_Hunk(a, b, c, d, 1) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]


def _spans(hunks: list[_Hunk], size: int) -> list[_Hunk]:
    """The hunks with their context, those that touch made one."""
    spans: list[_Hunk] = []
    for hunk in hunks:
        start = max(0, hunk.start - hunk.context)
        end = min(size, hunk.end + hunk.context)
        span = _Hunk(start, end, hunk.new_start - (hunk.start - start), hunk.new_end + (end - hunk.end), hunk.context)
        while spans and span.start <= spans[-1].end:
            span = _joined(spans.pop(), span)
        spans.append(span)
    return spans


def _joined(first: _Hunk, second: _Hunk) -> _Hunk:
    """Two spans that touch, the one of the earlier hunk first; what lies between their hunks is equal."""
    start, end = min(first.start, second.start), max(first.end, second.end)
    return _Hunk(
        start,
        end,
        first.new_start - (first.start - start),
        second.new_end + (end - second.end),
        max(first.context, second.context),
    )


def _block(old: list[str], new: list[str], span: _Hunk) -> Block:
    return Block(tuple(old[span.start : span.end]), tuple(new[span.new_start : span.new_end]))


def _is_unique(search: tuple[str, ...], lines: list[str]) -> bool:
    """Whether it stands once, however a reader treats blanks, and neither begins nor ends with a blank line."""
    if len(search) == len(lines):
        return True
    bare = [line.strip() for line in lines]
    wanted = tuple(line.strip() for line in search)
    return bool(wanted and wanted[0] and wanted[-1]) and len(list(_places(wanted, bare))) == 1


def _places(search: tuple[str, ...], lines: list[str]) -> Iterator[int]:
    size = len(search)
    if search:
        yield from (
            at
            for at, line in enumerate(lines)
            if line == search[0] and len(lines) - at >= size and tuple(lines[at : at + size]) == search
        )


def _is_in(hunk: _Hunk, spans: list[_Hunk]) -> bool:
    return any(span.start <= hunk.start and hunk.end <= span.end for span in spans)


def _grown(hunk: _Hunk) -> _Hunk:
    return _Hunk(hunk.start, hunk.end, hunk.new_start, hunk.new_end, hunk.context + 1 + hunk.context // 4)
