"""The contract of a reference module: what it takes and returns, and if it is worth optimising."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import msgspec

from maxcode.errors import InputError
from maxcode.evaluate.function.comparing import beyond, distance, lost, unequal, worst
from maxcode.sandbox.sandbox import Blob

LEAST_PASS_S = 0.005  # of calls in a round: in a much shorter round the overhead of calls dominates
MOST_SLOTS = 32
_WEIGHTS_SHOWN = 40
LEAST_SLOTS = 2  # an output must still be intact after the next call
MOST_ROUND_BYTES = 256 << 20
SEED_BYTES = 16  # of a call: the seed, and the number of the habit of its values
READ_ONLY, WRITTEN, HELD = 0, 1, 3  # kinds of shim_calls.h


class Array(msgspec.Struct, frozen=True):
    """A tensor: dtype as torch spells it, shape, size in bytes; ``name`` of a parameter or buffer."""

    dtype: str
    shape: list[int]
    bytes: int
    name: str = ""

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


class ModuleArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument: a tensor, as ``Array``; if ``dtype`` is empty, a number, a text, or a list of them.  ``name``: of
    the parameter of forward that takes it."""

    dtype: str = ""
    shape: list[int] = []
    bytes: int = 0
    value: Any = None
    name: str = ""


class OutputSummary(msgspec.Struct, frozen=True):
    """A summary of an output."""

    least: float
    most: float
    std: float
    finite: bool


class Apart(msgspec.Struct, frozen=True):
    """The largest difference of the output, as a share of its largest value.

    ``again``: when called again with the same inputs.
    ``inputs``: with other inputs (the most of several draws).
    ``weights``: with every weight changed a little.
    """

    again: float
    inputs: float
    weights: float


class Contract(msgspec.Struct, frozen=True):
    """A reference as ``inside/driver.py describe`` saw it; ``seconds``: CPU time of its first call."""

    init: list[ModuleArgument]
    inputs: list[ModuleArgument]
    outputs: list[Array]
    weights: list[Array]
    seconds: float
    changes_inputs: bool
    figures: list[OutputSummary]
    apart: Apart

    @property
    def tensors(self) -> list[ModuleArgument]:
        """The inputs that are tensors, in order."""
        return [one for one in self.inputs if one.dtype]

    @property
    def input_bytes(self) -> int:
        return sum(one.bytes for one in self.tensors)

    @property
    def output_bytes(self) -> int:
        return sum(one.bytes for one in self.outputs)

    def output_at(self, number: int) -> slice:
        """The place of an output in the bytes of all of a call."""
        start = sum(one.bytes for one in self.outputs[:number])
        return slice(start, start + self.outputs[number].bytes)

    def exact_at(self, number: int) -> slice:
        """The same where the outputs are doubles."""
        start = sum(8 * one.elements for one in self.outputs[:number])
        return slice(start, start + 8 * self.outputs[number].elements)

    def slots(self, seconds: float) -> int:
        """Calls in a round: enough for ``LEAST_PASS_S`` seconds, as memory allows."""
        fitting = MOST_ROUND_BYTES // max(1, self.input_bytes + 3 * self.output_bytes)
        return max(LEAST_SLOTS, min(MOST_SLOTS, fitting, math.ceil(LEAST_PASS_S / max(seconds, 1e-6))))


UNKNOWN = Contract([], [], [], [], 0.0, False, [], Apart(0.0, 0.0, 0.0))


def read_contract(said: bytes) -> Contract:
    """The contract in the last line that the driver printed.  InputError if it is none, or not usable."""
    try:
        found = msgspec.json.decode(said.rstrip().rpartition(b"\n")[2], type=Contract)
    except msgspec.MsgspecError as error:
        raise InputError(f"the reference could not be described: {error}") from error
    unknown = sorted({one.dtype for one in found.outputs} - COMPARED.keys())
    if unknown:
        raise InputError(f"an output of the reference is of type {unknown[0]}; known are {', '.join(COMPARED)}")
    if not found.outputs:
        raise InputError("forward of the reference returns no tensor")
    if not all(figures.finite for figures in found.figures):
        raise InputError("the reference gives NaN or infinity on its own inputs; no output could be compared with them")
    if found.changes_inputs:
        raise InputError("forward of the reference changes its inputs, which are the same memory for every side")
    if found.apart.again > 0 and found.apart.again > _SENSITIVE:
        raise InputError("forward of the reference gives another output every time (dropout?): make it deterministic")
    return found


