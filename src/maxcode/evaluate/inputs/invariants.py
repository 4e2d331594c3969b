"""Facts that hold in every given text of a format, to be checked on a generated text.  Pure.

They are observed, never guessed: ranges, remainders, which of two numbers on a line (or of a number and a count) is
larger; if a list is sorted, convex or concave, has repeats, or stays below its own position; how far neighbours differ;
what it sums up to, and whether two lists of a text sum up to the same; if a row begins where the one before it ended;
if rows of two integers are a forest, connected, or without cycles; if a pair that comes again has another value then.
A generated text may show nothing that no given text shows.  With fewer given texts more facts hold by chance, and fewer
texts can be generated: that is the safe side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from typing import Any, final

from maxcode.evaluate.inputs.edges import edge_words
from maxcode.evaluate.inputs.grammar import NodeAt, Path, Repetition, Shape, Tail, TokenRow, Tree, walk

_INTEGERS = re.compile(r"(?:-?(?:0|[1-9][0-9]{0,19}) )*+")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_SUMS_AT_MOST = 8  # lists and columns of a text whose sums are compared
Key = tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Span:
    """Numbers from ``low`` to ``high`` were seen."""

    low: float
    high: float

    def joined(self, other: Span) -> Span:
        return Span(min(self.low, other.low), max(self.high, other.high))

    def covers(self, other: Span) -> bool:
        return self.low <= other.low and other.high <= self.high


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """These words were seen."""

    words: frozenset[str]

    def joined(self, other: Seen) -> Seen:
        return Seen(self.words | other.words)

    def covers(self, other: Seen) -> bool:
        return other.words <= self.words


@final
@dataclass(frozen=True, slots=True)
class Remainder:
    """All numbers seen differ from ``one`` by multiples of ``step`` (0: all are ``one``)."""

    one: int
    step: int

    def joined(self, other: Remainder) -> Remainder:
        return Remainder(self.one, math.gcd(self.step, other.step, self.one - other.one))

    def covers(self, other: Remainder) -> bool:
        step = math.gcd(other.step, self.one - other.one)
        return step == 0 or (self.step != 0 and step % self.step == 0)


Fact = Span | Seen | Remainder
Facts = dict[Key, Fact]


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Tokens by column at a place of the format: one line (``many`` False), the lines of a table, or the items of a
    list."""

    path: Path
    columns: tuple[Sequence[str], ...]
    scope: tuple[int | None, ...]
    many: bool


def tables(shape: Shape, tree: Tree) -> Iterator[Table]:
    """Every table of a text, in reading order."""
    for place in walk(shape, tree):
        yield from tables_at(place)


def tables_at(place: NodeAt) -> Iterator[Table]:
    """The tables of one node; the first cells of ``place`` are their scope."""
    scope = tuple(cell.value for cell in place.cells)
    match place.node:
        case TokenRow():
            yield Table((*place.path, 0), tuple([token] for token in place.part), scope, False)
        case Tail(width=width):
            outside = scope[: len(scope) - width]
            if width:
                yield Table((*place.path, 0), tuple([token] for token in place.part[0]), outside, False)
            yield Table((*place.path, 1), (place.part[1],), scope, True)
        case Repetition() if place.node.is_table and isinstance(row := place.node.body[0], TokenRow):
            columns = tuple(zip(*place.part, strict=True)) or ((),) * row.width
            yield Table((*place.path, 1), columns, scope, True)
        case Repetition():
            pass


def numbers(column: Sequence[str]) -> list[int] | None:
    """The column as integers; None if a token is not an integer."""
    return [int(token) for token in column] if _INTEGERS.fullmatch(" ".join(column) + " " * bool(column)) else None


def facts_of(shape: Shape, tree: Tree) -> Facts:
    """The facts that hold in one text."""
    found: Facts = {}
    size = 0
    sums: dict[Key, int] = {}
    for table in tables(shape, tree):
        size += sum(map(len, table.columns))
        sums |= _sums(table)
        for key, fact in _table_facts(table):
            found[key] = _both(found[key], fact) if key in found else fact
    found[("size",)] = Span(0, size)
    for one, other in combinations(sums, 2) if len(sums) <= _SUMS_AT_MOST else ():
        found[("sums", *one, *other)] = Seen(frozenset({"equal" if sums[one] == sums[other] else "different"}))
    return found


def _sums(table: Table) -> dict[Key, int]:
    """The sums of the columns of a list or a table at the top of a text."""
    if not table.many or len(table.path) > 2:
        return {}
    columns = {(table.path, at): numbers(column) for at, column in enumerate(table.columns)}
    return {key: sum(values) for key, values in columns.items() if values}


def _both(one: Fact, other: Any) -> Fact:
    return one.joined(other)


