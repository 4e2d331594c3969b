"""Infers the format of an input from given texts: lines of k tokens, lists and blocks with their counts.  Pure.

    TokenRow(2)                            n m
    Tail(0, Count(0))                      n numbers on a line
    Repetition(Count(1), (TokenRow(2),))   m lines of two

A format (``Shape``) counts only if it explains every given text to its last line.  Often several do; then all of them
must explain a generated text.  A text that does not print back as it was read is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, final

Tokens = list[str]
Path = tuple[int, ...]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")
_ATTEMPTS = (((0,), False), ((0, -1, 1), False), ((0,), True))  # a tree has one edge less than nodes
_BODY_AT_MOST, _DEPTH_AT_MOST, _HEAD_AT_MOST = 3, 2, 3
_NODES_AT_MOST, _ALIKE_AT_MOST = 8, 2
_STEPS_AT_MOST = 20_000
SHAPES_AT_MOST = 6


@final
@dataclass(frozen=True, slots=True)
class Count:
    """A count: ``offset`` more than the ``index``-th token that was read as a scalar, in reading order.

    Inside a block its own scalars come after those around it.
    """

    index: int
    offset: int = 0


@final
@dataclass(frozen=True, slots=True)
class TokenRow:
    """A line of ``width`` tokens, each a scalar."""

    width: int


@final
@dataclass(frozen=True, slots=True)
class Tail:
    """A line of ``width`` scalars and then ``count`` tokens of one kind (None: up to the end of the line)."""

    width: int
    count: Count | None


@final
@dataclass(frozen=True, slots=True)
class Repetition:
    """``count`` repetitions of ``body`` (None: up to the end of the text)."""

    count: Count | None
    body: tuple[Node, ...]

    @property
    def is_table(self) -> bool:
        """True if every repetition is one line of the same width."""
        return len(self.body) == 1 and isinstance(self.body[0], TokenRow)


Node = TokenRow | Tail | Repetition
Shape = tuple[Node, ...]
Tree = list[Any]  # TokenRow: tokens; Tail: [scalars, items]; Repetition: trees of its bodies (tables: tokens)


def lines_of(text: str) -> list[Tokens] | None:
    """The text's tokens by line, without empty lines at the end; None if tokens are not separated by single spaces."""
    lines = [line.rstrip(" ") for line in text.rstrip("\n ").split("\n")]
    split = [line.split() for line in lines]
    same = all(" ".join(tokens) == line for tokens, line in zip(split, lines, strict=True))
    return split if same and text.strip() else None


def integer(token: str) -> int | None:
    """The token as a number; None unless it is a plain integer of at most 20 digits."""
    return int(token) if _INTEGER.fullmatch(token) else None


# ------------------------------------------------------------------------------------------------------------ reading


def read(shape: Shape, lines: Sequence[Tokens]) -> Tree | None:
    """The tree of a text; None if the format does not explain it to its last line."""
    tree: Tree = []
    scope: list[int | None] = []
    at = 0
    for node in shape:
        if (taken := _take(node, lines, at, scope)) is None:
            return None
        one, at = taken
        tree.append(one)
    return tree if at == len(lines) else None


