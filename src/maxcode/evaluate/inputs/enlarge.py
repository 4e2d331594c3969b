"""Enlarges given inputs: repeats their cases, lines or items, and adjusts the counts; multiplies a number that stands
alone.  Pure.

For programs that end too soon to be timed.  The sizes then lie beyond all given inputs, and only the original can tell
if they are valid; everything else must be as in the given inputs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from maxcode.evaluate.inputs.format_model import FormatModel, Understood, users
from maxcode.evaluate.inputs.grammar import Field, Repetition, Tree, tree_of, walk, written
from maxcode.evaluate.inputs.invariants import Fact, Key, Span
from maxcode.evaluate.inputs.mutate import copied, drawable, is_free, of_type, resize, step_of, steps_of

_DRAWS = 8


def larger(
    given: Understood, base: str, factor: int, seed: str = "", fits: Callable[[str], bool] = lambda _: True
) -> str | None:
    """The text with ``factor`` times as many cases, lines or items, or its only number so many times larger; None if
    anything but sizes would be new, or none ``fits``.

    The repeated ones are drawn again where that is free: a program that remembers a case would meet it again and again.
    """
    if not given.shapes:
        return None
    known = given.shapes[0]
    for fields in filter(None, _scalable(known)):
        tree = tree_of(known.shape, base)
        for field in fields if tree is not None else ():
            resize(known.shape, tree or [], field, lambda old: [*range(old)] * factor)
        text = written(known.shape, tree) if tree is not None else base
        if text != base and fits(text) and all(_is_only_larger(other, text, fields) for other in given.shapes):
            return _redrawn(given, tree or [], fields, seed) or text
    multiplied = _multiplied(given, base, factor) if known.is_one_number else None
    return multiplied if multiplied is not None and fits(multiplied) else None


def _redrawn(given: Understood, tree: Tree, scaled: frozenset[Field], seed: str) -> str | None:
    """The text with its numbers drawn again and its order changed, both only where they are free; None where they are
    not, or anything but sizes would be new.  Cases are drawn one by one: among many, one shows something new."""
    known, rng = given.shapes[0], random.Random(seed)
    blocks = [at for at, node in enumerate(known.shape) if isinstance(node, Repetition) and not node.is_table]
    other = copied(tree)
    for at in blocks:
        other[at] = [_drawn_case(known, [*tree[:at], [body], *tree[at + 1 :]], at, scaled, rng) for body in tree[at]]
    if not blocks:
        other = _drawn(known, tree, scaled, rng) or tree
    text = written(known.shape, other)
    return text if other != tree and all(_is_only_larger(one, text, scaled) for one in given.shapes) else None


def _drawn_case(known: FormatModel, tree: Tree, at: int, scaled: frozenset[Field], rng: random.Random) -> Tree:
    """The only case in the block ``at`` of a tree, drawn again; as it is where every draw shows something new."""
    drawn = _drawn(known, tree, scaled, rng)
    case: Tree = (drawn or tree)[at][0]
    return case


def _drawn(known: FormatModel, tree: Tree, scaled: frozenset[Field], rng: random.Random) -> Tree | None:
    for _ in range(_DRAWS):
        other = copied(tree)
        for how, step in steps_of(known, other):
            if how != "resized":
                step(rng, other)
        if all(comes_with_size(known, key, fact, scaled) for key, fact in known.new_in(other)):
            return other
    return None


def _multiplied(given: Understood, base: str, factor: int) -> str | None:
    """The only number of a text, multiplied; None where it may have no other values, or gets too large for its type."""
    known, field = given.shapes[0], ((0, 0), 0)
    tree = tree_of(known.shape, base)
    if tree is None or field not in drawable(known, list(walk(known.shape, tree))):
        return None
    values, stride, old = known.values(field), step_of(known, field), int(base)
    new = old + (factor - 1) * old // stride * stride
    if new <= values[-1] or new > of_type(values[0], values[-1], (values[0], new))[1]:
        return None
    text = base.replace(str(old), str(new))
    return text if all(_is_only_larger(other, text, frozenset({field})) for other in given.shapes) else None


def _scalable(known: FormatModel) -> Iterator[frozenset[Field]]:
    """Counts to scale together: that of independent cases, then all outermost ones, then each of these."""
    outer = [field for field in sorted(known.counts) if len(field[0]) == 2 and is_free(known, field)]
    for field in outer:
        paths = users(known.shape, field)
        nodes = [known.shape[path[0]] for path in paths]
        if all(isinstance(node, Repetition) and not node.is_table and len(node.body) > 1 for node in nodes):
            yield frozenset({field})
    yield frozenset(outer)
    yield from (frozenset({field}) for field in outer)


_SIZES = frozenset({"size", "lines", "sum", "sum against"})
_BOUNDS = frozenset({"against", "position", "next position"})


def _is_only_larger(known: FormatModel, text: str, scaled: frozenset[Field]) -> bool:
    tree = tree_of(known.shape, text)
    if tree is None:
        return False
    return all(comes_with_size(known, key, fact, scaled) for key, fact in known.new_in(tree))


def comes_with_size(known: FormatModel, key: Key, fact: Fact, scaled: frozenset[Field]) -> bool:
    """True if a new fact only says that there is more.

    A count is larger than ever, or a value that was above a count or position by chance is below it now.
    """
    if key[0] in _SIZES:
        return True
    if key[0] in ("range", "remainder"):
        return (key[1], key[2]) in scaled
    if key[0] == "beside":  # two values that were always equal belong together
        return any((key[1], at) in scaled for at in key[2:]) and known.words(*key) != frozenset("=")
    before = known.facts.get(key)
    return key[0] in _BOUNDS and isinstance(before, Span) and isinstance(fact, Span) and 0 < before.high >= fact.high
