"""Matrix products found in loop nests, and the template that computes them from packed panels.

    C[i * r + j] += A[i, p] * B[p, j]      in any order of loops, tiled or not, with a scalar sum or without, times
                                           scalars, with something done to C[i, j] before or after its sum

The strides are read off the subscripts, so A and B may be transposed; C must be contiguous in one of its variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.polynomials import Poly, added, coefficient, multiplied, name, polynomial, written_out
from maxcode.policy.rules.kernels.effects import effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Loop,
    Other,
    Path,
    at,
    is_shared,
    least_of,
    put,
    substituted,
    words_in,
    words_of_head,
)
from maxcode.policy.rules.kernels.orders import fissioned
from maxcode.policy.rules.kernels.templates import NAME, choices, clashes

_ZERO = re.compile(r"0|0?\.0*|0\.0+")
_FRACTION = re.compile(  # what a bound that may have one contains: an element, a call, a cast
    r"[.\[]|\b(?!min\b|max\b|abs\b)\w+ ?\(|(?<!int)(?<!long)(?<!size_t)\) ?[\w(]|\b\d+[eE]"
)
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")


@final
@dataclass(frozen=True, slots=True)
class Operand:
    """An array in a product: its name, the offset of its first element, and its strides along its two variables."""

    array: str
    offset: Poly
    strides: tuple[Poly, Poly]

    @property
    def pointer(self) -> str:
        """The address of its first element."""
        return f"{self.array} + {written_out(self.offset)}" if self.offset else self.array

    def moved(self, along: int, var: str) -> Operand:
        """The operand from ``var`` on along one of its variables."""
        return replace(self, offset=added(self.offset, multiplied(self.strides[along], name(var))))


@final
@dataclass(frozen=True, slots=True)
class Product:
    """``target (+)= scale * left * right`` with its three sizes (rows, columns, depth), as expressions."""

    sizes: tuple[str, str, str]
    scale: str
    left: Operand
    right: Operand
    target: Operand
    fresh: bool
    before: Body = ()  # statements on the target before the sums
    after: Body = ()  # statements on it after the sums

    @property
    def arrays(self) -> tuple[str, str, str]:
        """The names of its operands and its target."""
        return self.left.array, self.right.array, self.target.array

    @property
    def call(self) -> Other:
        """The call of the template."""
        operands = [f"{one.pointer}, {', '.join(map(_stride, one.strides))}" for one in (self.left, self.right)]
        target = f"{self.target.pointer}, {_stride(self.target.strides[0])}"
        return Other(f"{NAME}({', '.join([*self.sizes, self.scale, *operands, target, str(int(self.fresh))])});")

    def around(self, sums: Body) -> Body:
        """The sums with the statements before and after them."""
        return (*self.before, *sums, *self.after)


def _stride(value: Poly) -> str:
    """A stride as an expression; one that may be negative is a long, as minus an unsigned number is a large one."""
    text = written_out(value)
    return re.sub(r"\b(\d+) \* ", r"\1L * ", text) if "-" in text else text


def product(unit: Unit) -> Iterator[Edit]:
    """Computes a matrix product by a register-blocked, vectorised kernel over packed panels, or in place."""
    for whole in kernels(unit):
        if clashes(unit):
            continue
        for kernel, spot in spots_and_parts(whole):
            found = product_at(spot)
            if found is None or not kernel.is_double(*found.arrays):
                continue
            body = _computed(kernel, spot, found)
            for choice in choices(unit):
                what = f"computes {found.target.array} from {found.left.array} and {found.right.array}, {choice.words}"
                change = kernel.change(body, blocks=choice.blocks)
                yield kernel.edit("product", spot.name, choice.params, what, change)


def _computed(kernel: Kernel, spot: Spot, found: Product) -> Body:
    """The kernel's body with a product in the place of its nest, where rows of the target that may overlap do not."""
    if has_rows_apart(spot, found):
        found = with_clearing(kernel, spot, found)
        return replaced(kernel, spot, found, found.around((found.call,)))
    items = found.around((found.call,))
    if not (found.fresh or found.before or found.after):  # sums into one element may come in any order
        return put(kernel.body, spot.path, items)
    test = f"{found.sizes[1]} <= {_stride(found.target.strides[0])}"
    return put(kernel.body, spot.path, (Branch(test, items, (spot.loop,)),))


