"""Module-level numbers: found in every form that KernelBench's files use, replaced where they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from maxcode.errors import InputError
from maxcode.evaluate.module.module_constants import constants_of, replaced
from maxcode.evaluate.module.shrink import adjustable, halvings

FILE = '''"""größer"""
class Model:
    def __init__(self, features, window, scaling):
        self.pool = Pool(kernel_size=window)

N = 1024 * 2  # rows
batch_size, dim = 64, 128
input_shape = (8192 * 2,)
depth, height, width = (16, 32, 32)
kernel = (3, 5)
low = -1
negative_slope = 0.5
bias = True
window = 16
steps = 32
bias_shape = (N, 1)
num_groups = 8
wide: int = (
    300
)

def get_inputs():
    return []

def get_init_inputs():
    return [N, window, steps]
'''


def test_numbers_are_found_in_expressions_tuples_and_annotations() -> None:
    assert constants_of(FILE) == {
        "N": 2048,
        "batch_size": 64,
        "dim": 128,
        "input_shape[0]": 16384,
        "depth": 16,
        "height": 32,
        "width": 32,
        "kernel[0]": 3,
        "kernel[1]": 5,
        "low": -1,
        "window": 16,
        "steps": 32,
        "bias_shape[1]": 1,
        "num_groups": 8,
        "wide": 300,
    }


def test_what_is_replaced_is_what_is_found_and_the_rest_stays() -> None:
    new = {"N": 16, "dim": 7, "input_shape[0]": 99, "width": 1000, "wide": 5, "depth": 1}
    text = replaced(FILE, new)
    assert constants_of(text) == constants_of(FILE) | new
    assert "N = 16  # rows\nbatch_size, dim = 64, 7\ninput_shape = (99,)\ndepth, height, width = (1, 32, 1000)" in text
    assert replaced(FILE, {}) == FILE


@pytest.mark.parametrize("mark", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_marks_that_end_no_line_of_python_shift_no_constant(mark: str) -> None:
    before = f'"""a{mark}b"""\nbatch_size = 128\ndim = 64\n'
    assert replaced(before, {"batch_size": 16}) == before.replace("128", "16")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'batch_size'"):
        replaced(FILE, {"batchsize": 3})
    with pytest.raises(InputError, match="line 1"):
        constants_of("x = = 2")


def test_amounts_are_adjustable_and_kinds_are_not_by_name_and_by_use() -> None:
    assert adjustable(FILE).keys() == {"N", "batch_size", "dim", "input_shape[0]", "depth", "height", "width", "wide"}


def test_halving_goes_step_by_step_and_never_doubles_back() -> None:
    for plan in halvings(FILE):
        assert plan[0] == {}
        for before, after in pairwise(plan):
            assert before != after
            assert all(after[name] <= before[name] for name in before)
    largest, inputs, together = halvings(FILE)
    assert largest[1:3] == [{"input_shape[0]": 8192}, {"input_shape[0]": 4096}]
    assert all("N" not in one for one in inputs)
    assert together[1] == {name: value // 2 for name, value in adjustable(FILE).items()}
