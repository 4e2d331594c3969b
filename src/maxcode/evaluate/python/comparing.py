"""Compares what two sides gave, as a caller would see it.

Types are the same, down to the class, the dtype and the shape; whole numbers, texts and bytes are equal; real numbers
are within the tolerance: ``|got - want| <= tolerance * (|want| + scale)``.  For one alone ``scale`` is 0; in an array
or list it is the root mean square of all, because sums that cancel may come out as they like, but at most 1 or 1000
times ``|want|``, whichever is more, because one number that is far from the others must not hide them.  NaN is NaN,
infinity itself.  The keys of a dict come in the same order, the items of a set in any; the real numbers of a set in a
set are exact.  What is one object for the caller of the candidate must be one for that of the original, and of the same
value.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, final

from maxcode.evaluate.function.comparing import beside, distance
from maxcode.evaluate.python.digests import Digests
from maxcode.evaluate.python.fixed import Fixed
from maxcode.evaluate.python.nodes import MARKS, Items, Node, Reader, Unreadable, expanded
from maxcode.evaluate.python.unordered import FORMATS, Nested, in_one_order

TOLERANCES = {"d": 1e-9, "f": 1e-5, "e": 1e-2}  # of the formats of struct, where the problem gives none
_WORDS = {
    "N": "None", "T": "True", "F": "False", "i": "int", "I": "int", "f": "float", "c": "complex", "s": "str",
    "y": "bytes", "B": "bytearray", "l": "list", "t": "tuple", "d": "dict", "S": "set", "Z": "frozenset",
    "g": "iterator", "A": "ndarray", "o": "ndarray of objects", "G": "numpy scalar", "z": "range", ".": "Ellipsis",
    "!": "exception", "E": "exception object", "e": "enum member", "P": "sparse matrix", "O": "dataclass",
    "Q": "frozen dataclass", "K": "named tuple", "k": "container of collections", "V": "value",
    "R": "object that was there before", "U": "object of the class",
}  # fmt: skip
_MARKS = {"M": "an argument", "W": "another part of this or an earlier result"}
_SHOWN = 60
LEAST_SCALE, OWN_SCALE = 1.0, 1000.0  # up to here other elements may be the scale of one; times its own size
OVERLAPPING = 8
_UNITS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}  # of memory, by their bytes


class Differs(Exception):
    """Where two values differ, and how."""


@final
@dataclass(frozen=True)
class Comparison:
    """Compares the values of two readers, whose named objects it looks up there.

    ``tolerance``: of real numbers; ``compared``: pairs of objects, so that those that hold themselves come to an end.
    """

    wanted: Reader
    given: Reader
    tolerance: float | None = None
    compared: set[tuple[int, int]] = field(default_factory=set)

    @cached_property
    def digests(self) -> tuple[Digests, Digests]:
        """Of the items of sets, which come in any order, of both readers."""
        return Digests(self.wanted), Digests(self.given)

    @cached_property
    def fixed(self) -> Fixed:
        """What nobody can change of what the candidate gave."""
        return Fixed(self.given)

    def difference(self, want: Node, got: Node, where: str) -> str:
        """How ``got`` differs from ``want``, in words; empty if it does not.  ``where``: what they are."""
        try:
            self._node(want, got, where, 0)
        except Differs as found:
            return str(found)
        except (ValueError, struct.error, Unreadable, RecursionError, IndexError) as error:
            return f"{where} cannot be read: {error}"
        return ""

    def _node(self, want: Node, got: Node, where: str, depth: int) -> None:
        are_alone = not (self.wanted.names_objects or self.given.names_objects)
        if want is got or (depth == 0 and are_alone and want == got):
            return
        (marks, want), (more, got) = _marked(want), _marked(got)
        own = more - marks
        if own and not (own == {"W"} and self.fixed.has(got)):
            raise Differs(f"{where} is the memory of {_MARKS[min(own)]}, and for the original it is not")
        if got[0] == "R" and want[0] != "R" and not self.fixed.has(got):
            raise Differs(f"{where} is the same object as another part of the results, and for the original it is not")
        if got[0] == "R" and want[0] != "R":
            got = _named(self.given, got)
        if want[0] == "R":
            if got[0] == "R" and (want[1], got[1]) in self.compared:
                return
            if got[0] == "R":
                self.compared.add((want[1], got[1]))
            want, got = _named(self.wanted, want), _named(self.given, got)
        if want[0] != got[0]:
            raise Differs(f"{where} is {_told(got)} in place of {_told(want)}")
        _RULES.get(want[0], Comparison._same)(self, want, got, where, depth + 1)

    def _same(self, want: Node, got: Node, where: str, depth: int) -> None:
        if want[1:] != got[1:]:
            raise Differs(f"{where} is {_told(got)} in place of {_told(want)}")

    def _real(self, want: Node, got: Node, where: str, depth: int) -> None:
        if not self._near(want[1], got[1], 0.0, "d"):
            raise Differs(f"{where} is {got[1]!r} in place of {want[1]!r}, beyond the tolerance")

    def _complex(self, want: Node, got: Node, where: str, depth: int) -> None:
        parts = ((want[1].real, got[1].real), (want[1].imag, got[1].imag))
        if not all(self._near(a, b, abs(want[1]), "d") for a, b in parts):
            raise Differs(f"{where} is {got[1]!r} in place of {want[1]!r}, beyond the tolerance")

    def _near(self, want: float, got: float, scale: float, code: str) -> bool:
        if want == got or (math.isnan(want) and math.isnan(got)):
            return True
        bound = self._bound(code) * (abs(want) + scale)
        return math.isfinite(want) and abs(got - want) <= bound

    def _bound(self, code: str) -> float:
        return TOLERANCES[code] if self.tolerance is None else self.tolerance

    def _listed(self, want: Node, got: Node, where: str, depth: int) -> None:
        for at, (one, other) in enumerate(zip(want[1:], got[1:], strict=True)):
            if one.__class__ is tuple:
                self.items(one, other, where + " keys" * (want[0] == "d" and at == 0), depth)
            elif one != other:
                raise Differs(f"{where} is {_told(got)}, {other} in place of {one}")

    def _instance(self, want: Node, got: Node, where: str, depth: int) -> None:
        """Objects of a dataclass: all that the original's holds, be it a field or not.

        Also what has a private name: from outside nobody sees whether a method would do that work later."""
        self._listed(want[:5], got[:5], where, depth)
        for name, one in want[5].items():
            if name not in got[5]:
                raise Differs(f"{where} does not hold {name}, and the original's does when the call returns")
            self._node(one, got[5][name], f"{where}.{name}", depth)

    def _parts(self, want: Node, got: Node, where: str, depth: int) -> None:
        if want[1] != got[1]:
            raise Differs(f"{where} is a {got[1]} in place of a {want[1]}")
        for one, other in zip(want[2], got[2], strict=True):
            self.items(one, other, where, depth)
        self._node(want[3], got[3], f"{where}.maxlen", depth)

    def _sparse(self, want: Node, got: Node, where: str, depth: int) -> None:
        if want[1:3] != got[1:3]:
            raise Differs(f"{where} is a {got[1]} in place of a {want[1]}")
        self.items(want[3], got[3], f"{where}.shape", depth)
        for one, other in zip(want[4], got[4], strict=True):
            self._node(one, other, where, depth)

    def _unordered(self, want: Node, got: Node, where: str, depth: int) -> None:
        """Sets: the same items, or items in one order within the tolerance, but for sets in sets."""
        if self.digests[0].of(want) == self.digests[1].of(got):
            return
        what = f"{where} is a {_WORDS[want[0]]} of other items"
        if want[1][1] != got[1][1]:
            raise Differs(what)
        try:
            orders = in_one_order(want[1], got[1], self._gap)
        except Nested:
            raise Differs(what) from None
        if orders is None:
            raise Differs(what)
        self.items(*orders, where, depth)

    def _gap(self, code: str, value: float, scale: float) -> float:
        """What two numbers of a set that are a rounding apart are nearer than."""
        return 4 * self._bound(code) * (abs(value) + _scale(scale, abs(value)))

    def _array(self, want: Node, got: Node, where: str, depth: int) -> None:
        for what, one, other in (("dtype", want[2], got[2]), ("shape", want[3], got[3])):
            if one != other:
                raise Differs(f"{where} is an array of {what} {other} in place of {one}")
        if (want[1] ^ got[1]) & 1:
            raise Differs(f"{where} is a {'writable' if got[1] & 1 else 'read-only'} array, the original's is not")
        if got[1] & ~want[1] & OVERLAPPING:
            raise Differs(f"{where} is an array whose elements are the same memory, the original's is not")
        one, other = (_in_order(node) for node in (want, got))
        dtype = want[2].lstrip("<=|")
        self._numbers(FORMATS.get(dtype), one, other, where, 2 if dtype.startswith("c") else 1)

    def _numbers(self, code: str | None, want: bytes, got: bytes, where: str, width: int = 1) -> None:
        if want == got:
            return
        if len(want) != len(got):
            raise Differs(f"{where} has {len(got)} bytes in place of {len(want)}")
        if code is None:
            raise Differs(f"{where} has other elements")
        error = self._worst(code, want, got, width)
        if error > self._bound(code):
            raise Differs(f"{where} has an element {error:.1e} off, at most {self._bound(code):g} of its size")

    def _worst(self, code: str, want: bytes, got: bytes, width: int) -> float:
        """The largest error of an element over what its bound grows with; ``width`` elements are one number."""
        exact = want if code == "d" else doubled(code, want)
        have = got if code in "df" else doubled(code, got)
        scale = distance("double", exact, None) / math.sqrt(len(exact) // 8)
        rule = (scale or 1e-300, LEAST_SCALE, OWN_SCALE)
        error = beside("float" if code == "f" else "double", exact, have, width, rule)
        if math.isfinite(error) and math.isfinite(scale):
            return error
        values = array("d", exact)
        known = [one for one in values if math.isfinite(one)]
        scale = math.sqrt(sum(one * one for one in known) / len(known)) if known else 0.0
        own = [math.hypot(*values[at - at % width : at - at % width + width]) for at in range(len(values))]
        pairs = zip(values, array("d", doubled(code, got)), own, strict=True)
        return 0.0 if all(self._near(a, b, _scale(scale, size), code) for a, b, size in pairs) else math.inf

    def _scalar(self, want: Node, got: Node, where: str, depth: int) -> None:
        code = FORMATS.get(want[1].lstrip("<=|"))
        if want[1] != got[1]:
            raise Differs(f"{where} is a numpy {got[1]} in place of a {want[1]}")
        if want[2] == got[2]:
            return
        one, other = (array("d", doubled(code, node[2])) if code else None for node in (want, got))
        if one is None or other is None or not all(map(lambda a, b: self._near(a, b, 0, code or "d"), one, other)):
            raise Differs(f"{where} is another number")

    def items(self, want: Items, got: Items, where: str, depth: int) -> None:
        """Differs where the items of two sequences do."""
        if want[1] != got[1]:
            raise Differs(f"{where} has {got[1]} items in place of {want[1]}")
        if want[0] != got[0] or want[0] == "x":
            for at, (one, other) in enumerate(zip(expanded(want), expanded(got), strict=True)):
                self._node(one, other, f"{where}[{at}]", depth)
        elif want[0] == "f":
            self._numbers("d", want[2], got[2], where)
        elif want[0] == "r" and want[2] == got[2] and len(want[3]) == len(got[3]):
            for column, (one, other) in enumerate(zip(want[3], got[3], strict=True)):
                self.items(one, other, f"{where}[:][{column}]", depth)
        elif want[0] == "v" and want[2:4] == got[2:4]:
            self.items(want[4], got[4], f"{where}[:]", depth)
        elif want != got:
            raise Differs(_first(want, got, where))


def _first(want: Items, got: Items, where: str) -> str:
    pairs = zip(expanded(want), expanded(got), strict=True)
    at, one, other = next((at, one, other) for at, (one, other) in enumerate(pairs) if one != other)
    return f"{where}[{at}] is {_told(other)} in place of {_told(one)}"


def _scale(scale: float, own: float) -> float:
    """The scale of an element of this size among others."""
    return min(scale, max(LEAST_SCALE, OWN_SCALE * own))


def _marked(node: Node) -> tuple[set[str], Node]:
    """The marks in front of a node, and the node."""
    marks = set()
    while node[0] in MARKS:
        marks.add(node[0])
        node = node[1]
    return marks, node


def _named(reader: Reader, node: Node) -> Node:
    return reader.named(node[1]) if node[0] == "R" else node


def _in_order(node: Node) -> bytes:
    """The elements in the order of C, so that layouts are compared by what a caller reads."""
    _, flags, _, shape, data = node
    count = math.prod(shape)
    if not flags & 2 or len(shape) < 2 or not count:
        return bytes(data)
    width = len(data) // count
    if unit := _UNITS.get(width):
        return b"".join(_rows(memoryview(data).cast(unit), shape))
    columns, order = memoryview(data), [0]
    strides = [width * math.prod(shape[:axis]) for axis in range(len(shape))]
    for axis in range(len(shape)):
        order = [at + step * strides[axis] for at in order for step in range(shape[axis])]
    return b"".join(columns[at : at + width] for at in order)


def _rows(columns: memoryview, shape: tuple[int, ...]) -> Iterator[bytes]:
    """The innermost rows in the order of C of what lies in that of Fortran: a piece for each, not for each element."""
    if len(shape) == 1:
        yield columns.tobytes()
        return
    for first in range(shape[0]):
        yield from _rows(columns[first :: shape[0]], shape[1:])


def doubled(code: str, data: bytes) -> bytes:
    """Real numbers of a format of struct as doubles."""
    if code == "d":
        return data
    values = array("f", data) if code == "f" else (one for (one,) in struct.iter_unpack("<e", data))
    return array("d", values).tobytes()


def _told(node: Node) -> str:
    """A node in a few words."""
    letter = node[0]
    if letter in "iIfcsyeVU":
        shown = repr(node[-1])
        return f"{_WORDS[letter]} {shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}"
    if letter == "!":
        return f"the exception {node[1]}"
    if letter in "OQKk":
        return f"{_WORDS[letter]} {node[2] if letter != 'k' else node[1]}"
    if letter == "G":
        return f"numpy scalar {node[1]}"
    return str(_WORDS.get(letter, letter))


Rule = Callable[[Comparison, Node, Node, str, int], None]
_RULES: dict[str, Rule] = {
    "f": Comparison._real,
    "c": Comparison._complex,
    **dict.fromkeys("ltdgKoz", Comparison._listed),
    "O": Comparison._instance,
    "Q": Comparison._instance,
    "S": Comparison._unordered,
    "Z": Comparison._unordered,
    "A": Comparison._array,
    "G": Comparison._scalar,
    "k": Comparison._parts,
    "P": Comparison._sparse,
    "!": lambda self, want, got, where, depth: self._same(want[:2], got[:2], where, depth),
    "E": lambda self, want, got, where, depth: self._same(want[:2], got[:2], where, depth),
}


def is_raised(node: Node) -> bool:
    """Whether a call ended in an exception."""
    return bool(node[0] == "!")


def told(node: Any) -> str:
    """A value in a few words, for messages."""
    return _told(_marked(node)[1])
