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
ITERATORS = frozenset(
    (
        *map(type, _EXAMPLES),
        *(one for one in vars(itertools).values() if isinstance(one, type) and hasattr(one, "__next__")),
    )
)


class Refused(Exception):
    """A value that cannot be compared as a caller would see it."""


class Encoder:
    """Encodes values one after the other; an object that was there before is named, not written again.

    ``given``: id -> number of each object of the arguments; ``spans``: the memory of their arrays.
    """

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self.count = 0
        self.kept: list[Any] = []  # an id is good for as long as its object lives
        self.begin({}, [])

    def begin(self, given: dict[int, int], spans: list[tuple[int, int]]) -> None:
        """A new message."""
        self.given, self.spans = given, spans
        self.out = bytearray()
        self.parts: list[Any] = []

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
        if id(value) in self.given:
            self.out += b"M"
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
            self.out += b"B"
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
        self.out += b"O"
        self.names(kind, names)
        self.items([object.__getattribute__(value, name) for name in names])

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
        kind = type(error)
        self.out += letter
        self.text(kind.__qualname__)
        self.text(str(error)[:500])

    def ndarray(self, numpy: Any, value: Any) -> None:
        dtype, flags = value.dtype, value.flags
        shares = value.size and self.spans and id(value) not in self.given and self.is_shared(numpy, value)
        if shares:
            self.out += b"M"
        if dtype.hasobject:
            self.out += b"o"
            self.items(list(value.shape))
            self.items(value.ravel().tolist())
            return
        order = 0 if flags.c_contiguous else FORTRAN if flags.f_contiguous else STRIDED
        repeats = any(stride == 0 and length > 1 for stride, length in zip(value.strides, value.shape, strict=True))
        self.out += b"A" + bytes([order | WRITEABLE * flags.writeable | OVERLAPPING * repeats])
        self.text(dtype.str if dtype.names is None else "=" + repr(dtype.descr))
        self.out += PART.pack(value.ndim) + struct.pack(f"<{value.ndim}Q", *value.shape)
        if value.nbytes <= SMALL or len(self.parts) >= MOST_PARTS:
            self.raw(value.tobytes("F" if order == FORTRAN else "C"))
            return
        whole = value.T if order == FORTRAN else numpy.ascontiguousarray(value)
        self.part(whole.__array_interface__["data"][0], value.nbytes, whole)

    def is_shared(self, numpy: Any, value: Any) -> bool:
        low, high = (
            numpy.lib.array_utils.byte_bounds(value)
            if hasattr(numpy.lib, "array_utils")
            else (numpy.byte_bounds(value))
        )
        return any(low < end and start < high for start, end in self.spans)

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
        if len(set(own)) < len(own) or not (self.known.keys().isdisjoint(own) and self.given.keys().isdisjoint(own)):
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


