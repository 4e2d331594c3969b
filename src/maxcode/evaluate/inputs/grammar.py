"""The format of an input: lines of k tokens, lists and blocks with their counts; reading and writing it.  Pure.

    TokenRow(2)                            n m
    Tail(0, Count(0))                      n numbers on a line
    Repetition(Count(1), (TokenRow(2),))   m lines of two

``inference.py`` finds the format (``Shape``) of given texts.  A text of which more than blanks at the end of lines and
empty lines at its end would be lost is not used; what is made has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, final

Tokens = list[str]
Path = tuple[int, ...]
Field = tuple[Path, int]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")


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
Tree = list[Any]  # TokenRow: tokens; Tail: [scalars, items]; Repetition: trees of its bodies (tables: columns)


@final
@dataclass(frozen=True, slots=True)
class Lines:
    """The tokens of a text; ``widths``: how many each line has; ``starts``: the number of its first one."""

    tokens: Tokens
    widths: Sequence[int]
    starts: Sequence[int]

    def __len__(self) -> int:
        return len(self.widths)

    def __getitem__(self, at: int) -> Tokens:
        return self.tokens[self.starts[at] : self.starts[at + 1]]

    def columns(self, at: int, end: int, width: int) -> list[Tokens] | None:
        """The columns of the lines from ``at`` to before ``end``; None unless they have so many."""
        first, last = self.starts[at], self.starts[end]
        is_table = set(self.widths[at:end]) <= {width}
        return [self.tokens[first + column : last : width] for column in range(width)] if is_table else None


def lines_of(text: str) -> Lines | None:
    """The text by line, without empty lines at the end; None if tokens are not separated by single spaces."""
    lines = [line.rstrip(" ") for line in text.rstrip("\n ").split("\n")]
    tokens = text.split()
    if not tokens or " ".join(tokens) != " ".join(filter(None, lines)):
        return None
    widths = [line.count(" ") + 1 if line else 0 for line in lines]
    return Lines(tokens, widths, [*accumulate(widths, initial=0)])


def integer(token: str) -> int | None:
    """The token as a number; None unless it is a plain integer of at most 20 digits."""
    return int(token) if _INTEGER.fullmatch(token) else None


# ------------------------------------------------------------------------------------------------------------ reading


def tree_of(shape: Shape, text: str) -> Tree | None:
    """The tree of a text; None if the format does not explain it."""
    lines = lines_of(text)
    return read(shape, lines) if lines is not None else None


def read(shape: Shape, lines: Lines) -> Tree | None:
    """The tree of a text; None if the format does not explain it to its last line."""
    tree: Tree = []
    scope: list[int | None] = []
    at = 0
    for node in shape:
        if (taken := take(node, lines, at, scope)) is None:
            return None
        one, at = taken
        tree.append(one)
    return tree if at == len(lines) else None


def take(node: Node, lines: Lines, at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    """What a node reads from line ``at`` on, and the line after it; adds its scalars to ``scope``."""
    match node:
        case TokenRow(width):
            if at >= len(lines) or lines.widths[at] != width:
                return None
            tokens = lines[at]
            scope += map(integer, tokens)
            return tokens, at + 1
        case Tail():
            return _take_tail(node, lines, at, scope)
        case Repetition():
            return _take_block(node, lines, at, scope)


def _take_tail(node: Tail, lines: Lines, at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    line = lines[at] if at < len(lines) else []
    if len(line) < node.width:
        return None
    scope += map(integer, line[: node.width])
    wanted = len(line) - node.width if node.count is None else value_of(node.count, scope)
    if wanted is None or wanted != len(line) - node.width:
        return None
    return [line[: node.width], line[node.width :]], min(at + 1, len(lines))


def _take_block(node: Repetition, lines: Lines, at: int, scope: list[int | None]) -> tuple[Tree, int] | None:
    left = len(lines) - at
    wanted = None if node.count is None else value_of(node.count, scope)
    if node.count is not None and (wanted is None or not 0 <= wanted <= left):
        return None
    if node.is_table and isinstance(node.body[0], TokenRow):
        end = at + (left if wanted is None else wanted)
        columns = lines.columns(at, end, node.body[0].width)
        return (columns, end) if columns is not None else None
    bodies: Tree = []
    while at < len(lines) if wanted is None else len(bodies) < wanted:
        inner, body = list(scope), []
        for part in node.body:
            if (taken := take(part, lines, at, inner)) is None:
                return None
            one, at = taken
            body.append(one)
        bodies.append(body)
    return bodies, at


def value_of(count: Count, scope: Sequence[int | None]) -> int | None:
    found = scope[count.index] if count.index < len(scope) else None
    return None if found is None else found + count.offset


def written(shape: Shape, tree: Tree) -> str:
    """The text of a tree, with one newline at its end."""
    return "\n".join([*map(" ".join, _lines(shape, tree)), ""])


def _lines(shape: Shape, tree: Tree) -> Iterator[Sequence[str]]:
    for node, part in zip(shape, tree, strict=True):
        match node:
            case TokenRow():
                yield part
            case Tail():
                yield part[0] + part[1]
            case Repetition() if node.is_table:
                yield from zip(*part, strict=True)
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
    def field(self) -> Field:
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
    def lists(self) -> Sequence[Tree]:
        """The lists whose length is the count: items, columns of a table, or bodies of a block."""
        match self.node:
            case Tail():
                return [self.part[1]]
            case Repetition() if self.node.is_table:
                return self.part
            case _:
                return [self.part]

    @property
    def columns(self) -> Iterator[tuple[Field, Tokens, slice]]:
        """Its fields, with the tokens that each stands among, and where: one scalar, or a whole list or column."""
        scalars = self.part[0] if isinstance(self.node, Tail) else self.part if isinstance(self.node, TokenRow) else []
        yield from ((((*self.path, 0), at), scalars, slice(at, at + 1)) for at in range(len(scalars)))
        match self.node:
            case Tail():
                yield ((*self.path, 1), 0), self.part[1], slice(None)
            case Repetition() if self.node.is_table:
                yield from ((((*self.path, 1), at), column, slice(None)) for at, column in enumerate(self.part))


def columns_of(shape: Shape, tree: Tree, field: Field) -> Iterator[tuple[Tokens, slice]]:
    """The tokens among which a field stands at each of its places, and where."""
    for place in walk(shape, tree):
        if place.path == field[0][:-1]:
            yield from ((tokens, where) for own, tokens, where in place.columns if own == field)


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
