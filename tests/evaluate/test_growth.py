"""Facts for prompts: how the original's time grows, and the inferred format in words."""

from __future__ import annotations

import pytest

from maxcode.evaluate.inputs.format_model import understand
from maxcode.evaluate.inputs.format_words import in_words, outwards
from maxcode.evaluate.inputs.growth import BYTES, Point, growth

START = Point(0.001, {BYTES: 4.0, "number 1 of line 1": 1.0})


def test_a_square_law_and_a_doubling_are_told_apart() -> None:
    squares = [
        Point(0.001 + 1e-7 * n * n, {BYTES: 8.0 + n, "number 1 of line 1": float(n % 7 + 1)})
        for n in (300, 700, 2000, 5000)
    ]
    told = growth([START, *squares])
    assert told.startswith(
        "The original's time grows about as the 2.0th power of the bytes of the input (4 inputs, from"
    )
    doubling = [Point(0.001 + 1e-6 * 2**n, {BYTES: 3.0, "number 1 of line 1": float(n)}) for n in (12, 14, 17, 20)]
    assert "doubles about every 1.0 of number 1 of line 1" in growth([START, *doubling])


@pytest.mark.parametrize("seconds", [[], [0.5], [0.5, 0.5, 0.5, 0.5], [0.001, 0.0011, 0.0012, 0.0013]])
def test_too_few_inputs_or_times_that_are_alike_say_nothing(seconds: list[float]) -> None:
    assert growth([Point(one, {BYTES: 10.0 * at}) for at, one in enumerate(seconds, 1)]) == ""


def test_times_that_no_size_explains_are_told_by_their_extremes() -> None:
    wild = [
        Point(0.001 + time, {BYTES: size}) for time, size in ((0.8, 12.0), (0.004, 9000.0), (0.3, 500.0), (0.01, 70.0))
    ]
    told = growth([START, *wild])
    assert told.startswith("The original's time follows no size of the input: 5.00 ms at the bytes of the input = 9000")


def test_a_format_is_told_with_counts_and_widened_ranges() -> None:
    texts = ["2 3\n5 -7\n1 2\n2 2\n1 1\n", "3 2\n5 -7 31\n1 3\n2 3\n", "4 4\n1 2 3 4\n1 2\n2 3\n3 4\n4 4\n"]
    known = understand(texts)
    assert in_words(known.shapes[0]) == (
        "a line: A (an integer from 1 to 10) B (an integer from 1 to 10)",
        "a line: A more items",
        "  each item an integer from -10 to 100",
        "B times a line of 2 items: an integer from 1 to 10; an integer from 1 to 10",
    )


@pytest.mark.parametrize(
    ("value", "up", "words"),
    [
        (0, True, "0"),
        (7, True, "10"),
        (7, False, "1"),
        (-7, False, "-10"),
        (-7, True, "-1"),
        (1000, True, "1000"),
        (1001, True, "10000"),
        (2e9, True, "10^10"),
        (0.2, False, "10^-1"),
    ],
)
def test_a_bound_is_widened_to_a_power_of_ten(value: float, up: bool, words: str) -> None:
    assert outwards(value, up) == words
