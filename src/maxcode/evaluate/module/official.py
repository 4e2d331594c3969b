"""KernelBench's own rule of correctness, recorded beside the verdict; it decides nothing.

Its evaluation (src/eval.py) calls both modules on five draws of random inputs and asks ``torch.allclose`` of their
outputs with atol = rtol = 1e-2: ``|got - reference| <= 1e-2 + 1e-2 |reference|`` for every element.  The reference is
the module as it is, not one in double precision.  So the rule accepts anything if outputs are small.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import final

from maxcode.evaluate.function.comparing import odd_element, worst
from maxcode.evaluate.module.contract import COMPARED, Array

TRIALS = 5
TOLERANCE = 1e-2  # absolute and relative
_WHOLE = {"long": "q", "int": "i"}  # the whole numbers of ``COMPARED``


@final
class OfficialRule:
    """The rule, asked about the first calls of one side."""

    def __init__(self, outputs: Sequence[Array]) -> None:
        self._outputs = outputs
        self._bytes = sum(one.bytes for one in outputs)
        self._trials = 0
        self._close = True

    @property
    def is_decided(self) -> bool:
        """Whether an output was refused, or all trials are over."""
        return not self._close or self._trials >= TRIALS

    @property
    def accepts(self) -> bool | None:
        """Whether all trials were accepted; None if too few were made and none was refused."""
        return self._close if self.is_decided else None

    def see(self, reference: bytes, got: bytes) -> None:
        """Compares the outputs of a round, call by call, until it is decided."""
        for start in range(0, len(reference), self._bytes):
            if self.is_decided:
                return
            self._trials += 1
            end = start + self._bytes
            self._close = len(got) == len(reference) and self._is_close(reference[start:end], got[start:end])

    def _is_close(self, reference: bytes, got: bytes) -> bool:
        at = 0
        for one in self._outputs:
            kind = COMPARED[one.dtype]
            want, have = reference[at : at + one.bytes], got[at : at + one.bytes]
            if not (_is_whole_near(want, have, kind) if kind in _WHOLE else _is_real_near(want, have, kind)):
                return False
            at += one.bytes
        return True


def _is_real_near(want: bytes, have: bytes, kind: str) -> bool:
    return odd_element(kind, want, have, (), (TOLERANCE, 0.0, TOLERANCE)) is None


def _is_whole_near(want: bytes, have: bytes, kind: str) -> bool:
    exact = array("d", array(_WHOLE[kind], want)).tobytes()
    return worst(kind, exact, have, 1.0) <= TOLERANCE
