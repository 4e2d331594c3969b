"""Makes inputs that the given ones hardly show: sorted, with few values, or larger than all of them.  Pure.

``habit``: as the given ones allow it, in every fact (``invariants.py``); a program must be right on them.
``wider``: values and sizes beyond the given ones, where everything else is as in the given ones.  Whether they may come
is known only where the problem states it (``domain`` of its tests); elsewhere they go a little beyond, and a program
that is not right there is right on the given kind alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.code.domains import Domain, domain_of
from maxcode.errors import InputError
from maxcode.evaluate.inputs.enlarge import comes_with_size
from maxcode.evaluate.inputs.format_model import FormatModel, Understood
from maxcode.evaluate.inputs.grammar import (
    Field,
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
from maxcode.evaluate.inputs.invariants import Fact, Key, Span, facts_of, is_new, settled
from maxcode.evaluate.inputs.mutate import (
    TRIES,
    Draft,
    base_of,
    changed,
    drawable,
    drawn,
    is_explained,
    is_fixed,
    is_free,
    is_many,
    is_permutable,
    of_type,
    picks_of,
    put_in_order,
    resize,
    step_of,
)

VALUES_BEYOND, SIZES_BEYOND = "values beyond the given ones", "sizes beyond the given ones"  # ways of making them
_BEYOND = 4  # times the largest value that was given, where the problem states no domain
_LARGER = 2  # the same for a size
_NEAR = 8  # half of them go by a share of this at most beyond the given ones
_FEW_VALUES = 3
_NEARLY = 0.25  # of what is sorted, two neighbours change places
_RANGE = frozenset({"range", "sum", "sum against", "apart"})  # facts of a field that larger values may break
_WITH_ENDS = frozenset({"between", "drawn"})
Limits = Mapping[Field, Domain]


def fields_of(shape: Shape, path: tuple[int, ...] = ()) -> Iterator[Field]:
    """The numbers of a format, in the order in which a program reads them first; a list or a column counts once."""
    for number, node in enumerate(shape):
        here = (*path, number)
        match node:
            case TokenRow(width):
                yield from (((*here, 0), at) for at in range(width))
            case Tail(width):
                yield from (((*here, 0), at) for at in range(width))
                yield (*here, 1), 0
            case Repetition() if node.is_table and isinstance(row := node.body[0], TokenRow):
                yield from (((*here, 1), at) for at in range(row.width))
            case Repetition():
                yield from fields_of(node.body, here)


def stated(given: Understood, domains: Sequence[str]) -> Limits:
    """The domains by field.  InputError where they do not fit to what the given inputs hold."""
    if not domains:
        return {}
    if not given.shapes:
        raise InputError(f"`domain` of [tests] is for inputs whose format can be read: {given.why}; leave it out")
    known = given.shapes[0]
    fields = list(fields_of(known.shape))
    if len(fields) != len(domains):
        seen = ", ".join(_range_in_words(known, one) for one in fields)
        raise InputError(
            f"`domain` of [tests] has {len(domains)} entries, but the given inputs hold {len(fields)} kinds of numbers "
            f"(a list or a column is one); in the order of reading they are: {seen}"
        )
    found = {field: domain_of(text, {}, whole=True) for field, text in zip(fields, domains, strict=True)}
    for field, text in zip(fields, domains, strict=True):
        values, (low, high) = known.values(field), _ends(known, field, found[field])
        if not values and found[field].which == "between":
            raise InputError(
                f"`domain` of [tests]: entry {fields.index(field) + 1} is '{text}', but the given inputs hold "
                f"{_range_in_words(known, field)} there, and only whole numbers are tried beyond the given ones; write "
                '"any"'
            )
        if values and not low <= values[0] <= values[-1] <= high:
            raise InputError(
                f"`domain` of [tests]: entry {fields.index(field) + 1} is '{text}', but the given inputs hold "
                f"{_range_in_words(known, field)} there"
            )
    return found


def is_possible(given: Understood, limits: Limits, text: str) -> bool:
    """Whether all numbers of a text are within the domains that are stated with both ends."""
    known = given.shapes[0]
    tree = tree_of(known.shape, text)
    stated = [(field, one) for field, one in limits.items() if one.which in _WITH_ENDS and known.values(field)]
    ends = {field: Span(*_ends(known, field, one)) for field, one in stated}
    shown = facts_of(known.shape, tree, settled(known.facts)) if tree is not None else ()
    ranges = [(ends[key[1], key[2]], fact) for key, fact in shown if key[0] == "range" and (key[1], key[2]) in ends]
    return tree is not None and all(isinstance(fact, Span) and end.covers(fact) for end, fact in ranges)


def _range_in_words(known: FormatModel, field: Field) -> str:
    if values := known.values(field):
        return f"{values[0]}..{values[-1]}"
    shown = known.facts.get(("range", *field))
    if not isinstance(shown, Span) or "word" in known.words("kind", *field):
        return "words"
    return f"decimal numbers from {shown.low} to {shown.high}"


def _ends(known: FormatModel, field: Field, domain: Domain | None, times: int = _BEYOND) -> tuple[int, int]:
    """The least and the largest number that may be tried; 0 and 0 of a field that does not hold whole numbers alone."""
    values = known.values(field)
    low, high = min(values, default=0), max(values, default=0)
    far = of_type(low, high, (min(low, times * low), max(high, times * high)))
    match domain.which if domain is not None else "any":
        case "between" if domain is not None:
            return int(domain.low), int(domain.high)
        case "drawn":
            return low, high
        case "positive":
            return 1, far[1]
        case "nonnegative":
            return 0, far[1]
        case _:
            return far


# --------------------------------------------------------------------------------------------------------------- habit


def habit(given: Understood, seed: str) -> Draft | None:
    """An input whose lines or lists are sorted, or which holds a few different values only; None after TRIES tries.

    It is made from a given text that was changed at random, so that nobody who knows the given texts knows it.
    """
    rng = random.Random(seed)
    for _ in range(TRIES if given.shapes else 0):
        known, base = given.shapes[0], base_of(given, rng)
        other = changed(known, base, rng)
        tree = tree_of(known.shape, other.text) if other is not None else None
        steps = list(_habits(known, tree)) if tree is not None else []
        if other is None or tree is None or not steps:
            continue
        (how, step), draw = rng.choice(steps), rng.random()
        text = _after(known, other.text, step, draw)
        foreseen = (*given.texts, _after(known, base, step, draw))  # a permutation that is sorted again
        if text is not None and text not in foreseen and is_explained(given, text):
            return Draft(text, (how,))
    return None


def _after(known: FormatModel, text: str, step: Callable[[random.Random, Tree], None], draw: float) -> str | None:
    """The text after one step with these random numbers; None if the format does not explain it."""
    tree = tree_of(known.shape, text)
    if tree is None:
        return None
    step(random.Random(draw), tree)
    return written(known.shape, tree)


def _habits(known: FormatModel, tree: Tree) -> Iterator[tuple[str, Callable[[random.Random, Tree], None]]]:
    places = list(walk(known.shape, tree))
    for path in sorted({place.path for place in places if is_permutable(known, place)}):
        if (columns := known.columns((*path, 1))) and all(known.values(field) for field in columns):
            yield "sorted", _sorting(known, path)
    for field in sorted(drawable(known, places)):
        if is_many(field):
            yield "with few values", _of_few(known, field)


def _sorting(known: FormatModel, path: tuple[int, ...]) -> Callable[[random.Random, Tree], None]:
    def step(rng: random.Random, tree: Tree) -> None:
        falling, column = rng.random() < 0.5, rng.randrange(max(1, len(known.columns((*path, 1)))))
        is_nearly = rng.random() < _NEARLY
        for place in walk(known.shape, tree):
            if place.path == path:
                values = [*map(int, place.lists[column])]
                order = sorted(range(len(values)), key=values.__getitem__, reverse=falling)
                if is_nearly and len(order) > 1:
                    at = rng.randrange(len(order) - 1)
                    order[at], order[at + 1] = order[at + 1], order[at]
                put_in_order(place, order)

    return step


def _of_few(known: FormatModel, field: Field) -> Callable[[random.Random, Tree], None]:
    values = known.values(field)

    def step(rng: random.Random, tree: Tree) -> None:
        for column, _ in columns_of(known.shape, tree, field):
            if column:
                pool = [str(values[0]), str(values[-1]), *column]
                few = [rng.choice(pool) for _ in range(rng.randint(1, _FEW_VALUES))]
                column[:] = [few[number] for number in drawn(rng, len(few), len(column))]

    return step


# --------------------------------------------------------------------------------------------------------------- wider


@final
@dataclass(frozen=True, slots=True)
class _Wider:
    """What is changed: ``touched`` fields get other values, ``sized`` ones count more."""

    how: str
    touched: frozenset[Field]
    sized: frozenset[Field]
    step: Callable[[random.Random, Tree], None]


def wider(given: Understood, limits: Limits, seed: str, turn: int) -> Draft | None:
    """An input with values or sizes beyond all given ones, within the stated ``limits``; None after TRIES tries.

    The ways of making one (which numbers, above or below the given ones; which sizes) take turns, so that a few inputs
    leave out none: ``turn`` counts them.
    """
    rng = random.Random(seed)
    for _ in range(TRIES if given.shapes else 0):
        known = given.shapes[0]
        tree = tree_of(known.shape, base_of(given, rng))
        ways = list(_ways(known, tree, limits)) if tree is not None else []
        if tree is None or not ways:
            continue
        way = ways[turn % len(ways)]
        way.step(rng, tree)
        text = written(known.shape, tree)
        if text not in given.texts and _is_only_wider(given, text, way, limits):
            return Draft(text, (way.how,))
    return None


def _ways(known: FormatModel, tree: Tree, limits: Limits) -> Iterator[_Wider]:
    free = drawable(known, list(walk(known.shape, tree)))
    groups = {frozenset(one for one in free if one[0] == field[0]) for field in free}
    for group in sorted({*groups, *(frozenset({one}) for one in free)}, key=sorted):
        for down in (False, True):
            if any(_is_room(known, field, limits, down) for field in group):
                yield _Wider(VALUES_BEYOND, group, frozenset(), _moving(known, group, limits, down))
    for field in sorted(known.counts):
        if is_free(known, field) and known.values(field) and _is_room(known, field, limits, times=_LARGER):
            yield _Wider(SIZES_BEYOND, frozenset(), frozenset({field}), _growing(known, field, limits))
        if field in limits and is_free(known, field) and not is_fixed(known, field) and (low := known.values(field)):
            least = max(1, _ends(known, field, limits[field])[0])
            if least < low[0] or step_of(known, field) > 1:
                yield _Wider(SIZES_BEYOND, frozenset(), frozenset({field}), _shrinking(known, field, least))


def _is_room(known: FormatModel, field: Field, limits: Limits, down: bool = False, times: int = _BEYOND) -> bool:
    low, high = _ends(known, field, limits.get(field), times)
    values = known.values(field)
    return low < values[0] if down else high > values[-1]


def _beyond(rng: random.Random, high: int, limit: int) -> int:
    """A number above ``high``: a little, anywhere up to the limit, or the limit itself."""
    near = min(limit, high + max(1, abs(high) // _NEAR))
    return rng.choice((rng.randint(high + 1, near), rng.randint(high + 1, near), rng.randint(high + 1, limit), limit))


def _moving(
    known: FormatModel, group: frozenset[Field], limits: Limits, down: bool
) -> Callable[[random.Random, Tree], None]:
    """All numbers of some columns of a table, by the same step or the same factor, or drawn anew."""

    def step(rng: random.Random, tree: Tree) -> None:
        lead = rng.choice(sorted(one for one in group if _is_room(known, one, limits, down)))
        low, high = _ends(known, lead, limits.get(lead))
        values, way = known.values(lead), rng.choice(("by a step", "by a factor", "anew"))
        aim = -_beyond(rng, -values[0], -low) if down else _beyond(rng, values[-1], high)
        for place in walk(known.shape, tree):
            columns = [(field, tokens, where) for field, tokens, where in place.columns if field in group]
            own = [int(token) for field, tokens, where in columns if field == lead for token in tokens[where]]
            how = min(own, default=0) if down else max(own, default=0), aim, way
            for field, tokens, where in columns if own else ():
                shown = step_of(known, field), known.values(field)
                tokens[where] = map(str, _moved(rng, [*map(int, tokens[where])], how, shown))

    return step


def _moved(
    rng: random.Random, own: Sequence[int], how: tuple[int, int, str], shown: tuple[int, Sequence[int]]
) -> list[int]:
    end, aim, way = how
    stride, values = shown
    low, high = sorted((aim, values[0] if aim > values[0] else values[-1]))
    if way == "by a factor" and end:
        new = [old * aim // end for old in own]
    elif way == "anew":
        new = [low + number for number in drawn(rng, high - low + 1, len(own))]
    else:
        new = [old + aim - end for old in own]
    return [values[0] + stride * ((one - values[0]) // stride) for one in new]


def _growing(known: FormatModel, field: Field, limits: Limits) -> Callable[[random.Random, Tree], None]:
    def step(rng: random.Random, tree: Tree) -> None:
        values = known.values(field)
        _, high = _ends(known, field, limits.get(field), _LARGER)
        aim = _beyond(rng, values[-1], high) if high > values[-1] else values[-1]
        in_order = rng.random() < 0.25  # for lists that are sorted
        resize(known.shape, tree, field, lambda old: _more(rng, old, aim, in_order))

    return step


def _shrinking(known: FormatModel, field: Field, least: int) -> Callable[[random.Random, Tree], None]:
    """Sizes that may come, below all given ones or between multiples of these; every second one is the least."""

    def step(rng: random.Random, tree: Tree) -> None:
        values = known.values(field)
        is_below = least < values[0] and (step_of(known, field) == 1 or rng.random() < 0.5)
        low, high = (least, values[0] - 1) if is_below else (values[0], values[-1])
        aim = least if is_below and rng.random() < 0.5 else rng.randint(low, high)
        resize(known.shape, tree, field, lambda old: picks_of(rng, old, aim))

    return step


def _more(rng: random.Random, old: int, new: int, in_order: bool) -> list[int]:
    """Which of ``old`` items become the ``new`` ones: all of them, and some again."""
    picks = [*range(old), *drawn(rng, old, new - old)] if old else []
    return sorted(picks) if in_order else picks


def _is_only_wider(given: Understood, text: str, way: _Wider, limits: Limits) -> bool:
    """Whether all formats explain the text, all that is new in it are larger numbers, and none leaves its domain."""
    lines = lines_of(text)
    for number, known in enumerate(given.shapes):
        tree = read(known.shape, lines) if lines is not None else None
        if tree is None:
            return False
        first = number == 0  # the fields are those of the first format
        for key, fact in facts_of(known.shape, tree, settled(known.facts)):
            if is_new(known.facts, key, fact) and not _is_larger(known, key, fact, way, first):
                return False
            if first and key[0] == "range" and not _is_within(known, (key[1], key[2]), fact, limits):
                return False
    return True


def _is_larger(known: FormatModel, key: Key, fact: Fact, way: _Wider, first: bool) -> bool:
    if key[0] in _RANGE:
        return not first or (key[1], key[2]) in way.touched or (bool(way.sized) and _of_size(known, key, fact, way))
    return bool(way.sized) and _of_size(known, key, fact, way)


def _of_size(known: FormatModel, key: Key, fact: Fact, way: _Wider) -> bool:
    return comes_with_size(known, key, fact, way.sized)


def _is_within(known: FormatModel, field: Field, fact: Fact, limits: Limits) -> bool:
    """Decimal numbers stay within the given ones, as ``is_new`` looks at them."""
    if not known.values(field) or not isinstance(fact, Span):
        return True
    return Span(*_ends(known, field, limits.get(field))).covers(fact)
