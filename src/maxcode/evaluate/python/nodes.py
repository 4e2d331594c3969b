"""Reads the values that a side gave (``inside/codec.py``), as a tree of plain values; runs nothing of the side.

A node is a tuple: a letter, and what belongs to it.  The items of a sequence are another: the layout, and its arrays.
The bytes may be of no sense; what is read, and what ``expanded`` gives, is a few times as large as they are.
"""

from __future__ import annotations

import itertools
import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, final

MARKS = "MW"  # in front of a node that is the memory, or the object, of an argument; of an earlier part of the results
Node = tuple[Any, ...]
Items = tuple[Any, ...]
ALIGNED = 64
MOST_NOTHING = 1 << 26  # items that are None, which take no bytes, in all messages of a reader
LEAST_ITEM, SMALL_SET = 4, 256  # bytes of an item of a set that has more items than this, at least
_PART = struct.Struct("<Q")
_ROW: Node = ("?",)  # in place of a row, which stands in the layout of its list


class Unreadable(Exception):
    """Bytes that are no message."""


@final
class Reader:
    """Reads nodes one after the other; ``named`` gives those that may be named again, over several messages.

    ``names_objects``: whether any was.
    """

    def __init__(self) -> None:
        self.names_objects = False
        self._letters: set[str] = set()
        self._objects: list[Node | None] = []
        self._rows: list[tuple[int, list[Items]]] = []  # numbers of the first of some lists, and their layout
        self._expanded: dict[int, list[Node]] = {}
        self._parts: list[memoryview | None] = []
        self._data = memoryview(b"")
        self._at = 0
        self._room = 0  # bytes of all messages so far, of which an object takes one at least
        self._nothing = self._in_sets = 0  # items so far that are None; items of large sets

    def open(self, parts: Sequence[memoryview]) -> Reader:
        """Go on with another message.  Unreadable where it has no part."""
        if not parts:
            raise Unreadable("it holds nothing")
        self._parts, self._data, self._at = [None, *parts[1:]], parts[0], 0
        self._room += sum(map(len, parts))
        return self

    def node(self) -> Node:
        """The next node.  Unreadable where there is none."""
        try:
            return self._node()
        except (IndexError, KeyError, struct.error, UnicodeDecodeError, ValueError, RecursionError) as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error

    def node_with_letters(self) -> tuple[Node, set[str]]:
        """The next node, which names no object of those before it, and the letters of all that it holds."""
        self._letters = set()
        self._objects.clear()
        self._rows.clear()
        self._expanded.clear()
        return self.node(), self._letters

    def named(self, number: int) -> Node:
        """The object of this number.  Unreadable where there is none."""
        found = self._objects[number] if number < len(self._objects) else None
        if found is None:
            raise Unreadable(f"no object has the number {number}")
        return self._row(number) if found is _ROW else found

    def _row(self, number: int) -> Node:
        first, rows = self._rows[bisect_right(self._rows, number, key=lambda one: one[0]) - 1]
        if first not in self._expanded:
            self._expanded[first] = expanded(rows[0])
        return self._expanded[first][number - first]

    def number(self) -> int:
        if self._at + 8 > len(self._data):
            raise Unreadable("it ends early")
        self._at += 8
        return int(_PART.unpack_from(self._data, self._at - 8)[0])

    def _node(self) -> Node:
        letter = chr(self._data[self._at])
        self._at += 1
        self._letters.add(letter)
        if letter in _CONSTANT:
            return _CONSTANT[letter]
        if letter in _PLAIN:
            return (letter, *_PLAIN[letter](self))
        if letter in MARKS:
            return (letter, self._node())
        if letter == "R":
            self.names_objects = True
            return ("R", self.number())
        place = len(self._objects)
        self._objects.append(None)
        found = (letter, *_HELD[letter](self))
        self._objects[place] = found
        return found

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise Unreadable("it ends early")
        self._at += size
        return bytes(self._data[self._at - size : self._at])

    def text(self) -> str:
        return self.take(self.number()).decode("utf-8", "surrogatepass")

    def raw(self) -> bytes:
        kind, number = self.take(1), self.number()
        if kind != b"\1":
            return self.take(number)
        part, self._parts[number] = self._parts[number], None
        if part is None:
            raise Unreadable(f"part {number} is named again")
        return bytes(part)

    def items(self) -> Items:
        count = self.number()
        if not count:
            return ("x", 0, [])
        layout = self.take(1).decode()
        self._nothing += count * (layout == "n")
        if self._nothing > MOST_NOTHING:
            raise Unreadable(f"{self._nothing} times None")
        if layout == "x":
            return ("x", count, [self._node() for _ in range(count)])
        return (layout, count, *_LAYOUTS[layout](self, count))

    def different(self) -> tuple[Items]:
        """The items of a set."""
        found = self.items()
        self._in_sets += found[1] * (found[1] > SMALL_SET)
        if LEAST_ITEM * self._in_sets > self._room:
            raise Unreadable("more items of sets than bytes")
        return (found,)

    def reserve(self, kind: str, count: int) -> list[Items]:
        """Numbers for so many rows; their items go into the list that it gives."""
        rows: list[Items] = []
        if kind == "l":
            if len(self._objects) + count > self._room:
                raise Unreadable("more rows than bytes")
            self._rows.append((len(self._objects), rows))
            self._objects.extend([_ROW] * count)
        return rows

    def rows(self, count: int) -> Items:
        kind, width = self.take(1).decode(), self.number()
        rows = self.reserve(kind, count)
        found = kind, [self.items() for _ in range(width)]
        if any(column[1] != count for column in found[1]):
            raise Unreadable("columns of other lengths")
        rows.append(("r", count, *found))
        return found

    def ragged(self, count: int) -> Items:
        kind, lengths = self.take(1).decode(), self.raw()
        rows = self.reserve(kind, count)
        found = kind, lengths, self.items()
        rows.append(("v", count, *found))
        return found

    def array(self) -> Node:
        flags, dtype = self.take(1)[0], self.text()
        shape = tuple(self.number() for _ in range(self.number()))
        return flags, dtype, shape, self.raw()

    def sparse(self) -> Node:
        name, layout, shape = self.text(), self.text(), self.items()
        return name, layout, shape, [self._node() for _ in range(2 if layout == "dia" else 3)]

    def instance(self) -> Node:
        own = self.text(), self.text(), self.items(), self.items()
        names = [node[1] for node in expanded(self.items())]
        return *own, dict(zip(names, [self._node() for _ in range(self.number())], strict=True))

    def subclass(self) -> Node:
        name = self.text()
        parts = [self.items()] if name == "deque" else [self.items(), self.items()]
        return name, parts, self._node()


