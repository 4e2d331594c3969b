"""The step that tiles the time of a stencil: skewed pieces of space, each taken through several time steps.

    for t0, by pieces of time:  for x1, by strips:  for x0, by rows of x + skew * (t - t0) + delay:  for t:
        the nests, each cut to its row of the strip

So each row goes through all steps of a piece of time close behind the row before it, and what stays in the cache is as
many rows of a strip as there are steps.  Every nest inside the time loop is a part, with its own delay; the skew is
common.  The order is legal if no dependence goes back along a skewed axis, those inside one nest and one step of time
included from the second axis on: then the loops over pieces may stand in any order.  The order inside a piece is the
original one.  Parallelogram tiles as in Wolf and Lam, "A Loop Transformation Theory"; skews and delays are the least
that the dependences permit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Pair, Vector, later, pairs
from maxcode.code.polyhedral.polynomials import ONE, Poly, added, multiplied, name, number, polynomial, written_out
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.nest import Item, Loop, band_of, greatest_of, least_of, put, words_in

TIMES = (2, 4, 8, 16)  # retune finds others, here and below
STRIPS, BUNDLES = (128, 256), (8, 24)  # elements of a contiguous axis, rows of another
_MOST_AXES = 2
_SKEWS = range(4)
_FARTHEST = 4  # elements that a dependence may reach


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """How one axis of space is skewed: ``x + skew * t + delays[part]`` never falls along a dependence."""

    skew: int
    delays: tuple[int, ...]


def time_tile(unit: Unit) -> Iterator[Edit]:
    """Takes each row of a stencil, or of a strip of it, through several time steps while it is in the cache."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            forms = (whole for whole in _forms(kernel, spot.loop) if _is_plain(kernel, whole))
            found = ((whole, axes) for whole in forms if (axes := _axes(whole, spot.above)))
            whole, axes = next(found, (spot.loop, ()))
            for count in range(1, len(axes[:_MOST_AXES]) + 1) if any(axis.skew for axis in axes) else ():
                yield from _edits(kernel, spot, whole, axes[:count])


def _forms(kernel: Kernel, loop: Loop) -> Iterator[Loop]:
    """The time loop as it is, and with its shallow nests inside a loop of one iteration, as a row of their space."""
    if loop.step != "1" or loop.pragmas or not loop.body or not all(isinstance(item, Loop) for item in loop.body):
        return
    yield loop
    deepest = max(len(_spaces(item)) for item in loop.body)
    row = Loop(kernel.fresh("row"), "0", "1", "1", ())
    body = tuple(item if len(_spaces(item)) == deepest else replace(row, body=(item,)) for item in loop.body)
    if body != loop.body:
        yield replace(loop, body=body)


def _spaces(item: Item) -> list[Loop]:
    """The loops of a perfect nest, outermost first."""
    return band_of(item)[0] if isinstance(item, Loop) else []


def _edits(kernel: Kernel, spot: Spot, whole: Loop, axes: Sequence[Axis]) -> Iterator[Edit]:
    last = len(axes) - 1
    is_contiguous = any(len(_spaces(item)) == len(axes) for item in whole.body)
    names = [kernel.fresh(f"ROWS_X{k}") for k in range(last)]
    names.append(kernel.fresh(f"{'TILE' if is_contiguous else 'ROWS'}_X{last}"))
    time = kernel.fresh("TIME")
    body = put(kernel.body, spot.path, [_tiled(kernel, whole, axes, (time, *names))])
    sizes = STRIPS if is_contiguous else BUNDLES if last else (1,)
    for steps, size in product(TIMES, sizes):
        params = (("axes", len(axes)), ("time", steps), ("size", size))
        pieces = " x ".join(("1",) * last + (str(size),))
        what = f"takes skewed pieces of {pieces} through {steps} steps of the loop over {whole.var}"
        constants = [(time, steps), *((name, 1) for name in names[:-1]), (names[-1], size)]
        yield kernel.edit("time_tile", spot.name, params, what, kernel.change(body, constants))


def _tiled(kernel: Kernel, whole: Loop, axes: Sequence[Axis], names: Sequence[str]) -> Loop:
    time, *sizes = names
    firsts = [kernel.fresh(f"{whole.var}0")]
    for space in range(len(axes)):
        firsts.append(kernel.fresh(f"x{space}", firsts))
    step = f"({whole.var} - {firsts[0]})"
    parts = tuple(_cut(item, axes, number, (firsts[1:], sizes, step)) for number, item in enumerate(whole.body))
    made = replace(whole, low=firsts[0], high=least_of(f"{firsts[0]} + {time}", whole.high), body=parts)
    for depth, axis in enumerate(axes):  # the first inside the others
        rows = [(_spaces(item)[depth], delay) for item, delay in zip(whole.body, axis.delays, strict=True)]
        lows = list(dict.fromkeys(_sum(row.low, delay) for row, delay in rows))
        highs = list(dict.fromkeys(_sum(row.high, delay) for row, delay in rows))
        low, high = reduce(_lesser, lows), reduce(_greater, highs)
        high += f" + {axis.skew} * ({time} - 1)" if axis.skew else ""
        kind = next((row.type for row, _ in rows if row.type != "int"), whole.type)
        made = Loop(firsts[depth + 1], low, high, sizes[depth], (made,), type=kind)
    return Loop(firsts[0], whole.low, whole.high, time, (made,), type=whole.type)


