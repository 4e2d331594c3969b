"""Answers that take no work: which of them pass in place of a reference's."""

from __future__ import annotations

import array
from collections.abc import Sequence

import pytest

from maxcode.core.types.problem import MOST_OWN
from maxcode.evaluate.module.contract import UNKNOWN, Array, Contract, ModuleArgument
from maxcode.evaluate.module.spread import allowed
from maxcode.evaluate.module.trivial import CallSeen, meaningless, trivial


def contract(elements: int = 4) -> Contract:
    given = [ModuleArgument("float32", [elements], 4 * elements, name="x")]
    return Contract(
        [], given, [Array("float32", [elements], 4 * elements)], [], 0.1, False, [], apart=UNKNOWN.apart
    )  # fmt: skip


def call(given: Sequence[float], output: Sequence[float], own: float = 0.0) -> CallSeen:
    exact, plain = array.array("d", output), array.array("f", output)
    return CallSeen(array.array("f", given).tobytes(), exact.tobytes(), plain.tobytes(), (own,))


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([call([1, 2, 3, 4], [0, 0, 0, 0]), call([5, 6, 7, 8], [0, 0, 0, 0])], "an output of zeros passes"),
        ([call([1, 2, 3, 4], [3, 3, 3, 3]), call([5, 6, 7, 8], [3, 3, 3, 3])], "an output of 3 everywhere passes"),
        ([call([1, 2, 3, 4], [4, 0, 1, 2]), call([5, 6, 7, 8], [4, 0, 1, 2])], "the output of another call passes"),
        ([call([1, 2, 3, 4], [1, 2, 3, 4]), call([5, 6, 7, 8], [5, 6, 7, 8])], "input 1 as it is passes"),
        ([call([1, 2, 3, 4], [1, 2, 3, 4]), call([-5, 6, 7, 8], [0, 6, 7, 8])], None),
        ([call([1, 2, 3, 4], [2, 3, 4, 5]), call([5, 6, 7, 8], [6, 7, 8, 9])], None),
    ],
)
def test_an_answer_without_work_is_named_where_it_passes_in_every_call(calls: list[CallSeen], said: str | None) -> None:
    assert list(trivial(contract(), 1e-4, calls)) == ([said] if said else [])


def test_a_loss_may_not_be_answered_by_its_own_mean() -> None:
    """The one number that it is tried with comes from another call."""
    assert list(trivial(contract(1), 1e-4, [call([1], [0.30]), call([2], [0.31])])) == []
    assert list(trivial(contract(1), 1e-2, [call([1], [0.30]), call([2], [0.301])])) == [
        "the output of another call passes"
    ]


def test_what_errors_of_the_reference_add_to_the_tolerance_has_a_bound() -> None:
    assert allowed(1e-4, 0.0) == 1e-4
    assert allowed(1e-4, 1e-3) == pytest.approx(3e-3)
    assert allowed(1e-4, 0.5) == MOST_OWN
    assert allowed(0.1, 0.5) == 0.1, "what the problem itself allows"
    assert meaningless([call([1], [1], 1e-3)]) == ""
    assert "numerically meaningless" in meaningless([call([1], [1], 0.0), call([1], [1], 0.5)])