def shapes_told(contract: Contract) -> tuple[str, ...]:
    """Arguments, outputs and parameters as text; the same for the same reference."""
    taken = [f"{one.dtype} {one.shape}" if one.dtype else repr(one.value) for one in contract.inputs]
    given = [f"{one.dtype} {one.shape}" for one in contract.outputs]
    init = [repr(one.value) for one in contract.init]
    held = [f"{one.name} {one.dtype} {one.shape}" for one in contract.weights[:_WEIGHTS_SHOWN]]
    more = len(contract.weights) - len(held)
    held += [f"and {more} more"] if more > 0 else []
    lines = (("constructed with", init), ("forward takes", taken), ("forward returns", given), ("parameters", held))
    return tuple(f"{title}: {', '.join(words)}" for title, words in lines if words)


# dtype -> what compare.c calls its elements
COMPARED = {
    "float32": "float",
    "float64": "double",
    "int64": "long",
    "int32": "int",
}


def error_of(wanted: Array, exact: bytes, got: bytes) -> float:
    """The worst error of an output, as a share of an element's size and of the root mean square of all; ``exact`` are
    doubles."""
    return worst(COMPARED[wanted.dtype], exact, got, _scale(wanted, exact))


def beyond_in(wanted: Array, exact: bytes, got: bytes, bound: float) -> int:
    """The elements of an output whose error, as ``error_of`` has it, is larger than a bound."""
    return beyond(COMPARED[wanted.dtype], exact, got, _scale(wanted, exact), bound)


def _scale(wanted: Array, exact: bytes) -> float:
    scale = distance("double", exact, None) / math.sqrt(wanted.elements) if wanted.elements else 0.0
    return scale or 1.0


def lost_in(wanted: Array, exact: bytes, reference: bytes, got: bytes) -> int:
    """How many elements of an output are off by half of their own size and more, and right in the reference's; only
    real numbers can be."""
    kind = COMPARED[wanted.dtype]
    return lost(kind, exact, reference, got) if kind in ("float", "double") else 0


def unequal_in(wanted: Array, exact: bytes, reference: bytes, got: bytes) -> int:
    """How many whole numbers of an output are not the reference's, where the reference in double precision gives the
    same; real numbers have a tolerance instead."""
    kind = COMPARED[wanted.dtype]
    return unequal(kind, exact, reference, got) if kind in ("int", "long") else 0


_SENSITIVE = 1e-4  # a smaller share of the largest value is within the tolerance and cannot be seen
_NEARLY_CONSTANT = 1e-3  # of all values; then one number in their middle is nearly within the tolerance of each


def degenerate(contract: Contract) -> tuple[str, ...]:
    """Why a candidate could pass without doing the work; empty if no reason is known."""
    found = []
    for number, figures in enumerate(contract.figures):
        place = f"output {number + 1}" if len(contract.figures) > 1 else "the output"
        largest = max(abs(figures.least), abs(figures.most))
        if largest == 0:
            found.append(f"{place} is zero everywhere")
        elif contract.outputs[number].elements > 1 and figures.most - figures.least < _NEARLY_CONSTANT * largest:
            spread = figures.most - figures.least
            found.append(f"{place} is nearly constant (its values are within {spread:.1e} at {largest:.1e})")
    if not found and contract.tensors and contract.apart.inputs < _SENSITIVE:
        found.append("other inputs give the same output")
    if not found and contract.weights and contract.apart.weights < _SENSITIVE:
        found.append("other weights give the same output")
    return tuple(found)


@final
@dataclass(frozen=True, slots=True)
class Plans:
    """Plans of the calls of both sides, and of the rounds that make their inputs (``shim_calls.h``).

    ``twice``: a pair is the mean of two rounds.
    """

    calls: Blob
    made: Blob
    slots: int
    twice: bool = False


def plans(contract: Contract, slots: int, report: int = 0, twice: bool = False) -> Plans:
    """The plans: a side reads inputs and holds outputs, or writes them, followed by a ``report`` of so many bytes.

    The maker reads a seed, and writes inputs and, as doubles, outputs.
    """
    inputs = [one.bytes for one in contract.tensors]
    kind = WRITTEN if report else HELD
    outputs = [(one.bytes, kind) for one in contract.outputs] + ([(report, WRITTEN)] if report else [])
    exact = [8 * one.elements for one in contract.outputs]
    return Plans(
        _plan([(size, READ_ONLY) for size in inputs] + outputs, slots),
        _plan([(SEED_BYTES, READ_ONLY)] + [(size, WRITTEN) for size in (*inputs, *exact)], slots),
        slots,
        twice,
    )


def _plan(arrays: Sequence[tuple[int, int]], slots: int) -> Blob:
    head = struct.pack("<4I", len(arrays), slots, 0, 0)
    return Blob.of(head + b"".join(struct.pack("<2Q", size, kind) for size, kind in arrays))
