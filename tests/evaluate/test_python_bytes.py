"""Bytes of no sense, which a process in a candidate's place may write: what is read of them stays small."""

from __future__ import annotations

import fractions
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from maxcode.evaluate.python.nodes import Reader, Unreadable, parts_of
from maxcode.evaluate.python.slipping import unrefused
from tests.evaluate.test_python_values import codec, decoder, difference, written

size = codec.PART.pack
WORDS = ["ab", "c"] * 4


def forged(skeleton: bytes, *parts: Any) -> bytes:
    """A message of this skeleton, and of parts that are the memory of arrays."""
    encoder = codec.Encoder()
    encoder.out += skeleton
    encoder.parts += [(one.ctypes.data, one.nbytes, one) for one in parts]
    return bytes(codec.whole(encoder))


def node(message: bytes) -> Any:
    return Reader().open(parts_of(memoryview(message))).node()


@pytest.mark.parametrize(
    ("skeleton", "why"),
    [
        (b"l" + size(9) + b"x" + 9 * (b"B\1" + size(1)), "part 1 is named again"),
        (b"B\1" + size(0), "part 0 is named again"),
        (b"S" + size(1 << 20) + b"n", "more items of sets than bytes"),
        (b"Z" + size(1 << 20) + b"rt" + size(1) + size(1 << 20) + b"n", "more items of sets than bytes"),
        (b"l" + size(9) + b"x" + 9 * (b"l" + size(1 << 23) + b"n"), "times None"),
        (b"l" + size(9) + b"rl" + size(2) + 2 * (size(1 << 20) + b"n"), "columns of other lengths"),
    ],
)
def test_a_few_bytes_do_not_become_many(skeleton: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        node(forged(skeleton, np.zeros(1000)))


@pytest.mark.parametrize("sizes", [[1 << 16, -(1 << 16)] * 4, [-1] * 8, [1 << 16] * 8])
def test_texts_have_their_own_lengths_alone(sizes: list[int]) -> None:
    skeleton = b"l" + size(8) + b"s\1" + size(1) + b"\1" + size(2)
    message = forged(skeleton, np.array(sizes), np.full(1 << 16, ord("x"), np.uint8))
    assert "texts of other lengths" in difference(written(WORDS), message)


def test_honest_values_that_take_few_bytes_are_read() -> None:
    states = set(itertools.product((None, True, False), repeat=6))
    for value in (states, {None}, {True, False}, {*range(1000)}, {*map(str, range(1000))}, [None] * 100000, [WORDS]):
        assert difference(written(value), written(value)) == ""
        assert node(written(value))


def test_a_fraction_is_two_whole_numbers_and_no_power_of_ten() -> None:
    assert not unrefused(node(written(fractions.Fraction(-1, 3))))
    with pytest.raises(ValueError, match="1e9999999999"):
        unrefused(node(forged(b"V" + size(8) + b"Fraction" + size(12) + b"1e9999999999")))


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("spoil", [lambda one: one.indices, lambda one: one.indptr[1:-1]])
def test_a_sparse_matrix_of_a_side_has_no_element_outside_of_it(layout: str, spoil: Callable[[Any], Any]) -> None:
    value = scipy.sparse.random(40, 30, 0.1, random_state=1).asformat(layout)
    parts = decoder.parts_of(memoryview(bytearray(written(value))))
    assert (decoder.Decoder(parts, lambda _: False).node() != value).nnz == 0
    spoil(value)[:] = 1 << 20
    with pytest.raises(ValueError):  # in words of scipy's
        decoder.Decoder(decoder.parts_of(memoryview(bytearray(written(value)))), lambda _: False).node()


def test_windows_that_overlap_are_marked_and_others_are_not() -> None:
    rows = np.arange(300.0).reshape(20, 15)
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(100.0), 9)
    shared = np.lib.stride_tricks.as_strided(np.arange(100.0), (92, 9), (8, 8))
    assert "same memory" in difference(written(windows.copy()), written(shared))
    assert difference(written(windows.copy()), written(windows.copy()[:, ::-1][:, ::-1])) == ""
    assert difference(written(shared.copy()), written(np.concatenate([shared, shared])[:92])) == ""
    assert difference(written(rows[::2].copy()), written(rows[::2])) == ""
    assert difference(written(rows[:, ::-3].copy()), written(rows[:, ::-3])) == ""
