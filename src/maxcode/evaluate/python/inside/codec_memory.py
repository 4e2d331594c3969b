"""Which arrays of a message are the same memory, inside the sandbox; never imported by maxcode."""

from __future__ import annotations

import sys
import zlib
from bisect import bisect_left, bisect_right
from typing import Any

HELD = 8  # results of earlier rounds
MOST_BYTES, MOST_BYTES_OF_ONE = 8 << 20, 64 << 20  # of each of them, and of the first
MOST_HELD = 20  # objects and arrays of each
MOST_COMPARED = 64  # arrays that lie between one another, such as the columns of a table


class Memory:
    """The arrays that were written: ranges of memory in order, of which none overlaps others, and what lies in each."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.arrays: list[list[Any]] = []
        self.added: list[Any] = []

    def add(self, numpy: Any, value: Any) -> bool:
        """Keep an array; whether it has an element in common with one that was kept before."""
        low, high = bounds(numpy, value)
        self.added.append(value)
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


class Unkept(Memory):
    """Nothing is kept."""

    def add(self, numpy: Any, value: Any) -> bool:
        return False


class Past:
    """Results of earlier rounds, which stay alive, so that a later one that is their memory is seen.

    Which ones hangs on the arguments alone, and so they are the same for every side.
    ``alone``: every result is read without the others of its round, because the user's ``is_solution`` decides: an
    object of an earlier one is marked and written again.  Which arrays are the same memory is not asked then.
    """

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone
        self.held: list[Any] = [None] * HELD
        self.turn = self.slot = 0
        self.sizes: tuple[int, ...] = ()

    def begin(self, encoder: Any, parts: list[memoryview], calls: int) -> None:
        """A round of so many calls begins, the first with these arguments."""
        if self.alone:
            encoder.memory = Unkept()
        number = zlib.crc32(b"".join(bytes(one[-64:]) for one in parts))
        self.turn, self.slot = number % calls, number // calls % HELD
        for _, _, ids, arrays in filter(None, self.held):
            encoder.earlier.update(ids)
            for one in arrays:
                encoder.memory.add(sys.modules["numpy"], one)

    def look(self, encoder: Any) -> None:
        """A result is to be written."""
        if self.alone:
            encoder.earlier.update(encoder.known)
            encoder.known.clear()
            encoder.count = 0
        self.sizes = tuple(map(len, (encoder.known, encoder.memory.added, encoder.kept, encoder.parts, encoder.out)))

    def hold(self, encoder: Any, result: Any) -> None:
        """A result was written: keep it if it is its turn, and it is not too large."""
        self.turn -= 1
        if self.turn != -1:
            return
        objects, arrays, kept, parts, out = self.sizes
        size = len(encoder.out) - out + sum(one[1] for one in encoder.parts[parts:])
        ids, own = list(encoder.known)[objects:], encoder.memory.added[arrays:]
        if own:
            own = [one for one in own if not lies_in(sys.modules["numpy"], one, encoder.spans)]
        found = ids[:: 1 + len(ids) // MOST_HELD], own[:: 1 + len(own) // MOST_HELD]
        if size <= (MOST_BYTES if self.slot else MOST_BYTES_OF_ONE):
            encoder.kept.append(self.held[self.slot])  # ids of its objects are good until the round is over
            self.held[self.slot] = (result, encoder.kept[kept:-1], *found)


def bounds(numpy: Any, value: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends."""
    if value.flags.forc:
        start = value.__array_interface__["data"][0]
        return start, start + value.nbytes
    known = numpy.lib.array_utils if hasattr(numpy.lib, "array_utils") else numpy
    return known.byte_bounds(value)  # type: ignore[no-any-return]


def is_overlapping(numpy: Any, value: Any) -> bool:
    """Whether elements of an array are the same memory, as those of windows that overlap: it has less memory than
    elements, or repeats some."""
    low, high = bounds(numpy, value)
    repeats = any(stride == 0 and length > 1 for stride, length in zip(value.strides, value.shape, strict=True))
    return repeats or high - low < value.nbytes


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
