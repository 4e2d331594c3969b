"""Steps that cut loops into pieces, so that what a piece uses stays in the cache: tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.polynomials import (
    ONE,
    Poly,
    added,
    coefficient,
    multiplied,
    number,
    polynomial,
    written_out,
)
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere, tileable
from maxcode.policy.rules.kernels.nest import Body, Loop, at, extremes, greatest_of, least_of, put, words_in

TILES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)


def tile(unit: Unit) -> Iterator[Edit]:
    """Splits a loop into pieces and puts the loop over the pieces around the outer loops, for the cache; the loops may
    form a triangle or a trapezium."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            height = _height(kernel, spot)
            if height == 0:
                continue
            name = kernel.fresh(f"TILE_{spot.loop.var.upper()}")
            body = _tiled(kernel, spot, height, name)
            around = spot.above[-height].var
            for size in TILES:
                what = f"cuts the loop over {spot.loop.var} into pieces of {size}, outside the loop over {around}"
                change = kernel.change(body, [(name, size)])
                yield kernel.edit("tile", spot.name, (("size", size),), what, change)


def _height(kernel: Kernel, spot: Spot) -> int:
    """The number of loops around a loop that the loop over its pieces may cross, from the inside out."""
    band = [spot.loop]
    if not computes_anywhere(spot.loop.low, spot.loop.high):
        return 0
    if spot.loop.step != "1" or "?" in spot.loop.low + spot.loop.high or spot.loop.pragmas:
        return 0
    for depth in range(len(spot.above) - 1, -1, -1):
        outer = spot.above[depth]
        ends = _ends(kernel, [outer, *band])
        if (
            outer.body != (band[0],)
            or outer.pragmas
            or ends is None
            or not tileable([outer, *band], spot.above[:depth])
        ):
            break
        band.insert(0, outer)
    return len(band) - 1


def _ends(kernel: Kernel, band: Sequence[Loop]) -> tuple[str, str] | None:
    """The least low and the greatest high end of the last loop over all iterations of the loops around it."""
    *around, loop = band
    if not {outer.var for outer in around} & (words_in(loop.low) | words_in(loop.high)):
        return loop.low, loop.high
    ends = [_extreme(loop.low, around, greatest=False), _extreme(loop.high, around, greatest=True)]
    texts = [written_out(end) for end in ends if end is not None]
    return (texts[0], texts[1]) if len(texts) == 2 and kernel.is_signed(*texts) and kernel.counts_signed(loop) else None


def _extreme(text: str, around: Sequence[Loop], greatest: bool) -> Poly | None:
    """An affine bound at its extreme over the iterations of loops."""
    bound = polynomial(text)
    for loop in reversed(around):
        factor = coefficient(bound, loop.var) if bound is not None else None
        if bound is None or factor is None or factor.keys() - {ONE}:
            return None
        ends = [_affine(loop.low, ">"), _affine(loop.high, "<")]
        end = ends[1] if (factor.get(ONE, 0) > 0) == greatest else ends[0]
        if factor and end is None:
            return None
        if factor and end is not None:
            value = added(end, number(1), -1) if end is ends[1] else end
            bound = added(added(bound, {(loop.var,): factor[ONE]}, -1), multiplied(value, factor))
    return bound


def _affine(text: str, way: str) -> Poly | None:
    """An affine bound, or an affine one of several."""
    return next((end for part in extremes(text, way) if (end := polynomial(part)) is not None), None)


def _tiled(kernel: Kernel, spot: Spot, height: int, size: str) -> Body:
    loop = spot.loop
    first = kernel.fresh(f"{loop.var}0")
    ends = _ends(kernel, (*spot.above[-height:], loop))
    assert ends is not None, "its height was found"
    low = first if ends[0] == loop.low else greatest_of(first, loop.low)
    piece = replace(loop, low=low, high=least_of(f"{first} + {size}", loop.high))
    top = spot.path[: len(spot.path) - 2 * height]
    inside = put((at(kernel.body, top),), (0, *spot.path[len(top) :]), [piece])
    return put(kernel.body, top, [Loop(first, *ends, size, inside, type=loop.type)])
