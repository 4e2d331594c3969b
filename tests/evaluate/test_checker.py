"""The comparison of outputs is strict, and says where it failed."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.types import Checker
from maxcode.evaluate.ladder.checker import difference, pie_accepts

TOKENS, EXACT, FLOAT = Checker(), Checker("exact"), Checker("float", abs_tol=1e-6, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("checker", "expected", "output"),
    [
        (TOKENS, b"1 2\n3\n", b"1 2 3"),
        (TOKENS, b"", b"\n"),
        (EXACT, b"a\n", b"a\n"),
        (FLOAT, b"1.0 2", b"1.0000005 2"),
        (FLOAT, b"1e9", b"1000000001.0"),
        (FLOAT, b"inf", b"inf"),
        (FLOAT, b"yes 0.5", b"yes 0.50"),
        (FLOAT, b"1" * 5000, b"+" + b"1" * 5000),
        (FLOAT, b"007 0", b"7 -0"),
    ],
)
def test_accepts(checker: Checker, expected: bytes, output: bytes) -> None:
    assert difference(checker, expected, output) is None


@pytest.mark.parametrize(
    ("checker", "expected", "output", "words"),
    [
        (TOKENS, b"1 2 3", b"1 2", "expected 3 tokens, got 2"),
        (TOKENS, b"1 2", b"1 2 2", "expected 2 tokens, got 3"),
        (TOKENS, b"1.0", b"1.00", "token 1: expected '1.0', got '1.00'"),
        (EXACT, b"a\n", b"a", "byte 1"),
        (EXACT, b"abc", b"abd", "byte 2: expected 'c', got 'd'"),
        (FLOAT, b"1000000000", b"1000000001", "token 1"),
        (FLOAT, b"3", b"3.0", "token 1"),
        (FLOAT, b"1.5", b"nan", "token 1"),
        (FLOAT, b"nan", b"NaN", "token 1"),
        (FLOAT, b"1e308", b"inf", "token 1"),
        (FLOAT, b"0.0", b"0.1", "token 1"),
        (FLOAT, b"yes", b"no", "token 1"),
        (FLOAT, b"5", b"1" * 5000, "token 1"),
        (FLOAT, b"-7", b"7", "token 1"),
        (FLOAT, b"10.5", b"1_0.5", "token 1"),
        (TOKENS, b"1 2", b"1\x002", "token 1"),
        (TOKENS, b"1 2", "1\u00a02".encode(), "token 1"),
    ],
)
def test_refuses_and_says_where(checker: Checker, expected: bytes, output: bytes, words: str) -> None:
    found = difference(checker, expected, output)
    assert found is not None
    assert words in found


@pytest.mark.heavy
def test_an_output_of_many_megabytes_costs_neither_memory_nor_minutes() -> None:
    flood = b"11 " * (2 << 20)
    tracemalloc.start()
    found = difference(TOKENS, b"11 12", flood)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == "token 2: expected '12', got '11'"
    assert peak < 1 << 20
    assert difference(TOKENS, b"11 11", flood) == f"expected 2 tokens, got {2 << 20}"
    assert (
        difference(EXACT, flood, flood[:-1] + b"x")
        == f"first difference at byte {len(flood) - 1}: expected ' ', got 'x'"
    )


def test_a_token_of_many_zeros_is_read_once() -> None:
    """A pattern that tries every way to share zeros between two of its parts would take hours here."""
    zeros = b"0" * 2_000_000
    assert difference(FLOAT, b"5", zeros + b"x") is not None
    assert difference(FLOAT, b"5", zeros + b"5") is None
    assert difference(FLOAT, b"0", b"-" + zeros) is None


def test_nan_equals_nothing_not_even_itself() -> None:
    assert difference(FLOAT, b"nan 1.0", b"nan 1.0") is not None
    assert difference(FLOAT, b"banana 1", b"banana 1.") is not None
    assert difference(FLOAT, b"banana 1", b"banana 1") is None


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_two_outputs_make_it_fail(expected: bytes, output: bytes) -> None:
    for checker in (TOKENS, EXACT, FLOAT):
        difference(checker, expected, output)
    assert (difference(EXACT, expected, output) is None) == (expected == output)


PIE = Checker("pie")


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        (b"1\n2\n", b"1\n2"),
        (b"1\r\n2\r\n", b"1\n2\n"),
        (b"1\n2\n", b"\n1\n2\n3\n"),  # output after the expected end
        (b"0.5\nabc\n", b"0.5009\nabc\n"),
        (b"9007199254740993\n", b"9007199254740992\n"),  # integers go through float
        (b"a\n\nb\n", b"a\n\nb\n"),
    ],
)
def test_pies_checker_accepts_what_pie_accepts_holes_and_all(expected: bytes, output: bytes) -> None:
    assert difference(PIE, expected, output) is None
    assert pie_accepts(expected, output)


@pytest.mark.parametrize(
    ("expected", "output", "words"),
    [
        (b"0.5\n", b"0.502\n", "line 1"),
        (b"1 2\n", b"1\n2\n", "line 1"),
        (b"1.0 2.0\n", b"1.0 2.0001\n", "line 1"),  # one number a line gets the tolerance
        (b"1e9\n", b"1000000000.01\n", "line 1"),  # and no relative one
        (b"1\n2\n", b"1\n", "expected 2 lines, got 1"),
        (b"a \nb\n", b"a\nb\n", "line 1"),  # inside, white space counts
        (b"nan\n", b"-nan\n", "line 1"),
        (b"", b"", "empty"),
        (b"a\n", b"\xff\n", "UTF-8"),
    ],
)
def test_pies_checker_refuses_what_pie_refuses(expected: bytes, output: bytes, words: str) -> None:
    assert words in (difference(PIE, expected, output) or "")
    assert not pie_accepts(expected, output)