def has_rows_apart(spot: Spot, found: Product) -> bool:
    """Whether no two iterations of the loops over the target mean one element of it."""
    written = [one for one in effect((spot.loop,), spot.above).accesses if one.array == found.target.array]
    return all(one.digits is not None for one in written)


# --------------------------------------------------------------------------------------------------------- finding it


def spots_and_parts(kernel: Kernel) -> Iterator[tuple[Kernel, Spot]]:
    """Its loops, and the parts of those that can be split, in the kernel where they are."""
    for spot in kernel.spots:
        yield kernel, spot
        parts = fissioned(spot)
        split = replace(kernel, body=put(kernel.body, spot.path, parts))
        for number, part in enumerate(parts) if len(parts) > 1 else ():
            yield split, replace(spot, path=(*spot.path[:-1], spot.path[-1] + number), loop=part)


def replaced(kernel: Kernel, spot: Spot, found: Product, items: Body) -> Body:
    """The kernel's body with a product replaced by items, and without the loop before it that sets the target to
    zero."""
    body = put(kernel.body, spot.path, items)
    cleared = _cleared(kernel, spot, found)
    return put(body, cleared, ()) if cleared is not None else body


def with_clearing(kernel: Kernel, spot: Spot, found: Product) -> Product:
    """The product, marked fresh if the loop before it sets its target to zero."""
    return replace(found, fresh=True) if _cleared(kernel, spot, found) is not None else found


def _cleared(kernel: Kernel, spot: Spot, found: Product) -> Path | None:
    """The loop before a product that sets all of its target, and nothing else, to zero."""
    before = (*spot.path[:-1], spot.path[-1] - 1)
    item = at(kernel.body, before) if before[-1] >= 0 else None
    match item:
        case Loop(step="1", body=(Loop(step="1", body=(Assign(op="=") as fill,)) as inner,)) as outer:
            where = elements(fill.target)
            loops = (outer, inner) if outer.low + inner.low == "00" else ()
        case _:
            return None
    if not where or len(where) != 1 or where[0][0] != found.target.array or not loops or not _is_zero(fill.value):
        return None
    index, (rows, columns) = polynomial(where[0][1]) or {}, found.target.strides
    for row, column in (loops, loops[::-1]):
        sizes = (extent(row), extent(column)) == found.sizes[:2]
        strides = (coefficient(index, row.var), coefficient(index, column.var)) == (rows, columns)
        rest = {product for product in index if not {row.var, column.var} & set(product)}
        if sizes and strides and not rest and not found.target.offset:
            return before
    return None


def _is_zero(text: str) -> bool:
    return _ZERO.fullmatch(text) is not None


def product_at(spot: Spot) -> Product | None:
    """The product that a nest computes; None if it computes something else or is shared among threads."""
    if any(map(is_shared, (*spot.above, spot.loop))):
        return None
    chain, core = [spot.loop], spot.loop.body
    while len(core) == 1 and isinstance(core[0], Loop):
        chain.append(core[0])
        core = core[0].body
    one = _scalar_sum(core) or _array_sum(core)
    if one is not None and one.is_whole and any(_piece_of(one.loop, loop) for loop in chain):
        return None
    chain += [one.loop] if one is not None else []
    whole = _untiled(chain)
    add = one.add if one is not None else core[0] if len(core) == 1 else None
    if whole is None or not isinstance(add, Assign) or add.op not in ("+=", "-="):
        return None
    used = words_in(f"{add.target} {add.value}").union(*map(words_of_head, whole))
    if used & ({loop.var for loop in chain} - {loop.var for loop in whole}):
        return None
    found = matched(whole, add)
    if found is None or one is None:
        return found
    before, after = (_over(whole, add, item) for item in (one.before, one.after))
    return replace(found, fresh=one.fresh, before=before, after=after)


