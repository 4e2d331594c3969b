"""Facts that hold in every given text of a format, to be checked on a generated text.  Pure.

They are observed, never guessed: ranges, remainders, which of two numbers on a line (or of a number and a count) is
larger; if a list is sorted, convex or concave, has repeats, or stays below its own position; how far neighbours differ;
what it sums up to, and whether two lists of a text sum up to the same; if a row begins where the one before it ended;
if rows of two integers are a forest, connected, or without cycles, and name every number up to a count; if a pair that
comes again has another value then.
A generated text may show nothing that no given text shows.  With fewer given texts more facts hold by chance, and fewer
texts can be generated: that is the safe side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, repeat
from operator import eq, gt, lt, sub
from typing import Any, final

from maxcode.evaluate.inputs.edges import EDGE_WORDS, edge_words
from maxcode.evaluate.inputs.grammar import NodeAt, Path, Repetition, Shape, Tail, TokenRow, Tree, walk

_INTEGERS = re.compile(r"(?:-?(?:0|[1-9][0-9]{0,19}) )*+")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_EDGES_AT_MOST = 20_000  # more take long to look at, for every input that is made
_SUMS_AT_MOST = 8  # lists and columns of a text whose sums are compared
_OF_ROWS = frozenset({"pairs", "weights", *EDGE_WORDS})
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
class Column:
    """Tokens of one kind (``integer``, ``number`` or ``word``), and the numbers that they are."""

    tokens: Sequence[str]
    different: Set[str]
    kind: str
    values: Sequence[float] | None

    @staticmethod
    def of(tokens: Sequence[str]) -> Column:
        different = set(tokens)
        kind, numbers = numbers_of(different)
        values = [*map(numbers.__getitem__, tokens)] if numbers is not None else None
        return Column(tokens, different, kind, values)


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Columns at column at a place of the format: one line (``many`` False), the lines of a table, or the items of a
    list."""

    path: Path
    columns: tuple[Column, ...]
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
            yield Table((*place.path, 0), tuple(Column.of([token]) for token in place.part), scope, False)
        case Tail(width=width):
            outside = scope[: len(scope) - width]
            if width:
                yield Table((*place.path, 0), tuple(Column.of([token]) for token in place.part[0]), outside, False)
            yield Table((*place.path, 1), (Column.of(place.part[1]),), scope, True)
        case Repetition() if place.node.is_table:
            yield Table((*place.path, 1), tuple(map(Column.of, place.part)), scope, True)
        case Repetition():
            pass


def numbers_of(words: Set[str]) -> tuple[str, Mapping[str, float] | None]:
    """What all of the words are, and the number that each is; None if they are no numbers."""
    if _INTEGERS.fullmatch(" ".join(words) + " " * bool(words)):
        return "integer", {word: int(word) for word in words}
    if all(map(_NUMBER.fullmatch, words)):
        return "number", {word: float(word) for word in words}
    return "word", None


def facts_of(shape: Shape, tree: Tree, settled: frozenset[Key] = frozenset()) -> Iterator[tuple[Key, Fact]]:
    """What a text shows: of each table, then of the whole; without facts that are ``settled``."""
    return facts_in(tables(shape, tree), settled)


def facts_in(text: Iterable[Table], settled: frozenset[Key] = frozenset()) -> Iterator[tuple[Key, Fact]]:
    """The same of the tables of a text."""
    size = 0
    sums: dict[Key, float] = {}
    for table in text:
        size += sum(len(column.tokens) for column in table.columns)
        sums |= _sums(table)
        yield from _table_facts(table, settled)
    yield ("size",), Span(0, size)
    for one, other in combinations(sums, 2) if len(sums) <= _SUMS_AT_MOST else ():
        yield ("sums", *one, *other), Seen(frozenset({"equal" if sums[one] == sums[other] else "different"}))


def _sums(table: Table) -> dict[Key, float]:
    """The sums of the columns of a list or a table at the top of a text."""
    if not table.many or len(table.path) > 2:
        return {}
    columns = {(table.path, at): column.values for at, column in enumerate(table.columns) if column.kind == "integer"}
    return {key: sum(values) for key, values in columns.items() if values}


def _both(one: Fact, other: Any) -> Fact:
    return one.joined(other)


def add(known: Facts, shown: Iterable[tuple[Key, Fact]]) -> None:
    """Widens the facts that hold in some texts to what another one shows."""
    for key, fact in shown:
        known[key] = _both(known[key], fact) if key in known else fact


def settled(known: Mapping[Key, Fact]) -> frozenset[Key]:
    """The facts of whole rows, which take long to look at, where either word was seen: nothing new can be shown."""
    seen = [(key, fact) for key, fact in known.items() if key[0] in _OF_ROWS and isinstance(fact, Seen)]
    return frozenset(key for key, fact in seen if len(fact.words) > 1)


def is_new(known: Mapping[Key, Fact], key: Key, fact: Fact) -> bool:
    """True for a fact of a generated text that no given text shows."""
    return key not in known or not _covers(known[key], fact)


def _covers(one: Fact, other: Fact) -> bool:
    same: Any = other
    return type(one) is type(other) and one.covers(same)


# ------------------------------------------------------------------------------------------------------------ a table


