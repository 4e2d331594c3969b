"""Answers that take no work, tried against a reference: where one passes, a candidate could pass without the work.

Tried are zeros, one number everywhere, the answer to another call, and the inputs themselves.  One passes if it is
right in all calls that a candidate must be right in, those on values beyond the drawn ones included.
"""

from __future__ import annotations

import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types.problem import MOST_OWN
from maxcode.evaluate.module.contract import Contract, error_of, unequal_in
from maxcode.evaluate.module.spread import allowed, too_many

_CODES = {"float32": "f", "float64": "d", "int64": "q", "int32": "i"}


@final
@dataclass(frozen=True, slots=True)
class CallSeen:
    """A call of the reference: its inputs, its exact outputs as doubles, its own outputs, and their errors."""

    inputs: bytes
    exact: bytes
    output: bytes
    own: tuple[float, ...]


def meaningless(calls: Sequence[CallSeen]) -> str:
    """Why the reference's own outputs say nothing; empty if they do."""
    own = max((error for call in calls for error in call.own), default=0.0)
    if own <= MOST_OWN:
        return ""
    return f"the reference is numerically meaningless: an element of its own output is {own:.1e} off"


def trivial(contract: Contract, tolerance: float, calls: Sequence[CallSeen]) -> Iterator[str]:
    """The answers that pass in place of an output, in words, one for each output at most."""
    for number in range(len(contract.outputs)):
        for words, answers in _answers(contract, number, calls):
            if answers and all(_passes(contract, number, tolerance, call, answer) for call, answer in answers):
                place = "" if len(contract.outputs) == 1 else f" in place of output {number + 1}"
                yield f"{words} passes{place}"
                break


def _answers(
    contract: Contract, number: int, calls: Sequence[CallSeen]
) -> Iterator[tuple[str, list[tuple[CallSeen, bytes]]]]:
    """Kinds of answers, each with the calls that it is tried in, and the answer to each."""
    wanted = contract.outputs[number]
    first, others = calls[0], calls[1:]
    yield "an output of zeros", [(call, bytes(wanted.bytes)) for call in calls]
    if wanted.elements > 1:
        values = array.array("d", first.exact[contract.exact_at(number)])
        for value in (sum(values) / len(values), (min(values) + max(values)) / 2):
            same = array.array(_CODES[wanted.dtype], [_as(wanted.dtype, value)]) * wanted.elements
            yield f"an output of {value:.3g} everywhere", [(call, same.tobytes()) for call in others]
    yield "the output of another call", [(call, first.output[contract.output_at(number)]) for call in others]
    start = 0
    for place, one in enumerate(contract.tensors, 1):
        part = slice(start, start + one.bytes)
        start += one.bytes
        if one.dtype == wanted.dtype and one.bytes == wanted.bytes:
            yield f"input {place} as it is", [(call, call.inputs[part]) for call in calls]


def _as(dtype: str, value: float) -> float | int:
    return round(value) if dtype.startswith("int") else value


def _passes(contract: Contract, number: int, tolerance: float, call: CallSeen, answer: bytes) -> bool:
    wanted, exact = contract.outputs[number], call.exact[contract.exact_at(number)]
    if unequal_in(wanted, exact, call.output[contract.output_at(number)], answer):
        return False
    error, own = error_of(wanted, exact, answer), call.own[number]
    if not error <= allowed(tolerance, own):
        return False
    both = call.output[contract.output_at(number)], answer
    return error <= tolerance or not too_many(wanted, exact, both, tolerance, own)
