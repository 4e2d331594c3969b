"""Reads Python values from the bytes that ``codec.py`` writes, inside the sandbox; never imported by maxcode.

The bytes may be a candidate's, and be read in the process of the user's ``is_solution``.  So a name in them finds a
class of the kind that is written, or TypeError; no function is called that they name, no module is loaded but the
program's, and no array shows memory that nobody wrote.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import itertools
import math
import struct
import sys
import types
from array import array
from collections.abc import Callable
from typing import Any

from codec import (  # type: ignore[import-not-found,unused-ignore]
    ALIGNED,
    BY_NAME,
    COMPLEX,
    DICTS,
    FORTRAN,
    NUMBER,
    PART,
    REAL,
    SPARSE,
    TEXTS,
    WRITEABLE,
)

UNKNOWN = object()  # in place of a value of which only the class was written


def parts_of(memory: memoryview) -> list[memoryview]:
    """The parts of a message in one piece, as views."""
    count = PART.unpack_from(memory)[0]
    sizes = struct.unpack_from(f"<{count}Q", memory, 8)
    at, found = -(-8 * (1 + count) // ALIGNED) * ALIGNED, []
    for size in sizes:
        found.append(memory[at : at + size])
        at += -(-size // ALIGNED) * ALIGNED
    return found


class Decoder:
    """Reads values from the parts of a message; ``objects``: those that may be named again, in order.

    ``may_import``: of what a side gave, whether a class may come from a module of this name that is not loaded yet.
    """

    def __init__(self, parts: list[memoryview], may_import: Callable[[str], bool] | None = None) -> None:
        self.parts = parts
        self.may_import = may_import
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
        dtype = plain(numpy.dtype(literal(said[1:]) if said.startswith("=") else said))
        shape = [self.number() for _ in range(self.number())]
        data = self.raw()
        order: Any = "F" if flags & FORTRAN else "C"
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise TypeError(f"an array of {dtype} and shape {shape} in {len(data)} bytes")
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
        dtype = plain(numpy.dtype(self.text()))
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
            found = {kind.__name__: kind for kind in DICTS}[name]()
            for key, one in zip(keys, values, strict=True):
                found[key] = one
        most = self.node()
        self.objects[place] = found = collections.deque(found, most) if name == "deque" else found
        return found

    def of_class(self, fits: Callable[[Any], bool]) -> Any:
        module, name = self.text(), self.text()
        if self.may_import is not None and module not in sys.modules and not self.may_import(module):
            raise TypeError(f"{module} is neither loaded nor a module of the program")
        found: Any = sys.modules.get(module) or __import__(module, fromlist=["_"])
        for word in name.split("."):
            found = vars(found)[word]
        if not (isinstance(found, type) and fits(found)):
            raise TypeError(f"{module}.{name} is not the class of such a value")
        return found

    def instance(self) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        kind = self.of_class(dataclasses.is_dataclass)
        self.objects[place] = found = object.__new__(kind)
        fields = {one.name for one in dataclasses.fields(kind)}
        for name, value in zip(self.items(), self.items(), strict=True):
            object.__setattr__(found, name, value) if name in fields else self.give(found, name, value)
        others = self.items()
        for name, value in zip(others, [self.node() for _ in range(self.number())], strict=True):
            if value is not UNKNOWN:
                self.give(found, name, value)
        return found

    def give(self, owner: Any, name: str, value: Any) -> None:
        """What is no field, but for what the class works out when it is asked for: a side could give another value."""
        own = next((vars(one)[name] for one in type(owner).__mro__ if name in vars(one)), None)
        works = hasattr(type(own), "__get__") and type(own) is not types.MemberDescriptorType
        if self.may_import is not None and works:
            return
        try:
            object.__setattr__(owner, name, value)
        except AttributeError:  # the class of another side, which works it out or has no place for it
            return

    def named_tuple(self) -> Any:
        place = len(self.objects)
        self.objects.append(None)
        kind = self.of_class(lambda one: one.__bases__ == (tuple,) and "_fields" in vars(one))
        self.items()
        self.objects[place] = found = tuple.__new__(kind, self.items())
        return found

    def member(self) -> Any:
        self.objects.append(None)
        self.objects[-1] = found = self.of_class(lambda one: issubclass(one, enum.Enum))[self.text()]
        return found

    def sparse(self) -> Any:
        import scipy.sparse

        place = len(self.objects)
        self.objects.append(None)
        name, layout, shape = self.text(), self.text(), tuple(self.items())
        parts = [self.node() for _ in SPARSE[layout]]
        kind = vars(scipy.sparse)[name]
        if not issubclass(kind, (scipy.sparse.spmatrix, getattr(scipy.sparse, "sparray", scipy.sparse.spmatrix))):
            raise TypeError(f"scipy.sparse.{name} is not the class of a sparse array")
        made = getattr(scipy.sparse, layout + ("_array" if name.endswith("_array") else "_matrix"))
        given = (parts[0], tuple(parts[1:])) if layout == "coo" else tuple(parts)
        whole = made(given, shape=shape)
        if self.may_import is not None and layout in ("csr", "csc", "bsr"):
            whole.check_format(full_check=True)  # who reads it looks at no place outside of it
        self.objects[place] = found = kind(whole)
        return found

    def unknown(self) -> Any:
        self.text()
        return UNKNOWN

    def shared(self) -> Any:
        return self.node()

    def valued(self) -> Any:
        self.objects.append(None)
        self.objects[-1] = found = TEXTS[BY_NAME[self.text()]][1](self.text())
        return found

    def raised(self) -> Any:
        self.objects.append(None)
        return RuntimeError(f"{self.text()}: {self.text()}")


def plain(dtype: Any) -> Any:
    """A type of elements that are no references: bytes of a message must not be read as addresses."""
    if dtype.hasobject:
        raise TypeError(f"{dtype} holds references")
    return dtype


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
        "Q": Decoder.instance,
        "K": Decoder.named_tuple,
        "e": Decoder.member,
        "P": Decoder.sparse,
        "V": Decoder.valued,
        "z": lambda one: one.hashed(lambda given: range(*given)),
        "R": lambda one: one.objects[one.number()],
        "M": Decoder.shared,
        "W": Decoder.shared,
        "U": Decoder.unknown,
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
