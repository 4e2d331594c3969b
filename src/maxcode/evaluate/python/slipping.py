"""What a result may hold that a user's ``is_solution`` does not refuse by itself, because no comparison with it holds:
NaN, as a number or as a word that becomes one; infinity, because a difference of two is NaN; numbers so large that sums
of them are infinite; times that are none (NaT); real numbers of a type that is not read here; whole numbers of numpy
that wrap round: those without a sign, whose differences are never negative, those of 8 or 16 bits, and large ones; and
arrays without elements, all of which are as they should be.

A result may hold as many of them as the original's in the same call; what wraps counts once.  In place of an array
without elements the original's may hold anything else that is empty.
"""

from __future__ import annotations

import math
import platform
import re
from array import array
from collections import Counter
from fractions import Fraction
from typing import Any

from maxcode.evaluate.function.comparing import distance
from maxcode.evaluate.python.comparing import doubled
from maxcode.evaluate.python.nodes import texts_of
from maxcode.evaluate.python.unordered import FORMATS

MOST_REAL, MOST_FLOAT = 1e150, 1e30  # with larger ones sums and products of the user's check may be infinite
MOST_WHOLE = 1 << 31  # products of larger ones may not be in 64 bits
NO_TIME = -(1 << 63)  # NaT
EMPTY, NO_ITEMS = "an array without elements", "no items"
WRAPPING, LARGE = "whole numbers of numpy without a sign, or of 8 or 16 bits", f"a whole number above {MOST_WHOLE}"
_EXPONENT = 4 if platform.machine() in ("x86_64", "i686") else 7  # in 16 bits each, where a long double has it
_NUMBER = re.compile(r"[-+]?[\d.in]", re.IGNORECASE)  # how a word that becomes a number begins
_TYPE = re.compile(r"(^|[<>=|])[fcmM]\d")


def slipping(have: Any, want: Any) -> set[str]:
    """What a node holds of this, in words, and the original's does not, or holds less often."""
    found = unrefused(have)
    if not found:
        return set()
    known = unrefused(want)
    known[EMPTY] += known[NO_ITEMS]
    once = {what: 1 if what in (WRAPPING, LARGE) else count for what, count in found.items() if what != NO_ITEMS}
    return {what for what, count in once.items() if count > known[what]}


def unrefused(part: Any) -> Counter[str]:
    """What a node, or a part of one, holds of this, and how often; large numbers count once."""
    if part.__class__ in (float, complex):
        return _of_reals([part.real, part.imag])
    if part.__class__ is dict:
        return _all_of(part.values())
    if part.__class__ not in (tuple, list):
        return Counter()
    if part.__class__ is tuple and part and part[0].__class__ is str:
        found = _of_node(part[0], part)
        if found is not None:
            return found
    return _all_of(part)


def _of_node(letter: str, part: tuple[Any, ...]) -> Counter[str] | None:
    """The same of a node that is not read part by part; None for any other."""
    if letter in ("A", "G") and len(part) == (5 if letter == "A" else 3):
        is_empty = letter == "A" and 0 in part[3]
        return Counter({EMPTY: 1}) if is_empty else _of_array(part[2 if letter == "A" else 1], bytes(part[-1]))
    if letter == "x" and len(part) == 3 and not part[1]:
        return Counter({NO_ITEMS: 1})
    if letter == "v" and len(part) == 5:
        return unrefused(part[4]) + Counter({NO_ITEMS: array("q", part[3]).count(0)})
    if letter in ("i", "q"):
        return _of_wholes([part[1]] if letter == "i" else array("q", part[2]))
    if letter == "f" and len(part) == 3:
        return _of_array("f8", bytes(part[2]))
    if letter == "I" and len(part) == 2:
        return _of_exact(part[1]) + _of_wholes([part[1]] if abs(part[1]) < 1 << 64 else [])
    if letter in ("s", "y", "B") and len(part) == 2:
        return _of_words([part[1]])
    if letter == "s" and len(part) == 4:
        return _of_words(texts_of(part[2], part[3]))
    if letter == "V" and len(part) == 3 and part[1] in ("Decimal", "Fraction"):
        return _of_value(*part[1:])
    return None


def _all_of(parts: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in parts:
        found.update(unrefused(one))
    return found


def _of_reals(values: Any, most: float = MOST_REAL) -> Counter[str]:
    found = Counter({"NaN": sum(map(math.isnan, values)), "infinity": sum(map(math.isinf, values))})
    if any(math.isfinite(one) and abs(one) > most for one in values):
        found[f"a number above {most:g}"] = 1
    return +found


def _of_wholes(values: Any) -> Counter[str]:
    is_large = len(values) and max(max(values), -min(values)) > MOST_WHOLE
    return Counter({LARGE: 1} if is_large else {})


def _of_exact(value: int | Fraction) -> Counter[str]:
    """Of a number of which a check may make a real one; it gets an error where that is none."""
    try:
        return _of_reals([float(value)])
    except OverflowError:
        return Counter()


def _of_value(kind: str, text: str) -> Counter[str]:
    if kind == "Decimal":
        return _of_reals([float(text.lower().replace("snan", "nan"))])
    return _of_exact(Fraction(*map(int, text.split("/"))))  # by itself it would take 1e1000000000


def _of_words(words: Any) -> Counter[str]:
    """Of texts and bytes: ``float`` and numpy make numbers of them."""
    found: Counter[str] = Counter()
    for one in words:
        head = one.lstrip()[:2]
        if _NUMBER.match(head if head.__class__ is str else bytes(head).decode("latin-1")):
            try:
                found.update({f"the word of {what}": count for what, count in _of_reals([float(one)]).items()})
            except ValueError:
                continue
    return found


def _of_array(dtype: str, data: bytes) -> Counter[str]:
    name = dtype.lstrip("<=|")
    if code := FORMATS.get(name):
        numbers, most = doubled(code, data), MOST_REAL if code == "d" else MOST_FLOAT
        if distance("double", numbers, None) <= most:
            return Counter()
        return _of_reals(array("d", numbers), most) or Counter({f"a number above {most:g}": 1})
    if match := re.fullmatch(r"([<>=|]?)([iu])([1248])", dtype):
        if match[2] == "u" or match[3] in "12":
            return Counter({WRAPPING: 1})
        wholes = array("i" if match[3] == "4" else "q", data)
        if match[1] == ">":
            wholes.byteswap()
        return _of_wholes(wholes)
    if name in ("f16", "c32"):
        powers = [one & 0x7FFF for one in array("H", data)[_EXPONENT::8]]
        most = max(powers, default=0)
        found = Counter({"NaN or infinity": powers.count(0x7FFF)})
        return +found or _of_reals([math.ldexp(1.0, min(most - 0x3FFF, 1000))])
    if re.fullmatch(r"[<=|]?[mM]8.*", dtype):
        return +Counter({"NaT": array("q", data).count(NO_TIME)})
    if match := re.fullmatch(r"[<=|]?([US])(\d+)", dtype):
        return _of_words(_words_of(match[1], int(match[2]), data))
    return Counter({f"values of the type {dtype}": 1} if _TYPE.search(dtype) or re.match(r">U", dtype) else {})


def _words_of(kind: str, length: int, data: bytes) -> list[str]:
    width = max(1, length * (4 if kind == "U" else 1))
    codec = "utf-32-le" if kind == "U" else "latin-1"
    return [data[at : at + width].decode(codec, "replace").rstrip("\0") for at in range(0, len(data), width)]
