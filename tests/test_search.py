"""Searches are pure functions of what was reached."""

from __future__ import annotations

from itertools import pairwise

import pytest

from maxcode.observe import compose
from maxcode.optimize import Method, Run, optimize
from maxcode.reached import Reached
from maxcode.roles import Search
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem
from maxcode.types import (
    Action,
    Evaluation,
    Outcome,
    Program,
    State,
    Step,
)

SEARCHES: list[Search] = [BestOfN(n=24, width=5), Refine(depth=6, width=2), CudaLlm(width=4, depth=4)]


def child(parent: State, batch: int, slot: int, reward: float) -> State:
    outcome = Outcome.CORRECT if reward > 0 else Outcome.WRONG
    step = Step(Action(Program({"toy.py": f"{batch}-{slot}"})), Evaluation(outcome), reward)
    return State(parent.problem, parent, step, (batch, slot))


def grown(reached: Reached, parents: list[State], batch: int, rewards: list[float]) -> list[State]:
    states = [
        child(parent, batch, slot, reward) for slot, (parent, reward) in enumerate(zip(parents, rewards, strict=True))
    ]
    reached.extend(states)
    return states


def start() -> Reached:
    return Reached(State(toy_problem()))


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_asking_twice_gives_the_same_answer_and_the_search_ends(search: Search) -> None:
    result = optimize(
        toy_problem(),
        Method(Scripted(write=lambda text, draw: f"{draw % 97}"), search, compose()),
        Table(rule=lambda text: None if int(text) % 3 == 0 else 1 + int(text) / 97),
        Run(budget=10_000),
    )
    assert search.select(result.reached) == []
    assert result.reached.candidates > 0
    assert search.select(start()) == search.select(start())


def test_best_of_n_expands_the_root_alone_and_stops_at_n() -> None:
    search, reached, batch = BestOfN(n=7, width=3), start(), 0
    while parents := search.select(reached):
        batch += 1
        assert set(parents) == {reached.root}
        grown(reached, parents, batch, [2.0] * len(parents))
    assert reached.candidates == 7


def test_refine_goes_on_from_its_last_state_even_when_that_failed() -> None:
    search, reached = Refine(depth=3), start()
    (first,) = grown(reached, search.select(reached), 1, [0.0])
    assert search.select(reached) == [first]
    (second,) = grown(reached, [first], 2, [1.5])
    assert search.select(reached) == [second]
    grown(reached, [second], 3, [1.4])
    assert search.select(reached) == []


def test_cuda_llm_takes_the_fastest_correct_child() -> None:
    search, reached = CudaLlm(width=3, depth=2), start()
    children = grown(reached, search.select(reached), 1, [1.2, 1.9, 0.0])
    assert search.select(reached) == [children[1]] * 3


def test_cuda_llm_refines_each_candidate_once_when_none_is_correct() -> None:
    search, reached = CudaLlm(width=2, depth=2, repairs=3), start()
    failed = grown(reached, search.select(reached), 1, [0.0, 0.0])
    assert search.select(reached) == failed
    repaired = grown(reached, failed, 2, [0.0, 1.1])
    assert search.select(reached) == [repaired[1]] * 2


def test_cuda_llm_gives_up_a_level_after_its_repair_rounds_draws_it_once_more_and_ends() -> None:
    search, reached, batch = CudaLlm(width=2, depth=2, repairs=3), start(), 0
    sizes = []
    while parents := search.select(reached):
        batch += 1
        sizes.append((len(parents), parents[0].step is None))
        grown(reached, parents, batch, [0.0, 0.0])
    assert sizes == [(2, True), (2, False), (2, False), (2, False)] * 2


def test_no_search_expands_a_state_it_has_not_reached() -> None:
    for search in SEARCHES:
        reached, batch = start(), 0
        while (parents := search.select(reached)) and batch < 12:
            batch += 1
            assert all(parent in reached for parent in parents)
            grown(reached, parents, batch, [(slot * 7 + batch) % 3 * 0.8 for slot in range(len(parents))])


def test_ids_are_in_batch_and_slot_order_however_the_slots_finish() -> None:
    result = optimize(
        toy_problem(),
        Method(Scripted(write=lambda text, draw: f"{draw % 97}"), BestOfN(20, 5), compose()),
        Table(rule=lambda text: 1.5, before=_dawdle),
        Run(budget=20),
    )
    ids = [state.id for state in result.reached]
    assert all(before < after for before, after in pairwise(ids))


async def _dawdle(text: str) -> None:
    import anyio

    await anyio.sleep((int(text) % 7) / 1000)