_CONSTANT: dict[str, Node] = {letter: (letter,) for letter in "NTF."}  # a byte each, and so one tuple for all
_PLAIN: dict[str, Callable[[Reader], Node]] = {
    "i": lambda one: struct.unpack("<q", one.take(8)),
    "I": lambda one: (int.from_bytes(one.take(one.number()), "little", signed=True),),
    "f": lambda one: struct.unpack("<d", one.take(8)),
    "c": lambda one: (complex(*struct.unpack("<dd", one.take(16))),),
    "s": lambda one: (one.text(),),
    "y": lambda one: (one.take(one.number()),),
    "t": lambda one: (one.items(),),
    "!": lambda one: (one.text(), one.text()),
    "U": lambda one: (one.text(),),
}
_HELD: dict[str, Callable[[Reader], Node]] = {
    "B": lambda one: (one.raw(),),
    "l": lambda one: (one.items(),),
    "d": lambda one: (one.items(), one.items()),
    "S": Reader.different,
    "Z": Reader.different,
    "g": lambda one: (one.items(),),
    "A": Reader.array,
    "o": lambda one: (one.items(), one.items()),
    "G": lambda one: (one.text(), one.raw()),
    "k": Reader.subclass,
    "O": Reader.instance,
    "Q": Reader.instance,
    "K": lambda one: (one.text(), one.text(), one.items(), one.items()),
    "e": lambda one: (one.text(), one.text(), one.text()),
    "P": Reader.sparse,
    "V": lambda one: (one.text(), one.text()),
    "z": lambda one: (one.items(),),
    "E": lambda one: (one.text(), one.text()),
}
_LAYOUTS: dict[str, Callable[[Reader, int], Items]] = {
    "q": lambda one, _: (one.raw(),),
    "f": lambda one, _: (one.raw(),),
    "b": lambda one, _: (one.raw(),),
    "s": lambda one, _: (one.raw(), one.raw()),
    "n": lambda one, _: (),
    "r": Reader.rows,
    "v": Reader.ragged,
}


