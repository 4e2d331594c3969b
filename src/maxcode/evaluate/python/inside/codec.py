"""Python values as bytes and back, inside the sandbox; never imported by maxcode (``python/nodes.py`` reads them too).

A message is a list of parts.  Part 0 is the skeleton: nodes, each a letter and what belongs to it; the others are raw
arrays, 64-aligned, that the skeleton names by number.  Nothing is pickled, so nothing that is read runs anything.  A
list whose items have one type is one array, and a list of lists is the arrays of its columns, so that handing values
over costs little beside making them.  Types are exact: an object of a class of the program's own is a dataclass, a
named tuple or an enumeration, or it is refused, because it could do its work when it is looked at.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
import struct
import sys
import types
import uuid
from array import array
from collections.abc import Callable
from typing import Any

from codec_memory import Memory, is_overlapping, lies_in  # type: ignore[import-not-found,unused-ignore]

PART, NUMBER, REAL, COMPLEX = struct.Struct("<Q"), struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<dd")
SMALL = 512  # bytes; shorter arrays lie in the skeleton
MOST_PARTS = 250
ALIGNED = 64
WRITEABLE, FORTRAN, STRIDED, OVERLAPPING = 1, 2, 4, 8
SPARSE = {
    "csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"), "dia": ("data", "offsets"),
}  # fmt: skip
TEXTS: dict[type, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    decimal.Decimal: (str, decimal.Decimal),
    fractions.Fraction: (str, fractions.Fraction),
    datetime.date: (datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.datetime: (datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    datetime.time: (datetime.time.isoformat, datetime.time.fromisoformat),
    uuid.UUID: (str, uuid.UUID),
}
BY_NAME = {kind.__name__: kind for kind in TEXTS}
DICTS = (collections.OrderedDict, collections.Counter, collections.defaultdict)
_EXAMPLES: list[Any] = [
    (x for x in [0]), map(abs, [0]), filter(None, [0]), zip([0]), enumerate([0]), reversed([0]), iter([0]), iter((0,)),
    iter({0: 0}), iter({0}), iter(range(1)), iter({0: 0}.values()), iter({0: 0}.items()), iter("0"), iter(b"0"),
    iter(range(1 << 70)),
]  # fmt: skip
ITERATORS = frozenset(map(type, _EXAMPLES)) | {
    one for one in vars(itertools).values() if isinstance(one, type) and hasattr(one, "__next__")
}


class Refused(Exception):
    """A value that cannot be compared as a caller would see it."""


class Encoder:
    """Encodes values one after the other; an object that was there before is named, not written again.

    ``given``: id -> number of each object of the arguments; ``spans``: the memory of their arrays.
    ``copies``: whether arrays are copied, because more calls come before somebody reads them.
    """

    def __init__(self, copies: bool = False) -> None:
        self.copies = copies
        self.known: dict[int, int] = {}
        self.count, self.memory = 0, Memory()
        self.earlier: set[int] = set()  # ids of objects of earlier results (``codec_memory.py``)
        self.kept: list[Any] = []  # an id is good for as long as its object lives
        self.begin({}, [])

    def begin(self, given: dict[int, int], spans: list[tuple[int, int]]) -> None:
        """A new message."""
        self.given, self.spans = given, spans
        self.out, self.parts = bytearray(), list[Any]()

    def forget(self) -> None:
        """What was there before is no longer known."""
        self.known.clear()
        self.memory = Memory()

    def node(self, value: Any) -> None:
        kind = type(value)
        write = _SCALARS.get(kind)
        if write is not None:
            write(self.out, value)
            return
        if kind is tuple:
            self.out += b"t"
            self.items(value)
        elif not self.is_known(value):
            self.container(kind, value)

    def is_known(self, value: Any) -> bool:
        """Whether it was written before; else it gets its number, and a mark if it is an object of the arguments."""
        number = self.known.get(id(value))
        if number is not None:
            self.out += b"R" + PART.pack(number)
            return True
        self.out += b"M" if id(value) in self.given else b"W" if id(value) in self.earlier else b""
        self.known[id(value)] = self.count
        self.count += 1
        return False

    def container(self, kind: type, value: Any) -> None:
        if kind is list:
            self.out += b"l"
            self.items(value)
        elif kind is dict:
            self.out += b"d"
            self.pairs(value)
        elif kind is set or kind is frozenset:
            self.out += b"S" if kind is set else b"Z"
            self.items(list(value))
        elif kind is bytearray:
            self.out += b"WB" if self.memory.add_bytes(value) else b"B"
            self.raw(value)
        elif kind in ITERATORS:
            self.out += b"g"
            self.kept.append(list(value))
            self.items(self.kept[-1])
        else:
            self.rarer(kind, value)

    def pairs(self, value: Any) -> None:
        self.items(list(value))
        self.items(list(value.values()))

    def rarer(self, kind: type, value: Any) -> None:
        numpy = sys.modules.get("numpy")
        if numpy is not None and kind is numpy.ndarray:
            self.ndarray(numpy, value)
        elif numpy is not None and issubclass(kind, numpy.generic):
            if kind.__module__ != "numpy":
                raise Refused(f"a {kind.__name__} of its own")
            self.out += b"G"
            self.text(value.dtype.str)
            self.raw(value.tobytes())
        elif kind in DICTS or kind is collections.deque:
            self.out += b"k"
            self.text(kind.__name__)
            self.items(list(value)) if kind is collections.deque else self.pairs(value)
            self.node(value.maxlen if kind is collections.deque else None)
        elif kind in TEXTS:
            self.out += b"V"
            self.text(kind.__name__)
            self.text(TEXTS[kind][0](value))
        elif kind is range:
            self.out += b"z"
            self.items([value.start, value.stop, value.step])
        elif issubclass(kind, enum.Enum):
            self.out += b"e"
            self.text(kind.__module__)
            self.text(kind.__qualname__)
            self.text(value._name_)
        elif issubclass(kind, tuple) and kind.__bases__ == (tuple,) and "_fields" in kind.__dict__:
            self.out += b"K"
            self.names(kind, kind.__dict__["_fields"])
            self.items(list(tuple.__iter__(value)))
        elif dataclasses.is_dataclass(kind):
            self.dataclass(kind, value)
        elif kind.__module__.startswith("scipy.sparse"):
            self.sparse(value)
        elif isinstance(value, BaseException):
            self.raised(value, b"E")
        else:
            raise Refused(f"a {kind.__module__}.{kind.__qualname__}")

    def names(self, kind: type, fields: Any) -> None:
        self.text(kind.__module__)
        self.text(kind.__qualname__)
        self.items(list(fields))

    def dataclass(self, kind: type, value: Any) -> None:
        names = [one.name for one in dataclasses.fields(kind)]
        held = getattr(value, "__dict__", {})
        for name in names:
            slot = next((one.__dict__[name] for one in kind.__mro__ if name in one.__dict__), None)
            if type(slot) is not types.MemberDescriptorType and name not in held:
                raise Refused(f"a {kind.__qualname__} whose {name} is computed")
        how = kind.__dict__.get("__dataclass_params__")
        self.out += b"Q" if how is not None and how.frozen and how.eq else b"O"
        self.names(kind, names)
        self.items([object.__getattribute__(value, name) for name in names])
        others = beyond_fields(kind, value, names)
        self.items(list(others))
        self.out += PART.pack(len(others))
        for one in others.values():
            self.node_or_kind(one)

    def node_or_kind(self, value: Any) -> None:
        """A node; of a value that cannot be compared its class alone."""
        size, parts, objects, count = len(self.out), len(self.parts), len(self.known), self.count
        try:
            self.node(value)
        except Refused:
            del self.out[size:], self.parts[parts:]
            while len(self.known) > objects:
                self.known.popitem()
            self.count = count
            self.out += b"U"
            self.text(f"{type(value).__module__}.{type(value).__qualname__}")

    def sparse(self, value: Any) -> None:
        kept = value if value.format in SPARSE else value.tocsr()
        self.kept.append(kept)
        self.out += b"P"
        self.text(type(value).__name__)
        self.text(kept.format)
        self.items(list(kept.shape))
        for name in SPARSE[kept.format]:
            self.node(getattr(kept, name))

    def raised(self, error: BaseException, letter: bytes = b"!") -> None:
        """An exception: one that a call ended in, or an object."""
        self.out += letter
        self.text(type(error).__qualname__)
        self.text(str(error)[:500])

    def ndarray(self, numpy: Any, value: Any) -> None:
        dtype, flags = value.dtype, value.flags
        shares = value.size and self.spans and id(value) not in self.given and lies_in(numpy, value, self.spans)
        if shares:
            self.out += b"M"
        if value.size and self.memory.add(numpy, value):
            self.out += b"W"
        if dtype.hasobject:
            self.out += b"o"
            self.items(list(value.shape))
            self.items(value.ravel().tolist())
            return
        order = 0 if flags.c_contiguous else FORTRAN if flags.f_contiguous else STRIDED
        overlaps = order == STRIDED and is_overlapping(numpy, value)
        self.out += b"A" + bytes([order | WRITEABLE * flags.writeable | OVERLAPPING * overlaps])
        self.text(dtype.str if dtype.names is None else "=" + repr(dtype.descr))
        self.out += PART.pack(value.ndim) + struct.pack(f"<{value.ndim}Q", *value.shape)
        if value.nbytes <= SMALL or len(self.parts) >= MOST_PARTS:
            self.raw(value.tobytes("F" if order == FORTRAN else "C"))
            return
        if self.copies:
            whole = value.copy("F" if order == FORTRAN else "C")
        else:
            whole = value.T if order == FORTRAN else numpy.ascontiguousarray(value)
        self.part(whole.__array_interface__["data"][0], value.nbytes, whole)

    # ---------------------------------------------------------------------------------------------------- sequences

    def items(self, values: Any) -> None:
        """The items of a sequence: its length, and how they are laid out."""
        count = len(values)
        self.out += PART.pack(count)
        if not count:
            return
        kinds = set(map(type, values))
        layout = _LAYOUTS.get(next(iter(kinds))) if len(kinds) == 1 else None
        if layout is None or not layout(self, values):
            self.out += b"x"
            for one in values:
                self.node(one)

    def integers(self, values: Any) -> bool:
        try:
            packed = array("q", values)
        except OverflowError:
            return False
        return self.packed(b"q", packed)

    def reals(self, values: Any) -> bool:
        return self.packed(b"f", array("d", values))

    def truths(self, values: Any) -> bool:
        self.out += b"b"
        self.raw(bytes(values))
        return True

    def texts(self, values: Any) -> bool:
        self.out += b"s"
        self.packed(b"", array("q", map(len, values)))
        self.raw("".join(values).encode("utf-8", "surrogatepass"))
        return True

    def nothing(self, values: Any) -> bool:
        self.out += b"n"
        return True

    def tuples(self, values: Any) -> bool:
        return self.rows(values, b"t")

    def lists(self, values: Any) -> bool:
        own = list(map(id, values))
        if len(alone := set(own)) < len(own) or alone & self.earlier:
            return False
        if not (self.known.keys().isdisjoint(own) and self.given.keys().isdisjoint(own)):
            return False
        self.known.update(zip(own, range(self.count, self.count + len(own))))  # noqa: B905
        self.count += len(own)
        return self.rows(values, b"l")

    def rows(self, values: Any, kind: bytes) -> bool:
        lengths = list(map(len, values))
        width = lengths[0]
        if 0 < width <= 8 < len(values) and lengths.count(width) == len(lengths):
            self.out += b"r" + kind + PART.pack(width)
            for column in zip(*values):  # noqa: B905
                self.items(column)
        else:
            self.out += b"v" + kind
            self.packed(b"", array("q", lengths))
            self.items(list(itertools.chain.from_iterable(values)))
        return True

    def packed(self, letter: bytes, values: array[Any]) -> bool:
        self.out += letter
        address, count = values.buffer_info()
        if count * 8 <= SMALL or len(self.parts) >= MOST_PARTS:
            self.raw(values.tobytes())
        else:
            self.part(address, count * 8, values)
        return True

    def raw(self, data: Any) -> None:
        """Bytes in the skeleton itself."""
        self.out += b"\0" + PART.pack(len(data))
        self.out += data

    def part(self, address: int, size: int, kept: Any) -> None:
        self.parts.append((address, size, kept))
        self.out += b"\1" + PART.pack(len(self.parts))

    def text(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self.out += PART.pack(len(data)) + data


def beyond_fields(kind: type, value: Any, fields: list[str]) -> dict[str, Any]:
    """What an object of a dataclass holds beside its fields, such as an index that ``__post_init__`` makes."""
    held = getattr(value, "__dict__", {})
    found = {name: held[name] for name in held if type(name) is str and name not in fields}
    for one in kind.__mro__:
        slots = one.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            slot = one.__dict__.get(name)
            if type(slot) is types.MemberDescriptorType and name not in fields:
                try:
                    found.setdefault(name, slot.__get__(value))
                except AttributeError:  # nothing is there
                    continue
    return found


def _integer(out: bytearray, value: int) -> None:
    if -(1 << 63) <= value < 1 << 63:
        out += b"i" + NUMBER.pack(value)
        return
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    out += b"I" + PART.pack(len(data)) + data


def _text(out: bytearray, value: str) -> None:
    data = value.encode("utf-8", "surrogatepass")
    out += b"s" + PART.pack(len(data)) + data


def _bytes(out: bytearray, value: bytes) -> None:
    out += b"y" + PART.pack(len(value)) + value


_SCALARS: dict[type, Callable[[bytearray, Any], Any]] = {
    type(None): lambda out, _: out.append(78),
    bool: lambda out, value: out.append(84 if value else 70),
    int: _integer,
    float: lambda out, value: out.extend(b"f" + REAL.pack(value)),
    complex: lambda out, value: out.extend(b"c" + COMPLEX.pack(value.real, value.imag)),
    str: _text,
    bytes: _bytes,
    type(...): lambda out, _: out.append(46),
}
_LAYOUTS: dict[type, Callable[[Encoder, Any], bool]] = {
    int: Encoder.integers,
    float: Encoder.reals,
    bool: Encoder.truths,
    str: Encoder.texts,
    type(None): Encoder.nothing,
    tuple: Encoder.tuples,
    list: Encoder.lists,
}


def whole(encoder: Encoder) -> bytes:
    """A message in one piece: the number of parts, their sizes, then each, 64-aligned (``decoder.py`` reads it)."""
    import ctypes

    parts = [bytes(encoder.out), *(ctypes.string_at(address, size) for address, size, _ in encoder.parts)]
    head = struct.pack(f"<{1 + len(parts)}Q", len(parts), *map(len, parts))
    return b"".join(one.ljust(-(-len(one) // ALIGNED) * ALIGNED, b"\0") for one in (head, *parts))
