"""What a result of a Python function holds that a user's ``is_solution`` does not refuse by itself."""

from __future__ import annotations

import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest

from maxcode.evaluate.python.nodes import Node, Reader, parts_of
from maxcode.evaluate.python.slipping import slipping, unrefused
from tests.evaluate.test_python_values import written

LARGE = "a number above 1e+150"


def node(value: Any) -> Node:
    return Reader().open(parts_of(memoryview(written(value)))).node()


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ([1.0, {"a": (math.nan,)}], {"NaN": 1}),
        ([[1.0] * 9, [math.nan] * 9], {"NaN": 9}),
        (np.array([1, math.nan], "f4"), {"NaN": 1}),
        (np.float64(math.nan), {"NaN": 1}),
        ([complex(0, math.nan)], {"NaN": 1}),
        (decimal.Decimal("-sNaN"), {"NaN": 1}),
        ([math.inf, -math.inf, 1.0], {"infinity": 2}),
        (np.array([[math.inf, 1.0], [2.0, math.nan]]), {"infinity": 1, "NaN": 1}),
        (np.array([1e300, 1.0]), {LARGE: 1}),
        (complex(1e308, 1e308), {LARGE: 1}),
        ([1, 10**200, 10**300], {LARGE: 2}),
        (fractions.Fraction(-(10**200)), {LARGE: 1}),
        (np.array([1.0, math.nan], np.longdouble), {"NaN or infinity": 1}),
        (np.array([1.0], ">f8"), {"values of the type >f8": 1}),
        (np.zeros(2, "i4, f8"), {"values of the type =[('f0', '<i4'), ('f1', '<f8')]": 1}),
        (["nan", " -Infinity ", b"NaN", bytearray(b"inf")], {"the word of NaN": 2, "the word of infinity": 2}),
        (["nan", "1e999"], {"the word of NaN": 1, "the word of infinity": 1}),
        (np.array(["nan", "2"]), {"the word of NaN": 1}),
        (np.array([b"-inf", b"2"]), {"the word of infinity": 1}),
        (np.array(["NaT", "2001-01-01"], "M8[D]"), {"NaT": 1}),
        (np.timedelta64("NaT", "s"), {"NaT": 1}),
        (np.array([1], ">m8[s]"), {"values of the type >m8[s]": 1}),
    ],
)
def test_what_no_comparison_refuses_is_found_and_counted(value: Any, held: dict[str, int]) -> None:
    assert unrefused(node(value)) == held


@pytest.mark.parametrize(
    "value",
    [
        np.array([1e100, -1.0, 0.0], np.longdouble),
        np.zeros(2, [("coffee", "i4")]),
        np.array([5, 6], "m8[s]"),
        np.array(["ink", "1", "."]),
        [1e100, np.float32(1e20), decimal.Decimal("1e100"), 10**60],
        [10**400, fractions.Fraction(10**400, 3)],  # no real number can be made of them
        [fractions.Fraction(10**400 + 1, 10**399)],
        ["f", 1, "nano", "information", b"nancy", "", "1e3", "- nan", b"\xff\x00" * 9],
        {"I": 1, "inn": "s"},
    ],
)
def test_other_values_hold_none_of_it(value: Any) -> None:
    assert unrefused(node(value)) == {}


def test_a_result_may_hold_as_many_as_the_originals() -> None:
    one, two = np.array([1.0, math.inf, 2.0]), np.array([math.inf, math.inf, 2.0])
    assert slipping(node(one), node(one)) == set()
    assert slipping(node(one), node(two)) == set()
    assert slipping(node(two), node(one)) == {"infinity"}
    assert slipping(node([math.nan, 1.0]), node([math.inf, 1.0])) == {"NaN"}
    assert slipping(node([1e200] * 9), node([1e200])) == set()
