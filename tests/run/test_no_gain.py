"""A policy and a critic may see no further gain: the search goes on elsewhere, or ends and says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, final

import anyio
import pytest

from maxcode.core.history import Reached, Result
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Evaluation, Observation, Outcome, Problem, Program, State, StateId, Step, Usage
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.observe import compose, statement
from maxcode.policy.llm import NO_GAIN_ANSWER, Llm, says_no_gain
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import Beam, BestOfN, CudaLlm, EffiLearner, Elites, PerfCodeGen, Refine, Tree
from maxcode.search.onward import ENDED, onward
from maxcode.testing import Table, toy_problem


@final
@dataclass
class Reserved:
    """A policy that passes where ``passes`` says so, and else writes a new number."""

    passes: Callable[[Observation], bool]
    asked: list[StateId] = field(default_factory=list)

    async def propose(self, observation: Observation) -> Action:
        self.asked.append(observation.state.id)
        if self.passes(observation):
            return Action(None, NO_GAIN_ANSWER, Usage(calls=1), no_gain=True)
        return Action(Program({"toy.py": f"{observation.draw}"}), "- a change")


@final
@dataclass(frozen=True)
class AtLimit:
    """A critic that sees no further gain from programs above a speed-up."""

    above: float

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        return "No further gain: it is at the floor." if step.reward > self.above else "go on"


TABLE = Table(rule=lambda text: 1 + int(text) % 97 / 100)
SEARCHES: list[Search] = [
    CudaLlm(width=3, depth=4), Beam(width=2, children=2), Tree(width=3), Refine(depth=12), EffiLearner(rounds=12),
    PerfCodeGen(base=4), BestOfN(n=12, width=3),
]  # fmt: skip


def run(
    policy: Reserved,
    search: Search,
    record: Record | None = None,
    critic: AtLimit | None = None,
    critiques: Literal["all", "expanded"] = "all",
) -> Result:
    method = Method(policy, search, compose(statement()), critic, critiques=critiques)
    return optimize(toy_problem(), method, TABLE, Run(12, record=record or Record()))


def states(found: Result) -> list[tuple[StateId, StateId | None, float]]:
    return [(one.id, one.parent.id if one.parent is not None else None, one.reward) for one in found.reached]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_ends_and_says_so_where_nobody_sees_a_gain(search: Search) -> None:
    found = run(Reserved(lambda observation: True), search)
    assert found.ended == ENDED
    assert found.reached.candidates == found.spent.candidates == 0
    assert found.best is None


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_the_budget_goes_to_other_branches_and_no_pass_is_a_candidate(search: Search) -> None:
    policy = Reserved(lambda observation: observation.state.depth > 0 and observation.state.id[1] == 0)
    found = run(policy, search)
    passed = [at for at in policy.asked if at[0] > 0 and at[1] == 0]
    assert found.reached.candidates + len(passed) == len(policy.asked)
    assert all(state.parent.id[1] != 0 for state in found.reached if state.parent is not None and state.parent.depth)
    assert {outcome.value for outcome in {state.outcome for state in found.reached}} == {"correct"}


def test_a_program_at_its_limit_by_the_critic_is_not_expanded() -> None:
    found = run(Reserved(lambda observation: False), CudaLlm(width=3, depth=4), critic=AtLimit(1.5))
    parents = [state.parent for state in found.reached if state.parent is not None and state.parent.step is not None]
    assert parents and all(parent.reward <= 1.5 for parent in parents)
    assert any(state.reward > 1.5 for state in found.reached)


def test_a_run_with_passes_resumes_to_the_same_states_without_another_question(tmp_path: Path) -> None:
    def passes(observation: Observation) -> bool:
        return observation.draw % 3 == 0

    with Record(tmp_path) as record:
        whole = run(Reserved(passes), CudaLlm(width=4, depth=4), record)
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines(keepends=True)
    assert any(b'"no_gain":true' in line for line in lines)
    for kept in range(2, len(lines), 7):
        (tmp_path / "events.jsonl").write_bytes(b"".join(lines[:kept]))
        with Record(tmp_path) as record:
            assert states(run(Reserved(passes), CudaLlm(width=4, depth=4), record)) == states(whole)
    again = Reserved(passes)
    with Record(tmp_path) as record:
        run(again, CudaLlm(width=4, depth=4), record)
    assert again.asked == []


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_run_whose_critic_is_asked_late_and_sees_a_limit_resumes_and_expands_nothing_there(
    search: Search, tmp_path: Path
) -> None:
    def searched(record: Record) -> Result:
        return run(Reserved(lambda observation: False), search, record, AtLimit(1.2), "expanded")

    with Record(tmp_path) as record:
        whole = searched(record)
        asked = record.critiques
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines(keepends=True)
    at_limit = [at for at, words in asked.items() if words.startswith("No further gain")]
    assert at_limit or isinstance(search, BestOfN), "nothing is expanded in a single batch, so nobody is asked"
    assert not [one for one in whole.reached if one.parent is not None and one.parent.id in at_limit]
    assert whole.reached.candidates == 12 or whole.ended == ENDED, "slots at a limit leave the budget to others"
    for kept in range(1, len(lines)):
        (tmp_path / "events.jsonl").write_bytes(b"".join(lines[:kept]))
        with Record(tmp_path) as record:
            assert states(searched(record)) == states(whole)
            assert record.critiques == asked


def test_a_closed_state_is_replaced_by_the_best_open_one_with_its_own_permission() -> None:
    root = State(replace(toy_problem(), permitted=frozenset({"simd"})))
    reached = Reached(root)
    reached.passed([root, root, root], [2])
    assert onward([root], reached) == [root], "one answer of three closes nothing"
    reached.passed([root, root], [1])
    assert reached.passes(root) == 2
    assert onward([root, root], reached) == []


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("NO FURTHER GAIN\nIt is at the cost of a process.", True),
        ("**No further gain.** It reads its input once.", True),
        ("There is NO FURTHER GAIN here, but:", False),
        ("", False),
    ],
)
def test_the_words_of_a_model_are_read_as_a_pass_only_where_they_come_first(text: str, passes: bool) -> None:
    assert says_no_gain(text) is passes


def test_an_answer_with_a_program_is_a_proposal_whatever_it_says() -> None:
    @dataclass(frozen=True)
    class Says:
        text: str

        async def complete(self, request: ModelRequest) -> Completion:
            return Completion(self.text, Usage(calls=1))

    root = State(toy_problem("print(1)\n"))
    observation = Observation(compose(statement())(root, Reached(root)), root, 0)
    only = anyio.run(Llm(Says("NO FURTHER GAIN\nat the floor")).propose, observation)
    assert only.no_gain and only.program is None and not only.unread
    both = anyio.run(Llm(Says("NO FURTHER GAIN, but\n```python\nprint(2)\n```\n")).propose, observation)
    assert not both.no_gain and both.program is not None


# ------------------------------------------------------------------- one closed state does not stall those beside it


def child(parent: State, at: StateId, reward: float) -> State:
    outcome = Outcome.CORRECT if reward > 0 else Outcome.WRONG
    step = Step(Action(Program({"toy.py": f"{at}"})), Evaluation(outcome), reward)
    return State(parent.problem, parent, step, at)


def answered(search: Search, reached: Reached, batch: int, rewards: list[float | None]) -> list[State | None]:
    """The answers to what a search selects; None for a pass."""
    parents = search.select(reached)
    assert len(parents) == len(rewards)
    both = enumerate(zip(parents, rewards, strict=True))
    found = [None if reward is None else child(parent, (batch, slot), reward) for slot, (parent, reward) in both]
    reached.extend(one for one in found if one is not None)
    reached.passed(parents, [slot for slot, reward in enumerate(rewards) if reward is None])
    return found


def test_cuda_llm_climbs_to_what_was_repaired_beside_a_candidate_that_nobody_would_repair() -> None:
    search, reached = CudaLlm(width=2, depth=3), Reached(State(toy_problem()))
    answered(search, reached, 1, [0.0, 0.0])
    repaired, _ = answered(search, reached, 2, [1.5, None])
    assert search.select(reached) == [repaired] * 2


def test_cuda_llm_repairs_its_second_samples_only_after_all_of_these_are_there() -> None:
    search, reached = CudaLlm(width=4, depth=2, repairs=1), Reached(State(toy_problem()))
    answered(search, reached, 1, [0.0, 0.0, 0.0, None])
    answered(search, reached, 2, [0.0, 0.0, 0.0])
    again = answered(search, reached, 3, [0.0, 0.0, 1.2, 1.4])
    assert search.select(reached) == [again[3]] * 4


def test_cuda_llm_climbs_to_the_best_of_its_second_samples_where_the_others_are_passes() -> None:
    search, reached = CudaLlm(width=4, depth=2, repairs=1), Reached(State(toy_problem()))
    for batch in (1, 2):
        answered(search, reached, batch, [0.0] * 4)
    again = answered(search, reached, 3, [None, None, 1.2, 1.4])
    assert search.select(reached) == [again[3]] * 4


def test_paths_of_refine_go_on_beside_one_that_is_closed() -> None:
    search, reached = Refine(depth=20, width=3), Reached(State(toy_problem()))
    ends = answered(search, reached, 1, [1.1, 1.2, 1.3])
    ends = answered(search, reached, 2, [1.1, None, 1.3])
    for batch in range(3, 20):
        assert search.select(reached) == [ends[0], ends[-1]]
        ends = answered(search, reached, batch, [1.1, 1.3])


def test_refine_goes_on_with_fewer_paths_where_the_original_is_closed() -> None:
    search, reached = Refine(depth=4, width=4), Reached(State(toy_problem()))
    ends = answered(search, reached, 1, [1.1, None, None, 1.3])
    assert search.select(reached) == [ends[0], ends[3]]


def test_perfcodegen_asks_its_questions_beside_samples_that_are_closed() -> None:
    search, reached = PerfCodeGen(base=4), Reached(State(toy_problem()))
    samples = answered(search, reached, 1, [0.0, 0.0, 1.2, 1.3])
    mended = answered(search, reached, 2, [1.1, None])
    assert search.select(reached) == [mended[0], samples[2], samples[3]]
    faster = answered(search, reached, 3, [1.4, None, 1.5])
    assert search.select(reached) == [faster[0], faster[2]]


def test_a_beam_goes_on_to_its_next_level_beside_a_state_that_is_closed() -> None:
    search, reached = Beam(width=2, children=2), Reached(State(toy_problem()))
    first = answered(search, reached, 1, [1.5, 1.2])
    second = answered(search, reached, 2, [1.9, 1.8, None, None])
    assert search.select(reached) == [second[0]] * 2 + [second[1]] * 2, f"not {first[1]} again"
    answered(search, reached, 3, [None] * 4)
    assert {state.id for state in search.select(reached)} == {(2, 0), (2, 1)}, "all are closed: onward replaces them"


def test_a_tree_does_not_come_back_to_a_closed_leaf() -> None:
    search, reached = Tree(width=2), Reached(State(toy_problem()))
    answered(search, reached, 1, [1.9, 1.2])
    best = reached[(1, 0)]
    while best not in (parents := search.select(reached)):
        answered(search, reached, reached.candidates, [1.1, 1.1])
    reached.passed([best], [0])
    assert best in parents and best not in search.select(reached)


def test_a_tree_leaves_a_branch_in_which_all_states_are_closed() -> None:
    search, reached = Tree(width=1), Reached(State(toy_problem()))
    for batch, reward in enumerate([1.9, 1.2, *[1.1] * 9], 1):
        answered(search, reached, batch, [reward])
    branch = [state for state in reached if reached[(1, 0)] in state.ancestry]
    assert len(branch) > 2
    reached.passed(branch, range(len(branch)))
    for batch in range(12, 24):
        (parent,) = search.select(reached)
        assert not reached.is_closed(parent)
        answered(search, reached, batch, [1.1])


def test_elites_are_drawn_from_those_that_are_open() -> None:
    reached = Reached(State(replace(toy_problem("int main() {}"), language="c")))
    reached.extend([fast := child(reached.root, (1, 0), 1.9)])
    unrolled = "#pragma GCC unroll 4\nfor (int i = 0; i < 9; i++) a[i] = 0;"
    step = Step(Action(Program({"toy.py": unrolled})), Evaluation(Outcome.CORRECT), 1.5)
    reached.extend([other := State(reached.root.problem, reached.root, step, (1, 1))])
    assert {fast, other} <= set(Elites(width=40).select(reached))
    reached.passed([fast], [0])
    assert other in (parents := Elites(width=40).select(reached)) and fast not in parents
