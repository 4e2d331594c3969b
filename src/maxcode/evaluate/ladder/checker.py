"""Compares an output with the expected one and finds the first difference.  Pure; part of the rung *verify*.

Strict on purpose: the number of tokens must match, integers must match exactly even with a tolerance, and NaN equals
nothing.  A checker of kind ``command`` is a program and therefore runs in the sandbox (``verify.py``).

``pie`` is the exception: it compares like PIE's evaluation (LearningOpt/pie, gem5/benchmarking.py), so that PIE's
figures can be reproduced.  White space around the whole output is removed, and lines are paired.  A pair agrees if the
lines are equal, or are numbers less than 1e-3 apart; every expected line needs a pair that agrees.  So it accepts
output after the expected end, and different integers beyond 2^53; and it refuses numbers within a relative tolerance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import zip_longest

from maxcode.core.types import Checker

_INTEGER = re.compile(rb"([+-]?)(?=\d)0*+(\d*)")  # possessive: a token can be megabytes of zeros and a letter
_TOKEN = re.compile(rb"\S+")
_SHOWN = 60
_PIE_APART = 1e-3


def difference(checker: Checker, expected: bytes, output: bytes) -> str | None:
    """The first difference as text; None if ``output`` is accepted.  For all kinds but command."""
    if checker.kind == "pie":
        return _pie_difference(expected, output)
    if output == expected and not (checker.kind == "float" and b"nan" in expected.lower()):
        return None
    if checker.kind == "exact":
        at = _agreement(expected, output)
        return f"first difference at byte {at}: expected {_show(expected[at:])}, got {_show(output[at:])}"
    for number, (want, have) in enumerate(zip_longest(_tokens(expected), _tokens(output)), start=1):
        if want is None or have is None:
            return f"expected {_count(expected)} tokens, got {_count(output)}"
        if not (_close(checker, want, have) if checker.kind == "float" else want == have):
            return f"token {number}: expected {_show(want)}, got {_show(have)}"
    return None


def pie_accepts(expected: bytes, output: bytes) -> bool:
    """True if PIE's own checker gives the output an accuracy of 1."""
    return _pie_difference(expected, output) is None


def _pie_difference(expected: bytes, output: bytes) -> str | None:
    try:
        wanted, got = _pie_lines(expected), _pie_lines(output)
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    for number, (want, have) in enumerate(zip(wanted, got, strict=False), start=1):
        if want != have and not _pie_near(want, have):
            return f"line {number}: expected {_show(want.encode())}, got {_show(have.encode())}"
    if not wanted:
        return "the expected output is empty, which PIE's checker never accepts"
    return f"expected {len(wanted)} lines, got {len(got)}" if len(got) < len(wanted) else None


def _pie_lines(text: bytes) -> list[str]:
    """Lines as Python reads them in text mode: CRLF and CR end a line as LF does."""
    return text.decode().replace("\r\n", "\n").replace("\r", "\n").strip().splitlines()


def _pie_near(want: str, have: str) -> bool:
    try:
        return abs(float(have) - float(want)) < _PIE_APART
    except ValueError:
        return False


def _agreement(one: bytes, other: bytes) -> int:
    """How many leading bytes agree; found by bisection, because a loop over megabytes takes seconds."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _tokens(text: bytes) -> Iterator[bytes]:
    """An iterator, because an output of many megabytes must not become as many objects."""
    return (match[0] for match in _TOKEN.finditer(text))


def _count(text: bytes) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


def _close(checker: Checker, want: bytes, have: bytes) -> bool:
    if (integer := _INTEGER.fullmatch(want)) is not None:
        other = _INTEGER.fullmatch(have)
        return other is not None and _canonical(integer) == _canonical(other)
    if b"_" in have or b"_" in want:
        return want == have  # Python would read 1_0 as a number
    try:
        wanted, got = float(want), float(have)
    except ValueError:
        return want == have
    if math.isinf(wanted) or math.isinf(got):
        return wanted == got
    return abs(wanted - got) <= checker.abs_tol + checker.rel_tol * abs(wanted)  # NaN compares false


def _canonical(integer: re.Match[bytes]) -> tuple[bool, bytes]:
    """The sign and the digits without leading zeros, as text: Python refuses to convert thousands of digits."""
    return integer[1] == b"-" and integer[2] != b"", integer[2]


def _show(token: bytes) -> str:
    text = token[:_SHOWN].decode(errors="replace")
    return repr(text + ("..." if len(token) > _SHOWN else ""))
