"""Whether an output is the expected one, and if not, where it first differs.  Pure; part of the rung *verify*.

Strict on purpose: the number of tokens must match, integers must match exactly even under a tolerance, and NaN equals
nothing.  A checker of kind ``command`` is a program and therefore runs in the sandbox (``verify.py``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import zip_longest

from maxcode.types import Checker

_INTEGER = re.compile(rb"([+-]?)(?=\d)0*+(\d*)")  # possessive: a token can be megabytes of zeros and a letter
_TOKEN = re.compile(rb"\S+")
_SHOWN = 60


def difference(checker: Checker, expected: bytes, output: bytes) -> str | None:
    """The first difference in words, None when ``output`` is accepted.  For the kinds exact, tokens and float."""
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


def _agreement(one: bytes, other: bytes) -> int:
    """How many bytes agree from the start; by halving, because a loop over megabytes takes seconds."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _tokens(text: bytes) -> Iterator[bytes]:
    """One after the other: an output of many megabytes must not become as many objects."""
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
    """Negative or not, and the digits from the first that is not 0, as text: Python converts no thousands of them."""
    return integer[1] == b"-" and integer[2] != b"", integer[2]


def _show(token: bytes) -> str:
    text = token[:_SHOWN].decode(errors="replace")
    return repr(text + ("..." if len(token) > _SHOWN else ""))