def _take(node: Node, lines: Sequence[Tokens], at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    """What a node reads from line ``at`` on, and the line after it; adds its scalars to ``scope``."""
    match node:
        case TokenRow(width):
            if at >= len(lines) or len(lines[at]) != width:
                return None
            scope += map(integer, lines[at])
            return list(lines[at]), at + 1
        case Tail():
            return _take_tail(node, lines, at, scope)
        case Repetition():
            return _take_block(node, lines, at, scope)


def _take_tail(node: Tail, lines: Sequence[Tokens], at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    line = lines[at] if at < len(lines) else []
    if len(line) < node.width:
        return None
    scope += map(integer, line[: node.width])
    wanted = len(line) - node.width if node.count is None else _value(node.count, scope)
    if wanted is None or wanted != len(line) - node.width:
        return None
    return [line[: node.width], line[node.width :]], min(at + 1, len(lines))


def _take_block(node: Repetition, lines: Sequence[Tokens], at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    left = len(lines) - at
    wanted = None if node.count is None else _value(node.count, scope)
    if node.count is not None and (wanted is None or not 0 <= wanted <= left):
        return None
    if node.is_table and isinstance(node.body[0], TokenRow):
        rows = lines[at : at + (left if wanted is None else wanted)]
        return ([list(row) for row in rows], at + len(rows)) if {len(r) for r in rows} <= {node.body[0].width} else None
    bodies: Tree = []
    while at < len(lines) if wanted is None else len(bodies) < wanted:
        inner, body = list(scope), []
        for part in node.body:
            if (taken := _take(part, lines, at, inner)) is None:
                return None
            one, at = taken
            body.append(one)
        bodies.append(body)
    return bodies, at


def _value(count: Count, scope: Sequence[int | None]) -> int | None:
    found = scope[count.index] if count.index < len(scope) else None
    return None if found is None else found + count.offset


def written(shape: Shape, tree: Tree) -> str:
    """The text of a tree, with one newline at its end."""
    return "".join(" ".join(tokens) + "\n" for tokens in _lines(shape, tree))


def _lines(shape: Shape, tree: Tree) -> Iterator[Tokens]:
    for node, part in zip(shape, tree, strict=True):
        match node:
            case TokenRow():
                yield part
            case Tail():
                yield part[0] + part[1]
            case Repetition() if node.is_table:
                yield from part
            case Repetition():
                for body in part:
                    yield from _lines(node.body, body)


# ------------------------------------------------------------------------------------------------------------ walking


@final
@dataclass(frozen=True, slots=True)
class ScalarAt:
    """A scalar at its place: ``tokens[at]``; ``path`` and ``at`` name its field, the same in every text."""

    path: Path
    tokens: Tokens
    at: int

    @property
    def field(self) -> tuple[Path, int]:
        return self.path, self.at

    @property
    def value(self) -> int | None:
        return integer(self.tokens[self.at])


@final
@dataclass(frozen=True, slots=True)
class NodeAt:
    """A node on a walk over a tree.  ``part`` may be changed in place.  ``cells``: the scalars before it, and for a
    Tail those of its own line."""

    path: Path
    node: Node
    part: Tree
    cells: tuple[ScalarAt, ...]

    @property
    def counted(self) -> ScalarAt | None:
        """The scalar that holds the length of this list or block."""
        if isinstance(self.node, TokenRow) or self.node.count is None:
            return None
        return self.cells[self.node.count.index]

    @property
    def items(self) -> Tree:
        """The list that the count refers to."""
        return self.part[1] if isinstance(self.node, Tail) else self.part


def walk(shape: Shape, tree: Tree, path: Path = (), cells: tuple[ScalarAt, ...] = ()) -> Iterator[NodeAt]:
    """Every node in reading order, a block before its content; lines of tables are not nodes."""
    for number, (node, part) in enumerate(zip(shape, tree, strict=True)):
        here = (*path, number)
        head = part[0] if isinstance(node, Tail) else part if isinstance(node, TokenRow) else []
        own = tuple(ScalarAt((*here, 0), head, at) for at in range(len(head)))
        yield NodeAt(here, node, part, cells + own if isinstance(node, Tail) else cells)
        cells += own
        if isinstance(node, Repetition) and not node.is_table:
            for body in part:
                yield from walk(node.body, body, here, cells)


# ---------------------------------------------------------------------------------------------------------- inference


@final
@dataclass(slots=True)
class _Cursor:
    """How far one text was read."""

    lines: Sequence[Tokens]
    at: int = 0
    scope: list[int | None] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.lines)

    def copy(self) -> _Cursor:
        return _Cursor(self.lines, self.at, list(self.scope))


class _EnoughError(Exception):
    """The search reached its limit of steps."""


def explanations(texts: Sequence[Sequence[Tokens]]) -> tuple[Shape, ...]:
    """All formats that explain every one of ``texts``, of the simplest kind only.

    First counts as they are, then counts one more or less, then parts without a count.  Empty if there are too many
    formats: then the texts say too little.
    """
    ordered = sorted(texts, key=len)
    for offsets, free in _ATTEMPTS:
        search = _Inference(offsets, free)
        try:
            found = list(search.rest([_Cursor(lines) for lines in ordered]))
        except _EnoughError:
            return ()
        if found:
            return tuple(dict.fromkeys(found))
    return ()


@final
class _Inference:
    """A search over formats that reads all texts in parallel; ``free``: also tries parts without a count."""

    def __init__(self, offsets: Sequence[int], free: bool) -> None:
        self._offsets = offsets
        self._free = free
        self._steps = 0
        self._found = 0

    def rest(self, cursors: list[_Cursor], before: Shape = ()) -> Iterator[Shape]:
        """Every way to read on to the end, after ``before``."""
        if all(one.ended for one in cursors):
            self._found += 1
            if self._found > SHAPES_AT_MOST:
                raise _EnoughError
            yield ()
            return
        if len(before) == _NODES_AT_MOST:
            return
        for node, after in self._next(cursors, 0):
            if isinstance(node, TokenRow) and [node] * _ALIKE_AT_MOST == list(before[-_ALIKE_AT_MOST:]):
                continue
            if _is_free(node) and any(map(_is_free, before)):
                continue  # several parts of any length would explain every text
            for rest in self.rest(after, (*before, node)):
                yield (node, *rest)

    def _next(self, cursors: list[_Cursor], depth: int) -> Iterator[tuple[Node, list[_Cursor]]]:
        """The nodes that every text allows next, and the cursors after each."""
        for node in self._candidates(cursors, depth):
            if (after := self._advanced(node, cursors)) is not None:
                yield node, after

    def _advanced(self, node: Node, cursors: list[_Cursor]) -> list[_Cursor] | None:
        self._steps += 1
        if self._steps > _STEPS_AT_MOST:
            raise _EnoughError
        after = []
        for cursor in cursors:
            moved = cursor.copy()
            if (taken := _take(node, moved.lines, moved.at, moved.scope)) is None:
                return None
            moved.at = taken[1]
            after.append(moved)
        return after

    def _candidates(self, cursors: list[_Cursor], depth: int) -> Iterator[Node]:
        counts = _counts(cursors, self._offsets)
        if depth < _DEPTH_AT_MOST:
            for count in counts:
                for body in self._bodies(count, cursors, depth):
                    yield Repetition(count, body)
        standing = [one for one in cursors if not one.ended]
        widths = {len(one.lines[one.at]) for one in standing}
        yield from self._tails(cursors, standing)
        if len(standing) == len(cursors) and len(widths) == 1 and (width := widths.pop()) > 0:
            yield TokenRow(width)
            if self._free and depth == 0:
                yield Repetition(None, (TokenRow(width),))

    def _tails(self, cursors: list[_Cursor], standing: list[_Cursor]) -> Iterator[Node]:
        if len({len(one.lines[one.at]) for one in standing}) == 1 and len(standing) == len(cursors) > 1:
            return  # a row explains it as well, and is simpler
        least = min((len(one.lines[one.at]) for one in standing), default=0)
        for width in range(min(_HEAD_AT_MOST, least) + 1):
            scopes = [one.scope + [integer(t) for t in one.lines[one.at][:width]] for one in standing]
            lengths = [len(one.lines[one.at]) - width for one in standing]
            for count in _agreeing(scopes, lengths, self._offsets):
                yield Tail(width, count)
            if self._free:
                yield Tail(width, None)

    def _bodies(self, count: Count, cursors: list[_Cursor], depth: int) -> Iterator[Shape]:
        """Bodies that the first repetition of every text allows; reading checks the other repetitions."""
        first = [one.copy() for one in cursors if (_value(count, one.scope) or 0) > 0]
        if not first or any(one.ended for one in first) or max(_value(count, one.scope) or 0 for one in first) < 2:
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


def _is_free(node: Node) -> bool:
    return not isinstance(node, TokenRow) and node.count is None


def _counts(cursors: Sequence[_Cursor], offsets: Sequence[int]) -> list[Count]:
    """The scalars that could be the number of lines that follow, in every text."""
    size = min(len(one.scope) for one in cursors)
    found = []
    for index, offset in product(range(size), offsets):
        values = [one.scope[index] for one in cursors]
        if all(v is not None and 0 <= v + offset <= len(c.lines) - c.at for v, c in zip(values, cursors, strict=True)):
            found.append(Count(index, offset))
    return found


def _agreeing(
    scopes: Sequence[Sequence[int | None]], lengths: Sequence[int], offsets: Sequence[int]
) -> Iterator[Count]:
    for index, offset in product(range(min(map(len, scopes), default=0)), offsets):
        if all(_value(Count(index, offset), scope) == n for scope, n in zip(scopes, lengths, strict=True)):
            yield Count(index, offset)
