"""Makes new inputs from given ones: numbers permuted, drawn again, more or fewer of them.  Pure.

It needs the format of the given inputs (``grammar.py``) and stays within what they show (``invariants.py``); else it
makes nothing and reports why.  Words stay as they are.  Examples cannot prove what a task allows, so a change is made
only where the given inputs show that it is free: order if there is none, values if many occur, sizes between the least
and the largest.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.evaluate.inputs.grammar import (
    NodeAt,
    Path,
    Repetition,
    Shape,
    Tail,
    TokenRow,
    Tokens,
    Tree,
    explanations,
    integer,
    lines_of,
    read,
    walk,
    written,
)
from maxcode.evaluate.inputs.invariants import (
    Fact,
    Facts,
    Key,
    Remainder,
    Seen,
    Span,
    broken,
    facts_of,
    tables_at,
    together,
)

TEXTS_LEAST = 3
BYTES_AT_MOST = 8 << 20  # of all texts together; more takes many seconds to read
_TRIES = 40
_LINES_LEAST = 8  # fewer lines say nothing about order
_FEW = 4  # different values: perhaps names of commands
_BASE_AT_MOST = 200_000  # bytes of a base input, if there are smaller ones
Field = tuple[Path, int]
Step = tuple[str, Callable[[random.Random, Tree], None]]


@final
@dataclass(frozen=True, slots=True)
class FormatModel:
    """A format that explains all given texts, and the facts that hold in them.

    ``tokens``: the tokens by field.
    ``scopes``: the scalars above a table, by its path.
    """

    shape: Shape
    facts: Facts
    tokens: Mapping[Field, frozenset[str]]
    scopes: Mapping[Path, tuple[Field, ...]]
    counts: frozenset[Field]

    def words(self, kind: str, path: Path, *at: int) -> frozenset[str]:
        found = self.facts.get((kind, path, *at))
        return found.words if isinstance(found, Seen) else frozenset()

    def values(self, field: Field) -> list[int]:
        """The integers seen in a field, ascending; empty if anything else was seen."""
        found = [integer(token) for token in self.tokens.get(field, ())]
        return sorted(one for one in found if one is not None) if None not in found else []

    def columns(self, path: Path) -> list[Field]:
        """The fields of a table."""
        return [field for field in self.tokens if field[0] == path]

    @property
    def bounds(self) -> frozenset[Field]:
        """Scalars that a column never exceeds, such as the number of nodes in a graph: other numbers depend on them."""
        keys = [key for key, fact in self.facts.items() if key[0] == "against" and _is_never_above(fact)]
        return frozenset(self.scopes[path][number] for _, path, _, number in keys if path[-1] == 1)

    def is_structure(self, path: Path) -> bool:
        """True if lines hold two indices below one bound, as edges and intervals do: they cannot change separately."""
        bounded = [key[3] for key, fact in self.facts.items() if key[:2] == ("against", path) and _is_never_above(fact)]
        return len(set(bounded)) < len(bounded) or (len(path) > 2 and self._is_part_of_a_matrix(path, set(bounded)))

    def _is_part_of_a_matrix(self, path: Path, bounded: set[int]) -> bool:
        """True if a list inside a block belongs to one line of as many: adjacent nodes, or a square matrix."""
        around = path[:-2]
        outer = [field for field in self.counts if around in users(self.shape, field)]
        return any(self.scopes[path][number] in outer for number in bounded) or any(
            path[:-1] in users(self.shape, field) for field in outer
        )


def _is_never_above(fact: Fact) -> bool:
    return isinstance(fact, Span) and fact.high <= 0


@final
@dataclass(frozen=True, slots=True)
class Understood:
    """The given texts with every format that explains them; ``why``: why there is none."""

    texts: tuple[str, ...]
    shapes: tuple[FormatModel, ...] = ()
    why: str = ""


@final
@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed input, and the changes that made it."""

    text: str
    how: tuple[str, ...]


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


def _known(shape: Shape, texts: Sequence[Sequence[Tokens]]) -> FormatModel:
    trees = [tree for lines in texts if (tree := read(shape, lines)) is not None]
    tokens: dict[Field, set[str]] = {}
    scopes: dict[Path, tuple[Field, ...]] = {}
    counts: set[Field] = set()
    for place in (place for tree in trees for place in walk(shape, tree)):
        if (counted := place.counted) is not None:
            counts.add(counted.field)
        for table in tables_at(place):
            scopes[table.path] = tuple(cell.field for cell in place.cells)
            for at, column in enumerate(table.columns):
                tokens.setdefault((table.path, at), set()).update(column)
    frozen = {field: frozenset(some) for field, some in tokens.items()}
    return FormatModel(shape, together(facts_of(shape, tree) for tree in trees), frozen, scopes, frozenset(counts))


