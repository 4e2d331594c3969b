"""What is said to the owner of a test that is too short to be timed."""

from __future__ import annotations

import pytest

from maxcode.evaluate.ladder.prepare import Input, choose_timed
from maxcode.sandbox.sandbox import Blob


@pytest.mark.parametrize(
    ("seconds", "start_s", "words"),
    [
        (0.005, 0.0, "(of about 40 ms, so at least 8 times the work of 01)"),
        (0.005, 0.001, "(of about 40 ms, so at least 10 times the work of 01)"),  # 39 ms of work, and 4 ms now
        (0.012, 0.010, "(of about 40 ms; 01 takes hardly longer than a process that does nothing)"),  # an interpreter
        (0.018, 0.010, "(of about 40 ms, so at least 4 times the work of 01)"),
    ],
)
def test_the_advice_on_a_longer_test_leaves_out_the_start_of_the_process(
    seconds: float, start_s: float, words: str
) -> None:
    timed, warning = choose_timed((Input("01", Blob.of(b"1"), b"1", "held_out", seconds),), start_s=start_s)
    assert timed == () and warning.endswith(f"give larger inputs, or a generator that makes them {words}")