def expanded(items: Items) -> list[Node]:
    """The nodes of a sequence, whatever its layout."""
    layout, count, *rest = items
    if layout == "x":
        return list(rest[0])
    if layout == "q":
        return [("i", one) for one in array("q", rest[0])]
    if layout == "f":
        return [("f", one) for one in array("d", rest[0])]
    if layout == "b":
        return [("T",) if one else ("F",) for one in rest[0]]
    if layout == "n":
        return [("N",)] * count
    if layout == "s":
        return [("s", one) for one in texts_of(rest[0], rest[1])]
    if layout == "r":
        columns = [expanded(one) for one in rest[1]]
        return [(rest[0], ("x", len(row), list(row))) for row in zip(*columns, strict=True)]
    flat = iter(expanded(rest[2]))
    return [(rest[0], ("x", size, list(itertools.islice(flat, size)))) for size in array("q", rest[1])]


def texts_of(lengths: bytes, joined: bytes) -> list[str]:
    """The texts.  ValueError where the lengths are not theirs."""
    whole, sizes = joined.decode("utf-8", "surrogatepass"), array("q", lengths)
    if min(sizes) < 0 or sum(sizes) != len(whole):
        raise ValueError("texts of other lengths")
    return [whole[end - size : end] for end, size in zip(itertools.accumulate(sizes), sizes, strict=True)]


def parts_of(memory: memoryview) -> list[memoryview]:
    """The parts of a message in one piece, 64-aligned.  Unreadable where it is none."""
    count = _PART.unpack_from(memory)[0]
    if 8 * (1 + count) > len(memory):
        raise Unreadable("its number of parts is wrong")
    at, found = -(-8 * (1 + count) // ALIGNED) * ALIGNED, []
    for (size,) in itertools.islice(_PART.iter_unpack(memory[8 : 8 * (1 + count)]), count):
        if at + size > len(memory):
            raise Unreadable("a part is longer than the whole")
        found.append(memory[at : at + size])
        at += -(-size // ALIGNED) * ALIGNED
    return found


def gathered(memory: memoryview) -> tuple[list[memoryview], memoryview]:
    """The parts of a message as the shim gathered them, and what comes after it."""
    count = _PART.unpack_from(memory)[0]
    sizes = struct.unpack_from(f"<{count}Q", memory, 8)
    at, found = 8 * (1 + count), []
    for size in sizes:
        found.append(memory[at : at + size])
        at += size
    return found, memory[at:]


def in_slot(parts: Sequence[memoryview], size: int) -> list[bytes | memoryview | int]:
    """A message as a process of the user reads it, in a slot of ``size`` bytes: its pieces, and numbers of zeros
    between them.  ValueError if it is larger."""
    head = struct.pack(f"<{1 + len(parts)}Q", len(parts), *map(len, parts))
    found: list[bytes | memoryview | int] = [head, -len(head) % ALIGNED]
    for one in parts:
        found += [one, -len(one) % ALIGNED]
    taken = sum(piece if isinstance(piece, int) else len(piece) for piece in found)
    if taken > size:
        raise ValueError(f"a message of {taken} bytes in place of {size} at most")
    return [*found, size - taken]
