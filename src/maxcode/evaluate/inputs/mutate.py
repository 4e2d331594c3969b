"""Makes new inputs like given ones: numbers permuted, drawn again, more or fewer of them.  Pure.

It needs the format of the given inputs (``grammar.py``) and stays within what they show (``invariants.py``); else it
makes nothing and reports why.  Words stay as they are.  Examples cannot prove what a task allows, so a change is made
only where the given inputs show that it is free: order if there is none, values if many occur, sizes between the least
and the largest.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, repeat
from typing import final

from maxcode.evaluate.inputs.format_model import TEXTS_LEAST, FormatModel, Understood, users
from maxcode.evaluate.inputs.grammar import (
    Field,
    Lines,
    NodeAt,
    Path,
    Repetition,
    Shape,
    Tail,
    TokenRow,
    Tree,
    columns_of,
    lines_of,
    read,
    tree_of,
    walk,
    written,
)
from maxcode.evaluate.inputs.invariants import Remainder, Span

TRIES = 40
_LONG_TRIES = 4  # to read a long text takes a tenth of a second
_LINES_LEAST = 8  # fewer lines say nothing about order
_FEW = 4  # different values: perhaps names of commands
_APART = 16  # times as wide as it has different values, a range holds no names: those are next to one another
_TYPES = (31, 63)  # bits of the integer types that a program may read into
_BASE_AT_MOST = 200_000  # bytes of a base input, if there are smaller ones
RESIZED = "resized"  # a way of changing them
Step = tuple[str, Callable[[random.Random, Tree], None]]


@final
@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed input, and the changes that made it."""

    text: str
    how: tuple[str, ...]


# -------------------------------------------------------------------------------------------------------------- drafts


def draft(given: Understood, seed: str, of_any_size: bool = False) -> Draft | None:
    """An input that all formats explain and that shows nothing new; None after TRIES failed tries.

    ``of_any_size``: as large as a given text, also as a long one though there are short ones.  The same seed gives the
    same input.
    """
    rng = random.Random(seed)
    if not given.shapes:
        return None
    for _ in range(_LONG_TRIES if of_any_size else TRIES):
        found = changed(given.shapes[0], base_of(given, rng, of_any_size), rng, resizes=not of_any_size)
        if found is not None and found.text not in given.texts and is_explained(given, found.text):
            return found
    return None


def base_of(given: Understood, rng: random.Random, of_any_size: bool = False) -> str:
    """One of the given texts that is not too long; a large one rather than a small one."""
    most = math.inf if of_any_size else _BASE_AT_MOST
    small = sorted((text for text in given.texts if len(text) <= most), key=len) or list(given.texts)
    return small[max(rng.randrange(len(small)), rng.randrange(len(small)))]


def changed(known: FormatModel, base: str, rng: random.Random, resizes: bool = True) -> Draft | None:
    """A given text after one to three random changes."""
    tree = tree_of(known.shape, base)
    steps = [one for one in steps_of(known, tree) if resizes or one[0] != RESIZED] if tree is not None else []
    if tree is None or not steps:
        return None
    chosen = sorted(rng.sample(range(len(steps)), min(len(steps), rng.randint(1, 3))))
    for number in chosen:
        steps[number][1](rng, tree)
    text = written(known.shape, tree)
    how = tuple(dict.fromkeys(steps[number][0] for number in chosen))
    return Draft(text if base.endswith("\n") else text.removesuffix("\n"), how)


def is_explained(given: Understood, text: str) -> bool:
    lines = lines_of(text)
    return lines is not None and all(_explains(known, lines) for known in given.shapes)


def _explains(known: FormatModel, lines: Lines) -> bool:
    tree = read(known.shape, lines)
    return tree is not None and next(known.new_in(tree), None) is None


def steps_of(known: FormatModel, tree: Tree) -> Iterator[Step]:
    """The changes that this tree allows: sizes first, order last."""
    places = list(walk(known.shape, tree))
    for field in sorted(known.counts):
        if len(known.values(field)) > 1 and is_free(known, field):
            yield RESIZED, _resizing(known, field)
    for field in sorted(drawable(known, places)):
        yield "redrawn", _drawing(known, field)
    for path in sorted({place.path for place in places if is_permutable(known, place)}):
        yield "permuted", _permuting(known, path)


# ------------------------------------------------------------------------------------------------------- what is free


