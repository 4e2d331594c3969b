"""Accesses to arrays, and the dependences between iterations as direction vectors.

An access belongs to a statement inside loops (its *iteration domain*: bounds affine in the loops around, so triangles
too).  Two iterations *depend* on each other if both touch an element and one of them writes it.  The *direction* at a
common loop is "<" if the first iteration is earlier there, "=", ">" or "*" (any), as in Allen and Kennedy.  Whether
such a pair may exist is one question to ``emptiness.py``; what is not affine is unknown, and may exist.

Flat arrays with symbolic sizes are read as ``i * n + j`` -> (i, j) if the domain proves 0 <= j < n (Grosser et al.,
"Optimistic Delinearization", but proven here, never assumed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias, final

from maxcode.code.polyhedral.emptiness import is_empty
from maxcode.code.polyhedral.polynomials import ONE, Poly, Product, added, multiplied, name, number, renamed

Vector: TypeAlias = tuple[str, ...]  # "<", "=" or ">" for each loop, outermost first

SUMS = ("+=", "-=")
EXTREMA = ("max=", "min=")  # of whole numbers
_LATER = "'"  # what the variables of the second iteration end with


@final
@dataclass(frozen=True, slots=True)
class Level:
    """A loop around a statement: ``max(lows) <= var < min(highs)``; ``var`` is unique in its program.

    ``step``: the least distance of two iterations.  ``down``: the variable falls.
    """

    var: str
    lows: tuple[Poly, ...]
    highs: tuple[Poly, ...]
    step: Poly
    down: bool = False

    @property
    def domain(self) -> list[Poly]:
        """What is at least 0 in every iteration."""
        here = name(self.var)
        low = [added(here, bound, -1) for bound in self.lows]
        return low + [added(added(bound, here, -1), number(1), -1) for bound in self.highs]


@final
@dataclass(frozen=True, slots=True)
class Access:
    """An element that is read or written.

    ``index``: the subscripts as written, each None if it is unknown; () for a scalar.
    ``op``: "" for a read, else the assignment, which reads too unless it is "=".
    ``levels``: the loops around, outermost first.
    ``order``: the number of its statement in the text; ``part``: which item of the region that statement is in.
    ``digits``: the subscripts recovered from a flat index, with the strides that they belong to.
    """

    array: str
    index: tuple[Poly | None, ...]
    op: str
    levels: tuple[Level, ...]
    order: int
    part: int = 0
    digits: tuple[Poly, ...] | None = None
    strides: tuple[Product, ...] = ()

    @property
    def domain(self) -> list[Poly]:
        """The iteration domain."""
        return [row for level in self.levels for row in level.domain]


# -------------------------------------------------------------------------------------------- subscripts of flat arrays


def delinearised(accesses: Iterable[Access]) -> tuple[Access, ...]:
    """The accesses with the subscripts of flat arrays recovered; all accesses to an array have the same strides."""
    found = list(accesses)
    strides = {array: _strides([one for one in found if one.array == array]) for array in {a.array for a in found}}
    return tuple(_with_digits(one, strides[one.array]) for one in found)


def _strides(accesses: list[Access]) -> tuple[Product, ...]:
    """The products of sizes by which loops move through an array, smallest first, each a factor of the next."""
    seen: set[Product] = {ONE}
    for access in accesses:
        variables = {level.var for level in access.levels}
        for product in (access.index[0] or {}) if len(access.index) == 1 else {}:
            rest = tuple(word for word in product if word not in variables)
            if len(rest) == len(product) - 1:
                seen.add(rest)
    chain = sorted(seen, key=len)
    fits = all(_quotient(large, small) is not None for small, large in pairwise(chain))
    return tuple(chain) if fits and len(chain) > 1 else ()


def _quotient(product: Product, divisor: Product) -> Product | None:
    rest = list(product)
    for word in divisor:
        if word not in rest:
            return None
        rest.remove(word)
    return tuple(rest)


def _with_digits(access: Access, strides: tuple[Product, ...]) -> Access:
    index = access.index[0] if len(access.index) == 1 else None
    if not strides or index is None:
        return access
    digits: list[Poly] = [{} for _ in strides]
    for product, factor in index.items():
        place = max(k for k, stride in enumerate(strides) if _quotient(product, stride) is not None)
        digits[place] = added(digits[place], {_quotient(product, strides[place]) or ONE: factor})
    for place in range(len(strides) - 1):
        size: Poly = {_quotient(strides[place + 1], strides[place]) or ONE: 1}
        carry = next((k for k in (0, 1, -1) if _is_digit(access, added(digits[place], size, k), size)), None)
        if carry is None:
            return access
        digits[place] = added(digits[place], size, carry)
        digits[place + 1] = added(digits[place + 1], number(1), -carry)
    return replace(access, digits=tuple(digits), strides=strides)


def _is_digit(access: Access, value: Poly, size: Poly) -> bool:
    """Whether 0 <= value < size in every iteration."""
    negative = added(number(-1), value, -1)
    return is_empty([*access.domain, negative]) and is_empty([*access.domain, added(value, size, -1)])


# --------------------------------------------------------------------------------------------------------- dependences


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses of which ``first`` comes before ``second`` in some iterations."""

    first: Access
    second: Access

    @property
    def common(self) -> int:
        """The number of loops around both."""
        levels = zip(self.first.levels, self.second.levels, strict=False)
        least = min(len(self.first.levels), len(self.second.levels))
        return next((k for k, (one, other) in enumerate(levels) if one.var != other.var), least)

    @property
    def is_sum(self) -> bool:
        """Whether both only add to the element, so that their order matters only to the rounding, or both only raise or
        only lower it."""
        ops = (self.first.op, self.second.op)
        return set(ops) <= set(SUMS) or (ops[0] in EXTREMA and ops[0] == ops[1])

    @property
    def against_text(self) -> bool:
        """Whether the second's statement comes first within one iteration."""
        return self.second.order < self.first.order

    def exists(self, directions: Sequence[str], more: Iterable[Poly] = ()) -> bool:
        """Whether iterations with these directions at the outermost common loops may touch one element.

        ``more``: further conditions, at least 0; variables of the second iteration are as ``later`` says.
        """
        if self.first.array != self.second.array:
            return False
        if len(directions) > self.common:
            raise ValueError(f"{len(directions)} directions for {self.common} common loops")
        names = self._names(directions)
        rows = [*self.first.domain, *(renamed(row, names) for row in self.second.domain), *more]
        for level, direction in zip(self.first.levels, directions, strict=False):
            if direction in "<>":
                rows.append(_ahead(level, (direction == ">") != level.down))
        return not is_empty(rows, self._equations(names))

    def _names(self, directions: Sequence[str]) -> dict[str, str]:
        same = {level.var for level, way in zip(self.first.levels, directions, strict=False) if way == "="}
        return {level.var: later(level.var) for level in self.second.levels if level.var not in same}

    def _equations(self, names: dict[str, str]) -> list[Poly]:
        one, other = self.first, self.second
        left, right = one.index, other.index
        if one.digits is not None and other.digits is not None and one.strides == other.strides:
            left, right = one.digits, other.digits
        if len(left) != len(right):
            return []
        both = zip(left, right, strict=True)
        return [added(a, renamed(b, names), -1) for a, b in both if a is not None and b is not None]


