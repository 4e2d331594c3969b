"""The difference between two versions of a program, as one unified text with syntax colours.

Long unchanged parts are folded: they open on demand if the whole is requested, else only their lines are counted.
The runtime that the built-in policies insert is in closed folds.  Signs and ``ins``/``del`` carry the meaning; colour
only repeats it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, final

from maxcode.code.cpp.unit import RUNTIME_BEGIN, RUNTIME_END
from maxcode.core.types import Program
from maxcode.run.report.html import Html, clip, details, element, join, scrolled
from maxcode.run.report.syntax import Run, colored, cut, markup

CONTEXT = 3
FOLD_FROM = 4  # fewer lines need no more space than a fold
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


@final
@dataclass(frozen=True, slots=True)
class DiffStyle:
    """How a difference is drawn: in the colours of ``language`` (none if unknown), with all unchanged lines in folds
    (``whole``) or none of them, and at most ``most`` bytes of each file."""

    language: str = ""
    whole: bool = True
    most: int = MOST_BYTES


def program_diff(before: Program, after: Program, manner: DiffStyle = DiffStyle()) -> Html:
    """The differences of all files, in the order of their paths."""
    paths = sorted(before.files.keys() | after.files.keys())
    return join(_file(path, before.files.get(path, ""), after.files.get(path, ""), manner) for path in paths)


def pieces(before: str, after: str) -> list[Piece]:
    """The unchanged, removed and added lines, in order; in a change, the removed lines come first."""
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


def _file(path: str, before: str, after: str, manner: DiffStyle) -> Html:
    changes = pieces(before, after)
    removed = sum(len(piece.lines) for piece in changes if piece.kind == "removed")
    added = sum(len(piece.lines) for piece in changes if piece.kind == "added")
    if not removed and not added:
        told = "unchanged." if before == after else "only the line break at its end differs."
        return element("p", element("code", path), f": {told}", class_="file")
    head = element("p", element("code", path), f": lines removed {removed}, added {added}.", class_="file")
    colours = colored(manner.language, before), colored(manner.language, after)
    drawing = _Drawing(*colours, manner, (_runtime_lines(before), _runtime_lines(after)))
    return join([head, scrolled(f"Difference of {path}", drawing.lines(changes), class_="code diff")])


_NAMED = re.compile(rf"{re.escape(RUNTIME_BEGIN)}([\w ]+?) ----")


def _runtime_lines(text: str) -> frozenset[int]:
    """The lines (1-based) of the runtime that a policy inserted."""
    found: set[int] = set()
    inside = False
    for number, line in enumerate(_lines(text), start=1):
        inside = inside or line.startswith(RUNTIME_BEGIN)
        if inside:
            found.add(number)
        inside = inside and not line.startswith(RUNTIME_END)
    return frozenset(found)


_DRAWN = {"same": ("span", "  "), "removed": ("del", "- "), "added": ("ins", "+ ")}


@final
@dataclass(frozen=True, slots=True)
class _Drawing:
    """The drawing of a file's difference: the coloured lines of both sides."""

    old: list[list[Run]]
    new: list[list[Run]]
    manner: DiffStyle
    helpers: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())  # the lines of the runtime

    def lines(self, changes: Sequence[Piece]) -> Html:
        return element("div", *self._capped(changes), class_="lines")

    def _capped(self, changes: Sequence[Piece]) -> Iterator[Html]:
        """The pieces, up to the limit of the page."""
        room = self.manner.most
        for drawn in self._drawn(changes):
            room -= len(drawn.encode())
            if room < 0:
                yield element("p", "The rest is too long for this page; the record has it all.")
                return
            yield drawn

    def _drawn(self, changes: Sequence[Piece]) -> Iterator[Html]:
        """All pieces, in parts small enough to stop close to the limit."""
        last = len(changes) - 1
        parts = [(at, part) for at, piece in enumerate(changes) for part in self._split(piece)]
        for helper, found in groupby(parts, key=lambda entry: self._is_runtime(entry[1])):
            group = list(found)
            if helper and any(part.kind != "same" for _, part in group):
                yield self._runtime([part for _, part in group])
                continue
            for at, piece in group:
                if piece.kind == "same":
                    yield self._same(piece, first=at == 0, last=at == last)
                    continue
                for start in range(0, len(piece.lines), PART_LINES):
                    yield self._block(_part(piece, start, start + PART_LINES))

    def _lines_of(self, piece: Piece) -> tuple[frozenset[int], int]:
        """The lines of the runtime on the side of a piece, and the number of its first line there."""
        return (self.helpers[0], piece.old) if piece.kind == "removed" else (self.helpers[1], piece.new)

    def _is_runtime(self, piece: Piece) -> bool:
        inside, first = self._lines_of(piece)
        return first in inside

    def _split(self, piece: Piece) -> Iterator[Piece]:
        """The piece, split where the runtime begins and ends."""
        inside, first = self._lines_of(piece)
        start = 0
        for at in range(1, len(piece.lines) + 1):
            if at == len(piece.lines) or (first + at in inside) != (first + start in inside):
                yield _part(piece, start, at)
                start = at

    def _runtime(self, parts: Sequence[Piece]) -> Html:
        """The runtime, closed: no line of it is the program's own."""
        lines = sum(len(part.lines) for part in parts)
        names = [match[1] for part in parts for line in part.lines if (match := _NAMED.match(line))]
        told = f"maxcode runtime: {', '.join(names) or 'changed'} ({lines} lines): helpers that the changed lines call"
        whole = join(self._block(part) for part in parts)
        if len(whole.encode()) > self.manner.most // 2:
            return element("p", told, class_="fold")
        return details(told, whole)

    def _same(self, piece: Piece, first: bool, last: bool) -> Html:
        head, tail = (0 if first else CONTEXT), (0 if last else CONTEXT)
        end = len(piece.lines) - tail
        if end - head < FOLD_FROM:
            return self._block(piece)
        told = f"{end - head} unchanged lines ({piece.new + head} to {piece.new + end - 1})"
        fold = (
            details(told, self._block(_part(piece, head, end)))
            if self.manner.whole
            else element("p", told, class_="fold")
        )
        return join([self._block(_part(piece, 0, head)), fold, self._block(_part(piece, end, len(piece.lines)))])

    def _block(self, piece: Piece) -> Html:
        partners = piece.partners or (None,) * len(piece.lines)
        lines = enumerate(zip(piece.lines, partners, strict=True))
        return join(self._line(piece, at, line, partner) for at, (line, partner) in lines)

    def _line(self, piece: Piece, at: int, line: str, partner: str | None) -> Html:
        """One line.  The style sheet shows its numbers, so that copied text is only code."""
        tag, sign = _DRAWN[piece.kind]
        old = str(piece.old + at) if piece.kind != "added" else ""
        new = str(piece.new + at) if piece.kind != "removed" else ""
        numbers = element("span", class_="n", data_old=old, data_new=new)
        side, number = (self.old, piece.old) if piece.kind == "removed" else (self.new, piece.new)
        drawn = self._words(line, partner, side[number + at - 1])
        return element("div", numbers, element(tag, sign, drawn), "\n", class_=f"line {piece.kind}")

    def _words(self, line: str, partner: str | None, runs: list[Run]) -> Html:
        """The line in its colours, with the part that differs from its partner marked."""
        if (shown := clip(line, LINE_BYTES)) != line:
            return join([shown])
        start, end = _differing(line, partner)
        if start == end:
            return markup(runs)
        inner = element("mark", markup(cut(runs, start, end)))
        return join([markup(cut(runs, 0, start)), inner, markup(cut(runs, end, len(line)))])


def _part(piece: Piece, start: int, end: int) -> Piece:
    lines, partners = piece.lines[start:end], piece.partners[start:end]
    return replace(piece, lines=lines, partners=partners, old=piece.old + start, new=piece.new + start)


def _differing(line: str, partner: str | None) -> tuple[int, int]:
    """The part of the line that differs from its partner; empty if most of it does."""
    if partner is None:
        return 0, 0
    head = _common(line, partner)
    tail = _common(line[head:][::-1], partner[head:][::-1])
    end = len(line) - tail
    if end == head or 3 * (head + tail) < min(len(line), len(partner)):
        return 0, 0
    return head, end


def _common(one: str, other: str) -> int:
    """The number of equal characters at the start of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
