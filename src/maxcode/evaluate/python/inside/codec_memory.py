"""Which arrays of a message are the same memory, inside the sandbox; never imported by maxcode."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from typing import Any

MOST_COMPARED = 64  # arrays that lie between one another, such as the columns of a table


class Memory:
    """The arrays that were written: ranges of memory in order, of which none overlaps others, and what lies in each."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.arrays: list[list[Any]] = []

    def add(self, numpy: Any, value: Any) -> bool:
        """Keep an array; whether it has an element in common with one that was kept before."""
        low, high = bounds(numpy, value)
        place = slice(bisect_right(self.ends, low), bisect_left(self.starts, high))
        before = [one for held in self.arrays[place] for one in held]
        self.starts[place] = [min([low, *self.starts[place]])]
        self.ends[place] = [max([high, *self.ends[place]])]
        self.arrays[place] = [[*before, value]]
        some = [*before[:: 1 + len(before) // MOST_COMPARED], *before[-1:]]
        return any(are_shared(numpy, one, value) for one in some)

    def add_bytes(self, value: bytearray) -> bool:
        """The same of a bytearray, which an array may lie in."""
        numpy = sys.modules.get("numpy")
        return numpy is not None and bool(value) and self.add(numpy, numpy.frombuffer(value, numpy.uint8))


def bounds(numpy: Any, value: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends."""
    if value.flags.forc:
        start = value.__array_interface__["data"][0]
        return start, start + value.nbytes
    known = numpy.lib.array_utils if hasattr(numpy.lib, "array_utils") else numpy
    return known.byte_bounds(value)  # type: ignore[no-any-return]


def lies_in(numpy: Any, value: Any, spans: list[tuple[int, int]]) -> bool:
    """Whether an array may have an element in one of these ranges of memory."""
    low, high = bounds(numpy, value)
    return any(low < end and start < high for start, end in spans)


def are_shared(numpy: Any, one: Any, other: Any) -> bool:
    """Whether two arrays have an element in common; also where that is too hard to tell."""
    try:
        return bool(numpy.shares_memory(one, other, max_work=10000))
    except Exception:
        return True
