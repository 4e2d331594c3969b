"""Searches are pure functions of what was reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import (
    NO_GAIN,
    Action,
    Evaluation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    StateId,
    Step,
)
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.search import Beam, BestOfN, CudaLlm, EffiLearner, Elites, PerfCodeGen, Refine, Tree
from maxcode.search.elites import elites
from maxcode.search.onward import onward
from maxcode.search.perfcodegen import phase
from maxcode.search.stages import USUAL
from maxcode.testing import Scripted, Table, exact_timing, toy_problem

ENDING: list[Search] = [
    BestOfN(n=24, width=5),
    Refine(depth=6, width=2),
    CudaLlm(width=4, depth=4),
    EffiLearner(rounds=9),
    PerfCodeGen(base=6, repairs=2),
]
ENDLESS: list[Search] = [Beam(width=3, children=2), Tree(width=5), Elites(width=5)]
SEARCHES = ENDING + ENDLESS


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


@pytest.mark.parametrize("search", ENDING, ids=lambda search: type(search).__name__)
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


def test_cuda_llm_goes_on_from_the_fastest_correct_child_even_when_it_is_slower_than_the_original() -> None:
    search, reached = CudaLlm(width=2, depth=2), start()
    children = grown(reached, search.select(reached), 1, [0.7, 0.9])
    assert search.select(reached) == [children[1]] * 2


def walked(search: Search, reached: Reached, rewards: list[float]) -> list[State]:
    """A search that asks for one proposal at a time, fed with these rewards: the state each came from."""
    parents = []
    for batch, reward in enumerate(rewards, 1):
        (parent,) = search.select(reached)
        parents.append(parent)
        grown(reached, [parent], batch, [reward])
    return parents


def test_effi_learner_keeps_a_program_only_if_it_runs_and_is_better() -> None:
    reached = start()
    parents = walked(EffiLearner(rounds=6), reached, [0.9, 1.5, 0.0, 1.4, 1.6, 1.7])
    assert [parent.id for parent in parents] == [(0, 0), (0, 0), (2, 0), (2, 0), (2, 0), (5, 0)]
    assert EffiLearner(rounds=6).select(reached) == []


def test_effi_learner_goes_back_when_the_stored_program_turns_out_to_be_no_better() -> None:
    search, reached = EffiLearner(rounds=9), start()
    walked(search, reached, [1.5, 1.9])
    (refuted,) = [state for state in reached if state.id == (2, 0)]
    assert search.select(reached) == [refuted]
    assert refuted.step is not None
    grown(reached, [refuted], 3, [1.6])
    reached.replace(State(refuted.problem, refuted.parent, replace(refuted.step, reward=1.2), refuted.id))
    assert search.select(reached) == [reached[(3, 0)]]  # better than what was stored is worth now
    grown(reached, [reached[(2, 0)]], 4, [0.0])
    assert search.select(reached) == [reached[(1, 0)]]


def test_perfcodegen_samples_then_mends_then_asks_twice_for_speed() -> None:
    search, reached = PerfCodeGen(base=3, repairs=2), start()
    assert search.select(reached) == [reached.root] * 3
    works, mended, lost = grown(reached, [reached.root] * 3, 1, [1.2, 0.0, 0.0])
    assert search.select(reached) == [mended, lost]
    fixed, still = grown(reached, [mended, lost], 2, [0.9, 0.0])
    assert search.select(reached) == [still]
    grown(reached, [still], 3, [0.0])
    assert search.select(reached) == [works, fixed]
    assert {phase(state, reached) for state in (works, fixed)} == {"faster"}
    faster, _failed = grown(reached, [works, fixed], 4, [1.5, 0.0])
    assert search.select(reached) == [faster, fixed]  # where the first answer failed the last correct program goes on
    assert {phase(state, reached) for state in (faster, fixed)} == {"slowest"}
    grown(reached, [faster, fixed], 5, [0.0, 1.1])
    assert search.select(reached) == []


def test_perfcodegens_phase_is_a_function_of_the_state() -> None:
    reached = start()
    (failed,) = grown(reached, [reached.root], 1, [0.0])
    assert phase(reached.root, reached) == "base"
    assert phase(failed, reached) == "correctness"
    (mended,) = grown(reached, [failed], 2, [1.1])
    assert phase(mended, reached) == "faster"
    (asked,) = grown(reached, [mended], 3, [1.2])
    assert phase(asked, reached) == "slowest"
    assert phase(mended, reached) == "slowest"


def test_perfcodegen_draws_what_the_budget_cut_off_before_it_goes_on() -> None:
    search, reached = PerfCodeGen(base=4, repairs=1), start()
    grown(reached, [reached.root] * 3, 1, [1.5, 1.4, 1.3])
    assert search.select(reached) == [reached.root]
    samples = [*reached.children(reached.root), *grown(reached, [reached.root], 2, [1.2])]
    grown(reached, samples[:1], 3, [2.0])
    assert search.select(reached) == samples[1:]


def test_no_search_expands_a_state_it_has_not_reached() -> None:
    for search in SEARCHES:
        reached, batch = start(), 0
        while (parents := search.select(reached)) and batch < 12:
            batch += 1
            assert all(parent in reached for parent in parents)
            grown(reached, parents, batch, [(slot * 7 + batch) % 3 * 0.8 for slot in range(len(parents))])


@pytest.mark.parametrize("search", ENDLESS, ids=lambda search: type(search).__name__)
def test_searches_without_an_end_use_up_the_budget_and_say_the_same_when_asked_twice(search: Search) -> None:
    result = optimize(
        toy_problem(),
        Method(Scripted(write=lambda text, draw: f"{draw % 97}"), search, compose()),
        Table(rule=lambda text: None if int(text) % 3 == 0 else 1 + int(text) / 97),
        Run(budget=101),
    )
    assert result.reached.candidates == 101
    assert search.select(result.reached) == search.select(result.reached) != []


@pytest.mark.parametrize("search", ENDLESS, ids=lambda search: type(search).__name__)
def test_with_nothing_correct_they_still_go_on(search: Search) -> None:
    reached = start()
    for batch in range(1, 9):
        parents = search.select(reached)
        assert parents
        grown(reached, parents, batch, [0.0] * len(parents))
    if not isinstance(search, Tree):
        assert {state.depth for state in reached} == {0, 1}  # only the root is correct


def test_beam_keeps_the_best_correct_ones_and_their_parents() -> None:
    search, reached = Beam(width=2, children=3), start()
    first = grown(reached, search.select(reached), 1, [1.2, 0.0, 1.9])
    assert search.select(reached) == [first[2]] * 3 + [first[0]] * 3
    second = grown(reached, search.select(reached), 2, [1.1, 0.0, 1.3, 1.5, 0.0, 0.0])
    assert search.select(reached) == [first[2]] * 3 + [second[3]] * 3
    grown(reached, search.select(reached), 3, [0.0] * 6)
    assert search.select(reached) == [first[2]] * 3 + [second[3]] * 3


def test_beam_draws_what_the_budget_cut_off_before_it_goes_on() -> None:
    search, reached = Beam(width=2, children=3), start()
    first = grown(reached, search.select(reached), 1, [1.2, 0.0, 1.9])
    grown(reached, search.select(reached)[:4], 2, [3.0] * 4)
    assert search.select(reached) == [first[0]] * 2


def test_beam_does_not_fill_up_with_one_program() -> None:
    search, reached = Beam(width=2, children=2), start()
    root = reached.root
    step = Step(Action(Program({"toy.py": "same"})), Evaluation(Outcome.CORRECT), 2.0)
    twins = [State(root.problem, root, step, (1, slot)) for slot in range(2)]
    reached.extend(twins)
    assert search.select(reached) == [twins[0]] * 2 + [root] * 2


def test_tree_goes_where_the_best_was_found_and_comes_back_to_the_rest() -> None:
    search, reached = Tree(width=4), start()
    asked: Counter[int] = Counter()
    good = None
    for batch in range(1, 40):
        parents = search.select(reached)
        rewards = [0.0] * len(parents)
        if batch == 1:
            rewards[1] = 3.0
        states = grown(reached, parents, batch, rewards)
        good = good or states[1]
        asked.update(1 if good in parent.ancestry else 0 for parent in parents if parent.depth)
    assert asked[1] > asked[0] > 0


def test_tree_values_a_node_by_the_best_below_it_not_by_the_mean() -> None:
    reached = start()
    steady, lucky = grown(reached, [reached.root] * 2, 1, [1.5, 1.0])
    grown(reached, [steady] * 4, 2, [1.5] * 4)
    grown(reached, [lucky] * 4, 3, [0.0, 0.0, 0.0, 4.0])
    grown(reached, [reached.root] * 7, 4, [0.0] * 7)  # so that the root may not widen
    picks = Tree(width=1, exploration=0.01).select(reached)
    assert all(lucky in pick.ancestry for pick in picks)


def test_tree_widens_a_node_as_its_visits_grow() -> None:
    search, reached, widths = Tree(width=4, exploration=0.1), start(), []
    for batch in range(1, 60):
        parents = search.select(reached)
        grown(reached, parents, batch, [1.0 + 0.01 * batch] * len(parents))
        widths.append(len(reached.children(reached.root)))
    assert widths[0] < widths[20] < widths[58] < 59 * 4 / 4


PLAIN = "void f(int n, double *C) { for (int i = 0; i < n; i++) C[i] = 0; }"


def kernel(kind: int, number: int) -> str:
    """A kernel of one of three cells."""
    return PLAIN.replace("double *C", "double *restrict C" if kind == 1 else "double *C").replace(
        "for", ('_Pragma("omp simd") ' if kind == 2 else "") + f"/* {number} */ for"
    )


def archive_of(programs: list[tuple[str, float]]) -> Reached:
    problem = Problem("k", "program", "c", Program({"k.c": PLAIN}), ProgramSpec())
    reached = Reached(State(problem))
    for slot, (text, reward) in enumerate(programs):
        outcome = Outcome.CORRECT if reward > 0 else Outcome.WRONG
        step = Step(Action(Program({"k.c": text})), Evaluation(outcome), reward)
        reached.extend([State(problem, reached.root, step, (1, slot))])
    return reached


def test_elites_keep_the_best_correct_program_of_every_cell() -> None:
    reached = archive_of([(kernel(0, 1), 0.9), (kernel(1, 2), 1.5), (kernel(1, 3), 1.7), (kernel(2, 4), 0.0)])
    assert {cell: state.id for cell, state in elites(reached).items()} == {(): (0, 0), ("restrict",): (1, 2)}


def test_elites_draw_their_parents_evenly_over_the_cells_whatever_these_are_worth() -> None:
    reached = archive_of([(kernel(1, 2), 9.0), (kernel(2, 4), 0.5)])
    drawn = Counter(state.id for state in Elites(width=3000).select(reached))
    assert len(drawn) == 3
    assert all(800 < count < 1200 for count in drawn.values())


def test_elites_draw_others_when_more_was_reached() -> None:
    programs = [(kernel(1, 2), 9.0), (kernel(2, 4), 0.5)]
    one, two = archive_of(programs), archive_of([*programs, (kernel(0, 5), 0.0)])
    assert Elites(width=16).select(one) != Elites(width=16).select(two)


KEEPING: list[Search] = [Tree(width=5), Elites(width=5), Elites(width=5, stages=USUAL)]


@pytest.mark.parametrize("search", KEEPING, ids=["tree", "elites", "sqd"])
def test_what_is_kept_of_a_growing_run_says_the_same_as_the_whole_run_read_afresh(search: Search) -> None:
    """Also after replacements: an evaluation that did not hold, a better one, a critique."""
    random = Random(7)
    reached = archive_of([])
    passed: list[list[State]] = []
    for batch in range(1, 60):
        parents = search.select(reached)
        fresh = Reached(reached.root)
        fresh.extend(list(reached)[1:])
        for closed in passed:
            fresh.passed(closed, range(len(closed)))
        assert [state.step for state in parents] == [state.step for state in search.select(fresh)]
        assert onward(parents, reached) == onward(parents, fresh)
        assert reached.best is fresh.best
        reached.extend([judged(parent, (batch, slot), random) for slot, parent in enumerate(parents)])
        for state in random.sample(list(reached)[1:], 2):
            assert state.parent is not None
            assert state.step is not None
            anew = judged(state.parent, state.id, random)
            noted = replace(state, step=replace(state.step, critique=random.choice(["slow", NO_GAIN])))
            reached.replace(random.choice([anew, noted]))
        if batch % 4 == 0:
            passed.append([random.choice(list(reached))])
            reached.passed(passed[-1], [0])


def judged(parent: State, at: StateId, random: Random) -> State:
    """A state with the program that belongs to its id, and an evaluation at random."""
    speed = random.choice([0.0, 0.8, 1.5, random.random() * 3])
    found = Evaluation(Outcome.CORRECT, timing=exact_timing(speed)) if speed else Evaluation(Outcome.WRONG)
    step = Step(Action(Program({"k.c": kernel(sum(at) % 3, at[0])})), found, speed)
    return State(parent.problem, parent, step, at)


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
