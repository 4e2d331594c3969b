"""How the values of an array are drawn: the usual way, or a way that leaves the habits of the usual ones.

A program that is right on uniform values in [-1, 1) alone is not right.  So some calls get values of other sizes, of
one sign, with zeros and repeats, sorted or all the same, and whole numbers of any size.  ``generator.c`` draws them,
within what the problem says of its values (``domain``).
"""

from __future__ import annotations

from collections.abc import Mapping

from maxcode.code.domains import Domain, domain_of
from maxcode.core.types import Argument, FunctionSpec

USUAL = "u"
HABITS = {
    "s": "times a power of two",
    "w": "each times another power of two",
    "p": "none negative",
    "n": "none positive",
    "z": "half of them zeros",
    "r": "four values only",
    "o": "rising",
    "d": "falling",
    "c": "all the same",
    "i": "small whole numbers",
    "e": "the ends of the range",
    "f": "the whole range",
    "l": "a few far from the others",
    "k": "a few zeros",
    "y": "a few the same as others",
    "m": "a few the opposites of others",
    "v": "a few at the ends of the range",
}
FEW_FAR = "l"
OF_FEW = frozenset("lkymv")  # of which a few values are unlike the others, or one alone
GRID = "g"
TAKEN = "a"
NAMES = {**HABITS, GRID: "some of them multiples of 1/32", TAKEN: "made of an earlier array"}
SUMS_LOSE = frozenset("lw")  # values so far apart that a sum over all loses digits of the small ones
OF_ANY_SIZE = frozenset("lswodpnr")  # whole numbers of any size, which may have a bound
_WHICH = {"any": "*", "drawn": "*", "positive": "+", "nonnegative": "0", "between": ":"}


def may_vary(spec: FunctionSpec, array: Argument) -> bool:
    """Whether an array's values may be drawn in another way than the usual one."""
    return array.access != "out" and dict(spec.domain).get(array.name) != "drawn"


def has_earlier(spec: FunctionSpec, array: Argument) -> bool:
    """Whether an array can be made of an earlier one, which has its type."""
    earlier = spec.arrays[: spec.arrays.index(array)]
    return any(one.access != "out" and one.ctype == array.ctype for one in earlier)


def word_of(spec: FunctionSpec, array: Argument, letter: str, sizes: Mapping[str, int]) -> str:
    """How ``generator.c`` is told to draw the values of an array."""
    said = dict(spec.domain).get(array.name)
    whole = array.ctype in ("int", "long")
    domain = domain_of(said, sizes, whole) if said else Domain("any")
    ends = ""
    if domain.which == "between":
        low, high = _held(domain, array.ctype) if whole else (float(domain.low).hex(), float(domain.high).hex())
        ends = f"{low},{high}"
    return f"{letter}{'!' if said and said != 'drawn' else '-'}{_WHICH[domain.which]}{ends}"


def _held(domain: Domain, ctype: str) -> tuple[int, int]:
    """The ends of a domain of whole numbers, within those of the type."""
    most = 2 ** (31 if ctype == "int" else 63) - 1
    return max(int(domain.low), -most - 1), min(int(domain.high), most)
