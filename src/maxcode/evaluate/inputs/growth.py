"""How the time of the original grows with its input, from the inputs that were run anyway.  Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

_LEAST_S = 0.001  # beyond what the quickest input takes, and half of that: the rest is mostly the start
_POINTS, _SPREAD = 4, 2.0  # different sizes, and the ratio of the largest to the least, of sizes and of times
_GOOD = 0.95  # share of the variance (of the logarithm of time) that a law must explain


_PREFERENCE = 0.02  # for the bytes, which nearly always grow with what counts
_CLEARLY = 0.01  # by so much more of the variance an exponential law must explain than a power, which is usual
_STEEP = 6.0  # a steeper power is an exponential law that was seen over a short range


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One input: CPU ``seconds`` of the original, and the ``sizes`` by name that could explain them."""

    seconds: float
    sizes: Mapping[str, float]


@final
@dataclass(frozen=True, slots=True)
class _Law:
    name: str
    is_power: bool
    rate: float
    fit: float


def growth(points: Sequence[Point]) -> str:
    """One sentence: the power or the exponential law that explains the times best; a sentence on the spread if none
    does; empty if there are too few inputs, or all are short or alike."""
    base = min((one.seconds for one in points), default=0.0)
    used = [one for one in points if one.seconds - base >= max(_LEAST_S, base / 2)]
    if len(used) < _POINTS or _ratio([one.seconds for one in used]) < _SPREAD:
        return ""
    names = [name for name in used[0].sizes if all(one.sizes.get(name, 0) > 0 for one in used)]
    laws = [law for name in names for law in _laws(used, name, base)]
    if not names:
        return ""
    best = max(laws, key=lambda law: law.fit + _PREFERENCE * (law.name == BYTES), default=None)
    if best is None or best.fit < _GOOD:
        slow, quick = (pick(used, key=lambda one: one.seconds) for pick in (max, min))
        return f"The original's time follows no size of the input: {_told(quick, names)}, but {_told(slow, names)}."
    span = sorted(used, key=lambda one: one.sizes[best.name])
    ends = f"from {_told(span[0], [best.name])} to {_told(span[-1], [best.name])}"
    seen = f"{len(used)} inputs, timed ones and others, {ends}"
    if best.is_power:
        return f"The original's time grows about as the {best.rate:.1f}th power of {best.name} ({seen})."
    return f"The original's time doubles about every {math.log(2) / best.rate:.1f} of {best.name} ({seen})."


def _laws(points: Sequence[Point], name: str, base: float) -> list[_Law]:
    sizes = [one.sizes[name] for one in points]
    times = [math.log(one.seconds - base) for one in points]
    if len(set(sizes)) < _POINTS:
        return []
    power = _Law(name, True, *_line([math.log(size) for size in sizes], times))
    doubling = _Law(name, False, *_line(sizes, times))
    is_exponential = doubling.fit > power.fit + (-_CLEARLY if power.rate > _STEEP else _CLEARLY)
    law = doubling if is_exponential and name != BYTES else power
    return [law] if law.rate > 0 and (law is doubling or _ratio(sizes) >= _SPREAD) else []


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """The slope of the least squares line, and the share of the variance that it explains."""
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((one - x) * (other - y) for one, other in zip(xs, ys, strict=True))
    wide, high = sum((one - x) ** 2 for one in xs), sum((one - y) ** 2 for one in ys)
    return (across / wide, across**2 / (wide * high)) if wide and high else (0.0, 0.0)


def _ratio(values: Sequence[float]) -> float:
    return max(values) / min(values)


def _size(name: str, value: float) -> str:
    """A size in words; two digits of a number that an input holds, as of those in ``format_words``."""
    return _UNITS[name].format(value) if name in _UNITS else f"{name} = {float(f'{value:.2g}'):.10g}"


def _told(point: Point, names: Sequence[str]) -> str:
    sizes = ", ".join(_size(name, point.sizes[name]) for name in names)
    return f"{point.seconds * 1e3:.{2 if point.seconds < 0.01 else 1}f} ms at {sizes}"


BYTES, WORK = "the bytes of the input", "its flop count"
_UNITS = {BYTES: "{:,.0f} bytes", WORK: "{:,.0f} operations"}
