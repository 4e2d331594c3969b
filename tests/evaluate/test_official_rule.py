"""KernelBench's own rule of correctness beside ours: what it accepts, over how many calls."""

from __future__ import annotations

import struct

import pytest

from maxcode.evaluate.module.contract import Array
from maxcode.evaluate.module.official import OfficialRule

TWO = [Array("float32", [2], 8), Array("int64", [1], 8)]


def call(first: float, second: float, whole: int) -> bytes:
    return struct.pack("<2fq", first, second, whole)


@pytest.mark.parametrize(
    ("got", "accepted"),
    [
        (call(0.0, 100.0, 7), True),
        (call(0.0099, 100.9, 7), True),  # 1e-2 + 1e-2 * |reference|
        (call(0.0102, 100.0, 7), False),
        (call(0.0, 101.1, 7), False),
        (call(0.0, 100.0, 8), False),
        (call(float("nan"), 100.0, 7), False),
        (call(0.0, 100.0, 7)[:-1], False),
    ],
)
def test_it_is_allclose_with_a_hundredth_over_five_calls(got: bytes, accepted: bool) -> None:
    reference = call(0.0, 100.0, 7)
    rule = OfficialRule(TWO)
    assert rule.accepts is None
    rule.see(2 * reference, 2 * got if len(got) == len(reference) else got)
    assert rule.accepts is (None if accepted else False), "two calls are too few to accept"
    rule.see(3 * reference, 3 * got if len(got) == len(reference) else got)
    assert rule.accepts is accepted
    rule.see(reference, call(9.0, 9.0, 9))
    assert rule.accepts is accepted, "five calls are all"
