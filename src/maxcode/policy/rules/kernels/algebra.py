"""The array accesses of loops, and the conditions for a change of their order.

Subscripts of row-major arrays are polynomials such as ``i * n + j``.  Read as a number with mixed digits (``j`` below
``n``, then ``i``), two elements are equal only if their digits are.  A loop is *parallel* if its variable is the same
digit of every access to every array that is written: its iterations may run in any order, be split among several loops,
or change places with other loops.  Accesses whose digits the loops around keep apart (``k`` below ``i``, ``j`` from
``i`` on) do not conflict either.  A nest that only adds to elements (``+=``, ``-=``) may be reordered as a whole,
because this policy may reassociate additions.  Arrays with different names do not overlap, as the contract of a kernel
says.  Everything else counts as a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

from maxcode.code.cpp.words import PURE
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    children,
    lexed,
    substituted,
    words_in,
)

Poly: TypeAlias = dict[tuple[str, ...], int]  # products of names (sorted) -> coefficient
_ONE: tuple[str, ...] = ()
_SUMS = ("+=", "-=")


# ------------------------------------------------------------------------------------------------------- polynomials


def polynomial(text: str) -> Poly | None:
    """The polynomial of an integer expression; None for anything else."""
    words = [token.text for token in lexed(text)]
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
    if re.fullmatch(r"[A-Za-z_]\w*", word):
        return {(word,): 1}, at + 1
    return ({_ONE: int(word)} if int(word) else {}), at + 1


def added(one: Poly, other: Poly, sign: int = 1) -> Poly:
    """The sum (``sign`` 1) or difference (-1)."""
    total = dict(one)
    for product, factor in other.items():
        total[product] = total.get(product, 0) + sign * factor
    return {product: factor for product, factor in total.items() if factor}


def multiplied(one: Poly, other: Poly) -> Poly:
    """The product."""
    total: Poly = {}
    for left, a in one.items():
        for right, b in other.items():
            total = added(total, {tuple(sorted(left + right)): a * b})
    return total


def coefficient(index: Poly, var: str) -> Poly | None:
    """The factor of ``var``; None if it occurs more than once in a product."""
    found: Poly = {}
    for product, factor in index.items():
        if product.count(var) > 1:
            return None
        if var in product:
            rest = list(product)
            rest.remove(var)
            found[tuple(rest)] = factor
    return found


def written_out(index: Poly) -> str:
    """The polynomial as a C expression."""
    pieces = []
    for product, factor in sorted(index.items(), key=lambda entry: (-len(entry[0]), entry[0])):
        names = " * ".join(product)
        pieces.append(names if factor == 1 and names else f"{factor} * {names}" if names else str(factor))
    return " + ".join(pieces).replace("+ -", "- ") or "0"


# ----------------------------------------------------------------------------------------------------------- accesses


@final
@dataclass(frozen=True, slots=True)
class Access:
    """An element that is read or written, with the loops around it; ``op`` is "" for a read.  ``sums``: a read that is
    part of ``+=`` or ``-=`` itself."""

    array: str
    index: str
    op: str
    loops: tuple[Loop, ...]


@final
@dataclass(frozen=True, slots=True)
class Effect:
    """``opaque``: some part of it is not understood.  ``scalars``: names assigned, but not declared, inside."""

    accesses: tuple[Access, ...]
    scalars: frozenset[str]
    opaque: bool

    @property
    def written(self) -> frozenset[str]:
        """The arrays written."""
        return frozenset(access.array for access in self.accesses if access.op)


def elements(text: str, pure: frozenset[str] = PURE) -> list[tuple[str, str]] | None:
    """The (array, index) pairs of an expression; None for calls of functions not known to be pure, and for other
    forms."""
    found: list[tuple[str, str]] = []
    words = lexed(text)
    for position, token in enumerate(words):
        following = words[position + 1].text if position + 1 < len(words) else ""
        if token.text in ("++", "--", "=", "&", "->", ".") or (
            following == "(" and token.is_word and token.text not in pure
        ):
            return None
        if following == "[" and not token.is_word:
            return None
        if following == "[":
            close = _closing(text, words[position + 1].start)
            found.append((token.text, text[words[position + 1].end : close]))
        if token.text == "*" and (position == 0 or words[position - 1].text in ("(", "=", ",")):
            return None
    return found


def _closing(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return position
    return len(text)


def effect(body: Body, above: tuple[Loop, ...] = (), pure: frozenset[str] = PURE) -> Effect:
    """The effect of items, with the loops around them.  Integers declared inside are replaced by their values."""
    accesses: list[Access] = []
    scalars: set[str] = set()
    opaque = False
    assigned = _assigned(body)
    for item, around, known, local in _statements(body, above, {}, frozenset()):
        known = {name: value for name, value in known.items() if name not in assigned}
        opaque = opaque or isinstance(item, Other)
        for text, op in _sides(item):
            found = elements(substituted(text, known), pure)
            opaque = opaque or found is None
            whole = re.match(r"\w+\[", text) is not None
            for position, (array, index) in enumerate(found or []):
                accesses.append(Access(array, index, op if position == 0 and whole else "", around))
            if op and not whole and text not in local:
                scalars.add(text)
            opaque = opaque or (op != "" and text in {loop.var for loop in around})
    return Effect(tuple(accesses), frozenset(scalars), opaque)


def _statements(
    body: Body, around: tuple[Loop, ...], known: dict[str, str], local: frozenset[str]
) -> Iterator[tuple[Item, tuple[Loop, ...], dict[str, str], frozenset[str]]]:
    for item in body:
        yield item, around, known, local
        if isinstance(item, Declare):
            local = local | {item.name}
            if item.type in ("int", "long", "const int", "size_t", "ptrdiff_t"):
                known = {**known, item.name: substituted(item.value, known)}
        elif isinstance(item, Loop):
            yield from _statements(item.body, (*around, item), known, local | {item.var})
        elif isinstance(item, Branch):
            yield from _statements(item.then, around, known, local)
            yield from _statements(item.other, around, known, local)


def _assigned(body: Body) -> set[str]:
    inside = (name for item in body for below in children(item) for name in _assigned(below))
    return {item.target for item in body if isinstance(item, Assign)} | set(inside)


def _sides(item: Item) -> list[tuple[str, str]]:
    """(expression, op) pairs of an item; ``op`` is "" for a read."""
    match item:
        case Loop():
            return [(item.low, ""), (item.high, "")]
        case Declare():
            return [(item.value, "")]
        case Assign():
            return [(item.value, ""), (item.target, item.op)]
        case Branch():
            return [(item.test, "")]
        case Other():
            return []


# ------------------------------------------------------------------------------------------------------------- digits


def limit(loop: Loop) -> str:
    """The upper bound that a loop does not reach; for a piece ``(i0 + T < n ? i0 + T : n)`` it is ``n``."""
    piece = re.fullmatch(r"\((.+) < (.+) \? \1 : \2\)", loop.high)
    return piece[2] if piece is not None else loop.high


def piece_of(loop: Loop, outer: Loop) -> bool:
    """Whether ``loop`` runs through one piece of the range over which ``outer`` steps."""
    return loop.low == outer.var and outer.step != "1" and loop.high.startswith(f"({outer.var} + {outer.step} < ")


def digits(access: Access) -> list[tuple[str, Poly]] | None:
    """(variable, stride) from the lowest digit up; None if the subscript does not have that form.

    An offset smaller than the step of a loop belongs to its digit, as in ``(i + 1) * n + j`` where i moves by 4.
    """
    index = polynomial(access.index)
    if index is None:
        return None
    ranges = {loop.var: loop for loop in access.loops}
    open_to = {var: coefficient(index, var) for var in ranges if any(var in product for product in index)}
    found: list[tuple[str, Poly]] = []
    stride: Poly | None = {_ONE: 1}
    while open_to:
        var = next((name for name, factor in open_to.items() if factor is not None and factor == stride), None)
        if var is None or stride is None or not _from_zero(ranges[var], ranges):
            return None
        found.append((var, stride))
        del open_to[var]
        bound = _rounded_up(polynomial(_end(ranges[var], ranges)))
        stride = multiplied(stride, bound) if bound is not None else None
    offsets = {product: factor for product, factor in index.items() if not set(product) & set(ranges)}
    return found if all(_within_a_step(offset, found, ranges) for offset in offsets.items()) else None


def _end(loop: Loop, ranges: dict[str, Loop]) -> str:
    """The upper bound that a loop does not reach; if it depends on the variable of a loop around it (``k < i`` or ``k <
    i + 1``), it is the bound of that loop."""
    bound = limit(loop)
    while (name := re.sub(r" ?\+ ?1$", "", bound)) in ranges:
        bound = limit(ranges[name])
    return bound


def _rounded_up(bound: Poly | None) -> Poly | None:
    """``n - 1`` as n."""
    if bound is None or bound.get(_ONE, 0) >= 0:
        return bound
    return {product: factor for product, factor in bound.items() if product != _ONE}


def _within_a_step(offset: tuple[tuple[str, ...], int], found: list[tuple[str, Poly]], ranges: dict[str, Loop]) -> bool:
    steps = (ranges[var].step for var, stride in found if stride == {offset[0]: 1})
    return any(step.isdigit() and 0 <= offset[1] < int(step) for step in steps)


_NOT_NEGATIVE = re.compile(r"\d+|\((\d+) > (.+) \? \1 : \2\)|(?:\w+ \+ \(.+\)|\w+) / \d+ \* \d+")  # forms of steps


def _from_zero(loop: Loop, ranges: dict[str, Loop]) -> bool:
    return _NOT_NEGATIVE.fullmatch(loop.low) is not None or re.sub(r" ?\+ ?\d+$", "", loop.low) in ranges


# ----------------------------------------------------------------------------------------------------------- legality


def parallel(loop: Loop, above: tuple[Loop, ...]) -> bool:
    """Whether the iterations of a loop may run in any order, or in parallel."""
    seen = effect((loop,), above)
    if seen.opaque or seen.scalars:
        return False
    names, fixed = [loop.var, *_pieces(loop)], frozenset(one.var for one in above)
    placed = [(one, _place(digits(one), names)) for one in seen.accesses if one.array in seen.written]
    return all(
        (place is not None and place == other) or never_meet(write, access, fixed)
        for write, place in placed
        if write.op
        for access, other in placed
        if access.array == write.array
    )


def _pieces(loop: Loop) -> list[str]:
    """The variables that run through pieces of the range of a loop, at any depth."""
    found: list[str] = []
    waiting = [loop.body]
    while waiting:
        for item in waiting.pop():
            if isinstance(item, Loop):
                found += [item.var, *_pieces(item)] if piece_of(item, loop) else []
                waiting.append(item.body)
            elif isinstance(item, Branch):
                waiting += [item.then, item.other]
    return found


def never_meet(one: Access, other: Access, fixed: frozenset[str]) -> bool:
    """Whether two accesses to an array never conflict, whatever the inner loops do: at one digit, a variable of
    ``fixed`` separates them."""
    left, right = digits(one), digits(other)
    if left is None or right is None or [stride for _, stride in left] != [stride for _, stride in right]:
        return False
    mine, theirs = ({loop.var: loop for loop in access.loops} for access in (one, other))
    pairs = [(mine[u], theirs[v]) for (u, _), (v, _) in zip(left, right, strict=True)]
    return any(_is_below(u, v, fixed) or _is_below(v, u, fixed) for u, v in pairs)


def _is_below(lower: Loop, upper: Loop, fixed: frozenset[str]) -> bool:
    """Whether a loop's variable stays below another's: it ends where that one is or starts, or that one starts above
    it."""
    end = limit(lower)
    past = re.fullmatch(rf"{lower.var} ?\+ ?[1-9]\d*", upper.low) is not None
    return (end in fixed and end in (upper.var, upper.low)) or (lower.var in fixed and past)


def _place(found: list[tuple[str, Poly]] | None, names: list[str]) -> tuple[str, str] | None:
    """The one digit that is a variable: its name and its stride."""
    here = [(var, written_out(stride)) for var, stride in found or [] if var in names]
    return here[0] if len(here) == 1 else None


def only_sums(body: Body) -> bool:
    """Whether items only add to elements that they read in no other way."""
    seen = effect(body)
    summed = all(access.op in ("", *_SUMS) for access in seen.accesses)
    apart = all(access.op for access in seen.accesses if access.array in seen.written)
    return summed and apart and not seen.opaque and not seen.scalars and bool(seen.written)


def apart(one: Access, other: Access) -> bool:
    """Whether two accesses to an array never meet in one iteration of the loops around the first, as p in 0..i of i."""
    return never_meet(one, other, frozenset(loop.var for loop in one.loops))


def interchangeable(outer: Loop, inner: Loop, above: tuple[Loop, ...]) -> bool:
    """Whether a loop and the only loop inside it may change places."""
    if outer.var in words_in(inner.low) | words_in(inner.high) or "omp" in " ".join((*outer.pragmas, *inner.pragmas)):
        return False
    return only_sums(inner.body) or parallel(inner, (*above, outer)) or parallel(outer, above)
