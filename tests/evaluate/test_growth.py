"""Facts for prompts: how the original's time grows, and the inferred format in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from maxcode.evaluate.inputs.format_model import understand
from maxcode.evaluate.inputs.format_words import header, in_words, outwards, ranges
from maxcode.evaluate.inputs.grammar import Count, Repetition, TokenRow
from maxcode.evaluate.inputs.growth import BYTES, Point, growth
from maxcode.evaluate.inputs.rough import in_figures

START = Point(0.001, {BYTES: 4.0, "number 1 of line 1": 1.0, "n": 1.0})


def test_a_square_law_and_a_doubling_are_told_apart() -> None:
    squares = [
        Point(0.001 + 1e-7 * n * n, {BYTES: 8.0 + n, "number 1 of line 1": float(n % 7 + 1)})
        for n in (300, 700, 2000, 5000)
    ]
    told = growth([START, *squares])
    assert told.startswith("The original's time grows about as the 2.0th power of the bytes of the input (4 inputs,")
    assert "timed ones and others, from 10.00 ms at 308 bytes to 2501.0 ms at 5,008 bytes" in told
    doubling = [Point(0.001 + 1e-6 * 2**n, {BYTES: 3.0, "number 1 of line 1": float(n)}) for n in (12, 14, 17, 20)]
    assert "doubles about every 1.0 of number 1 of line 1" in growth([START, *doubling])


def test_a_power_is_preferred_where_a_doubling_fits_about_as_well() -> None:
    def told(law: Callable[[float], float], sizes: Sequence[int]) -> str:
        noise = (1.0, 1.06, 0.95, 1.03, 0.98, 1.01)
        times = [law(n) * off for n, off in zip(sizes, noise, strict=False)]
        return growth([START, *(Point(0.001 + t, {"n": float(n)}) for n, t in zip(sizes, times, strict=True))])

    for power in (lambda n: 2e-5 * n, lambda n: 2e-6 * n**2, lambda n: 2e-8 * n**3):
        assert "th power of n" in told(power, (200, 280, 390, 550, 700, 900))
    assert "doubles about every" in told(lambda n: 1e-7 * 2**n, (16, 17, 19, 20, 21, 23))
    assert "doubles about every" in told(lambda n: 1e-5 * 2 ** (n / 40), (200, 280, 390, 550, 600, 650))


@pytest.mark.parametrize("seconds", [[], [0.5], [0.5, 0.5, 0.5, 0.5], [0.001, 0.0011, 0.0012, 0.0013]])
def test_too_few_inputs_or_times_that_are_alike_say_nothing(seconds: list[float]) -> None:
    assert growth([Point(one, {BYTES: 10.0 * at}) for at, one in enumerate(seconds, 1)]) == ""


def test_times_that_no_size_explains_are_told_by_their_extremes() -> None:
    wild = [
        Point(0.001 + time, {BYTES: size}) for time, size in ((0.8, 12.0), (0.004, 9000.0), (0.3, 500.0), (0.01, 70.0))
    ]
    told = growth([START, *wild])
    assert told.startswith("The original's time follows no size of the input: 5.00 ms at 9,000 bytes")


def test_a_format_is_told_with_counts_and_without_ranges() -> None:
    texts = ["2 3\n5 -7\n1 2\n2 2\n1 1\n", "3 2\n5 -7 31\n1 3\n2 3\n", "4 4\n1 2 3 4\n1 2\n2 3\n3 4\n4 4\n"]
    known = understand(texts)
    assert in_words(known.shapes[0]) == (
        "a line: A (an integer) B (an integer)",
        "a line: A more items, each an integer",
        "B times a line of 2 items: an integer, an integer",
    )


def test_the_numbers_that_inputs_begin_with_are_told_outwards_and_nothing_of_what_follows() -> None:
    texts = ["2 3\n5 -7\n1 2\n2 2\n1 1\n", "3 2\n5 -7 31\n1 3\n2 3\n", "4 4\n1 2 3 4\n1 2\n2 3\n3 4\n4 4\n"]
    (known,) = understand(texts).shapes
    headers = [header(known.shape, text) for text in ("1523 87\n9 9", "1601 98\n9 9", "1587 90\n9 9")]
    assert headers == [(1523, 87), (1601, 98), (1587, 90)]
    assert ranges(known.shape, headers) == "A is 1500 to 1700, B is 87 to 98"
    assert ranges(known.shape, [(-1234, 5), (-1291, 5)]) == "A is -1300 to -1200, B is 5"
    assert ranges(known.shape, [(1523, 87), header(known.shape, "x 87\n9 9")]) == "", "a word is no size"
    assert header(known.shape, "1523\n") == ()


def test_a_timed_input_is_told_in_rough_figures_that_hold_none_of_its_content() -> None:
    graph = (TokenRow(2), Repetition(Count(1), (TokenRow(3),)))
    edges = [(number % 1523 + 1, 7 * number % 1523 + 1, 900_000_017 - number) for number in range(3217)]
    data = "1523 3217\n" + "".join(f"{a} {b} {w}\n" for a, b, w in edges)
    assert in_figures(data.encode(), graph) == (
        "A = 1,500, B = 3,200, about 9,700 words on 3,200 lines, 4,700 different, whole numbers from 1 to 10^9"
    )
    assert in_figures(data.encode(), None).startswith("about 9,700 words on")
    told = in_figures(b"100000 secret words\n" * 500, None)
    assert told == "about 1,500 words on 500 lines, 3 different"
    assert in_figures(b"5000017\n", (TokenRow(1),)) == ""
    assert in_figures(b"3 " * 99, None) == "", "too short: its figures would be its content"
    assert in_figures(b"7 " * 300 + b"9 " * 300, (TokenRow(2),)).startswith("about 600 words on 0 lines, 2 different")


def test_an_input_of_a_few_numbers_alone_is_told_by_its_scale_and_not_by_its_content() -> None:
    (known,) = understand(["41\n", "45\n", "37\n"]).shapes
    assert header(known.shape, "43\n") == (43,)
    assert ranges(known.shape, [(43,), (44,)]) == "A is 10 to 100"


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