def _over(loops: list[Loop], add: Assign, item: Assign | None) -> Body:
    """The loops over the target for a statement on each of its elements."""
    if item is None:
        return ()
    where = roles(loops, (elements(add.target) or [("", "")])[0][1])
    assert where is not None, "a product was matched"
    return (replace(where[0], pragmas=(), body=(replace(where[1], pragmas=(), body=(item,)),)),)


@final
@dataclass(frozen=True, slots=True)
class _Sum:
    """``{ W = f(W); for (...) W += y; W = g(W); }``, with or without a scalar: the loop around ``W += y``; ``fresh``: W
    is 0 before."""

    loop: Loop
    add: Assign
    fresh: bool
    before: Assign | None = None
    after: Assign | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it cannot be one piece of a sum."""
        return self.fresh or self.before is not None or self.after is not None


def _scalar_sum(core: Body) -> _Sum | None:
    """``{ double s = 0; for (...) s += y; W = g(s); }``"""
    match core:
        case (Declare(name=name) as start, Loop(body=(Assign(target=summed) as add,)) as inner, Assign() as end):
            zero = _is_zero(start.value)
            onto = end.value == name and ((end.op == "+=" and zero) or (end.op == "=" and start.value == end.target))
            plain = summed == name and start.type == "double" and name not in words_in(add.value + end.target)
            target = end.target.split("[")[0]
            anew = zero and end.op == "=" and name in words_in(end.value) and target not in words_in(end.value)
            if plain and add.op in ("+=", "-=") and (onto or (anew and elements(end.value) is not None)):
                value = end.target if onto else substituted(end.value, {name: end.target})
                after = Assign(end.target, "=", value) if value != end.target else None
                return _Sum(inner, Assign(end.target, add.op, add.value), not onto, after=after)
    return None


def _array_sum(core: Body) -> _Sum | None:
    """``{ W = f(W); for (...) W += y; W = g(W); }``, either of the two at least."""
    inner = next((item for item in core if isinstance(item, Loop)), None)
    if inner is None or not 2 <= len(core) <= 3:
        return None
    place = core.index(inner)
    start, end = core[:place], core[place + 1 :]
    match inner.body:
        case (Assign() as add,) if inner.var not in words_in(add.target):
            before, after = _on(add.target, start), _on(add.target, end)
            if (before is None, after is None) == (not start, not end):
                fresh = before is not None and before.op == "=" and _is_zero(before.value)
                return _Sum(inner, add, fresh, None if fresh else before, after)
    return None


def _on(target: str, items: Body) -> Assign | None:
    """The one assignment to that element; it reads no other element of the array."""
    match items:
        case (Assign() as item,) if item.target == target and elements(item.value) is not None:
            return item if target.split("[")[0] not in words_in(item.value.replace(target, "")) else None
    return None


def _untiled(chain: list[Loop]) -> list[Loop] | None:
    """The three loops of a nest without the loops over pieces; None if there are more or fewer."""
    loops = list(chain)
    for outer in chain:
        inner = next((loop for loop in loops if _piece_of(loop, outer)), None)
        if inner is not None:
            loops = [replace(inner, low=outer.low, high=outer.high) if loop is inner else loop for loop in loops]
            loops.remove(outer)
    names = {loop.var for loop in loops}
    plain = all(loop.step == "1" and not names & (words_in(loop.low) | words_in(loop.high)) for loop in loops)
    threads = any(map(is_shared, chain))
    return loops if len(loops) == 3 and len(names) == 3 and plain and not threads else None


def matched(loops: list[Loop], add: Assign, recurrent: bool = False) -> Product | None:
    """The product of three loops around ``W += a * b``; ``recurrent``: other rows of W may be a factor."""
    target, factors = elements(add.target), _factors(add.value)
    if target is None or factors is None or len(target) != 1:
        return None
    if any(elements(loop.high) is None or _FRACTION.search(loop.high) for loop in loops):
        return None  # a loop up to 2.5 has three iterations, a size of 2.5 is 2
    ((a, g), (b, h)), scalars = factors
    if (target[0][0] in (a, b) and not recurrent) or {loop.var for loop in loops} & set(scalars):
        return None
    where = roles(loops, target[0][1])
    if where is None:
        return None
    row, column, depth = where
    for left, right in (((a, g), (b, h)), ((b, h), (a, g))):
        one = _operand(*left, (row, depth), column)
        other = _operand(*right, (depth, column), row)
        onto = _operand(*target[0], (row, column), depth)
        if one is not None and other is not None and onto is not None:
            sizes = (extent(row), extent(column), extent(depth))
            return Product(sizes, _scale(add.op, scalars), one, other, onto, False)
    return None


def _factors(text: str) -> tuple[list[tuple[str, str]], list[str]] | None:
    """The two elements (array, index) and the scalars whose product is the expression; None if it has another form."""
    arrays: list[tuple[str, str]] = []
    scalars: list[str] = []
    for factor in re.split(r"\*(?![^\[]*\])", _unwrapped(text)):
        word = factor.strip()
        found = elements(word)
        if re.fullmatch(r"[A-Za-z_]\w*", word) or _NUMBER.fullmatch(word):
            scalars.append(word)
        elif found and len(found) == 1 and re.sub(r"\s", "", word) == re.sub(r"\s", "", "{}[{}]".format(*found[0])):
            arrays += found
        else:
            return None
    return (arrays, scalars) if len(arrays) == 2 else None


def _unwrapped(text: str) -> str:
    """An expression without brackets around the whole of it."""
    inside = re.fullmatch(r" *\(([^()]*)\) *", text)
    return inside[1] if inside is not None else text


def _scale(op: str, scalars: list[str]) -> str:
    """The factor of a product as a double: whole numbers, or numbers without a sign, would overflow."""
    sign = "" if op == "+=" else "-"
    if len(scalars) < 2 and not (sign and scalars and not _NUMBER.fullmatch(scalars[0])):
        return f"{sign}{scalars[0] if scalars else '1.0'}"
    return " * ".join([f"{sign}1.0", *scalars])


def roles(loops: list[Loop], index: str) -> tuple[Loop, Loop, Loop] | None:
    """(rows, columns, depth): the target moves by one along its columns and does not move along the depth."""
    where = polynomial(index)
    if where is None:
        return None
    strides = {loop.var: coefficient(where, loop.var) for loop in loops}
    columns = [loop for loop in loops if strides[loop.var] == {(): 1}]
    depth = [loop for loop in loops if strides[loop.var] == {}]
    rows = [loop for loop in loops if loop not in columns and loop not in depth]
    return (rows[0], columns[0], depth[0]) if len(columns) == len(depth) == len(rows) == 1 else None


def _operand(array: str, index: str, along: tuple[Loop, Loop], absent: Loop) -> Operand | None:
    where = polynomial(index)
    if where is None or coefficient(where, absent.var) != {}:
        return None
    strides = [coefficient(where, loop.var) for loop in along]
    names = {loop.var for loop in along}
    offset: Poly = {product: factor for product, factor in where.items() if not names & set(product)}
    for loop, stride in zip(along, strides, strict=True):
        low = polynomial(loop.low)
        if low is None or not stride or any(names & set(product) for product in stride):
            return None
        offset = added(offset, multiplied(stride, low))
    return Operand(array, offset, (strides[0] or {}, strides[1] or {}))


def _piece_of(loop: Loop, outer: Loop) -> bool:
    """Whether ``loop`` runs through one piece of the range over which ``outer`` steps."""
    piece = least_of(f"{outer.var} + {outer.step}", outer.high)
    return loop.low == outer.var and outer.step != "1" and loop.high == piece


def extent(loop: Loop) -> str:
    """The number of iterations of a loop."""
    low = loop.low if re.fullmatch(r"\w+", loop.low) else f"({loop.low})"
    high = f"({loop.high})" if re.search("<<|>>", loop.high) else loop.high  # a sum binds more
    return loop.high if low == "0" else f"{high} - {low}"
