"""Arrays that every iteration of a loop fills anew, with a row for each iteration: the second form of ``expand``.

    for q: { for p < n: { S[p] = 0;  for s: S[p] += A[q, s] * B[s, p] }  for p < n: A[q, p] = S[p] }

Iterations then share nothing, so that the loop can be split, and its parts may be products.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.polyhedral.dependences import Access
from maxcode.code.polyhedral.polynomials import coefficient, name
from maxcode.policy.rules.kernels.effects import Effect, effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot
from maxcode.policy.rules.kernels.legality import cuts
from maxcode.policy.rules.kernels.memory import Array, is_fixed, with_arrays
from maxcode.policy.rules.kernels.nest import Assign, Branch, Item, Loop, changed, hides, printed, words_in
from maxcode.policy.rules.kernels.registers import ELEMENT


def rows_of_arrays(kernel: Kernel, spot: Spot) -> Iterator[Edit]:
    """The edits that give an array of a loop a row for each of its iterations."""
    loop = spot.loop
    if (loop.low, loop.step) != ("0", "1") or loop.pragmas or hides((loop,)) or not is_fixed(kernel, spot):
        return
    if spot.shared:  # one array for all threads
        return
    seen = effect((loop,), spot.above)
    for array in sorted(seen.written) if not seen.opaque else ():
        across = _filled(spot, seen, array)
        if across is None or not kernel.is_double(array) or not is_fixed(kernel, replace(spot, loop=across)):
            continue
        made = kernel.fresh(f"{array}_of")
        items = _with_rows(spot, across, array, made)
        if items is None:
            continue
        change = with_arrays(kernel, spot, items, [Array(made, "double", (loop.high, across.high))])
        what = f"keeps a row of {array} for every {loop.var}"
        yield kernel.edit("expand", spot.name, (("array", array),), what, change)


def _filled(spot: Spot, seen: Effect, array: str) -> Loop | None:
    """The loop that fills an array before anything else in an iteration uses it; None if something may use an element
    of an iteration before."""
    depth = len(spot.above) + 1
    touched = [access for access in seen.accesses if access.array == array]
    inside = effect(spot.loop.body, (*spot.above, spot.loop)).accesses
    first = min(access.part for access in inside if access.array == array)
    item = spot.loop.body[first]
    if not isinstance(item, Loop) or item.low != "0" or item.step != "1" or not item.body:
        return None
    match item.body[0]:
        case Assign(op="=") as start:
            element = ELEMENT.fullmatch(start.target)
        case _:
            return None
    if element is None or element[1] != array or element[2] != item.var or array in words_in(start.value):
        return None
    own = [access for access in inside if access.array == array and access.part == first]
    same = all(access.levels[depth].var == own[0].levels[depth].var and _is_at(access, depth) for access in own)
    ends = own[0].levels[depth]
    whole = all(_runs_through(access, depth, ends.highs) for access in touched)
    plain = len(ends.highs) == 1 and spot.loop.var not in words_in(item.high)
    # an array of the nest has a row of this size for every iteration already, so that its indices are as large
    large = any(
        coefficient(one.index[0] or {}, one.levels[depth - 1].var) == ends.highs[0] for one in _indexed(seen, depth)
    )
    return item if same and whole and plain and large else None


def _indexed(seen: Effect, depth: int) -> list[Access]:
    return [access for access in seen.accesses if access.index and len(access.levels) >= depth]


def _is_at(access: Access, depth: int) -> bool:
    return access.index[:1] == (name(access.levels[depth].var),)


def _runs_through(access: Access, depth: int, highs: object) -> bool:
    """Whether an access is to the element of a loop from 0 to the same end."""
    found = [level for level in access.levels[depth:] if access.index[:1] == (name(level.var),)]
    return len(found) == 1 and found[0].lows == ({},) and found[0].highs == highs and found[0].step == {(): 1}


def _with_rows(spot: Spot, across: Loop, array: str, made: str) -> list[Item] | None:
    """The loop with a row for each iteration, and what leaves the last row in the array; None if that frees nothing."""
    loop = spot.loop
    element = rf"(?<![\w.]){array}\[([^\[\]]*)\]"
    width = across.high if across.high.isidentifier() else f"({across.high})"

    place = rf"{made}[{loop.var} * {width} + \g<1>]"
    whole = replace(loop, body=changed(loop.body, lambda text: re.sub(element, place, text)))
    if array in words_in(printed((whole,))):
        return None
    if not set(cuts(whole, spot.above)) - set(cuts(loop, spot.above)):
        return None
    last = Assign(f"{array}[{across.var}]", "=", f"{made}[({loop.high} - 1) * {width} + {across.var}]")
    back = replace(across, body=(last,))
    return [whole, Branch(f"0 < {loop.high}", (back,))]
