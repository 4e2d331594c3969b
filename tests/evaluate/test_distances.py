"""The distance of two arrays, by which outputs of functions are compared."""

from __future__ import annotations

import array
import math
import random
import struct

import pytest

from maxcode.evaluate.function.comparing import distance


@pytest.mark.parametrize("ctype", ["double", "float", "int", "long"])
def test_distances_of_arrays_are_those_that_python_computes(ctype: str) -> None:
    code = {"double": "d", "float": "f", "int": "i", "long": "l"}[ctype]
    draw = random.Random(5)
    want = array.array(code, [draw.randint(-1000, 1000) for _ in range(1001)])
    have = array.array(code, [value + draw.randint(-2, 2) for value in want])
    zeros = array.array(code, [0] * 1001)
    assert distance(ctype, want.tobytes(), have.tobytes()) == pytest.approx(math.dist(want, have), rel=1e-12)
    assert distance(ctype, want.tobytes(), None) == pytest.approx(math.dist(want, zeros), rel=1e-12)
    assert distance(ctype, want.tobytes(), want.tobytes()) == 0
    assert distance(ctype, b"", b"") == 0


@pytest.mark.parametrize(("value", "found"), [(1e300, 1e300), (1e-300, 1e-300), (5e-324, 5e-324), (0.0, 0.0)])
def test_distances_neither_overflow_nor_vanish(value: float, found: float) -> None:
    assert distance("double", struct.pack("3d", 0, value, 0), None) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_distance_to_what_is_no_number_is_none_either(value: float) -> None:
    zeros = struct.pack("3d", 0, 0, 0)
    assert not math.isfinite(distance("double", zeros, struct.pack("3d", 0, value, 0)))
    assert not math.isfinite(distance("double", struct.pack("3d", value, 0, 1e300), None))


def test_arrays_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="8 and 16 bytes"):
        distance("double", bytes(8), bytes(16))
