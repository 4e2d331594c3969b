"""Values of a module's inputs beyond those drawn: what they keep of the drawn ones, and which inputs stay as drawn."""

from __future__ import annotations

import importlib
import importlib.util
import math
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import maxcode
from maxcode.evaluate.function.habits import HABITS, OF_FEW

pytestmark = pytest.mark.heavy  # it imports torch
INSIDE = Path(maxcode.__file__).parent / "evaluate" / "module" / "inside"


@pytest.fixture(scope="module")
def torch() -> Any:
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def values() -> ModuleType:
    spec: Any = importlib.util.spec_from_file_location("values", INSIDE / "values.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("letter", HABITS)
def test_triangles_stay_triangles_and_symmetric_matrices_stay_symmetric(
    letter: str, torch: Any, values: ModuleType
) -> None:
    drawn = torch.randn(16, 16)
    upper = values.varied(torch, drawn.triu(), letter, None, random.Random(1))
    assert upper.dtype == drawn.dtype and not upper.tril(-1).any()
    symmetric = values.varied(torch, drawn + drawn.mT, letter, None, random.Random(1))
    assert torch.equal(symmetric, symmetric.mT)


@pytest.mark.parametrize("letter", HABITS)
def test_every_habit_leaves_the_drawn_values_of_a_uniform_input(letter: str, torch: Any, values: ModuleType) -> None:
    drawn = torch.rand(64, 32) + 0.01
    found = values.varied(torch, drawn, letter, None, random.Random(2))
    assert bool(found.isfinite().all())
    changed = not torch.equal(found, drawn)
    assert changed != (letter == "p"), "values that are not negative are so already"


@pytest.mark.parametrize("letter", HABITS)
def test_a_domain_holds_for_every_habit(letter: str, torch: Any, values: ModuleType) -> None:
    drawn = torch.randn(64)
    for domain, least, most in (
        ({"which": "positive", "low": 0, "high": 0}, 1e-30, 1e30),
        ({"which": "nonnegative", "low": 0, "high": 0}, 0, 1e30),
        ({"which": "between", "low": -0.5, "high": 2.0}, -0.5, 2.0),
    ):
        found = values.varied(torch, drawn, letter, domain, random.Random(3))
        assert float(found.min()) >= least and float(found.max()) <= most, domain
    whole = torch.randint(0, 10, (64,))
    found = values.varied(torch, whole, letter, {"which": "between", "low": 3, "high": 40}, random.Random(4))
    assert (int(found.min()) >= 3, int(found.max()) <= 40, found.dtype) == (True, True, torch.int64)


def test_whole_numbers_stay_between_those_drawn_but_for_the_wide_habits(torch: Any, values: ModuleType) -> None:
    drawn = torch.randint(0, 16, (512,))
    for letter in HABITS:
        found = values.varied(torch, drawn, letter, None, random.Random(5))
        assert int(found.min()) >= 0
        assert (int(found.max()) > 15) == (letter in "swf"), letter


def test_what_looks_like_a_choice_stays_as_drawn_unless_a_domain_is_named(torch: Any, values: ModuleType) -> None:
    signs = torch.randint(0, 2, (64,)).float() * 2 - 1
    shares = torch.softmax(torch.randn(8, 16), dim=-1)
    starts = torch.arange(0, 64, 4)
    for one in (signs, shares, starts, signs > 0):
        assert not values.may_vary(torch, one, None)
        assert not values.may_vary(torch, one, {"which": "drawn"})
    assert values.may_vary(torch, signs, {"which": "any"})
    assert values.may_vary(torch, torch.randn(8), None) and values.may_vary(torch, torch.randint(0, 9, (64,)), None)


class Driver:
    """The parts of driver.py that ``values.py`` uses."""

    @staticmethod
    def doubled(_: Any, one: Any) -> Any:
        return one.double() if one.is_floating_point() else one

    @staticmethod
    def placed(_: Any, __: Any, one: Any) -> Any:
        return one

    @staticmethod
    def listed(returned: Any) -> list[Any]:
        return [returned]


def answered(torch: Any, values: ModuleType, forward: Any, drawn: Any) -> set[str]:
    """The habits for which a reference has an answer."""
    beyond = values.Beyond(torch, Driver, {"domains": [None]}, forward, forward)
    return {letter for letter in HABITS if beyond.inputs([drawn], letter) is not None}


def test_a_reference_has_an_answer_where_it_is_finite_and_steady(torch: Any, values: ModuleType) -> None:
    drawn = torch.rand(32, 32) + 0.5
    torch.manual_seed(1)
    assert answered(torch, values, torch.relu, drawn) == set(HABITS)
    assert "n" not in answered(torch, values, torch.log, drawn), "NaN"
    assert not answered(torch, values, lambda x: (x * 1e9).sin(), drawn), "other values for nearly the same inputs"
    assert answered(torch, values, lambda x: x.argmax(dim=-1), drawn).isdisjoint({"c", "r"}), "ties"


def test_a_few_values_unlike_the_others_are_tried_where_there_is_no_answer_below_zero(
    torch: Any, values: ModuleType
) -> None:
    drawn = torch.rand(256, 256) + 0.5
    beyond = values.Beyond(torch, Driver, {"domains": [None]}, torch.sqrt, torch.sqrt)
    torch.manual_seed(3)
    for letter in sorted(OF_FEW - {"m", "k"}):
        (found,), (exact,) = beyond.inputs([drawn], letter)
        assert torch.equal(exact, found.double().sqrt()), "in double precision"
        changed = float((found != drawn).float().mean())
        assert 0 < changed < 0.5 and float(found.min()) > 0, letter
        assert (letter == "l") == (float(found.max()) > 2), letter


def test_a_reference_that_refuses_has_no_answer(torch: Any, values: ModuleType) -> None:
    table = torch.randn(16, 4)
    index = torch.randint(0, 16, (64,))
    torch.manual_seed(2)
    found = answered(torch, values, lambda index: table[index], index)
    assert found == set(HABITS) - set("swf"), "an index beyond the table"


def test_whole_numbers_that_the_reference_cannot_take_never_reach_the_gpu(torch: Any, values: ModuleType) -> None:
    """An index out of range raises on the host; on a GPU it would end the process that makes all inputs."""
    table = torch.nn.Embedding(8, 4).double()

    class Driver:
        @staticmethod
        def placed(torch: Any, meta: object, one: Any) -> Any:
            assert int(one.max()) < 8, "an index out of range has reached the GPU"
            return one

        doubled = staticmethod(lambda torch, one: one)
        listed = staticmethod(lambda one: [one])

    beyond = values.Beyond(torch, Driver, {"domains": [None], "device": "cuda", "letters": ""}, table, table)
    answers = [beyond.inputs([torch.randint(0, 8, (16,))], letter) for letter in HABITS for _ in range(4)]
    assert any(one is None for one in answers) and any(one is not None for one in answers)


def test_three_values_are_seen_wherever_they_stand(torch: Any, values: ModuleType) -> None:
    for few in ([5.0], [1.0, 1.0, 1.0], [2.0, 1.0, 2.0], [1.0, 1.0, 2.0], [math.nan, 1.0], [math.nan]):
        assert not values.has_three_values(torch.tensor(few)) and len(torch.unique(torch.tensor(few))) <= 2
    for many in (
        [1.0, 2.0, 3.0],
        [1.0, 1.0, 2.0, 3.0],
        [3.0, 1.0, 2.0, 2.0],
        [1.0, math.nan, math.nan],
        [math.nan, 1.0, 1.0, 2.0],
    ):
        assert values.has_three_values(torch.tensor(many)) and len(torch.unique(torch.tensor(many))) > 2
