"""Infers the format of an input from given texts (``grammar.py``).  Pure.

A format (``Shape``) counts only if it explains every given text to its last line.  Often several do; then all of them
must explain a generated text.  Formats of few parts are looked for first: numbers on the lines of a table can also be
read as counts, so the more parts there are, the more of them fit by chance, up to more than can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from operator import sub
from typing import final

from maxcode.evaluate.inputs.grammar import (
    Count,
    Lines,
    Node,
    Repetition,
    Shape,
    Tail,
    TokenRow,
    integer,
    take,
    value_of,
)

_ATTEMPTS = (((0,), False), ((0, -1, 1), False), ((0,), True))  # a tree has one edge less than nodes
_BODY_AT_MOST, _DEPTH_AT_MOST, _HEAD_AT_MOST = 3, 2, 3
_NODES_AT_MOST, _ALIKE_AT_MOST = 8, 2
_STEPS_AT_MOST = 20_000
SHAPES_AT_MOST = 6


@final
@dataclass(slots=True)
class _Cursor:
    """How far one text was read.  ``alike``: of each line, how many from it on have as many tokens."""

    lines: Lines
    alike: Sequence[int]
    at: int = 0
    scope: list[int | None] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.alike)

    def copy(self) -> _Cursor:
        return _Cursor(self.lines, self.alike, self.at, list(self.scope))

    def past(self, node: Node) -> _Cursor | None:
        """The cursor behind a node; None if the text does not go on like this."""
        moved = self.copy()
        if isinstance(node, Repetition) and node.is_table and isinstance(row := node.body[0], TokenRow):
            left = len(self.alike) - self.at  # as ``take`` does, without a copy of the lines: most nodes tried are such
            wanted = left if node.count is None else value_of(node.count, self.scope)
            if wanted is None or not 0 <= wanted <= left:
                return None
            if wanted and (self.lines.widths[self.at] != row.width or self.alike[self.at] < wanted):
                return None
            moved.at += wanted
            return moved
        taken = take(node, moved.lines, moved.at, moved.scope)
        if taken is None:
            return None
        moved.at = taken[1]
        return moved


class _EnoughError(Exception):
    """The search reached its limit of steps."""


class _TooManyError(Exception):
    """More formats than ``SHAPES_AT_MOST`` explain the texts."""


def explanations(texts: Sequence[Lines]) -> tuple[Shape, ...]:
    """All formats that explain every one of ``texts``, of the simplest kind only.

    First counts as they are, then counts one more or less, then parts without a count.  Where not all formats can be
    tried, those of fewer parts than the untried ones.  Empty if there are too many formats: then the texts say too
    little.
    """
    starts = [_Cursor(lines, _alike(lines.widths)) for lines in sorted(texts, key=len)]
    most = _NODES_AT_MOST
    for offsets, free in _ATTEMPTS:
        if free and most < _NODES_AT_MOST:
            return ()  # a part without a count explains nearly everything, also what an untried format explains
        try:
            found, most = _of_few_parts(starts, _Inference(offsets, free), most)
        except _TooManyError:
            return ()
        if found:
            return found
    return ()


def _of_few_parts(starts: Sequence[_Cursor], search: _Inference, most: int) -> tuple[tuple[Shape, ...], int]:
    """The formats of at most so many parts, and of how many parts all could be tried."""
    found: tuple[Shape, ...] = ()
    for parts in range(1, most + 1):
        try:
            found = search.of_at_most(parts, starts, found)
        except _EnoughError:
            return found, parts - 1
    return found, most


@final
class _Inference:
    """A search over formats that reads all texts in parallel; ``free``: also tries parts without a count."""

    def __init__(self, offsets: Sequence[int], free: bool) -> None:
        self._offsets = offsets
        self._free = free
        self._steps = 0
        self._parts = 0
        self._tried: dict[Shape, list[tuple[int, tuple[Node, list[_Cursor]] | None]]] = {}

    def of_at_most(self, parts: int, starts: Sequence[_Cursor], simpler: tuple[Shape, ...]) -> tuple[Shape, ...]:
        """Every format of at most so many parts; ``simpler``: those of fewer parts."""
        self._steps, self._parts = 0, parts
        found: dict[Shape, None] = {}
        for shape in self._rest(starts, ()):
            if not any(_is_cut_up(shape, other) for other in simpler):
                found[shape] = None
            if len(found) > SHAPES_AT_MOST:
                raise _TooManyError
        return tuple(found)

    def _rest(self, cursors: Sequence[_Cursor], before: Shape) -> Iterator[Shape]:
        """Every format that begins with ``before`` and reads on to the end."""
        if all(one.ended for one in cursors):
            yield before
            return
        if len(before) == self._parts:
            return
        for node, after in self._after(before, cursors):
            if isinstance(node, TokenRow) and [node] * _ALIKE_AT_MOST == list(before[-_ALIKE_AT_MOST:]):
                continue
            if _is_free(node) and any(map(_is_free, before)):
                continue  # several parts of any length would explain every text
            yield from self._rest(after, (*before, node))

    def _after(self, before: Shape, cursors: Sequence[_Cursor]) -> Iterator[tuple[Node, list[_Cursor]]]:
        """What ``_next`` finds behind a beginning, in as many steps; a search for more parts does not look again."""
        if before in self._tried:
            for steps, found in self._tried[before]:
                self._step(steps)
                if found is not None:
                    yield found
            return
        tried: list[tuple[int, tuple[Node, list[_Cursor]] | None]] = []
        start = self._steps
        for found in self._next(cursors, 0):
            tried.append((self._steps - start, found))
            yield found
            start = self._steps
        self._tried[before] = [*tried, (self._steps - start, None)]

    def _step(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _STEPS_AT_MOST:
            raise _EnoughError

    def _next(self, cursors: Sequence[_Cursor], depth: int) -> Iterator[tuple[Node, list[_Cursor]]]:
        """The nodes that every text allows next, and the cursors after each."""
        for node in self._candidates(cursors, depth):
            if (after := self._advanced(node, cursors)) is not None:
                yield node, after

    def _advanced(self, node: Node, cursors: Sequence[_Cursor]) -> list[_Cursor] | None:
        self._step(1)
        after = []
        for cursor in cursors:
            if (moved := cursor.past(node)) is None:
                return None
            after.append(moved)
        return after

    def _candidates(self, cursors: Sequence[_Cursor], depth: int) -> Iterator[Node]:
        counts = _counts(cursors, self._offsets)
        if depth < _DEPTH_AT_MOST:
            for count in counts:
                for body in self._bodies(count, cursors, depth):
                    yield Repetition(count, body)
        standing = [one for one in cursors if not one.ended]
        widths = {one.lines.widths[one.at] for one in standing}
        yield from self._tails(cursors, standing)
        if len(standing) == len(cursors) and len(widths) == 1 and (width := widths.pop()) > 0:
            yield TokenRow(width)
            if self._free and depth == 0:
                yield Repetition(None, (TokenRow(width),))

    def _tails(self, cursors: Sequence[_Cursor], standing: list[_Cursor]) -> Iterator[Node]:
        if len({one.lines.widths[one.at] for one in standing}) == 1 and len(standing) == len(cursors) > 1:
            return  # a row explains it as well, and is simpler
        least = min((one.lines.widths[one.at] for one in standing), default=0)
        for width in range(min(_HEAD_AT_MOST, least) + 1):
            scopes = [one.scope + [integer(t) for t in one.lines[one.at][:width]] for one in standing]
            lengths = [one.lines.widths[one.at] - width for one in standing]
            for count in _agreeing(scopes, lengths, self._offsets):
                yield Tail(width, count)
            if self._free:
                yield Tail(width, None)

    def _bodies(self, count: Count, cursors: Sequence[_Cursor], depth: int) -> Iterator[Shape]:
        """Bodies that the first repetition of every text allows; reading checks the other repetitions."""
        first = [one.copy() for one in cursors if (value_of(count, one.scope) or 0) > 0]
        if not first or any(one.ended for one in first) or max(value_of(count, one.scope) or 0 for one in first) < 2:
            return
        yield from self._sequences(first, depth + 1, _BODY_AT_MOST)

    def _sequences(self, cursors: list[_Cursor], depth: int, most: int) -> Iterator[Shape]:
        if most == 0 or any(one.ended for one in cursors):
            return
        for node, after in self._next(cursors, depth):
            yield (node,)
            for rest in self._sequences(after, depth, most - 1):
                if rest[0] != node:  # else it is an inner block, or twice the count
                    yield (node, *rest)


def _alike(widths: Sequence[int]) -> list[int]:
    """Of each line, given its number of tokens, how many from it on have as many tokens."""
    found: list[int] = []
    for _, alike in groupby(widths):
        found += range(len(list(alike)), 0, -1)
    return found


def _is_cut_up(shape: Shape, other: Shape) -> bool:
    """Whether a format is another one whose table is read as several tables of the same lines, one after the other."""
    surplus = len(shape) - len(other)
    if surplus <= 0:
        return False
    for at, node in enumerate(other):
        cut = shape[at : at + surplus + 1]
        if (
            isinstance(node, Repetition)
            and node.is_table
            and (shape[:at], shape[at + surplus + 1 :]) == (other[:at], other[at + 1 :])
            and all(isinstance(one, Repetition) and one.body == node.body for one in cut)
        ):
            return True
    return False


def _is_free(node: Node) -> bool:
    return not isinstance(node, TokenRow) and node.count is None


def _counts(cursors: Sequence[_Cursor], offsets: Sequence[int]) -> list[Count]:
    """The scalars that could be the number of lines that follow, in every text."""
    size = min(len(one.scope) for one in cursors)
    found = []
    left = [len(one.alike) - one.at for one in cursors]
    for index in range(size):
        values = [value for one in cursors if (value := one.scope[index]) is not None]
        if len(values) == len(left):
            low, room = min(values), min(map(sub, left, values))
            found += [Count(index, offset) for offset in offsets if -low <= offset <= room]
    return found


def _agreeing(
    scopes: Sequence[Sequence[int | None]], lengths: Sequence[int], offsets: Sequence[int]
) -> Iterator[Count]:
    for index, offset in product(range(min(map(len, scopes), default=0)), offsets):
        if all(value_of(Count(index, offset), scope) == n for scope, n in zip(scopes, lengths, strict=True)):
            yield Count(index, offset)