class Decoder:
    """Reads values from the parts of a message; ``objects``: those that may be named again, in order."""

    def __init__(self, parts: list[memoryview]) -> None:
        self.parts = parts
        self.data = parts[0]
        self.at = 0
        self.objects: list[Any] = []

    def node(self) -> Any:
        letter = self.data[self.at]
        self.at += 1
        return _READERS[letter](self)

    def number(self) -> int:
        self.at += 8
        return int(PART.unpack_from(self.data, self.at - 8)[0])

    def take(self, size: int) -> bytes:
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def text(self) -> str:
        return self.take(self.number()).decode("utf-8", "surrogatepass")

    def raw(self) -> Any:
        """Bytes: a copy of what lies in the skeleton, the memory itself of a part."""
        kind = self.data[self.at]
        self.at += 1
        number = self.number()
        return self.parts[number] if kind else bytearray(self.take(number))

    def items(self) -> list[Any]:
        count = self.number()
        if not count:
            return []
        letter = self.data[self.at]
        self.at += 1
        if letter == 120:  # x
            return [self.node() for _ in range(count)]
        return _ITEMS[letter](self, count)

    def numbers(self, code: str) -> list[Any]:
        found: array[Any] = array(code)
        found.frombytes(self.raw())
        return found.tolist()

    def texts(self, count: int) -> list[str]:
        lengths = self.numbers("q")
        whole = bytes(self.raw()).decode("utf-8", "surrogatepass")
        ends = list(itertools.accumulate(lengths))
        return [whole[end - length : end] for end, length in zip(ends, lengths)]  # noqa: B905

    def rows(self, count: int) -> list[Any]:
        kind = self.take(1)
        width = self.number()
        base = self.reserve(kind, count)
        columns = [self.items() for _ in range(width)]
        return self.filled(kind, base, zip(*columns))  # noqa: B905

    def ragged(self, count: int) -> list[Any]:
        kind = self.take(1)
        lengths = self.numbers("q")
        base = self.reserve(kind, count)
        flat = iter(self.items())
        return self.filled(kind, base, (itertools.islice(flat, length) for length in lengths))

    def reserve(self, kind: bytes, count: int) -> int:
        base = len(self.objects)
        if kind == b"l":
            self.objects.extend([None] * count)
        return base

    def filled(self, kind: bytes, base: int, rows: Any) -> list[Any]:
        if kind == b"t":
            return list(map(tuple, rows))
        found = list(map(list, rows))
        self.objects[base : base + len(found)] = found
        return found

    def kept(self, value: Any) -> Any:
        self.objects.append(value)
        return value

    def list(self) -> list[Any]:
        found: list[Any] = self.kept([])
        found.extend(self.items())
        return found

    def dict(self) -> dict[Any, Any]:
        found: dict[Any, Any] = self.kept({})
        found.update(zip(self.items(), self.items()))  # noqa: B905
        return found

    def hashed(self, kind: Any) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        self.objects[place] = found = kind(self.items())
        return found

    def ndarray(self) -> Any:
        import numpy

        self.objects.append(None)
        place = len(self.objects) - 1
        flags = self.data[self.at]
        self.at += 1
        said = self.text()
        dtype = numpy.dtype(literal(said[1:]) if said.startswith("=") else said)
        shape = [self.number() for _ in range(self.number())]
        data = self.raw()
        order: Any = "F" if flags & FORTRAN else "C"
        found = numpy.ndarray(shape, dtype, data, order=order) if len(data) else numpy.empty(shape, dtype, order)
        if not flags & WRITEABLE:
            found.flags.writeable = False
        self.objects[place] = found
        return found

    def objects_array(self) -> Any:
        import numpy

        self.objects.append(None)
        place = len(self.objects) - 1
        shape = self.items()
        found: Any = numpy.empty(shape, dtype=object)
        found.reshape(-1)[:] = self.items()
        self.objects[place] = found
        return found

    def scalar(self) -> Any:
        import numpy

        self.objects.append(None)
        dtype = numpy.dtype(self.text())
        self.objects[-1] = found = numpy.frombuffer(bytes(self.raw()), dtype)[0]
        return found

    def subclass(self) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        name = self.text()
        found: Any
        if name == "deque":
            found = collections.deque(self.items())
        else:
            keys, values = self.items(), self.items()
            found = collections.defaultdict() if name == "defaultdict" else getattr(collections, name)()
            for key, one in zip(keys, values, strict=True):
                found[key] = one
        most = self.node()
        self.objects[place] = found = collections.deque(found, most) if name == "deque" else found
        return found

    def of_class(self) -> Any:
        module, name = self.text(), self.text()
        found: Any = sys.modules.get(module) or __import__(module, fromlist=["_"])
        for word in name.split("."):
            found = getattr(found, word)
        return found

    def instance(self) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        kind = self.of_class()
        self.objects[place] = found = object.__new__(kind)
        for name, value in zip(self.items(), self.items(), strict=True):
            object.__setattr__(found, name, value)
        return found

    def named_tuple(self) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        kind = self.of_class()
        self.items()
        self.objects[place] = found = kind(*self.items())
        return found

    def member(self) -> Any:
        self.objects.append(None)
        self.objects[-1] = found = self.of_class()[self.text()]
        return found

    def sparse(self) -> Any:
        import scipy.sparse

        place = len(self.objects)
        self.objects.append(None)
        name, layout, shape = self.text(), self.text(), tuple(self.items())
        parts = [self.node() for _ in SPARSE[layout]]
        kind = getattr(scipy.sparse, name)
        made = getattr(scipy.sparse, layout + ("_array" if name.endswith("_array") else "_matrix"))
        given = (parts[0], tuple(parts[1:])) if layout == "coo" else tuple(parts)
        self.objects[place] = found = kind(made(given, shape=shape))
        return found

    def shared(self) -> Any:
        return self.node()

    def valued(self) -> Any:
        self.objects.append(None)
        self.objects[-1] = found = TEXTS[BY_NAME[self.text()]][1](self.text())
        return found

    def raised(self) -> Any:
        self.objects.append(None)
        return RuntimeError(f"{self.text()}: {self.text()}")


