"""How far apart two arrays are, computed by a small C library of this package in this process (``compare.c``).

A pass over large arrays would otherwise wait for Python to look at every number, and the timing lane with it.  The
library is trusted like the shim and comes from the same place; it reads what a program wrote as numbers, no more.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

from maxcode.errors import MachineError
from maxcode.sandbox.toolchain import cache_root, own_library

LIBRARY = Path(__file__).with_name("compare.c")


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
