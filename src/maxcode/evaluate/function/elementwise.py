"""The second look at real numbers: every element for itself, because one norm for an array hides its small elements.

An element may be off by a share of its own size, and by what inputs that differ by about as much as the tolerance do
to it.  The latter is measured on the original: it is asked again with every real input made smaller by a tiny random
share.  So a sum whose terms cancel may come out as it likes, within the norm, and a small number that is right may not.
It is asked only where the first look finds an element that is off.
"""

from __future__ import annotations

import ctypes
import math
import secrets
from collections.abc import Sequence

from maxcode.core.types import FunctionSpec
from maxcode.evaluate.function.comparing import TINY, distance, nudge, odd_element
from maxcode.evaluate.function.function import Shape, call_of, plan_bytes, read_arrays, written_arrays

NUDGED = 3  # times the original is asked
_SHARE = {"double": 2.0**-40, "float": 2.0**-20}  # by which an input is made smaller at most
_OWN = {"double": 1000, "float": 10}  # times the tolerance: of an element's own size; of a float 1e-4, not two digits
_OWN_MOST = 0.1
_LEAST_GAIN = 64
_EPSILON = {"double": 2.0**-52, "float": 2.0**-23}
_STEADY_LEAST, _STEADY_ROOM = 10.0, 1024


def nudged(shape: Shape, plan: bytes) -> bytes:
    """A plan whose real inputs are made smaller by random shares, at most 2^-40 of a double and 2^-20 of a float."""
    whole = ctypes.create_string_buffer(plan, len(plan))
    for ctype, part in read_arrays(shape, plan_bytes(shape)):
        if ctype in _SHARE and part.stop > part.start:
            nudge(ctype, whole, part, _SHARE[ctype], secrets.randbits(64))
    return whole.raw


def odd(shape: Shape, expected: bytes, got: bytes, near: Sequence[bytes]) -> str | None:
    """The first real number that is further off than an element may be, in words; None when none is.  ``near`` are the
    original's answers to nudged inputs."""
    share = share_of(shape.spec)
    for number, name, part, ctype in written_arrays(shape):
        if ctype not in TINY or dict(shape.spec.tolerances).get(name, 0) >= 1:
            continue
        tolerance = shape.spec.tolerance_of(name)
        want, have = expected[part], got[part]
        if want == have:
            continue
        size = distance(ctype, want, None)
        tiny = max(TINY[ctype], 0.0 if share else 64 * _EPSILON[ctype] * size, 0.0 if size else tolerance)
        gain = max(_LEAST_GAIN, tolerance / share) if share else 0.0
        rule = (min(_OWN[ctype] * tolerance, _OWN_MOST), gain, tiny)
        at = odd_element(ctype, want, have, [one[part] for one in near], rule)
        if at is not None:
            return f"{name} at {call_of(shape, number)}: element {at[0]} is {at[2]:.6g} in place of {at[1]:.6g}"
    return None


def is_steady(shape: Shape, expected: bytes, near: Sequence[bytes]) -> bool:
    """Whether the original's answers hardly change when its inputs hardly do: else they say nothing about others."""
    share = share_of(shape.spec)
    for _, name, part, ctype in written_arrays(shape):
        want = expected[part]
        if ctype not in TINY:
            if any(one[part] != want for one in near):
                return False
            continue
        most = max(_STEADY_LEAST, shape.spec.tolerance_of(name) / (_STEADY_ROOM * _EPSILON[ctype])) * share
        norm = distance(ctype, want, None)
        apart = max((distance(ctype, want, one[part]) for one in near), default=0.0)
        if not (math.isfinite(norm) and apart <= most * norm):
            return False
    return True


def share_of(spec: FunctionSpec) -> float:
    """The largest share by which an input is nudged; 0 where no real number is read."""
    return max((_SHARE.get(one.ctype, 0.0) for one in spec.arrays if one.access != "out"), default=0.0)
