"""How far apart two arrays are, computed by a small C library of this package in this process (``compare.c``).

A pass over large arrays would otherwise wait for Python to look at every number, and the timing lane with it.  The
library is trusted like the shim and comes from the same place; it reads what a program wrote as numbers, no more.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from maxcode.errors import MachineError
from maxcode.sandbox.toolchain import cache_root, own_library

LIBRARY = Path(__file__).with_name("compare.c")
TINY = {"double": 1e-290, "float": 1e-35}  # below it numbers are flushed to zero, or are not normal


def distance(ctype: str, expected: bytes, got: bytes | None) -> float:
    """The Euclidean norm of ``got - expected``, arrays of ``ctype`` of the same size; of ``expected`` alone where
    ``got`` is None.  NaN or infinite where a number is.  Other threads run meanwhile."""
    if got is not None and len(got) != len(expected):
        raise ValueError(f"arrays of {len(expected)} and {len(got)} bytes cannot be compared")
    function = _library()[f"distance_{ctype}"]
    function.restype = ctypes.c_double
    function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    return float(function(expected, got, len(expected) // _WIDTHS[ctype]))


def worst(ctype: str, exact: bytes, got: bytes, scale: float) -> float:
    """The largest ``|got - exact| / (scale + |exact|)``, where ``exact`` are doubles and ``got`` is of ``ctype``; NaN
    or infinite where an element of ``got`` is.  Other threads run meanwhile."""
    count = len(exact) // _WIDTHS["double"]
    if len(got) != count * _WIDTHS[ctype]:
        raise ValueError(f"{count} numbers cannot be compared with {len(got)} bytes of {ctype}")
    function = _library()[f"worst_{ctype}"]
    function.restype = ctypes.c_double
    function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_double)
    return float(function(exact, got, count, scale))


def beyond(ctype: str, exact: bytes, got: bytes, scale: float, bound: float) -> int:
    """The elements whose error, as ``worst`` has it, is larger than a bound."""
    count = len(exact) // _WIDTHS["double"]
    if len(got) != count * _WIDTHS[ctype]:
        raise ValueError(f"{count} numbers cannot be compared with {len(got)} bytes of {ctype}")
    function = _library()[f"beyond_{ctype}"]
    function.restype = ctypes.c_size_t
    arrays = (ctypes.c_char_p(exact), ctypes.c_char_p(got))
    return int(function(*arrays, ctypes.c_size_t(count), ctypes.c_double(scale), ctypes.c_double(bound)))


def beside(ctype: str, exact: bytes, got: bytes, width: int, rule: tuple[float, float, float]) -> float:
    """As ``worst``, where the scale is ``rule[0]``, but at most the larger of ``rule[1]`` and ``rule[2]`` times the own
    size of an element, or of ``width`` elements (1 or 2) in a row together."""
    count = len(exact) // _WIDTHS["double"]
    if len(got) != count * _WIDTHS[ctype] or count % width:
        raise ValueError(f"{count} numbers cannot be compared with {len(got)} bytes of {ctype}")
    function = _library()[f"beside_{ctype}"]
    function.restype = ctypes.c_double
    sizes = (ctypes.c_size_t(count), ctypes.c_size_t(width))
    return float(function(ctypes.c_char_p(exact), ctypes.c_char_p(got), *sizes, (ctypes.c_double * 3)(*rule)))


def lost(ctype: str, exact: bytes, reference: bytes, got: bytes) -> int:
    """How many elements ``got`` has wrong by half of their own size and more, and ``reference`` right; ``exact`` are
    doubles.  Zeros, and numbers that may be flushed to zero, are not counted."""
    count = len(exact) // _WIDTHS["double"]
    if any(len(one) != count * _WIDTHS[ctype] for one in (reference, got)):
        raise ValueError(f"{count} numbers cannot be compared with other arrays")
    function = _library()[f"lost_{ctype}"]
    function.restype = ctypes.c_size_t
    return int(function(exact, reference, got, ctypes.c_size_t(count), ctypes.c_double(TINY[ctype])))


def unequal(ctype: str, exact: bytes, reference: bytes, got: bytes) -> int:
    """How many whole numbers of ``got`` are not those of ``reference``, where these are ``exact`` (doubles)."""
    count = len(exact) // _WIDTHS["double"]
    if any(len(one) != count * _WIDTHS[ctype] for one in (reference, got)):
        raise ValueError(f"{count} numbers cannot be compared with other arrays")
    function = _library()[f"unequal_{ctype}"]
    function.restype = ctypes.c_size_t
    return int(function(exact, reference, got, ctypes.c_size_t(count)))


def odd_element(
    ctype: str, want: bytes, got: bytes, near: Sequence[bytes], rule: tuple[float, float, float]
) -> tuple[int, float, float] | None:
    """The first element of ``got`` that is further from ``want`` than ``rule`` allows (``compare.c``), with both
    values; None where there is none."""
    width, count = _WIDTHS[ctype], len(want) // _WIDTHS[ctype]
    if any(len(one) != len(want) for one in (got, *near)):
        raise ValueError(f"arrays of {len(want)} bytes cannot be compared with others")
    function = _library()[f"odd_{ctype}"]
    function.restype = ctypes.c_long
    beside = (ctypes.c_char_p * max(1, len(near)))(*near)
    sizes = (ctypes.c_size_t(len(near)), ctypes.c_size_t(count))
    at = int(function(ctypes.c_char_p(want), ctypes.c_char_p(got), beside, *sizes, (ctypes.c_double * 3)(*rule)))
    if at < 0:
        return None
    code = "d" if ctype == "double" else "f"
    return at, struct.unpack_from(code, want, at * width)[0], struct.unpack_from(code, got, at * width)[0]


_SORTED_AT_MOST = 8 << 20  # bytes
_ORDER = " (the numbers are the same in another order: among equal ones the original's order counts)"


def first_difference(ctype: str, want: bytes, have: bytes) -> str:
    """The first whole number that is not the same, in words; there must be one."""
    code = "i" if ctype == "int" else "l"
    values = zip(struct.iter_unpack(code, want), struct.iter_unpack(code, have), strict=True)
    at, one, other = next((at, one, other) for at, ((one,), (other,)) in enumerate(values) if one != other)
    is_order = len(want) <= _SORTED_AT_MOST and sorted(struct.iter_unpack(code, want)) == sorted(
        struct.iter_unpack(code, have)
    )
    return f"element {at} is {other} in place of {one}{_ORDER if is_order else ''}"


def nudge(ctype: str, whole: ctypes.Array[ctypes.c_char], part: slice, share: float, seed: int) -> None:
    """Make the numbers in a part of ``whole`` smaller by random shares of them, ``share`` at most."""
    function = _library()[f"nudge_{ctype}"]
    function.restype = None
    count = (part.stop - part.start) // _WIDTHS[ctype]
    first = ctypes.byref(whole, part.start)
    function(first, ctypes.c_size_t(count), ctypes.c_double(share), ctypes.c_uint64(seed | 1))


_WIDTHS = {
    "double": ctypes.sizeof(ctypes.c_double),
    "float": ctypes.sizeof(ctypes.c_float),
    "int": ctypes.sizeof(ctypes.c_int),
    "long": ctypes.sizeof(ctypes.c_long),
}


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    path = own_library(LIBRARY, cache_root())
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise MachineError(f"cannot load {path}, which maxcode built: {error}; set MAXCODE_CACHE elsewhere") from error