def _table_facts(table: Table, settled: frozenset[Key]) -> Iterator[tuple[Key, Fact]]:
    rows = len(table.columns[0].tokens)
    yield ("lines", table.path), Span(rows, rows)
    for at, column in enumerate(table.columns if rows else ()):
        yield ("kind", table.path, at), Seen(frozenset({column.kind}))
        yield from _column_facts(table, (table.path, at), column)
    yield from _row_facts(table)
    if table.many and len(table.columns) > 1 and rows > 1:
        yield from _next_row_facts(table)
        yield from _pair_facts(table, settled)
        yield from _edge_facts(table, settled)


def _column_facts(table: Table, here: Key, column: Column) -> Iterator[tuple[Key, Fact]]:
    values = column.values
    if values is not None:
        low, high, first = min(values), max(values), values[0]
        yield ("range", *here), Span(low, high)
        if isinstance(first, int):
            yield ("remainder", *here), Remainder(first, math.gcd(*map(sub, values, repeat(first))))
        for number, bound in enumerate(table.scope):
            if bound is not None:
                yield ("against", *here, number), _side(low - bound, high - bound)
    if table.many and len(column.tokens) > 1:
        yield from _list_facts(table, here, column)


def _list_facts(table: Table, here: Key, column: Column) -> Iterator[tuple[Key, Fact]]:
    yield ("repeats", *here), Seen(frozenset({"some" if len(column.different) < len(column.tokens) else "none"}))
    if (values := column.values) is None:
        return
    steps = [*map(sub, values[1:], values)]
    yield ("neighbours", *here), Seen(_signs(values[1:], values))
    yield ("apart", *here), Span(0, max(map(abs, steps)))
    if len(steps) > 1:
        yield ("bends", *here), Seen(_signs(steps[1:], steps))
    yield ("position", *here), _sides(_signs(values, range(len(values))))
    yield ("next position", *here), _sides(_signs(values, range(1, len(values) + 1)))
    total = sum(values)
    yield ("sum", *here), Span(total, total)
    for number, bound in enumerate(table.scope):
        if bound is not None:
            yield ("sum against", *here, number), _side(total - bound, total - bound)


def _row_facts(table: Table) -> Iterator[tuple[Key, Fact]]:
    values = [column.values for column in table.columns]
    for one in range(len(values)):
        for other in range(one):
            left, right = values[one], values[other]
            if left and right:
                yield ("beside", table.path, one, other), Seen(_signs(left, right))


def _pair_facts(table: Table, settled: frozenset[Key]) -> Iterator[tuple[Key, Fact]]:
    """Whether a pair in the first two columns comes again, and with another value."""
    keys = [("pairs", table.path), *(("weights", table.path, at) for at in range(2, len(table.columns)))]
    if settled.issuperset(keys):
        return
    first, second, *others = (column.tokens for column in table.columns)
    pairs = [*zip(map(min, first, second), map(max, first, second), strict=True)]
    different = len(set(pairs))
    yield keys[0], Seen(frozenset({"some" if different < len(pairs) else "none"}))
    for key, column in zip(keys[1:], others, strict=True):
        weighed = len(set(zip(pairs, column, strict=True)))
        yield key, Seen(frozenset({"several" if weighed > different else "one"}))


def _edge_facts(table: Table, settled: frozenset[Key]) -> Iterator[tuple[Key, Fact]]:
    """What rows are as edges, and whether they name every node: those without an edge are not connected."""
    first, second = table.columns[:2]
    if not first.kind == second.kind == "integer" or len(first.tokens) > _EDGES_AT_MOST:
        return
    nodes = {*(first.values or ()), *(second.values or ())}
    for number, bound in enumerate(table.scope):
        if bound is not None:
            is_all = len(nodes) >= bound and min(nodes) >= 0 and max(nodes) <= bound
            yield ("named", table.path, number), Seen(frozenset({"all" if is_all else "some"}))
    if not settled.issuperset((name, table.path) for name in EDGE_WORDS):
        edges = [*zip(map(int, first.values or ()), map(int, second.values or ()), strict=True)]
        for name, word in edge_words(edges).items():
            yield (name, table.path), Seen(frozenset({word}))


def _next_row_facts(table: Table) -> Iterator[tuple[Key, Fact]]:
    """How rows follow one another."""
    values = [column.values for column in table.columns]
    for one, left in enumerate(values):
        for other, right in enumerate(values):
            if one != other and left and right:
                yield ("next row", table.path, one, other), Seen(_signs(left[1:], right))


def _side(low: float, high: float) -> Span:
    """The side of 0 on which the values lie: -1 below, 1 above; a span over both sides also covers 0."""
    return Span((low > 0) - (low < 0), (high > 0) - (high < 0))


def _sides(signs: frozenset[str]) -> Span:
    """The same of differences, given their signs."""
    sides = [side for side, sign in ((-1, "<"), (0, "="), (1, ">")) if sign in signs]
    return Span(sides[0], sides[-1])


def _signs(left: Sequence[float], right: Sequence[float]) -> frozenset[str]:
    """How numbers compare with those at the same place on the other side, which may go on."""
    return frozenset(sign for sign, holds in (("<", lt), ("=", eq), (">", gt)) if any(map(holds, left, right)))
