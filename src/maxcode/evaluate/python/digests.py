"""Digests of values that come in no order.

An object that is named again is looked at once: forty sets, each with the one before in it twice, have 2^40 items.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, final

from maxcode.evaluate.python.nodes import Items, Reader, expanded


@final
class Digests:
    """Digests of the nodes of one reader; two are the same if the nodes are."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[int, bytes] = {}  # of the object of each number

    def of(self, part: Any) -> bytes:
        """The digest of a node, or of a part of one."""
        if part.__class__ is dict:
            return self._joined("dict", sorted(self.of(name) + self.of(one) for name, one in part.items()))
        if part.__class__ not in (tuple, list):
            return blake2b(f"{part.__class__.__name__} {part!r}".encode("utf-8", "surrogatepass")).digest()
        if len(part) == 2 and part[0] == "R" and part[1].__class__ is int:
            return self._of_object(part[1])
        if len(part) == 2 and part[0] in ("S", "Z") and part[1].__class__ is tuple:
            return self._of_set(part[0], part[1])
        return self._joined(part.__class__.__name__, map(self.of, part))

    def _of_object(self, number: int) -> bytes:
        if number not in self._known:
            self._known[number] = b""  # for one that holds itself
            self._known[number] = self.of(self._reader.named(number))
        return self._known[number]

    def _of_set(self, letter: str, items: Items) -> bytes:
        return self._joined(letter, sorted(map(self.of, expanded(items))))

    def _joined(self, kind: str, parts: Any) -> bytes:
        return blake2b(b"".join([kind.encode(), b" ", *parts])).digest()
