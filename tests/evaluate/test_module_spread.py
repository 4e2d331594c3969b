"""How errors of a module's output are spread, beside how large the worst is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxcode.evaluate.module.contract import Array, error_of
from maxcode.evaluate.module.spread import allowed, too_many

COUNT, TOLERANCE = 200_000, 1e-4
DRAW = np.random.default_rng(5)
EXACT = DRAW.normal(size=COUNT)


Numbers = Any  # an array, or a number for all


def off(by: Numbers) -> Numbers:
    return (EXACT + by).astype("f4")


def far(elements: int) -> Numbers:
    """A step in so many elements."""
    found = np.zeros(COUNT)
    found[:elements] = 4e-3
    return found


def noise(size: float) -> Numbers:
    return DRAW.normal(size=COUNT, scale=size)


def said(reference: Numbers, got: Numbers) -> str:
    wanted = Array("float32", [COUNT], 4 * COUNT)
    own = error_of(wanted, EXACT.tobytes(), reference.tobytes())
    assert error_of(wanted, EXACT.tobytes(), got.tobytes()) <= allowed(TOLERANCE, own)
    return too_many(wanted, EXACT.tobytes(), (reference.tobytes(), got.tobytes()), TOLERANCE, own)


@pytest.mark.parametrize("steps", [1, 20, 2000])
def test_some_elements_of_the_reference_that_are_a_step_off_do_not_excuse_all_others(steps: int) -> None:
    assert "elements are more than 1.0e-04 off" in said(off(far(steps)), off(2e-3))


@pytest.mark.parametrize(
    ("reference", "got"),
    [
        (far(20), far(20)[::-1]),
        (far(150), noise(1e-6) + far(190)),
        (noise(3e-4), noise(3e-4)),
        (noise(1e-4), noise(2.5e-4)),
        (noise(1e-3), noise(2e-3)),
        (noise(1e-4) * (DRAW.random(COUNT) < 0.05), noise(2e-4) * (DRAW.random(COUNT) < 0.05)),
    ],
    ids=["other steps", "more steps", "as noisy", "noisier", "much noisier", "noisy in places"],
)
def test_errors_that_are_spread_as_the_reference_s_are_permitted(reference: Numbers, got: Numbers) -> None:
    assert said(off(reference), off(got)) == ""
