"""The step that runs through columns in step, row by row: rowwise.

    for j: { s = 0; for i: { A[i, j] = B[i, j] + s; s = A[i, j] } }
    for j: s[j] = 0;  for i: for j: { A[i, j] = B[i, j] + s[j]; s[j] = A[i, j] }

It is ``expand`` and the interchange that pays with it: neither gains anything without the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.memory import may_free, with_arrays
from maxcode.policy.rules.kernels.orders import turned_inside
from maxcode.policy.rules.kernels.scalars import expanded, privatised


def rowwise(unit: Unit) -> Iterator[Edit]:
    """Runs through columns in step, row by row, with an element for each column in the place of every scalar."""
    for kernel in kernels(unit):
        whole = privatised(kernel)
        for spot in whole.spots:
            made = expanded(whole, spot) if may_free(whole, spot) else None
            inside = [turned_inside(loop, spot.above) for loop in made.loops] if made is not None else []
            if made is not None and inside != list(made.loops):
                names = ", ".join(made.names)
                what = f"keeps {names} for every {spot.loop.var}, and puts that loop inside"
                yield whole.edit("rowwise", spot.name, (), what, with_arrays(whole, spot, inside, made.arrays))
