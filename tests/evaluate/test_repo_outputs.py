"""What a candidate prints is compared in little time and ends no run, whatever it is."""

from __future__ import annotations

import time

import pytest

from maxcode.evaluate.repo.outputs import expected_of
from maxcode.evaluate.repo.summaries import counted, difference

BASE = [b"total 123456789 took 0.%d s\nmemory: 10 KB\n" % number for number in (1, 2, 3)]
MANY = 3_000_000
HOSTILE = [
    b"1" * MANY, b"1_" * MANY, b"1.1" * MANY, b"memory" + b" " * MANY + b"x", b"\n" * MANY, b"took " * MANY,
    b"9" * MANY + b" passed", b"skipped=" + b"9" * MANY, b"Ran " + b"9" * MANY + b" tests", b"ok " + b"1" * MANY,
    b"\n \n--- PASS" * 100_000, b"\xff" * MANY, b"",
]  # fmt: skip


@pytest.mark.parametrize("output", HOSTILE, ids=range(len(HOSTILE)))
def test_an_output_of_any_kind_is_soon_told_apart_from_that_of_base(output: bytes) -> None:
    expected, began = expected_of(BASE, same=False), time.process_time()
    assert expected.difference(output).startswith("the benchmark prints")
    assert expected.of_other_input(BASE[0]).difference(output).startswith("the benchmark prints")
    assert isinstance(difference({"passed": 3}, counted(output)), str)
    assert time.process_time() - began < 20


def test_wide_columns_and_longer_times_are_no_other_output() -> None:
    expected = expected_of(BASE, same=False)
    wide = b"total   \t 123456789      took 0.123456789012345678901234567890 s\n   memory:     12345 KB\n\n\n"
    assert expected.difference(wide + b" " * 8000) == ""


def test_the_numbers_of_a_summary_are_read_as_before() -> None:
    text = b"=== 12 passed, 1 skipped in 0.1s ===\nRan 7 tests in 1 s\n    --- PASS: TestA\n\n\n--- SKIP: TestB\n"
    assert counted(text) == {"passed": 12, "skipped": 1, "ran": 7, "lines PASS": 1, "lines SKIP": 1}


def test_where_words_are_not_compared_no_output_is_too_long() -> None:
    long = b"1" * 100_000
    assert expected_of(BASE, same=False).too_long(long) and not expected_of(BASE, same=False).too_long(BASE[0])
    assert not expected_of([BASE[0]] * 3, same=True).too_long(long)
    assert not expected_of([b"a", b"b", b"c"], same=False).too_long(long)
