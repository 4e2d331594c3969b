"""What the driver prints of a profile, which a candidate may have written, becomes shares or nothing."""

from __future__ import annotations

import json

import pytest

from maxcode.evaluate.module.operators import OUTSIDE, shares


def said(operators: list[list[object]], seconds: object = 1.0) -> bytes:
    return b"noise\n" + json.dumps({"operators": operators, "seconds": seconds, "calls": 3}).encode() + b"\n"


def test_the_rest_of_the_time_is_outside_of_the_operators() -> None:
    found = shares(said([["aten::add", 0.1, 3], ["aten::mm", 0.5, 3], ["aten::empty", 0.0001, 9]]))
    assert [(spot.function, round(spot.share, 3)) for spot in found] == [
        ("aten::mm", 0.5), (OUTSIDE, 0.4), ("aten::add", 0.1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[1",
        said([["aten::add", "much", 3]]),
        said([], float("nan")),
        said([], -1.0),
        said([["a", 1e400, 1]]),
    ],
)
def test_what_is_no_profile_gives_none(text: bytes) -> None:
    assert all(0 <= spot.share <= 1 for spot in shares(text)) and len(shares(text)) <= 1


def test_shares_never_exceed_the_whole() -> None:
    found = shares(said([[f"aten::{number}", 1.0, 1] for number in range(50)], 0.5))
    assert len(found) <= 12 and sum(spot.share for spot in found) <= 1