# -------------------------------------------------------------------------------------------------------------- drafts


def draft(given: Understood, seed: str) -> Draft | None:
    """An input that all formats explain and that shows nothing new; None after _TRIES failed tries.

    The same seed gives the same input.
    """
    rng = random.Random(seed)
    if not given.shapes:
        return None
    small = sorted((text for text in given.texts if len(text) <= _BASE_AT_MOST), key=len) or list(given.texts)
    for _ in range(_TRIES):
        base = small[max(rng.randrange(len(small)), rng.randrange(len(small)))]  # prefers large ones
        found = _changed(given.shapes[0], base, rng)
        if found is not None and found.text not in given.texts and _is_explained(given, found.text):
            return found
    return None


def _changed(known: FormatModel, base: str, rng: random.Random) -> Draft | None:
    """A given text after one to three random changes."""
    tree = read(known.shape, lines_of(base) or [])
    steps = list(_steps(known, tree)) if tree is not None else []
    if tree is None or not steps:
        return None
    chosen = sorted(rng.sample(range(len(steps)), min(len(steps), rng.randint(1, 3))))
    for number in chosen:
        steps[number][1](rng, tree)
    text = written(known.shape, tree)
    how = tuple(dict.fromkeys(steps[number][0] for number in chosen))
    return Draft(text if base.endswith("\n") else text.removesuffix("\n"), how)


def _is_explained(given: Understood, text: str) -> bool:
    return not any(True for known in given.shapes for _ in _strange(known, text))


def _strange(known: FormatModel, text: str) -> Iterator[Key]:
    """What the text shows that no given text does; ("shape",) if the format does not explain it."""
    lines = lines_of(text)
    tree = read(known.shape, lines) if lines is not None else None
    return iter([("shape",)]) if tree is None else broken(known.facts, facts_of(known.shape, tree))


def _steps(known: FormatModel, tree: Tree) -> Iterator[Step]:
    """The changes that this tree allows: sizes first, order last."""
    places = list(walk(known.shape, tree))
    for field in sorted(known.counts):
        if len(known.values(field)) > 1 and is_free(known, field):
            yield "resized", _resizing(known, field)
    for field in sorted(_drawable(known, places)):
        yield "redrawn", _drawing(known, field)
    for path in sorted({place.path for place in places if _is_permutable(known, place)}):
        yield "permuted", _permuting(known, path)


# ------------------------------------------------------------------------------------------------------- what is free


def is_free(known: FormatModel, field: Field) -> bool:
    """True if there may be more or fewer of what a field counts.

    It must count no words, which could refer to one another, and nothing that the field bounds but does not count.
    """
    counted = users(known.shape, field)
    inside = [(path, at) for path, at in known.tokens if _within(path, counted)]
    matrix = any(len(path) > 2 and known.is_structure(path) and len(known.columns(path)) == 1 for path, _ in inside)
    return not matrix and all("word" not in known.words("kind", *one) for one in inside)


def _within(path: Path, counted: frozenset[Path]) -> bool:
    return any(path[: len(user)] == user for user in counted)


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


def _drawable(known: FormatModel, places: Sequence[NodeAt]) -> set[Field]:
    """The fields whose numbers may be drawn again."""
    found = set()
    bounds = known.bounds
    for table in (table for place in places for table in tables_at(place)):
        for at in range(len(table.columns)):
            field = (table.path, at)
            single = not table.many and field not in known.counts and field not in bounds
            values = known.values(field)
            if (single or (table.many and not known.is_structure(table.path))) and len(values) > _FEW:
                found |= {field} if not _is_special(values) else set()
    return found


def _is_special(values: Sequence[int]) -> bool:
    """True if all values are powers of two, squares or primes, which numbers between them need not be."""
    large = [value for value in values if value > 3]
    if not large:
        return False
    powers = all(value & (value - 1) == 0 for value in large)
    squares = all(math.isqrt(value) ** 2 == value for value in large)
    primes = max(large) < 1 << 40 and all(_may_be_prime(value) for value in large)
    return powers or squares or primes


def _may_be_prime(value: int) -> bool:
    return (
        all(pow(base, value - 1, value) == 1 for base in (2, 3) if value % base) and value % 2 == 1 and value % 3 != 0
    )


