"""Caps bound what a run spends; what was paid for is recorded and used, and more of it lets a run go on."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode.core.budget import Caps, budget_of
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Evaluation, Observation, Outcome, Problem, Program, State, StateId, Usage
from maxcode.errors import InputError, Interrupted, ProviderError
from maxcode.observe import compose, program
from maxcode.policy.deduplicate import AGAIN
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import EVENTS, Launched, Line, Proposed, Record, read_events
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Echo, Scripted, Table, exact_timing, toy_problem


@dataclass
class Paid:
    """A policy whose answers cost money; it keeps the ledger that a journal keeps for a model."""

    price: float | None = 0.1
    delay_s: float = 0.001
    texts: tuple[str, ...] = ()
    asked: list[Observation] = field(default_factory=list)
    paid: list[Usage] = field(default_factory=list)

    async def propose(self, observation: Observation) -> Action:
        self.asked.append(observation)
        await anyio.sleep(self.delay_s)
        usage = Usage(1, 90, 10, self.delay_s, self.price)
        self.paid.append(usage)
        text = self.texts[len(self.paid) % len(self.texts)] if self.texts else str(observation.draw % 10**6)
        return Action(Program({"toy.py": text}), f"answer {len(self.paid)}", usage)

    def spent(self) -> Usage:
        return sum(self.paid, Usage())


def search_for(policy: Paid, caps: Caps, record: Record | None = None, search: Search | None = None) -> Result:
    method = Method(policy, search or BestOfN(n=100, width=8), compose(program()))
    run = Run(100, record=record or Record(), caps=caps, spent=policy.spent)
    return optimize(toy_problem(), method, Table(rule=lambda text: 1.0), run)


@pytest.mark.parametrize(
    ("caps", "launched"),
    [(Caps(calls=21), 21), (Caps(tokens=2100), 21), (Caps(dollars=2.1), 20), (Caps(calls=1), 1), (Caps(), 100)],
)
def test_a_cap_ends_the_run_with_work_in_flight_counted(caps: Caps, launched: int) -> None:
    policy = Paid(price=0.1)
    result = search_for(policy, caps)
    assert len(policy.paid) == result.reached.candidates
    assert abs(len(policy.paid) - launched) <= 1  # the sum of tenths is no tenth
    assert result.spent.usage == policy.spent()


def test_the_result_says_which_cap_ended_it() -> None:
    assert search_for(Paid(), Caps(calls=9)).ended == "9 of 9 model calls are spent"
    assert search_for(Paid(), Caps()).ended == ""


def test_an_unknown_price_is_never_guessed_so_it_ends_a_run_with_a_cap_on_money_and_tokens_can_be_capped() -> None:
    result = search_for(Paid(price=None), Caps(dollars=0.1))
    assert result.reached.candidates == 1
    assert "price of an answer is not known" in result.ended and "--prices, with `cached`" in result.ended
    assert search_for(Paid(price=None), Caps(tokens=1000)).reached.candidates == 10


@pytest.mark.parametrize("caps", [{"dollars": float("nan")}, {"seconds": -1.0}, {"calls": -3}])
def test_a_cap_that_is_no_bound_is_refused(caps: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"the cap on {next(iter(caps))} is .*; give a number from 0 up"):
        Caps(**caps)


def test_wall_clock_is_a_cap_too() -> None:
    result = search_for(Paid(delay_s=0.8), Caps(seconds=2.0), search=Refine(depth=100))
    assert 1 <= result.reached.candidates <= 4
    assert "seconds are spent" in result.ended


@pytest.mark.parametrize("search", [Refine(depth=100), BestOfN(n=100, width=8), CudaLlm(width=8, depth=10)])
def test_a_search_that_launches_many_at_once_takes_no_more_wall_clock_than_one_that_goes_step_by_step(
    search: Search,
) -> None:
    lane = anyio.Lock()  # as candidates wait for one another's timings

    async def before(text: str) -> None:
        async with lane:
            await anyio.sleep(0.5)

    table = Table(rule=lambda text: 1.0, before=before)
    method = Method(Paid(), search, compose(program()))
    result = optimize(toy_problem(), method, table, Run(100, caps=Caps(seconds=1.75)))
    assert 1 <= result.reached.candidates <= 4  # eight at once take 4 s
    assert "seconds" in result.ended


def test_more_budget_goes_on_where_the_cap_ended_the_run_and_pays_nothing_twice(tmp_path: Path) -> None:
    policy = Paid()
    with Record(tmp_path) as record:
        first = search_for(policy, Caps(calls=11), record, CudaLlm(width=4, depth=5))
    with Record(tmp_path) as record:
        again = search_for(policy, Caps(calls=11), record, CudaLlm(width=4, depth=5))
    assert [state.id for state in again.reached] == [state.id for state in first.reached]
    assert len(policy.paid) == 11
    with Record(tmp_path) as record:
        more = search_for(policy, Caps(calls=20), record, CudaLlm(width=4, depth=5))
    assert len(policy.paid) == more.reached.candidates == 20
    assert [state.id for state in more.reached][: len(list(first.reached))] == [state.id for state in first.reached]


def test_a_batch_that_a_cap_cut_is_used_as_far_as_it_went() -> None:
    policy = Paid()
    result = search_for(policy, Caps(calls=6), search=CudaLlm(width=4, depth=5))
    assert [state.id for state in result.reached] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1)]


def test_a_policy_that_repeats_itself_is_told_and_asked_again_then_the_evaluation_is_used_again() -> None:
    policy = Paid(texts=("7",))
    evaluated: list[str] = []

    async def before(text: str) -> None:
        evaluated.append(text)

    method = Method(policy, Refine(depth=3), compose(program()))
    result = optimize(toy_problem(), method, Table(rule=lambda text: 1.5, before=before), Run(3, spent=policy.spent))
    assert evaluated == ["7"]
    assert len(policy.asked) == 1 + 2 * (1 + AGAIN)
    assert [observation.section("Duplicate") is not None for observation in policy.asked] == [
        False, False, True, True, False, True, True
    ]  # fmt: skip
    assert len({observation.draw for observation in policy.asked}) == len(policy.asked)
    last = list(result.reached)[-1]
    assert last.step is not None
    assert last.step.action.usage.calls == 1 + AGAIN
    assert last.reward == 1.5
    assert last.step.evaluation.warnings == ("the same program as in batch 1, slot 0, whose evaluation is used again",)


def test_a_duplicate_is_named_by_its_change_and_its_result_because_who_answers_may_not_know_it() -> None:
    @dataclass
    class Repeats:
        asked: list[Observation] = field(default_factory=list)

        async def propose(self, observation: Observation) -> Action:
            self.asked.append(observation)
            text = "7" if len(self.asked) != 3 else "0"
            return Action(Program({"toy.py": text}), f"- the sum is {text}")

    policy = Repeats()
    method = Method(policy, Refine(depth=2), compose(program()))
    optimize(toy_problem(), method, Table({"7": None}), Run(2))
    assert (policy.asked[2].section("Duplicate") or "").splitlines()[1:] == ["- wrong: the sum is 7"]
    assert (policy.asked[3].section("Duplicate") or "").splitlines()[1:] == [
        "- wrong: the sum is 7", "- the original program"
    ]  # fmt: skip


def test_comments_and_layout_do_not_make_a_program_another_one() -> None:
    policy = Paid(texts=("x = 1", "x  =  1  # one", "x = 1\n\n"))
    result = search_for(policy, Caps(), search=Refine(depth=3))
    warned = [bool(state.step.evaluation.warnings) for state in result.reached if state.step is not None]
    assert warned == [False, True, True]


def test_the_original_given_back_is_asked_again_and_then_measured_once() -> None:
    policy = Paid(texts=("0",))
    result = search_for(policy, Caps(), search=Refine(depth=2))
    assert len(policy.asked) == 2 * (1 + AGAIN)
    assert "the original" in (policy.asked[1].section("Duplicate") or "")
    assert [state.outcome for state in result.reached] == [Outcome.CORRECT] * 3


def test_a_scripted_run_without_models_has_cost_nothing() -> None:
    result = optimize(
        toy_problem(), Method(Scripted(["1"]), Refine(1), compose()), Table({"1": 1.0}), Run(1, caps=Caps(calls=0))
    )
    assert result.spent.usage == Usage()
    assert result.reached.candidates == 0


def test_the_end_of_a_search_is_not_laid_on_a_cap_that_is_spent_too() -> None:
    assert search_for(Paid(), Caps(calls=5), search=Refine(depth=5)).ended == ""


def test_caps_hold_for_a_policy_that_says_what_it_cost_where_nobody_keeps_a_journal() -> None:
    policy = Paid()
    method = Method(policy, BestOfN(n=100, width=8), compose(program()))
    result = optimize(toy_problem(), method, Table(rule=lambda text: 1.0), Run(100, caps=Caps(calls=21)))
    assert len(policy.paid) == result.spent.usage.calls == 21


def cut(folder: Path, keep: int) -> None:
    """Leave the first lines of the record, as a kill does."""
    lines = (folder / EVENTS).read_bytes().splitlines(keepends=True)
    (folder / EVENTS).write_bytes(b"".join(lines[:keep]))


def test_a_resume_in_the_middle_of_a_batch_launches_what_the_unbroken_run_launches(tmp_path: Path) -> None:
    policy = Paid()
    with Record(tmp_path) as record:
        unbroken = search_for(policy, Caps(calls=13), record)
    lines = list(read_events(tmp_path))
    whole = (tmp_path / EVENTS).read_bytes()
    for keep in range(2, len(lines) + 1):
        (tmp_path / EVENTS).write_bytes(whole)
        cut(tmp_path, keep)
        answered = sum(isinstance(line, Proposed) for line in lines[:keep])
        again = Paid(paid=policy.paid[:answered])
        with Record(tmp_path) as record:
            result = search_for(again, Caps(calls=13), record)
        assert [state.id for state in result.reached] == [state.id for state in unbroken.reached], keep
        assert len(again.paid) == 13


def test_a_slot_that_was_launched_and_paid_is_taken_up_again_though_the_cap_is_reached(tmp_path: Path) -> None:
    with Record(tmp_path) as record:
        search_for(Paid(), Caps(calls=4), record, BestOfN(n=4, width=4))
    lines = list(read_events(tmp_path))
    third = next(at for at, line in enumerate(lines) if isinstance(line, Proposed) and line.at == (1, 2))
    assert any(line == Launched(at=(1, 2), t=line.t) for line in lines[:third])
    cut(tmp_path, third)
    recorded = sum(isinstance(line, Proposed) for line in lines[:third])
    journal = [Usage(1, 90, 10, 0.0, 0.1)] * 4  # all four answers were paid, not all of them recorded
    again = Paid(price=0.0)
    again.spent = lambda: sum(journal, Usage())  # type: ignore[method-assign]
    with Record(tmp_path) as record:
        result = search_for(again, Caps(calls=4), record, BestOfN(n=4, width=4))
    assert result.reached.candidates == 4
    assert len(again.asked) == 4 - recorded


@dataclass
class Down:
    """A policy whose provider fails for good."""

    asked: int = 0

    async def propose(self, observation: Observation) -> Action:
        self.asked += 1
        raise ProviderError("429 for an hour; wait, or raise the quota")


def test_no_sibling_is_launched_where_the_first_candidate_failed_and_its_cost_is_not_known() -> None:
    policy = Down()
    method = Method(policy, BestOfN(n=8, width=8), compose(program()))
    with pytest.raises(ProviderError, match="429"):
        optimize(toy_problem(), method, Table(rule=lambda text: 1.0), Run(8, caps=Caps(dollars=1.0)))
    assert policy.asked == 1
    with pytest.raises(ProviderError, match="429"):
        optimize(toy_problem(), method, Table(rule=lambda text: 1.0), Run(8))
    assert policy.asked == 1 + 8


def test_a_policy_that_repeats_itself_is_not_asked_again_after_ctrl_c(tmp_path: Path) -> None:
    policy = Paid(texts=("7",))

    def watch(line: Line) -> None:
        if isinstance(line, Launched) and line.at == (2, 0):
            os.kill(os.getpid(), signal.SIGINT)

    method = Method(policy, Refine(depth=2), compose(program()))
    table = Table(rule=lambda text: 1.5)
    with Record(tmp_path) as record, pytest.raises(Interrupted):
        optimize(toy_problem(), method, table, Run(2, record=record, watch=watch))
    assert len(policy.asked) == 2
    with Record(tmp_path) as record:
        result = optimize(toy_problem(), method, table, Run(2, record=record))
    assert result.reached.candidates == 2


class Refutes:
    """A referee that confirms the first challenger, and finds everyone wrong when it meets that one again."""

    def __init__(self) -> None:
        self.met: list[StateId] = []

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        self.met += [state.id for state in challengers]
        if incumbent is None:
            return {challengers[0].id: Evaluation(Outcome.CORRECT, timing=exact_timing(challengers[0].reward))}
        return {state.id: Evaluation(Outcome.WRONG) for state in (incumbent, *challengers)}


def test_a_copy_of_a_champion_that_does_not_hold_never_leads(tmp_path: Path) -> None:
    speeds = {"7": 3.0, "8": 3.2}
    policy = Paid(texts=("8", "7", "7", "7", "7"))  # the incumbent, a copy of it that was asked for thrice, another one
    method = Method(policy, BestOfN(n=3, width=1), compose(program()), Echo())
    table = Table(rule=lambda text: speeds[text], confirmed=False)
    referee = Refutes()
    with Record(tmp_path) as record:
        result = optimize(toy_problem(), method, table, Run(3, record=record), referee)
    assert [state.program.text for state in result.reached][1:] == ["7", "7", "8"]
    assert referee.met == [(1, 0), (3, 0)]
    assert [state.outcome for state in result.reached][1:] == [Outcome.WRONG, Outcome.CORRECT, Outcome.WRONG]
    assert result.best is None


@pytest.mark.parametrize(
    ("words", "amount"), [("4.1M-tokens", 4_100_000), ("2.01k-tokens", 2010), ("4.02k-calls", 4020)]
)
def test_a_budget_with_a_fraction_of_a_thousand_is_whole(words: str, amount: int) -> None:
    assert budget_of(words).amount == amount


def test_a_budget_of_so_many_candidates_that_it_means_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="less than 1,000,000 candidates"):
        budget_of("1M")


def test_fewer_candidates_than_a_run_has_begun_are_refused_with_the_number(tmp_path: Path) -> None:
    def again(budget: int) -> Result:
        policy = Scripted(write=lambda text, draw: str(draw))
        method = Method(policy, BestOfN(n=budget, width=4), compose(program()))
        with Record(tmp_path) as record:
            return optimize(toy_problem(), method, Table(rule=lambda text: 1.0), Run(budget, record=record))

    again(8)
    with pytest.raises(InputError, match="started 8 candidates already, more than --budget 6"):
        again(6)
