"""Describes the innermost loop of a kernel: its memory accesses, and its work in one iteration.

A loop of at most 16 iterations, if the text shows their number, counts as unrolled: it belongs to the body around it.
Of all loops without another one inside, this takes the deepest; of equally deep ones, the one with the most accesses,
because a remainder loop has fewer.  The order of loops shows here and not in a count of words: it decides which
accesses depend on the counter.  Like all of ``techniques``, this reads only the text.  It does not follow calls, so a
loop in a function that is called from loops has only its depth in that function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias, final

from maxcode.code.techniques.loop_nests import REGISTERS, far_side, steps
from maxcode.code.techniques.syntax import Loop, Span, Unit, words

Way: TypeAlias = Literal["unit", "strided", "fixed"]

_INDEX = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_OPERATION = re.compile(r"[-+*/]=|(?<=[\w)\]])\s*[-+*/](?!=)\s*(?=[\w(*])")
_SMALL = 1 << 10  # elements of a local array that may be meant for registers


@final
class Inner(NamedTuple):
    """The innermost loop of a text.

    ``loops``: the number of loops of the whole text.
    ``depth``: the number of loops around it, itself counted.
    ``step``: the step of its counter; 0 if it is no number.
    ``block``: how often an iteration executes the statement that short loops repeat most.
    ``unit``, ``strided``, ``fixed``: accesses to memory that move with the counter to the next element, to one further
    away, or not at all.
    ``stores``, ``statements``: their number in the body.
    ``operations``: arithmetic operations outside of indices.
    ``sums``: variables that accumulate.
    ``registers``: elements of the largest small local array of the text; ``buffer``: elements of the largest array.
    """

    loops: int = 0
    depth: int = 0
    step: int = 0
    block: int = 0
    unit: int = 0
    strided: int = 0
    fixed: int = 0
    stores: int = 0
    statements: int = 0
    operations: int = 0
    sums: int = 0
    registers: int = 0
    buffer: int = 0


def inner(unit: Unit) -> Inner:
    """The innermost loop of a text; all zero if there is no loop."""
    turns = {loop.span: _turns(unit, loop) for loop in unit.loops}
    long = [loop for loop in unit.loops if not 0 < turns[loop.span] <= REGISTERS]
    innermost = [loop for loop in long if not any(loop.body.holds(one.span.start) for one in long)]
    found = [_read(unit, loop, turns) for loop in innermost]
    return max(found, key=lambda one: (one.depth, one.unit + one.strided + one.fixed), default=Inner())


def _read(unit: Unit, loop: Loop, turns: Mapping[Span, int]) -> Inner:
    counters = steps(unit, loop)
    ways = _ways(unit, loop, set(counters))
    accesses: dict[int, str] = {}
    for access in unit.accesses:
        if loop.body.holds(access.at) and "[" in access.text:
            accesses[access.at] = max(accesses.get(access.at, ""), access.text, key=len)  # x[i] begins x[i][j]
    kinds = [_kind(text, ways) for text in sorted(set(accesses.values()))]
    statements = [one for one in unit.statements if loop.body.holds(one.at)]
    step = next((unit.value(text) for text in counters.values()), None)
    short = [one for one in unit.loops if loop.body.holds(one.span.start)]
    sizes = _sizes(unit)
    return Inner(
        loops=len(unit.loops),
        depth=sum(one.body.holds(loop.span.start) for one in unit.loops) + 1,
        step=abs(step or 0),
        block=max((math.prod(turns[one.span] for one in short if one.body.holds(s.at)) for s in statements), default=0),
        unit=kinds.count("unit"),
        strided=kinds.count("strided"),
        fixed=kinds.count("fixed"),
        stores=sum(loop.body.holds(store.at) for store in unit.stores),
        statements=len(statements),
        operations=sum(len(_OPERATION.findall(_INDEX.sub("[]", one.text))) for one in statements),
        sums=len({w.name for w in unit.writes if loop.body.holds(w.at) and w.op in ("+=", "-=")} - counters.keys()),
        registers=max((size for size in sizes if size <= _SMALL), default=0),
        buffer=max(sizes, default=0),
    )


def _turns(unit: Unit, loop: Loop) -> int:
    """The bound in the condition of a loop if it is a number, else 0."""
    ends = (unit.value(far_side(loop, counter)) for counter in steps(unit, loop))
    return max(0, next((end for end in ends if end is not None), 0))


def _sizes(unit: Unit) -> list[int]:
    """The number of elements of every array whose dimensions are numbers."""
    found = ([unit.value(size) for size in _INDEX.findall(array.text)] for array in unit.arrays)
    return [math.prod(size for size in sizes if size is not None) for sizes in found if None not in sizes]


def _ways(unit: Unit, loop: Loop, counters: set[str]) -> dict[str, Way]:
    """How every name that depends on the counters moves with them."""
    found: dict[str, Way] = dict.fromkeys(counters, "unit")
    for write in unit.writes:
        is_place = "[" not in write.value  # a value read from memory is not an index
        if is_place and loop.body.holds(write.at):
            found.setdefault(write.name, _way(write.value, found))
    return found


def _way(index: str, ways: Mapping[str, Way]) -> Way:
    """How an index moves with the counters: a multiplied counter is strided."""
    used = {name for name in words(index) & ways.keys() if ways[name] != "fixed"}
    if not used:
        return "fixed"
    names = "|".join(map(re.escape, used))
    multiplied = re.search(rf"\b(?:{names})\b\s*\)?\s*(?:\*|<<)|\*\s*\(?\s*(?:{names})\b", index)
    return "strided" if multiplied or any(ways[name] == "strided" for name in used) else "unit"


def _kind(access: str, ways: Mapping[str, Way]) -> Way:
    *earlier, last = _INDEX.findall(access)
    return "strided" if any(_way(index, ways) != "fixed" for index in earlier) else _way(last, ways)