def _is_permutable(known: FormatModel, place: NodeAt) -> bool:
    """True if the order is free: values go up and down in every column, and no column could name commands."""
    node, path = place.node, (*place.path, 1)
    if isinstance(node, Repetition) and not node.is_table:
        return (
            len(node.body) > 1 and isinstance(node.body[0], TokenRow) and place.counted is not None
        )  # independent cases
    if isinstance(node, TokenRow) or not _are_many(known, path) or (len(path) > 2 and known.is_structure(path)):
        return False
    return all(_is_unordered(known, field, isinstance(node, Tail)) for field in known.columns(path))


def _are_many(known: FormatModel, path: Path) -> bool:
    found = known.facts.get(("lines", path))
    return isinstance(found, Span) and found.high >= _LINES_LEAST


def _is_unordered(known: FormatModel, field: Field, is_list: bool) -> bool:
    if len(known.tokens[field]) <= _FEW:
        return False
    if "word" in known.words("kind", *field):
        return not is_list and len(known.tokens[field]) > _LINES_LEAST
    return {"<", ">"} <= known.words("neighbours", *field)


# --------------------------------------------------------------------------------------------------------------- steps


def _permuting(known: FormatModel, path: Path) -> Callable[[random.Random, Tree], None]:
    def step(rng: random.Random, tree: Tree) -> None:
        for place in walk(known.shape, tree):
            if place.path == path:
                rng.shuffle(place.items)

    return step


def _drawing(known: FormatModel, field: Field) -> Callable[[random.Random, Tree], None]:
    path, at = field
    values, step_of = known.values(field), _step(known, field)

    def single(rng: random.Random, tokens: Tokens) -> None:
        low = rng.randrange(len(values) - 1)  # between neighbours: sizes come in orders of magnitude
        tokens[at] = str(_between(rng, values[low], values[low + 1], step_of))

    def many(rng: random.Random, place: NodeAt) -> None:
        is_list, items = isinstance(place.node, Tail), place.items
        slots = [(items, i) for i in range(len(items))] if is_list else [(row, at) for row in items]
        own = [int(row[i]) for row, i in slots]
        low, high = min(own, default=0), max(own, default=0)
        for row, i in slots:
            row[i] = str(_between(rng, low, high, step_of))

    def step(rng: random.Random, tree: Tree) -> None:
        for place in walk(known.shape, tree):
            if path == (*place.path, 0):
                single(rng, place.part[0] if isinstance(place.node, Tail) else place.part)
            elif path == (*place.path, 1):
                many(rng, place)

    return step


def _step(known: FormatModel, field: Field) -> int:
    found = known.facts.get(("remainder", *field))
    return max(1, found.step) if isinstance(found, Remainder) else 1


def _between(rng: random.Random, low: int, high: int, step: int) -> int:
    return low + step * rng.randint(0, (high - low) // step)


def _resizing(known: FormatModel, field: Field) -> Callable[[random.Random, Tree], None]:
    values, step_of = known.values(field), _step(known, field)
    counted = users(known.shape, field)
    fixed = any(known.is_structure(path) for path, _ in known.tokens if _within(path, counted))

    def wanted(rng: random.Random, old: int) -> int:
        low = rng.randrange(len(values) - 1)
        size = _between(rng, values[low], values[low + 1], step_of)
        return max(size, old) if fixed else size  # a graph with fewer edges may not be connected

    def step(rng: random.Random, tree: Tree) -> None:
        resize(known.shape, tree, field, lambda old: _picks(rng, old, wanted(rng, old)))

    return step


def _picks(rng: random.Random, old: int, new: int) -> list[int]:
    """Which of ``old`` items become the ``new`` ones, in order."""
    if new <= old:
        return sorted(rng.sample(range(old), new))
    picks = [*range(old), *(rng.randrange(old) for _ in range(new - old))] if old else []
    return sorted(picks) if rng.random() < 0.5 else picks


def resize(shape: Shape, tree: Tree, field: Field, picks: Callable[[int], list[int]]) -> None:
    """Keep the items that ``picks`` chooses (given their number) in all lists and blocks that the field counts.

    The same items are kept in all lists that one number counts, because lists of equal length often belong together.
    """
    chosen: dict[int, list[int]] = {}
    for place in walk(shape, tree):
        cell, node = place.counted, place.node
        if cell is None or cell.field != field or isinstance(node, TokenRow) or node.count is None:
            continue
        if id(cell.tokens) not in chosen:
            chosen[id(cell.tokens)] = picks(cell.value or 0)
        kept, items, offset = chosen[id(cell.tokens)], place.items, node.count.offset
        if not kept or not items:
            continue
        wanted = [*kept, kept[-1]][: len(kept) + offset]
        items[:] = [copy.deepcopy(items[min(pick, len(items) - 1)]) for pick in wanted]
        cell.tokens[cell.at] = str(len(kept))
