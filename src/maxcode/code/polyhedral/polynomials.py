"""Integer expressions of C as polynomials over names: ``i * n + j + 1``.

A product of names counts as one unknown of its own, so that sizes of arrays may be names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from maxcode.code.source import tokens

Product: TypeAlias = tuple[str, ...]  # names, sorted; () is the number 1
Poly: TypeAlias = Mapping[Product, int]  # product -> coefficient, without zeros

ONE: Product = ()
_NUMBER = re.compile(r"0|[1-9]\d*")  # not the octal 010
_NAME = re.compile(r"[A-Za-z_]\w*")


def number(value: int) -> Poly:
    """A constant."""
    return {ONE: value} if value else {}


def name(word: str) -> Poly:
    """A name."""
    return {(word,): 1}


@lru_cache(maxsize=1 << 14)
def polynomial(text: str) -> Poly | None:
    """The polynomial of an integer expression; None for anything else."""
    words = [token.text for token in tokens(text)]
    try:
        value, rest = _sum(words, 0)
    except (ValueError, IndexError):
        return None
    return value if rest == len(words) else None


def _sum(words: list[str], at: int) -> tuple[Poly, int]:
    total: Poly = {}
    sign = 1
    while True:
        term, at = _term(words, at)
        total = added(total, term, sign)
        if at >= len(words) or words[at] not in "+-":
            return total, at
        sign = 1 if words[at] == "+" else -1
        at += 1


def _term(words: list[str], at: int) -> tuple[Poly, int]:
    value, at = _factor(words, at)
    while at < len(words) and words[at] == "*":
        other, at = _factor(words, at + 1)
        value = multiplied(value, other)
    return value, at


def _factor(words: list[str], at: int) -> tuple[Poly, int]:
    word = words[at]
    if word == "(":
        value, at = _sum(words, at + 1)
        if words[at] != ")":
            raise ValueError(word)
        return value, at + 1
    if word == "-":
        value, at = _factor(words, at + 1)
        return added({}, value, -1), at
    if _NAME.fullmatch(word):
        return name(word), at + 1
    if not _NUMBER.fullmatch(word):
        raise ValueError(word)
    return number(int(word)), at + 1


def added(one: Poly, other: Poly, sign: int = 1) -> Poly:
    """The sum, with the second part taken ``sign`` times."""
    total = dict(one)
    for product, factor in other.items():
        total[product] = total.get(product, 0) + sign * factor
    return {product: factor for product, factor in total.items() if factor}


def multiplied(one: Poly, other: Poly) -> Poly:
    total: Poly = {}
    for left, a in one.items():
        for right, b in other.items():
            total = added(total, {tuple(sorted(left + right)): a * b})
    return total


def coefficient(index: Poly, var: str) -> Poly | None:
    """The factor of ``var``; None if it occurs more than once in a product."""
    found: dict[Product, int] = {}
    for product, factor in index.items():
        if product.count(var) > 1:
            return None
        if var in product:
            rest = list(product)
            rest.remove(var)
            found[tuple(rest)] = factor
    return found


def names_in(index: Poly) -> set[str]:
    return {word for product in index for word in product}


def renamed(index: Poly, names: Mapping[str, str]) -> Poly:
    """The polynomial with names replaced by other names."""
    if not names:
        return index
    total: Poly = {}
    for product, factor in index.items():
        total = added(total, {tuple(sorted(names.get(word, word) for word in product)): factor})
    return total


def written_out(index: Poly) -> str:
    """The polynomial as a C expression."""
    pieces = []
    for product, factor in sorted(index.items(), key=lambda entry: (-len(entry[0]), entry[0])):
        names = " * ".join(product)
        pieces.append(names if factor == 1 and names else f"{factor} * {names}" if names else str(factor))
    return " + ".join(pieces).replace("+ -", "- ") or "0"
