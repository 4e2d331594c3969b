"""Reads ``x = x > y ? x : y`` as an assignment of its own, ``x max= y``: as with sums, the order of several is free.

Only whole numbers of one type are read so: a double may be no number, and then the order would matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from maxcode.code.source import Token
from maxcode.policy.rules.kernels.effects import elements
from maxcode.policy.rules.kernels.nest import Assign, Body, Branch, Item, Loop, lexed

_WAYS = ("<", ">", "<=", ">=")
_WHOLE = re.compile(r"\d{1,9}|[-+*/%()\[\]<>=!?:&|]+")  # an int, as longer ones and those with a suffix are not
_BINDS_MORE = frozenset("+-*/%")


def with_extrema(body: Body, arrays: Collection[str], is_whole: Callable[[Assign], bool]) -> Body:
    """The items with extrema in a form of their own.

    ``arrays``: those of ints, whose elements may be extrema; ``is_whole``: whether a statement computes with whole
    numbers alone.
    """
    return tuple(_with_extrema(item, arrays, is_whole) for item in body)


def _with_extrema(item: Item, arrays: Collection[str], is_whole: Callable[[Assign], bool]) -> Item:
    match item:
        case Loop():
            return replace(item, body=with_extrema(item.body, arrays, is_whole))
        case Branch():
            sides = (with_extrema(side, arrays, is_whole) for side in (item.then, item.other))
            return Branch(item.test, *sides)
        case Assign(op="=") if item.target.partition("[")[0] in arrays:
            found = extremum(item)
            return found if found is not None and is_whole(found) and _is_plain(found) else item
    return item


def _is_plain(item: Assign) -> bool:
    """Whether the other value calls nothing, casts nothing, and does not contain the extremum itself."""
    words = lexed(item.value)
    whole = all(word.is_word or _WHOLE.fullmatch(word.text) for word in words)
    calls = any(one.is_word and other.text == "(" for one, other in pairwise(words))
    own = (_joined(lexed(f"{array}[{index}]")) for array, index in elements(item.value) or [])
    return whole and not calls and elements(item.value) is not None and _joined(lexed(item.target)) not in own


def extremum(item: Assign) -> Assign | None:
    """``T = T > y ? T : y``, in each order of its parts, as ``T max= y``, or ``min=``; None for anything else."""
    words = _bare(lexed(item.value))
    places = [at for at, depth in _outside(words) if depth == 0 and words[at].text in "?:"]
    if [words[at].text for at in places] != ["?", ":"]:
        return None
    test, then, other = words[: places[0]], words[places[0] + 1 : places[1]], words[places[1] + 1 :]
    test = _bare(test)
    ways = [at for at, depth in _outside(test) if depth == 0 and not test[at].is_word and test[at].text[0] in "<>=!&|"]
    if len(ways) != 1 or test[ways[0]].text not in _WAYS:
        return None
    first, second = _joined(_bare(test[: ways[0]])), _joined(_bare(test[ways[0] + 1 :]))
    chosen, left = _joined(_bare(then)), _joined(_bare(other))
    target = _joined(lexed(item.target))
    if first == second or {first, second} != {chosen, left} or target not in (first, second):
        return None
    greatest = (test[ways[0]].text[0] == ">") == (chosen == first)
    value = _text(item.value, other if chosen == target else then)
    return Assign(item.target, "max=" if greatest else "min=", value)


def _outside(words: Sequence[Token]) -> list[tuple[int, int]]:
    """The places of tokens with the number of brackets around each."""
    depth, found = 0, []
    for at, word in enumerate(words):
        depth -= word.text in (")", "]")
        found.append((at, depth))
        depth += word.text in ("(", "[")
    return found


def _bare(words: Sequence[Token]) -> Sequence[Token]:
    """The tokens without brackets around all of them."""
    while len(words) > 1 and words[0].text == "(" and words[-1].text == ")":
        if any(depth == 0 for _, depth in _outside(words)[1:-1]):
            return words
        words = words[1:-1]
    return words


def _joined(words: Sequence[Token]) -> str:
    return " ".join(word.text for word in words)


def _text(whole: str, words: Sequence[Token]) -> str:
    """The text of tokens, in brackets if an operator in it may not bind more than a comparison."""
    bare = _bare(words)
    data = whole.encode("utf-8", "surrogateescape")
    text = data[bare[0].start : bare[-1].end].decode("utf-8", "surrogateescape")
    tight = all(depth or word.is_word or word.text in _BINDS_MORE or word.text in "[]().," or word.text[0].isdigit()
                for word, (_, depth) in zip(bare, _outside(bare), strict=True))  # fmt: skip
    return text if tight else f"({text})"
