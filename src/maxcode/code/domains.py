"""Which values an argument of a function may have, in the words of a problem: ``"positive"``, ``"0..n-1"``.  Pure.

any            every finite number of its type
drawn          only what is drawn anyway: [-1, 1), or whole numbers between -1000 and 1000
positive       above 0            nonnegative    not below 0
0..n-1         from ... to, both included; expressions in the sizes
[-1, 1)        an interval; a round bracket leaves its end out
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from maxcode.code.expressions import value_of
from maxcode.errors import InputError

Which = Literal["any", "drawn", "positive", "nonnegative", "between"]
_WORDS: tuple[Which, ...] = ("any", "drawn", "positive", "nonnegative")
_INTERVAL = re.compile(r"([\[(])([^,\[\]]+),([^,\[\]]+)([\])])")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The values that are allowed; ``low`` and ``high``, both included, where ``which`` is "between"."""

    which: Which
    low: float | int = 0
    high: float | int = 0


def domain_of(text: str, sizes: Mapping[str, int], whole: bool) -> Domain:
    """The domain that ``text`` names for an argument of whole numbers or of real ones; InputError naming what cannot be
    read, and where no value is allowed."""
    words = text.strip()
    if words in _WORDS:
        return Domain(words)
    low, high = _ends(words, sizes, whole)
    if not low <= high:
        raise InputError(f"the domain '{text}' holds no value at {dict(sizes)}: {low} is above {high}")
    return Domain("between", low, high)


def _ends(words: str, sizes: Mapping[str, int], whole: bool) -> tuple[float | int, float | int]:
    if (match := _INTERVAL.fullmatch(words)) is not None:
        low, high = (_end(match[n], sizes, whole) for n in (2, 3))
        down, up = match[1] == "(", match[4] == ")"
        if whole:
            return low + down, high - up
        return (math.nextafter(low, math.inf) if down else low), (math.nextafter(high, -math.inf) if up else high)
    low_words, dots, high_words = words.partition("..")
    if dots:
        return _end(low_words, sizes, whole), _end(high_words, sizes, whole)
    raise InputError(
        f"the domain '{words}' cannot be read; write {', '.join(_WORDS)}, a range as 0..n-1 or an interval as [-1, 1)"
    )


def _end(words: str, sizes: Mapping[str, int], whole: bool) -> float | int:
    text = words.strip()
    if _NUMBER.fullmatch(text) and not (whole and text.lstrip("+-").isdigit()):
        if whole:
            raise InputError(f"'{text}' is no whole number, as the values of this argument are")
        return float(text)
    found = value_of(f"0{text}" if text.startswith(("+", "-")) else text, sizes)
    return found if whole else float(found)