def _cut(item: Item, axes: Sequence[Axis], part: int, pieces: tuple[Sequence[str], Sequence[str], str]) -> Item:
    """A nest cut to the piece: each of its loops keeps what lies in the piece at its time."""
    firsts, sizes, step = pieces
    for axis, first, size in reversed(list(zip(axes, firsts, sizes, strict=True))):
        depth = firsts.index(first)
        loop = _spaces(item)[depth]
        moved = [
            f" - {axis.skew} * {step}" if axis.skew else "",
            f" - {axis.delays[part]}" if axis.delays[part] else "",
        ]
        back = "".join(moved)
        low, high = greatest_of(f"{first}{back}", loop.low), least_of(f"{first} + {size}{back}", loop.high)
        item = put((item,), (0,) * (2 * depth + 1), [replace(loop, low=low, high=high)])[0]
    return item


def _lesser(one: str, other: str) -> str:
    ends = polynomial(one), polynomial(other)
    apart = added(ends[0], ends[1], -1) if ends[0] is not None and ends[1] is not None else name("?")
    return least_of(one, other) if apart.keys() - {ONE} else one if apart.get(ONE, 0) <= 0 else other


def _greater(one: str, other: str) -> str:
    return other if (less := _lesser(one, other)) == one else one if less == other else greatest_of(one, other)


def _sum(text: str, delay: int) -> str:
    return written_out(added(polynomial(text) or {}, number(delay)))


# ------------------------------------------------------------------------------------------------------------ legality


def _is_plain(kernel: Kernel, loop: Loop) -> bool:
    """Whether the nests in a time loop are boxes with signed bounds."""
    rows = [_spaces(item) for item in loop.body]
    spaces = [space for row in rows for space in row]
    bounds = [end for one in (loop, *spaces) for end in (one.low, one.high)]
    changing = {loop.var} | {space.var for space in spaces}
    fixed = not any(words_in(end) & changing for end in bounds)
    fixed = fixed and all(len({loop.var, *(space.var for space in row)}) == len(row) + 1 for row in rows)
    return fixed and kernel.counts_signed(loop, *spaces) and all(one.step == "1" and not one.pragmas for one in spaces)


@lru_cache(maxsize=256)
def _axes(loop: Loop, above: tuple[Loop, ...]) -> tuple[Axis, ...]:
    """The outer axes of space that can be skewed, as many as there are in a row."""
    seen = effect(loop.body, (*above, loop))
    if effect((loop,), above).opaque or seen.scalars:
        return ()
    found: list[Axis] = []
    known = [(pair, way) for pair in pairs(seen.accesses) for way in _orders(pair, len(above))]
    for depth in range(min(len(_spaces(item)) for item in loop.body)):
        inside = [(pair, way) for pair in pairs(seen.accesses) for way in _inside(pair, len(above), depth)]
        tried = (_axis([*known, *inside], len(above), depth, skew, len(loop.body)) for skew in _SKEWS)
        axis = next((one for one in tried if one is not None), None)
        if axis is None:
            break
        found.append(axis)
    return tuple(found)


def _orders(pair: Pair, depth: int) -> Iterator[Vector]:
    """The directions up to the time loop in which a pair depends: the next steps, and a later nest of the same step."""
    for way in "<=" if pair.first.part < pair.second.part else "<":
        if pair.exists((*"=" * depth, way)):
            yield (*"=" * depth, way)


def _inside(pair: Pair, depth: int, space: int) -> Iterator[Vector]:
    """The directions in which a pair of one nest depends within one step of time, through an axis before this one."""
    for outer in range(space) if pair.first.part == pair.second.part else ():
        if pair.exists(way := (*"=" * (depth + 1 + outer), "<")):
            yield way


def _axis(known: Sequence[tuple[Pair, Vector]], depth: int, space: int, skew: int, parts: int) -> Axis | None:
    """The least delays with which no dependence goes back along an axis; None if there are none for this skew."""
    needed = [[-_FARTHEST] * parts for _ in range(parts)]  # at least by how much the second part comes after the first
    for pair, way in known:
        row, column = pair.first.part, pair.second.part
        skewed = skew if way[depth] == "<" else 0  # within one step of time there is nothing to skew
        while pair.exists(way, [_behind(pair, depth, space, skewed, needed[row][column])]):
            needed[row][column] += 1
            if needed[row][column] > _FARTHEST:
                return None
    delays = [0] * parts
    for _ in range(parts + 1):
        moved = [max(delays[k], *(delays[j] + needed[j][k] for j in range(parts))) for k in range(parts)]
        if moved == delays:
            return Axis(skew, tuple(delays))
        delays = moved
    return None


def _behind(pair: Pair, depth: int, space: int, skew: int, delay: int) -> Poly:
    """At least 0 if the second iteration lies behind the first on the skewed axis, though it is delayed."""
    time, time_after = pair.first.levels[depth].var, later(pair.second.levels[depth].var)
    here, there = pair.first.levels[depth + 1 + space].var, later(pair.second.levels[depth + 1 + space].var)
    ahead = added(name(here), name(there), -1)
    steps = added(name(time), name(time_after), -1)
    return added(added(ahead, multiplied(steps, number(skew))), number(1 + delay), -1)
