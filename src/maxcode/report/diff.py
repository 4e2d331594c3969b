"""The difference between two versions of a program, drawn as one unified text.

Every line of the new version is there; long unchanged runs are folded and open on demand.  Signs and ``ins``/``del``
carry the meaning, colour only repeats it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

from maxcode.report.html import Html, clip, details, element, join, scrolled
from maxcode.types import Program

CONTEXT = 3
FOLD_FROM = 4  # a fold takes about as much room as fewer lines
MOST_BYTES = 150_000
LINE_BYTES = 2_000
PART_LINES = 200


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of one kind; ``old`` and ``new`` are the numbers (1-based) of the first one on either side.
    ``partners``: the lines of the other side, where a change replaces line by line."""

    kind: Literal["same", "removed", "added"]
    lines: tuple[str, ...]
    old: int
    new: int
    partners: tuple[str, ...] = ()


def program_diff(before: Program, after: Program) -> Html:
    """The differences of all files, in the order of their paths."""
    paths = sorted(before.files.keys() | after.files.keys())
    return join(_file(path, before.files.get(path, ""), after.files.get(path, "")) for path in paths)


def pieces(before: str, after: str) -> list[Piece]:
    """What stays, goes and comes, in order; of one change, what is removed comes first."""
    old, new = _lines(before), _lines(after)
    found: list[Piece] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            found.append(Piece("same", tuple(new[j1:j2]), i1 + 1, j1 + 1))
            continue
        gone, come = tuple(old[i1:i2]), tuple(new[j1:j2])
        paired = len(gone) == len(come)
        found += [Piece("removed", gone, i1 + 1, j1 + 1, come if paired else ())] if gone else []
        found += [Piece("added", come, i1 + 1, j1 + 1, gone if paired else ())] if come else []
    return found


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _file(path: str, before: str, after: str) -> Html:
    changes = pieces(before, after)
    removed = sum(len(piece.lines) for piece in changes if piece.kind == "removed")
    added = sum(len(piece.lines) for piece in changes if piece.kind == "added")
    if not removed and not added:
        told = "unchanged." if before == after else "only the line break at its end differs."
        return element("p", element("code", path), f": {told}", class_="file")
    head = element("p", element("code", path), f": lines removed {removed}, added {added}.", class_="file")
    return join([head, scrolled(f"Difference of {path}", _lined(changes), class_="code diff")])


def _lined(changes: Sequence[Piece]) -> Html:
    return element("div", *_capped(changes), class_="lines")


def _capped(changes: Sequence[Piece]) -> Iterator[Html]:
    """The pieces until the page has had enough."""
    room = MOST_BYTES
    for drawn in _drawn(changes):
        room -= len(drawn.encode())
        if room < 0:
            yield element("p", "The rest is too long for this page; the record has it all.")
            return
        yield drawn


def _drawn(changes: Sequence[Piece]) -> Iterator[Html]:
    """All of it, in parts small enough that a page which ends among them ends late."""
    for at, piece in enumerate(changes):
        if piece.kind == "same":
            yield _same(piece, first=at == 0, last=at == len(changes) - 1)
            continue
        for start in range(0, len(piece.lines), PART_LINES):
            yield _block(_part(piece, start, start + PART_LINES))


def _same(piece: Piece, first: bool, last: bool) -> Html:
    head, tail = (0 if first else CONTEXT), (0 if last else CONTEXT)
    end = len(piece.lines) - tail
    if end - head < FOLD_FROM:
        return _block(piece)
    summary = f"{end - head} unchanged lines ({piece.new + head} to {piece.new + end - 1})"
    fold = details(summary, _block(_part(piece, head, end)))
    return join([_block(_part(piece, 0, head)), fold, _block(_part(piece, end, len(piece.lines)))])


def _part(piece: Piece, start: int, end: int) -> Piece:
    lines, partners = piece.lines[start:end], piece.partners[start:end]
    return replace(piece, lines=lines, partners=partners, old=piece.old + start, new=piece.new + start)


_DRAWN = {"same": ("span", "  "), "removed": ("del", "- "), "added": ("ins", "+ ")}


def _block(piece: Piece) -> Html:
    partners = piece.partners or (None,) * len(piece.lines)
    lines = enumerate(zip(piece.lines, partners, strict=True))
    return join(_line(piece, at, clip(line, LINE_BYTES), partner) for at, (line, partner) in lines)


def _line(piece: Piece, at: int, line: str, partner: str | None) -> Html:
    """Numbers are shown by the style sheet, so that copied text holds code alone."""
    tag, sign = _DRAWN[piece.kind]
    old = str(piece.old + at) if piece.kind != "added" else ""
    new = str(piece.new + at) if piece.kind != "removed" else ""
    numbers = element("span", class_="n", data_old=old, data_new=new)
    return element("div", numbers, element(tag, sign, *_marked(line, partner)), "\n", class_=f"line {piece.kind}")


def _marked(line: str, partner: str | None) -> list[str]:
    """The line with the part that differs from its partner marked, where most of it does not."""
    if partner is None:
        return [line]
    head = _common(line, partner)
    tail = _common(line[head:][::-1], partner[head:][::-1])
    end = len(line) - tail
    if end == head or 3 * (head + tail) < min(len(line), len(partner)):
        return [line]
    return [line[:head], element("mark", line[head:end]), line[end:]]


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
