"""The step that computes a row of values, each of which waits for the one before it, several at once: scan.

    A[i] = (A[i - 1] + B[i] + B[i + 1]) / 3.0

What does not wait is computed first, for a strip of the row, in vectors.  Then A[i] = s[i] + f * A[i - 1] is a scan,
which doubling computes in three rounds for eight elements (Hillis and Steele, "Data Parallel Algorithms"; Blelloch,
"Prefix Sums and Their Applications").  The last digits change as with every other order of additions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import RUNTIME_BEGIN, RUNTIME_END, Unit
from maxcode.code.polyhedral.polynomials import added, coefficient, number, polynomial
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    least_of,
    put_between,
    substituted,
)
from maxcode.policy.rules.kernels.recurrences import Term, is_double, is_late, scaled, terms_of, written
from maxcode.policy.rules.kernels.registers import ELEMENT, is_innermost
from maxcode.policy.rules.kernels.templates import source

STRIPS = (64, 256)
_BEGIN = f"{RUNTIME_BEGIN}scan ----"
_RECIPROCAL = re.compile(r"\(1\.0 / ([\d.]+)\)|([\d.]+)")
_DIVIDED = re.compile(r"(\(?\w+\[[^\[\]]*\]\)?)\s*/\s*([\d.]+)")
_LEAST = 1e-30  # its eighth power is no denormal


@final
class Recurrence(NamedTuple):
    """``target = rest + factor * before``, where ``before`` is the target of the iteration before."""

    target: str
    rest: str
    factor: str
    before: str


def scan(unit: Unit) -> Iterator[Edit]:
    """Computes a row of elements, each a sum with a share of the one before it, eight at once."""
    is_there = _BEGIN in unit.text
    if not is_there and {"scan", "ScanLanes"} & unit.words:
        return
    for kernel in kernels(unit):
        for spot in kernel.spots:
            found = recurrence(kernel, spot)
            for size in STRIPS if found is not None else ():
                assert found is not None
                strip, sums = kernel.fresh("STRIP"), kernel.fresh("scan_sums")
                strips = _scanned(kernel, spot.loop, found, (strip, sums))
                body = put_between(kernel.body, spot.path, [strips], [Other(f"double {sums}[{strip}];")])
                change = kernel.change(body, [(strip, size)], () if is_there else (_block(),))
                what = f"computes {found.target} in strips of {size}, eight at once"
                yield kernel.edit("scan", spot.name, (("size", size),), what, change)


def recurrence(kernel: Kernel, spot: Spot) -> Recurrence | None:
    """The recurrence that a loop is, with a constant factor of at most 1; None if it is something else."""
    loop = spot.loop
    match loop.body:
        case (Assign(op="=" | "+=") as item,) if (
            is_innermost(loop) and kernel.counts_signed(loop) and loop.type == "int"
        ):
            target = ELEMENT.fullmatch(item.target)
        case _:
            return None
    index = polynomial(target[2]) if target is not None else None
    known = target is not None and kernel.is_double(target[1]) and not effect((loop,), spot.above).opaque
    stride = coefficient(index, loop.var) if index is not None else {}
    if target is None or index is None or not known or stride not in (number(1), number(-1)):
        return None
    inside, factor = scaled(item.value if item.op == "=" else f"{item.target} + {item.value}")
    terms = terms_of(inside)
    late = [term for term in terms if is_late(spot, term.text)]
    rest = [term for term in terms if term not in late]
    if len(late) != 1 or not rest or not all(is_double(kernel, term.text) for term in terms):
        return None
    share, before = _share(late[0], target[1])
    place = ELEMENT.fullmatch(before)
    there = polynomial(place[2]) if place is not None else None
    if not share or there is None or added(index, there, -1) != stride or spot.shared:
        return None
    total = f"{share} * {factor}" if factor else share
    size = abs(_value(share) * (_value(factor) if factor else 1.0))
    value = f"({written(rest)}) * {factor}" if factor else written(rest)
    return Recurrence(item.target, value, total, before) if _LEAST <= size <= 1.0 else None


def _share(term: Term, array: str) -> tuple[str, str]:
    """The constant factor of a term and the element that it multiplies; empty for another term."""
    sign = "" if term.sign == "+" else "-"
    divided = _DIVIDED.fullmatch(term.text)
    text = f"(1.0 / {divided[2]}) * {divided[1]}" if divided is not None else term.text
    parts = re.split(r"\s*\*(?![^\[]*\])\s*", text)
    element = next((part for part in parts if re.fullmatch(rf"\(?{array}\[[^\[\]]*\]\)?", part)), "")
    others = [part for part in parts if part != element]
    if not element or len(parts) - len(others) != 1 or len(others) > 1 or not all(map(_RECIPROCAL.fullmatch, others)):
        whole = ELEMENT.fullmatch(term.text)
        return (f"{sign}1.0", term.text) if whole is not None and whole[1] == array else ("", "")
    return f"{sign}{others[0] if others else '1.0'}", element.strip("()")


def _value(constant: str) -> float:
    """The value of ``-(1.0 / 9.0)`` or ``0.5``."""
    found = _RECIPROCAL.fullmatch(constant.removeprefix("-"))
    if found is None:
        return 0.0
    return 1.0 / float(found[1]) if found[1] and float(found[1]) else float(found[2] or 0.0)


def _scanned(kernel: Kernel, loop: Loop, found: Recurrence, names: Sequence[str]) -> Branch:
    """The strips; the branch keeps them from an element that may not be there without an iteration."""
    strip, sums = names
    first, before = kernel.fresh(f"{loop.var}0"), kernel.fresh("scan_before")
    end = least_of(f"{first} + {strip}", loop.high)
    piece = replace(loop, low=first, high=end)
    here = f"{sums}[{loop.var} - {first}]"
    inside: Body = (
        replace(piece, body=(Assign(here, "=", found.rest),)),
        Other(f"{before} = scan({end} - {first}, {found.factor}, {sums}, {before});"),
        replace(piece, body=(Assign(found.target, "=", here),)),
    )
    start: Item = Declare("double", before, substituted(found.before, {loop.var: loop.low}))
    return Branch(f"{loop.low} < {loop.high}", (start, Loop(first, loop.low, loop.high, strip, inside)))


@cache
def _block() -> str:
    return f"{_BEGIN}\n{source('scan')}\n{RUNTIME_END}\n"
