"""Outputs of functions: whole numbers exactly, and every real number for itself where the norm sees nothing."""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest

from maxcode.core.types import Argument, FunctionSpec
from maxcode.evaluate.function.elementwise import is_steady, nudged, odd
from maxcode.evaluate.function.function import Shape, disagreement, plan_bytes
from maxcode.evaluate.function.start import Starts


def spec(ctype: str, **changes: object) -> FunctionSpec:
    arguments = (
        Argument("n", "int"),
        Argument("x", "double", "n", "in"),
        Argument("y", ctype, "n", "out"),  # type: ignore[arg-type]
    )
    return replace(FunctionSpec("f", arguments, ((3,),), (), "n", "f.h", ""), **changes)  # type: ignore[arg-type]


def doubles(*values: float) -> bytes:
    return struct.pack(f"{len(values)}d", *values)


def test_a_whole_number_that_is_one_off_is_wrong_however_large_it_is() -> None:
    shape = Shape(spec("long"), (3,))
    want = struct.pack("3q", 2**62, -5, 2**53 + 1)
    assert disagreement(shape, want, want) is None
    for got in ((2**62 + 1, -5, 2**53 + 1), (2**62, -5, 2**53)):
        assert "in place of" in (disagreement(shape, want, struct.pack("3q", *got)) or "")
    said = disagreement(shape, want, struct.pack("3q", 2**62, -4, 2**53 + 1))
    assert said == "y at n=3, call 1: element 1 is -4 in place of -5"


def test_a_tolerance_of_its_own_lets_whole_numbers_be_off() -> None:
    shape = Shape(spec("int", tolerances=(("y", 0.1),)), (3,))
    want = struct.pack("3i", 1000, 2000, 3000)
    assert disagreement(shape, want, struct.pack("3i", 1001, 2000, 3000)) is None
    assert disagreement(shape, want, struct.pack("3i", 2001, 2000, 3000)) is not None


def test_a_zero_in_place_of_a_small_number_is_odd_and_nothing_against_the_norm() -> None:
    shape = Shape(spec("double"), (3,))
    want, got = doubles(1e20, 1e-3, 5), doubles(1e20, 0, 5)
    near = [doubles(1e20 * (1 - 1e-13), 1e-3 * (1 - 2e-13), 5 * (1 - 1e-13))]
    assert disagreement(shape, want, got) is None
    assert odd(shape, want, got, near) == "y at n=3, call 1: element 1 is 0 in place of 0.001"
    assert odd(shape, want, doubles(1e20, 1e-3 * (1 + 1e-9), 5), near) is None


def test_a_small_float_needs_more_than_two_digits() -> None:
    shape = Shape(replace(spec("float"), tolerances=(("y", 1e-5),)), (3,))
    want, off, near = (struct.pack("3f", 1e6, 2, one) for one in (1, 1.004, 1.00005))
    assert disagreement(shape, want, off) is None
    assert odd(shape, want, off, []) == "y at n=3, call 1: element 2 is 1.004 in place of 1"
    assert odd(shape, want, near, []) is None


def test_what_is_left_of_a_sum_that_cancels_may_come_out_as_it_likes() -> None:
    shape = Shape(spec("double"), (3,))
    want, got = doubles(1, 3e-17, 5), doubles(1, -1.1e-16, 5)
    assert odd(shape, want, got, []) is not None
    assert odd(shape, want, got, [doubles(1, 4e-13, 5)]) is None


def test_where_the_original_itself_ends_in_nan_nearby_an_element_may_be_anything_but_nan() -> None:
    shape = Shape(spec("double"), (3,))
    near = [doubles(1, float("nan"), 3)]
    assert odd(shape, doubles(1, 2, 3), doubles(1, 2.1, 3), near) is None
    assert odd(shape, doubles(1, 2, 3), doubles(1, float("nan"), 3), near) is not None


def test_inputs_come_a_little_smaller_and_whole_numbers_and_the_head_of_the_plan_stay() -> None:
    arguments = (
        Argument("n", "int"),
        Argument("k", "int", "n", "in"),
        Argument("x", "double", "n", "in"),
        Argument("y", "double", "n", "out"),
    )
    shape = Shape(FunctionSpec("f", arguments, ((2,),), (), "n", "f.h", ""), (2,), 2)
    head = bytes(range(256))[: plan_bytes(shape)]
    calls = [(7, -8, 1.0, -0.25), (9, 0, 0.0, 1e300)]
    plan = head + b"".join(struct.pack("2i2d", *call) for call in calls)
    found = nudged(shape, plan)
    assert found[: len(head)] == head
    for number, call in enumerate(calls):
        *whole, one, other = struct.unpack_from("2i2d", found, len(head) + 24 * number)
        assert tuple(whole) == call[:2]
        for was, now in ((call[2], one), (call[3], other)):
            assert abs(now) <= abs(was)
            assert now == pytest.approx(was, rel=2e-12)
    assert found != plan


def test_an_answer_that_moves_with_its_inputs_says_nothing() -> None:
    shape = Shape(spec("double"), (3,))
    want = doubles(1, 2, 3)
    assert is_steady(shape, want, [doubles(1, 2, 3 + 1e-11)])
    assert not is_steady(shape, want, [doubles(1, 2, 3 + 1e-6)])
    whole = Shape(spec("int"), (3,))
    assert not is_steady(whole, struct.pack("3i", 1, 2, 3), [struct.pack("3i", 1, 2, 4)])


def test_what_a_side_does_before_its_first_call_is_charged_and_noise_is_not() -> None:
    starts, drawn = Starts(), random.Random(7)
    charged: dict[str, list[float]] = {"original": [], "candidate": [], "table": []}
    for _ in range(30):
        for side, late_s in (("original", 0.0), ("candidate", 0.0), ("table", 0.004)):
            ready_s = 0.0012 + late_s + abs(drawn.gauss(0, 0.0002))
            charged[side].append(starts.late_s(side, "n=3", ready_s, 0.0012))
    assert set(charged["original"]) == set(charged["candidate"]) == {0.0}
    assert min(charged["table"]) > 0.0035
    assert starts.late_s("another", "n=3", 0.003, 0.0012) > 0.0015
    now_and_then = [starts.late_s("rarely", "n=3", 0.0012 + 0.004 * (n % 3 == 2), 0.0012) for n in range(30)]
    assert [late > 0.0035 for late in now_and_then] == [n % 3 == 2 for n in range(30)]
