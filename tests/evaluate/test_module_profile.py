"""What the driver prints of a profile, which a candidate may have written, becomes shares or nothing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import maxcode
from maxcode.evaluate.module.operators import OUTSIDE, shares

INSIDE = Path(maxcode.__file__).parent / "evaluate" / "module" / "inside"


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


def test_on_a_gpu_a_kernel_of_an_operator_counts_once_and_the_modules_own_kernels_are_named() -> None:
    spec: Any = importlib.util.spec_from_file_location("describing", INSIDE / "describing.py")
    describing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(describing)

    def average(key: str, seconds: float, kind: str) -> SimpleNamespace:
        return SimpleNamespace(key=key, self_device_time_total=seconds * 1e6, count=1, device_type=f"DeviceType.{kind}")

    listed = [
        average("aten::mul", 2.0, "CPU"),
        average("aten::mm", 3.0, "CPU"),
        average("void at::native::elementwise", 2.0, "CUDA"),
        average("sm90_gemm_of_a_library", 3.0, "CUDA"),
    ]
    assert describing.of_device(listed) == [["aten::mul", 2.0, 1], ["aten::mm", 3.0, 1]]
    found = describing.of_device([*listed, average("my_kernel(float*)", 4.0, "CUDA")])
    assert found[2:] == [["my_kernel(float*)", 4.0, 1]]
