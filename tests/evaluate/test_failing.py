"""What is told of tests that fail: their names and the lines with errors, of what test runners really print."""

from __future__ import annotations

import time

import pytest

from maxcode.evaluate.repo.failing import NAMES_KEPT, failing, failing_in_words, first_error, telling

PYTEST = """F.F                                                                      [100%]
=================================== FAILURES ===================================
__________________________________ T.test_add __________________________________

self = <test_a.T testMethod=test_add>

    def test_add(self):
>       self.assertEqual({"a": add(1,2)}, {"a": 3})
E       AssertionError: {'a': 4} != {'a': 3}
E       - {'a': 4}

test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::T::test_add - AssertionError: {'a': 4} != {'a': 3}
FAILED test_a.py::T::test_float[a b-1.] - IndexError: list ind...
2 failed, 1 passed in 2.55s
"""
UNITTEST = """F.
======================================================================
FAIL: test_add (test_a.T.test_add)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/r/test_a.py", line 5, in test_add
    self.assertEqual({"a": add(1,2)}, {"a": 3})
AssertionError: {'a': 4} != {'a': 3}
- {'a': 4}

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
"""
CTEST = """    Start 1: adds
1/3 Test #1: adds .............................***Failed    0.01 sec
/a/tests/t.c:12:parse_should_work:FAIL: Expected 1 Was 2

    Start 2: aborts
2/3 Test #2: aborts ...........................Subprocess aborted***Exception:   0.01 sec
t: /r/t.c:4: main: Assertion `k != 2' failed.

33% tests passed, 2 tests failed out of 3

The following tests FAILED:
\t  1 - adds (Failed)
\t  2 - aborts (Subprocess aborted)
Errors while running CTest
"""
CARGO = """running 2 tests
test tests::fine ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' (25707) panicked at src/lib.rs:2:22:
assertion `left == right` failed: sum of two
  left: 3
 right: 4
stack backtrace:
   0: __rustc::rust_begin_unwind
"""
GO = """--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/one_two (0.00s)
        a_test.go:3: got 3, want 4
FAIL
FAIL\ta\t0.009s
"""
NODE = """TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  location: '/r/t.test.js:2:1'
  error: |-
    Expected values to be strictly equal:

    3 !== 4

  code: 'ERR_ASSERTION'
  expected: 4
  actual: 3
  stack: |-
    TestContext.<anonymous> (/r/t.test.js:2:29)
"""
JEST = """ FAIL  ./sum.test.js
  \u25cf sums \u203a adds 1 + 2

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3
"""
MOCHA = """  1 passing (3ms)
  1 failing

  1) sums
       adds:

      AssertionError [ERR_ASSERTION]: 3 == 4
      + expected - actual
"""


@pytest.mark.parametrize(
    ("output", "names", "error", "kept", "left"),
    [
        (PYTEST, ("test_a.py::T::test_add", "test_a.py::T::test_float[a b-1.]"), "AssertionError: {'a': 4} != {'a': 3}",
         ">       self.assertEqual", "testMethod"),
        (UNITTEST, ("test_add (test_a.T.test_add)",), "AssertionError: {'a': 4} != {'a': 3}",
         '/r/test_a.py", line 5', "Ran 2"),
        (CTEST, ("adds", "aborts"),
         "/a/tests/t.c:12:parse_should_work:FAIL: Expected 1 Was 2", "Assertion `k", "Start"),
        (CARGO, ("tests::adds",),
         "thread 'tests::adds' (25707) panicked at src/lib.rs:2:22: assertion `left == right` failed: sum of two",
         " right: 4", "backtrace"),
        (GO, ("TestAdd", "TestAdd/one_two"), "a_test.go:3: got 3, want 4", "want 4", "FAIL"),
        (NODE, ("adds",), "error: Expected values to be strictly equal:", "    3 !== 4", "TestContext"),
        (JEST, ("sums \u203a adds 1 + 2",), "Expected: 4", "Received: 3", "equality"),
        (MOCHA, ("sums",), "AssertionError [ERR_ASSERTION]: 3 == 4", "expected - actual", "passing"),
    ],
    ids=["pytest", "unittest", "ctest", "cargo", "go", "node", "jest", "mocha"],
)  # fmt: skip
def test_the_tests_that_fail_and_their_errors_are_told_of_each_runner(
    output: str, names: tuple[str, ...], error: str, kept: str, left: str
) -> None:
    assert failing(output) == names
    assert failing_in_words(output) == f"failing, though right in base: {', '.join(names)}: {error}"
    told = telling(output)
    assert told.startswith(f"failing: {names[0]}\n") and kept in told and left not in told


def test_many_failures_are_counted_and_an_error_is_told_once() -> None:
    tests = [f"tests/test_a.py::test_float[{one}]" for one in range(40)]
    output = "E       StopIteration\n" * 40 + "".join(f"FAILED {one} - StopIteration\n" for one in tests)
    told = telling(output)
    assert told.count("StopIteration") == 1 and f"({40 - NAMES_KEPT} more tests fail)" in told
    assert failing_in_words(output).endswith("test_float[2] and 37 more: StopIteration")


def test_of_a_build_the_errors_are_told_and_not_its_last_lines() -> None:
    line = "c.c:12:5: error: unused variable 'x' [-Werror=unused-variable]"
    output = (
        f"{line}\n   12 |     int x;\n      |         ^\n" + "make[1]: entering\n" * 300 + "make: *** [all] Error 2\n"
    )
    assert telling(output).splitlines() == [line, "   12 |     int x;", "      |         ^"]
    assert first_error(output) == line and failing_in_words(output) == ""


def test_without_a_known_line_the_beginning_and_the_end_are_told() -> None:
    output = "begin\n" + "x\n" * 5000 + "the end"
    told = telling(output)
    assert told.startswith("begin\n") and told.endswith("the end") and len(told) < 2000 and "[...]" in told


def test_an_endless_output_is_read_soon_and_no_control_character_is_in_a_reason() -> None:
    began = time.process_time()
    for one in ("a: " * 3_000_000, "E  x\n" * 1_000_000, "FAILED a.py::" + "b - " * 2_000_000, " \n" * 3_000_000):
        telling(one)
    assert time.process_time() - began < 10
    assert "\x1b" not in failing_in_words("FAILED a.py::b[\x1b[2J] - x\nE  \x1b[2J\n")
