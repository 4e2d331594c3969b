"""Slow and simple references for the code that compares outputs (``checker.py``, ``compare.c``)."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from fractions import Fraction

from maxcode.core.types import Checker

_SPACE = b" \t\n\r\x0b\x0c"
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_DECIMAL = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_ULPS = Fraction(8, 2**52)
_LEAST = Fraction(math.ulp(0.0))  # what the smallest numbers are rounded to


def tokens(text: bytes) -> list[bytes]:
    """The words between white space, found byte by byte."""
    found, now = [], bytearray()
    for byte in text:
        if byte not in _SPACE:
            now.append(byte)
        elif now:
            found.append(bytes(now))
            now.clear()
    return [*found, bytes(now)] if now else found


def accepts(checker: Checker, expected: bytes, output: bytes) -> bool | None:
    """Whether the output is right; None if it is so near the edge of the tolerance that rounding decides."""
    if checker.kind == "exact":
        return expected == output
    wanted, got = tokens(expected), tokens(output)
    if checker.kind == "tokens":
        return wanted == got
    if len(wanted) != len(got):
        return False
    each = [_agrees(checker, want, have) for want, have in zip(wanted, got, strict=True)]
    return False if False in each else None if None in each else True


def _agrees(checker: Checker, want: bytes, have: bytes) -> bool | None:
    if _INTEGER.fullmatch(want):
        return bool(_INTEGER.fullmatch(have)) and _whole(want) == _whole(have)
    if not _DECIMAL.fullmatch(want) or not _DECIMAL.fullmatch(have):
        return want == have
    wanted, got = float(want), float(have)
    if math.isnan(wanted) or math.isnan(got):
        return False
    if math.isinf(wanted) or math.isinf(got):
        return wanted == got
    apart = abs(Fraction(wanted) - Fraction(got))
    allowed = Fraction(checker.abs_tol) + Fraction(checker.rel_tol) * abs(Fraction(wanted))
    if abs(apart - allowed) <= max(_LEAST, _ULPS * max(apart, allowed)) and apart != 0:
        return None
    return apart <= allowed


def _whole(token: bytes) -> tuple[bool, bytes]:
    """Sign and digits without leading zeros; 0 has no sign."""
    digits = token.lstrip(b"+-").lstrip(b"0")
    return token.startswith(b"-") and digits != b"", digits


def norm(code: str, expected: bytes, got: bytes | None) -> float:
    """The Euclidean norm of got - expected, of expected where got is None, in exact arithmetic; NaN stands for every
    answer that is not finite.  ``code``: of the module struct."""
    wanted = struct.unpack(f"={len(expected) // struct.calcsize('=' + code)}{code}", expected)
    other = [0] * len(wanted) if got is None else struct.unpack(f"={len(wanted)}{code}", got)
    return _norm([float(have) - float(want) for want, have in zip(wanted, other, strict=True)])


def _norm(apart: Sequence[float]) -> float:
    if not all(math.isfinite(one) for one in apart):
        return math.nan
    total = sum((Fraction(one) ** 2 for one in apart), Fraction())
    shift = 2**2400  # so that the integer root of the smallest has digits enough
    root = Fraction(math.isqrt(int(total * shift**2)), shift)
    return float(root) if root < Fraction(2) ** 1024 * (1 - Fraction(1, 2**54)) else math.nan
