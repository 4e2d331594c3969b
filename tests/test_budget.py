"""Caps bound what a run spends; what was paid for is recorded and used, and more of it lets a run go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from maxcode.budget import Caps
from maxcode.distinct import AGAIN
from maxcode.observe import compose, program
from maxcode.optimize import Method, Run, optimize
from maxcode.record import Record
from maxcode.roles import Search
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import Scripted, Table, toy_problem
from maxcode.types import Action, Observation, Outcome, Program, Result, Usage


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


def test_an_unknown_price_is_never_guessed_so_a_cap_on_money_cannot_hold_and_tokens_can() -> None:
    assert search_for(Paid(price=None), Caps(dollars=0.1)).reached.candidates == 100
    assert search_for(Paid(price=None), Caps(tokens=1000)).reached.candidates == 10


def test_wall_clock_is_a_cap_too() -> None:
    result = search_for(Paid(delay_s=0.05), Caps(seconds=0.12), search=Refine(depth=100))
    assert 1 <= result.reached.candidates <= 4
    assert "seconds are spent" in result.ended


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