def is_free(known: FormatModel, field: Field) -> bool:
    """True if there may be more or fewer of what a field counts.

    It must count no words, which could refer to one another, nor bodies that name one another by number, nor what is
    in such a body; nor nodes of which every one has an edge, because the edges are counted by another number.
    """
    counted = users(known.shape, field)
    if any(not _within(path, counted) for path in known.naming_all(field)):
        return False
    inside = [(path, at) for path, at in known.tokens if _within(path, counted)]
    around = {user[:end] for user in counted for end in range(1, len(user) + 1)}
    graph = any(known.names_bodies(path, block) for path, _ in inside for block in around if len(path) > len(block) + 1)
    return not graph and all("word" not in known.words("kind", *one) for one in inside)


def is_fixed(known: FormatModel, field: Field) -> bool:
    """True if there may be no fewer of what a field counts: a graph with fewer edges may not be connected."""
    counted = users(known.shape, field)
    return any(known.is_structure(path) for path, _ in known.tokens if _within(path, counted))


def _within(path: Path, counted: frozenset[Path]) -> bool:
    return any(path[: len(user)] == user for user in counted)


def drawable(known: FormatModel, places: Sequence[NodeAt]) -> set[Field]:
    """The fields whose numbers may be drawn again."""
    fixed = known.counts | known.bounds
    fields = {field for place in places for field, _, _ in place.columns}
    free = {
        field
        for field in fields
        if (_is_value(known, field) if is_many(field) else field not in fixed and not _names_bodies(known, field[0]))
    }
    return {field for field in free if _are_any(known, field) and not _is_special(known.values(field))}


def _names_bodies(known: FormatModel, path: Path) -> bool:
    """Whether a table names bodies of any block around it."""
    return any(known.names_bodies(path, path[:end]) for end in range(1, len(path) - 1))


def is_many(field: Field) -> bool:
    """True for a list or a column, False for a scalar."""
    return field[0][-1] == 1


def _is_value(known: FormatModel, field: Field) -> bool:
    """True for a column that is no part of a structure: also the weights of its edges, if none is negative, because
    a ring of edges may have to weigh something."""
    path, _ = field
    bounded = known.bounded(path)
    is_beside_edges = field not in bounded and (len(path) == 2 or len(bounded) > 1)
    weights = is_beside_edges and min(known.values(field), default=-1) >= 0
    return weights or not known.is_structure(path)


def _are_any(known: FormatModel, field: Field) -> bool:
    """True if the values are too many to be names of commands, or are single ones and far apart, as sizes are."""
    values = known.values(field)
    single = len(field[0]) == 2 and not is_many(field)
    is_size = single and len(values) >= TEXTS_LEAST and values[-1] - values[0] >= _APART * len(values)
    return is_size or len(values) > _FEW


def of_type(low: int, high: int, far: tuple[int, int]) -> tuple[int, int]:
    """The numbers from ``far`` that fit into the smallest integer type that holds the given ones: larger ones are no
    inputs for a program that reads into it."""
    for bits in _TYPES:
        if -(1 << bits) <= low and high < 1 << bits:
            return max(far[0], -(1 << bits)), min(far[1], (1 << bits) - 1)
    return far


def _is_special(values: Sequence[int]) -> bool:
    """True if all (ascending) values are powers of two, squares or primes, which numbers between them need not be."""
    large = values[bisect_right(values, 3) :]
    if not large:
        return False
    powers = all(value & (value - 1) == 0 for value in large)
    squares = all(math.isqrt(value) ** 2 == value for value in large) and not all(map(_is_power_of_ten, large))
    primes = large[-1] < 1 << 40 and all(_may_be_prime(value) for value in large)
    return powers or squares or primes


def _is_power_of_ten(value: int) -> bool:
    return str(value).rstrip("0") == "1"  # sizes that somebody has chosen, though each other one is a square


def _may_be_prime(value: int) -> bool:
    return (
        all(pow(base, value - 1, value) == 1 for base in (2, 3) if value % base) and value % 2 == 1 and value % 3 != 0
    )


def is_permutable(known: FormatModel, place: NodeAt) -> bool:
    """True if the order is free: values go up and down in every column, and no column could name commands."""
    node, path = place.node, (*place.path, 1)
    if isinstance(node, Repetition) and not node.is_table:
        inside = {field[0] for field in known.tokens if _within(field[0], frozenset({place.path}))}
        graph = any(known.names_bodies(one, place.path) for one in inside)
        cases = len(node.body) > 1 and isinstance(node.body[0], TokenRow) and place.counted is not None
        return cases and not graph  # independent ones
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
    return {"<", ">"} <= known.words("neighbours", *field) and not bend_of(known, field)


