"""Makes inputs like the given ones of which one item is unlike the others.  Pure.

A program may look at some items and take all for such.  Here one alone is the same as another, zero, at an end of what
was given, or the opposite: as far as the given inputs show that this may be (``invariants.py``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from maxcode.evaluate.inputs.format_model import FormatModel, Understood
from maxcode.evaluate.inputs.grammar import tree_of, walk, written
from maxcode.evaluate.inputs.mutate import Draft, draft, drawable, is_explained, is_many

ONE_UNLIKE = "one unlike the others"  # a way of making them
_TRIES, _LONG = 3, 200_000  # bytes of a text of which one try has to do


def one_unlike(given: Understood, seed: str) -> Draft | None:
    """A draft (``mutate.py``) as large as a given text, with one item changed where that is free; the same seed gives
    the same."""
    found, rng = draft(given, seed, of_any_size=True), random.Random(f"{seed} one")
    if found is None:
        return None
    for _ in range(_TRIES if len(found.text) <= _LONG else 1):
        text = _changed(given.shapes[0], found.text, rng)
        if text is not None and text not in (found.text, *given.texts) and is_explained(given, text):
            return Draft(text, (*found.how, ONE_UNLIKE))
    return found


def _changed(known: FormatModel, text: str, rng: random.Random) -> str | None:
    """The text with one number of a list, or one row of a table, changed; None where there is none to change."""
    tree = tree_of(known.shape, text)
    places = list(walk(known.shape, tree)) if tree is not None else []
    free = {field for field in drawable(known, places) if is_many(field)}
    lists = [
        (place, [tokens for field, tokens, _ in place.columns if field in free and len(tokens) > 1]) for place in places
    ]
    lists = [(place, columns) for place, columns in lists if columns]
    if tree is None or not lists:
        return None
    place, columns = rng.choice(lists)
    if len(columns) < len(place.lists) or rng.random() < 0.5:
        columns = [rng.choice(columns)]
    at, other, is_another = rng.randrange(len(columns[0])), rng.randrange(len(columns[0])), rng.random() < 0.5
    for tokens in columns:
        values = next(known.values(field) for field, own, _ in place.columns if own is tokens)
        tokens[at] = tokens[other] if is_another else str(_value(rng, values, int(tokens[at])))
    found = written(known.shape, tree)
    return found if text.endswith("\n") else found.removesuffix("\n")


def _value(rng: random.Random, values: Sequence[int], old: int) -> int:
    """Zero, an end of the ascending given ``values``, or the opposite, as far as these reach."""
    return rng.choice([one for one in (0, values[0], values[-1], -old) if values[0] <= one <= values[-1]])