def later(var: str) -> str:
    """The variable of a loop in the second iteration of a pair."""
    return var + _LATER


def _ahead(level: Level, falls: bool) -> Poly:
    """At least 0 if the second iteration's variable is a step or more above the first's; below it if ``falls``."""
    distance = added(name(later(level.var)), name(level.var), -1)
    return added(multiplied(distance, number(-1 if falls else 1)), level.step, -1)


def pairs(accesses: Sequence[Access], sums: bool = True) -> Iterator[Pair]:
    """All ordered pairs of accesses to one array of which one writes; without those that only add, if not ``sums``."""
    for first in accesses:
        for second in accesses:
            pair = Pair(first, second)
            if first.array == second.array and (first.op or second.op) and (sums or not pair.is_sum):
                yield pair


def vectors(found: Iterable[Pair], outer: int, depth: int) -> frozenset[Vector]:
    """The direction vectors, over ``depth`` loops below ``outer`` common ones, of all dependences inside one iteration
    of those outer loops, except within one iteration of the deepest."""
    seen: set[Vector] = set()
    for pair in found:
        if pair.common >= outer + depth:
            _refine(pair, ("=",) * outer, outer + depth, seen)
    return frozenset(vector[outer:] for vector in seen)


def _refine(pair: Pair, begun: Vector, length: int, seen: set[Vector]) -> None:
    """Adds the vectors of one pair that begin with these directions."""
    for way in "<=>" if "<" in begun else "<=":
        vector = (*begun, way)
        whole = len(vector) == length
        if (whole and ("<" not in vector or vector in seen)) or not pair.exists(vector):
            continue
        if whole:
            seen.add(vector)
        else:
            _refine(pair, vector, length, seen)
