"""What the given inputs say of their format: its shape, the facts that hold in them, numbers by field.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import final

from maxcode.evaluate.inputs.grammar import (
    Field,
    Lines,
    Path,
    Repetition,
    Shape,
    TokenRow,
    Tree,
    lines_of,
    read,
    walk,
)
from maxcode.evaluate.inputs.inference import explanations
from maxcode.evaluate.inputs.invariants import (
    Fact,
    Facts,
    Key,
    Seen,
    Span,
    Table,
    add,
    facts_in,
    facts_of,
    is_new,
    numbers_of,
    settled,
    tables_at,
)

TEXTS_LEAST = 3
_REACH = 2  # a part of the largest count, and numbers above it can be those of bodies
BYTES_AT_MOST = 8 << 20  # of all texts together; more takes many seconds to read


@final
@dataclass(frozen=True, slots=True)
class FormatModel:
    """A format that explains all given texts, and the facts that hold in them.

    ``tokens``: the tokens by field.
    ``integers``: the same as integers, ascending; empty if anything else was seen.
    ``scopes``: the scalars above a table, by its path.
    ``below``: each column of a table with each scalar that it never exceeds, by its path.
    """

    shape: Shape
    facts: Facts
    tokens: Mapping[Field, frozenset[str]]
    integers: Mapping[Field, Sequence[int]]
    scopes: Mapping[Path, tuple[Field, ...]]
    counts: frozenset[Field]
    below: Mapping[Path, Sequence[tuple[int, int]]]

    def words(self, kind: str, path: Path, *at: int) -> frozenset[str]:
        found = self.facts.get((kind, path, *at))
        return found.words if isinstance(found, Seen) else frozenset()

    def values(self, field: Field) -> Sequence[int]:
        """The integers seen in a field, ascending; empty if anything else was seen."""
        return self.integers.get(field, ())

    def columns(self, path: Path) -> list[Field]:
        """The fields of a table."""
        return [field for field in self.tokens if field[0] == path]

    @property
    def bounds(self) -> frozenset[Field]:
        """Scalars that a column never exceeds, such as the number of nodes in a graph: other numbers depend on them."""
        columns = [(path, number) for path, found in self.below.items() if path[-1] == 1 for _, number in found]
        return frozenset(self.scopes[path][number] for path, number in columns)

    def is_structure(self, path: Path) -> bool:
        """True if lines hold two indices below one bound, as edges and intervals do: they cannot change separately."""
        bounded = [number for _, number in self.below.get(path, ())]
        return len(set(bounded)) < len(bounded) or (len(path) > 2 and self.names_bodies(path, path[:-2]))

    def bounded(self, path: Path) -> frozenset[Field]:
        """The columns of a table that never exceed some scalar."""
        return frozenset((path, at) for at, _ in self.below.get(path, ()))

    def new_in(self, tree: Tree) -> Iterator[tuple[Key, Fact]]:
        """What a text shows that no given text does."""
        shown = facts_of(self.shape, tree, settled(self.facts))
        return ((key, fact) for key, fact in shown if is_new(self.facts, key, fact))

    @property
    def is_one_number(self) -> bool:
        """True if an input is one integer and nothing else."""
        return self.shape == (TokenRow(1),) and bool(self.values(((0, 0), 0)))

    def naming_all(self, field: Field) -> list[Path]:
        """The tables whose rows name, as edges, every number up to a field in all given texts."""
        found = [(key[1], key[2]) for key in self.facts if key[0] == "named" and self.words(*key) == {"all"}]
        return [path for path, number in found if self.scopes[path][number] == field]

    def names_bodies(self, path: Path, block: Path) -> bool:
        """True if a table inside a block holds numbers of its bodies, as lists of adjacent nodes do, or is one line of
        a square of them: a body cannot take the place of another."""
        counts = [field for field in self.counts if block in users(self.shape, field)]
        bounds = [((path, at), self.scopes[path][number]) for at, number in self.below.get(path, ())]
        is_line = any(path[:-1] in users(self.shape, field) for field in counts)
        return is_line or any(bound in counts and self._reaches(field, bound) for field, bound in bounds)

    def _reaches(self, field: Field, count: Field) -> bool:
        """True if the values of a field could number what another one counts; small numbers of many cases do not."""
        own = self.values(field)
        return field not in self.counts and bool(own) and own[0] >= 0 and _REACH * own[-1] >= self.values(count)[-1]


def _below(facts: Facts) -> Mapping[Path, Sequence[tuple[int, int]]]:
    found: dict[Path, list[tuple[int, int]]] = {}
    for (kind, *key), fact in facts.items():
        if kind == "against" and isinstance(fact, Span) and fact.high <= 0:
            path, at, number = key
            found.setdefault(path, []).append((at, number))
    return found


@final
@dataclass(frozen=True, slots=True)
class Understood:
    """The given texts with every format that explains them; ``why``: why there is none."""

    texts: tuple[str, ...]
    shapes: tuple[FormatModel, ...] = ()
    why: str = ""


def understand(texts: Sequence[str]) -> Understood:
    """The formats of the given texts; needs at least three different texts."""
    texts = tuple(dict.fromkeys(texts))
    if len(texts) < TEXTS_LEAST:
        return Understood(
            texts, why=f"the format is read from {TEXTS_LEAST} or more different tests, and there are {len(texts)}"
        )
    if sum(map(len, texts)) > BYTES_AT_MOST:
        return Understood(texts, why=f"the given inputs are larger than {BYTES_AT_MOST >> 20} MB together")
    split = [lines for text in texts if (lines := lines_of(text)) is not None]
    if len(split) < len(texts):
        return Understood(texts, why="the given inputs hold more between their tokens than single spaces")
    shapes = explanations(split)
    if not shapes:
        return Understood(texts, why="no simple format explains every given input")
    return Understood(texts, tuple(_known(shape, split) for shape in shapes))


def _known(shape: Shape, texts: Sequence[Lines]) -> FormatModel:
    facts: Facts = {}
    tokens: dict[Field, set[str]] = {}
    scopes: dict[Path, tuple[Field, ...]] = {}
    counts: set[Field] = set()
    for tree in (tree for lines in texts if (tree := read(shape, lines)) is not None):
        tables: list[Table] = []
        for place in walk(shape, tree):
            if (counted := place.counted) is not None:
                counts.add(counted.field)
            for table in tables_at(place):
                tables.append(table)
                scopes[table.path] = tuple(cell.field for cell in place.cells)
                for at, column in enumerate(table.columns):
                    tokens.setdefault((table.path, at), set()).update(column.different)
        add(facts, facts_in(tables, settled(facts)))
    frozen = {field: frozenset(some) for field, some in tokens.items()}
    integers = {field: _integers(some) for field, some in tokens.items()}
    return FormatModel(shape, facts, frozen, integers, scopes, frozenset(counts), _below(facts))


def _integers(words: Set[str]) -> list[int]:
    kind, numbers = numbers_of(words)
    return sorted(map(int, numbers.values())) if kind == "integer" and numbers is not None else []


def users(shape: Shape, field: Field) -> frozenset[Path]:
    """The paths of lists and blocks that a field counts."""

    def search(shape: Shape, path: Path, cells: tuple[Field, ...]) -> Iterator[Path]:
        for number, node in enumerate(shape):
            here = (*path, number)
            if not isinstance(node, Repetition):
                cells = (*cells, *(((*here, 0), at) for at in range(node.width)))
            if not isinstance(node, TokenRow) and node.count is not None and cells[node.count.index] == field:
                yield here
            if isinstance(node, Repetition) and not node.is_table:
                yield from search(node.body, here, cells)

    return frozenset(search(shape, (), ()))
