"""How the errors of an output are spread: a few elements of the reference that are far off must not excuse all others.

A reference with a step in it (round, a threshold) has a few elements on the other side of it in every call, each as far
off as the step is high.  So a candidate's worst element is compared with the reference's worst, and so are the errors
that a thousandth and a tenth of all elements are above.  Where errors are like those of sums, this asks for no more
than the worst does.
"""

from __future__ import annotations

import math

from maxcode.core.types.problem import MOST_OWN, OWN_ERRORS
from maxcode.evaluate.module.contract import Array, beyond_in

SHARES = (1e-3, 0.1)
_HALVINGS = 10


def allowed(tolerance: float, own: float) -> float:
    """How far an element may be off, where the reference's own output is ``own`` off."""
    return max(tolerance, min(OWN_ERRORS * own, MOST_OWN))


def too_many(wanted: Array, exact: bytes, outputs: tuple[bytes, bytes], tolerance: float, own: float) -> str:
    """How many elements are off by more than the reference's are, in words; empty if not too many are.

    ``outputs``: the reference's and the other one; ``own``: the reference's worst error.
    """
    reference, got = outputs
    for share in SHARES:
        few = int(share * wanted.elements)
        bound = allowed(tolerance, _usual(wanted, exact, reference, few, (tolerance / OWN_ERRORS, own)))
        if (count := beyond_in(wanted, exact, got, bound)) > few:
            return f"{count} of {wanted.elements} elements are more than {bound:.1e} off, at most {few} may be"
    return ""


def _usual(wanted: Array, exact: bytes, reference: bytes, few: int, within: tuple[float, float]) -> float:
    """An error that a few of the reference's elements at most are above, not much larger than the least one."""
    low, high = within
    if high <= low or beyond_in(wanted, exact, reference, low) <= few:
        return low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if beyond_in(wanted, exact, reference, middle) > few else (low, middle)
    return high