def literal(text: str) -> Any:
    import ast

    return ast.literal_eval(text)


def _unpacked(code: struct.Struct) -> Callable[[Decoder], Any]:
    def read(one: Decoder) -> Any:
        return code.unpack(one.take(code.size))[0]

    return read


_READERS: dict[int, Callable[[Decoder], Any]] = {
    ord(letter): reader
    for letter, reader in {
        "N": lambda one: None,
        "T": lambda one: True,
        "F": lambda one: False,
        ".": lambda one: ...,
        "i": _unpacked(NUMBER),
        "I": lambda one: int.from_bytes(one.take(one.number()), "little", signed=True),
        "f": _unpacked(REAL),
        "c": lambda one: complex(*COMPLEX.unpack(one.take(16))),
        "s": Decoder.text,
        "y": lambda one: one.take(one.number()),
        "B": lambda one: one.kept(bytearray(one.raw())),
        "l": Decoder.list,
        "t": lambda one: tuple(one.items()),
        "d": Decoder.dict,
        "S": lambda one: one.hashed(set),
        "Z": lambda one: one.hashed(frozenset),
        "g": lambda one: iter(one.kept(one.items())),
        "A": Decoder.ndarray,
        "o": Decoder.objects_array,
        "G": Decoder.scalar,
        "k": Decoder.subclass,
        "O": Decoder.instance,
        "K": Decoder.named_tuple,
        "e": Decoder.member,
        "P": Decoder.sparse,
        "V": Decoder.valued,
        "z": lambda one: one.hashed(lambda given: range(*given)),
        "R": lambda one: one.objects[one.number()],
        "M": Decoder.shared,
        "E": Decoder.raised,
        "!": Decoder.raised,
    }.items()
}
_ITEMS: dict[int, Callable[[Decoder, int], list[Any]]] = {
    ord("q"): lambda one, _: one.numbers("q"),
    ord("f"): lambda one, _: one.numbers("d"),
    ord("b"): lambda one, _: [bool(x) for x in one.raw()],
    ord("s"): Decoder.texts,
    ord("n"): lambda _, count: [None] * count,
    ord("r"): Decoder.rows,
    ord("v"): Decoder.ragged,
}


def whole(encoder: Encoder) -> bytes:
    """A message in one piece: the number of parts, their sizes, then each, 64-aligned (``parts_of`` reads it)."""
    import ctypes

    parts = [bytes(encoder.out), *(ctypes.string_at(address, size) for address, size, _ in encoder.parts)]
    head = struct.pack(f"<{1 + len(parts)}Q", len(parts), *map(len, parts))
    return b"".join(one.ljust(-(-len(one) // ALIGNED) * ALIGNED, b"\0") for one in (head, *parts))


def parts_of(memory: memoryview) -> list[memoryview]:
    """The parts of a message in one piece, as views."""
    count = PART.unpack_from(memory)[0]
    sizes = struct.unpack_from(f"<{count}Q", memory, 8)
    at, found = -(-8 * (1 + count) // ALIGNED) * ALIGNED, []
    for size in sizes:
        found.append(memory[at : at + size])
        at += -(-size // ALIGNED) * ALIGNED
    return found
