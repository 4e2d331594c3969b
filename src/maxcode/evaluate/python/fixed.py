"""Says which values nobody can change, so that nobody sees whether two of them are one object."""

from __future__ import annotations

from typing import Any, final

from maxcode.evaluate.python.nodes import MARKS, Items, Node, Reader

_FIXED = "NTFiIfcsy.Vze"


@final
class Fixed:
    """The nodes of one reader that are such values.  An object that is named again is looked at once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[int, bool] = {}  # the object of each number

    def has(self, node: Node) -> bool:
        """Whether nobody can change the value, nor any part of it."""
        letter = node[0]
        if letter == "R":
            return self._has_object(node[1])
        if letter in MARKS:
            return self.has(node[1])
        if letter == "G":
            return "V" not in node[1]  # a record can be changed
        if letter in "tZ":
            return self._has_all(node[1])
        if letter in "KQ":
            return self._has_all(node[4]) and all(map(self.has, node[5].values() if letter == "Q" else ()))
        return letter in _FIXED

    def changes_with_earlier(self, part: Any) -> bool:
        """Whether an object of an earlier result that can be changed is in a node, or in a part of one."""
        if part.__class__ is dict:
            return any(map(self.changes_with_earlier, part.values()))
        if part.__class__ not in (tuple, list):
            return False
        if isinstance(part, tuple) and len(part) == 2 and part[0] == "W" and not self.has(part):
            return True
        return any(map(self.changes_with_earlier, part))

    def _has_object(self, number: int) -> bool:
        if number not in self._known:
            self._known[number] = False  # for one that holds itself
            self._known[number] = self.has(self._reader.named(number))
        return self._known[number]

    def _has_all(self, items: Items) -> bool:
        layout, _, *rest = items
        if layout == "x":
            return all(map(self.has, rest[0]))
        if layout in "rv":
            return rest[0] == "t" and all(map(self._has_all, rest[1] if layout == "r" else rest[2:]))
        return True
