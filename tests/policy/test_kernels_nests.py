"""Random nests compute the same after random chains of steps; benchmarks/rules_hold.py --nests tries many more."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from hold.nests import NAMES, PLAIN, VECTORS, Variant, batch, odd_nest, told, wrong
from maxcode.sandbox.sandbox import Sandbox
from tests.support.selection import some

SIZE = 150


@pytest.mark.parametrize("number", some(range(8), 2))
def test_random_nests_compute_the_same_after_random_steps(number: int, sandbox: Sandbox) -> None:
    made = batch(1, number, SIZE)
    found = wrong(made, anyio.run(told, sandbox, made, PLAIN if number % 2 else VECTORS))
    assert [f"{apart:g} {one.labels}\n{one.original}\n{one.text}" for one, apart in found] == []


@pytest.mark.parametrize("number", some(range(8), 2))
def test_loops_that_are_easily_misread_compute_the_same_after_random_steps(number: int, sandbox: Sandbox) -> None:
    """Tests with effects, jumps, steps and ends that move, comments within expressions."""
    made = batch(1, number, SIZE, odd_nest)
    found = wrong(made, anyio.run(told, sandbox, made, PLAIN if number % 2 else VECTORS))
    assert [f"{apart:g} {one.labels}\n{one.original}\n{one.text}" for one, apart in found] == []


def test_every_step_is_tried() -> None:
    tried = {label.partition("(")[0] for number in range(8) for one in batch(1, number, SIZE) for label in one.labels}
    assert set(NAMES) - tried <= {"operands", "split", "unswitch"}, "these need forms that random nests seldom have"


def test_a_nest_in_a_wrong_order_is_found_out(sandbox: Sandbox) -> None:
    head = "for (int i = 1; i < n; i++)"
    right = f"void f(int n, int m, double *A, double *B, double *C) {{\n{head} A[i] = 0.5 * A[i - 1];\n}}\n"
    off = Variant(right, ("right",), right)
    made = [
        off,
        replace(off, labels=("backwards",), text=right.replace(head, "for (int i = n - 1; i > 0; i--)")),
        replace(off, labels=("shorter",), text=right.replace("i < n", "i < n - 1")),
        replace(off, labels=("one more",), text=right.replace("i < n", "i < n + 1")),
    ]
    found = wrong(made, anyio.run(told, sandbox, made))
    assert [one.labels for one, _ in found] == [("backwards",), ("shorter",), ("one more",)]


def test_a_program_that_ends_early_names_the_variant() -> None:
    made = [Variant("o", ("tile(j in f)",), "t")]
    with pytest.raises(ValueError, match=r"ended in tile\(j in f\)"):
        wrong(made, "")
    with pytest.raises(ValueError, match="no number for each of 1 variants: main"):
        wrong(made, "main.c: error")
