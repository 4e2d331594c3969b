"""Whether a set of affine constraints has no integer point: Gauss for equations, Fourier and Motzkin for inequalities.

"Empty" is a proof; "not empty" may be wrong, because the elimination is over rational numbers (with every constraint
tightened to integers) and gives up on systems that grow.  Products of names are unknowns of their own.  A library for
this (isl) would be a compiled dependence of the core, larger than the package, for systems of about ten unknowns, and
it has no form for ``i * n + j``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import gcd
from typing import TypeAlias

from maxcode.code.polyhedral.polynomials import ONE, Poly, Product, added

Row: TypeAlias = tuple[tuple[Product, int], ...]

_LARGEST = 400  # inequalities; past it the answer is "not empty"


def is_empty(inequalities: Iterable[Poly], equations: Iterable[Poly] = ()) -> bool:
    """Whether no integers make every inequality at least 0 and every equation 0."""
    return _is_empty(tuple(tuple(row.items()) for row in inequalities), tuple(tuple(row.items()) for row in equations))


@lru_cache(maxsize=1 << 16)  # the same nests come again and again, each time in another program
def _is_empty(inequalities: tuple[Row, ...], equations: tuple[Row, ...]) -> bool:
    rows, equal = [dict(row) for row in inequalities], [dict(row) for row in equations]
    while equal:
        row = equal.pop()
        names = [product for product in row if product != ONE]
        divisor = gcd(*(row[product] for product in names))
        constant = row.get(ONE, 0)
        if not names or constant % divisor:
            if constant:
                return True
            continue
        row = {product: factor // divisor for product, factor in row.items()}
        pivot = next((product for product in names if abs(row[product]) == 1), None)
        if pivot is None:
            rows += [row, {product: -factor for product, factor in row.items()}]
            continue
        rows = [_without(other, row, pivot) for other in rows]
        equal = [_without(other, row, pivot) for other in equal]
    return _contradicts(rows)


def _without(row: dict[Product, int], equation: dict[Product, int], pivot: Product) -> dict[Product, int]:
    """A row after the equation, whose factor of ``pivot`` is 1 or -1, removed that unknown from it."""
    factor = row.get(pivot, 0)
    return dict(added(row, equation, -factor * equation[pivot])) if factor else row


def _contradicts(found: Iterable[dict[Product, int]]) -> bool:
    rows = _tightened(found)
    while rows is not None and len(rows) <= _LARGEST:
        pivot = _cheapest(rows)
        if pivot is None:
            return False
        above = [row for row in rows if row.get(pivot, 0) > 0]
        below = [row for row in rows if row.get(pivot, 0) < 0]
        rest = [row for row in rows if pivot not in row]
        rows = _tightened([*rest, *(_combined(one, other, pivot) for one in above for other in below)])
    return rows is None


def _combined(above: dict[Product, int], below: dict[Product, int], pivot: Product) -> dict[Product, int]:
    total = {product: factor * -below[pivot] for product, factor in above.items()}
    return dict(added(total, below, above[pivot]))


def _tightened(found: Iterable[dict[Product, int]]) -> list[dict[Product, int]] | None:
    """The inequalities divided by the divisor of their factors, the strongest of parallel ones; None for a
    contradiction."""
    strongest: dict[frozenset[tuple[Product, int]], int] = {}
    for row in found:
        constant = row.get(ONE, 0)
        divisor = gcd(*(factor for product, factor in row.items() if product != ONE))
        if not divisor:
            if constant < 0:
                return None
            continue
        key = frozenset((product, factor // divisor) for product, factor in row.items() if product != ONE)
        strongest[key] = min(strongest.get(key, constant // divisor), constant // divisor)
    return [{**dict(key), ONE: constant} for key, constant in strongest.items()]


def _cheapest(rows: list[dict[Product, int]]) -> Product | None:
    """The unknown whose elimination leaves the fewest inequalities; None if there is no unknown."""
    signs: dict[Product, list[int]] = {}
    for row in rows:
        for product, factor in row.items():
            if product != ONE:
                signs.setdefault(product, [0, 0])[factor > 0] += 1
    costs = {product: up * down - up - down for product, (down, up) in signs.items()}
    return min(costs, key=lambda product: (costs[product], product), default=None)