def together(many: Iterable[Facts]) -> Facts:
    """The facts that hold in all of them: each as wide as the texts show."""

    def join(one: Facts, other: Facts) -> Facts:
        shared = {key: _both(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**one, **other, **shared}

    return reduce(join, many, {})


def broken(known: Mapping[Key, Fact], made: Mapping[Key, Fact]) -> Iterator[Key]:
    """The facts of a generated text that no given text shows."""
    return (key for key, fact in made.items() if key not in known or not _covers(known[key], fact))


def _covers(one: Fact, other: Fact) -> bool:
    same: Any = other
    return type(one) is type(other) and one.covers(same)


# ------------------------------------------------------------------------------------------------------------ a table


def _table_facts(table: Table) -> Iterator[tuple[Key, Fact]]:
    yield ("lines", table.path), Span(len(table.columns[0]), len(table.columns[0]))
    values: list[Sequence[float] | None] = []
    for at, column in enumerate(table.columns):
        found = numbers(column)
        kind, some = ("integer", found) if found is not None else _other(column)
        values.append(some)
        if column:
            yield ("kind", table.path, at), Seen(frozenset({kind}))
            yield from _column_facts(table, at, column, some)
    yield from _row_facts(table, values)


def _other(column: Sequence[str]) -> tuple[str, Sequence[float] | None]:
    if all(_NUMBER.fullmatch(token) for token in column):
        return "number", [float(token) for token in column]
    return "word", None


def _column_facts(
    table: Table, at: int, column: Sequence[str], values: Sequence[float] | None
) -> Iterator[tuple[Key, Fact]]:
    here = (table.path, at)
    if values is not None:
        yield ("range", *here), Span(min(values), max(values))
        whole = [value for value in values if isinstance(value, int)]
        if len(whole) == len(values):
            step = math.gcd(*(value - whole[0] for value in whole))
            yield ("remainder", *here), Remainder(whole[0], step)
        for number, bound in enumerate(table.scope):
            if bound is not None:
                yield ("against", *here, number), _side(min(values) - bound, max(values) - bound)
    if table.many and len(column) > 1:
        yield from _list_facts(table, here, column, values)


def _list_facts(
    table: Table, here: Key, column: Sequence[str], values: Sequence[float] | None
) -> Iterator[tuple[Key, Fact]]:
    yield ("repeats", *here), Seen(frozenset({"some" if len(set(column)) < len(column) else "none"}))
    if values is None:
        return
    steps = [b - a for a, b in pairwise(values)]
    yield ("neighbours", *here), Seen(frozenset(map(_sign, steps)))
    yield ("apart", *here), Span(0, max(map(abs, steps)))
    if len(steps) > 1:
        yield ("bends", *here), Seen(frozenset(_sign(b - a) for a, b in pairwise(steps)))
    ahead = [value - i for i, value in enumerate(values)]
    yield ("position", *here), _side(min(ahead), max(ahead))
    yield ("next position", *here), _side(min(ahead) - 1, max(ahead) - 1)
    total = sum(values)
    yield ("sum", *here), Span(total, total)
    for number, bound in enumerate(table.scope):
        if bound is not None:
            yield ("sum against", *here, number), _side(total - bound, total - bound)


def _row_facts(table: Table, values: Sequence[Sequence[float] | None]) -> Iterator[tuple[Key, Fact]]:
    for one in range(len(values)):
        for other in range(one):
            left, right = values[one], values[other]
            if left and right:
                signs = frozenset(_sign(a - b) for a, b in zip(left, right, strict=True))
                yield ("beside", table.path, one, other), Seen(signs)
    if table.many and len(values) > 1 and len(table.columns[0]) > 1:
        yield from _next_row_facts(table, values)
        rows = [frozenset(row[:2]) for row in zip(*table.columns, strict=True)]
        yield ("pairs", table.path), Seen(frozenset({"some" if len(set(rows)) < len(rows) else "none"}))
        for at, column in enumerate(table.columns[2:], 2):
            weighed = len(set(zip(rows, column, strict=True)))
            yield ("weights", table.path, at), Seen(frozenset({"several" if weighed > len(set(rows)) else "one"}))


def _next_row_facts(table: Table, values: Sequence[Sequence[float] | None]) -> Iterator[tuple[Key, Fact]]:
    """How rows follow one another, and what they are as edges."""
    for one, left in enumerate(values):
        for other, right in enumerate(values):
            if one != other and left and right:
                signs = frozenset(_sign(a - b) for a, b in zip(left[1:], right, strict=False))
                yield ("next row", table.path, one, other), Seen(signs)
    first, second = values[:2]
    if first and second and all(isinstance(value, int) for value in (*first, *second)):
        edges = [(int(a), int(b)) for a, b in zip(first, second, strict=True)]
        for name, word in edge_words(edges).items():
            yield (name, table.path), Seen(frozenset({word}))


def _side(low: float, high: float) -> Span:
    """The side of 0 on which the values lie: -1 below, 1 above; a span over both sides also covers 0."""
    return Span((low > 0) - (low < 0), (high > 0) - (high < 0))


def _sign(difference: float) -> str:
    return "<" if difference < 0 else ">" if difference > 0 else "="