def bend_of(known: FormatModel, field: Field) -> str:
    """``>`` if every given list of a field is convex, ``<`` if each is concave; empty if neither."""
    signs = known.words("bends", *field) - {"="}
    return next(iter(signs)) if len(signs) == 1 else ""


# --------------------------------------------------------------------------------------------------------------- steps


def _permuting(known: FormatModel, path: Path) -> Callable[[random.Random, Tree], None]:
    def step(rng: random.Random, tree: Tree) -> None:
        for place in walk(known.shape, tree):
            if place.path == path:
                order = [*range(len(place.lists[0]))]
                rng.shuffle(order)
                put_in_order(place, order)

    return step


def put_in_order(place: NodeAt, order: Sequence[int]) -> None:
    """The items, lines or bodies with these numbers, in this order."""
    for items in place.lists:
        items[:] = [items[number] for number in order]


def drawn(rng: random.Random, below: int, count: int) -> list[int]:
    """So many numbers from 0 on: those that ``rng.randrange(below)`` draws, without a call for each."""
    bits = map(rng.getrandbits, repeat(below.bit_length()))
    return [*islice(filter(below.__gt__, bits), count)]


def _drawing(known: FormatModel, field: Field) -> Callable[[random.Random, Tree], None]:
    values, stride, bend = known.values(field), step_of(known, field), bend_of(known, field)

    def anew(rng: random.Random, own: Sequence[int]) -> Sequence[int]:
        if not is_many(field):
            return [_between_neighbours(rng, values, stride)]
        if bend:
            return _bent(rng, own, bend == "<")
        low, high = min(own, default=0), max(own, default=0)
        return [low + stride * number for number in drawn(rng, (high - low) // stride + 1, len(own))]

    def step(rng: random.Random, tree: Tree) -> None:
        for tokens, where in columns_of(known.shape, tree, field):
            tokens[where] = map(str, anew(rng, [*map(int, tokens[where])]))

    return step


def _bent(rng: random.Random, own: Sequence[int], falling: bool) -> list[int]:
    """Another convex (or concave, with ``falling``) list: steps drawn from its own ones, in order."""
    steps = [b - a for a, b in pairwise(own)]
    others = sorted((steps[number] for number in drawn(rng, len(steps), len(steps))), reverse=falling)
    return [*accumulate(others, initial=own[0])] if own else []


def step_of(known: FormatModel, field: Field) -> int:
    """What all numbers of a field differ by multiples of."""
    found = known.facts.get(("remainder", *field))
    return max(1, found.step) if isinstance(found, Remainder) else 1


def _between(rng: random.Random, low: int, high: int, step: int) -> int:
    return low + step * rng.randint(0, (high - low) // step)


def _between_neighbours(rng: random.Random, values: Sequence[int], step: int) -> int:
    low = rng.randrange(len(values) - 1)  # sizes come in orders of magnitude
    return _between(rng, values[low], values[low + 1], step)


def _resizing(known: FormatModel, field: Field) -> Callable[[random.Random, Tree], None]:
    values, stride = known.values(field), step_of(known, field)
    fixed = is_fixed(known, field)

    def wanted(rng: random.Random, old: int) -> int:
        size = _between_neighbours(rng, values, stride)
        return max(size, old) if fixed else size

    def step(rng: random.Random, tree: Tree) -> None:
        resize(known.shape, tree, field, lambda old: picks_of(rng, old, wanted(rng, old)))

    return step


def picks_of(rng: random.Random, old: int, new: int) -> list[int]:
    """Which of ``old`` items become the ``new`` ones, in order."""
    if new <= old:
        return sorted(rng.sample(range(old), new))
    picks = [*range(old), *drawn(rng, old, new - old)] if old else []
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
        kept, last, offset = chosen[id(cell.tokens)], len(place.lists[0]) - 1, node.count.offset
        if not kept or last < 0:
            continue
        put_in_order(place, [pick if pick < last else last for pick in [*kept, kept[-1]][: len(kept) + offset]])
        if isinstance(node, Repetition) and not node.is_table:
            place.part[:] = map(copied, place.part)  # a body that comes twice may change once
        cell.tokens[cell.at] = str(len(kept))


def copied(part: Tree) -> Tree:
    """A tree of its own, to be changed."""
    return [copied(one) if isinstance(one, list) else one for one in part]
