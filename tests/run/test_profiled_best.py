"""A new best of a search is profiled once, before the next prompt, and not where no prompt follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.history import Reached, Result
from maxcode.core.method import Method
from maxcode.core.types import Evaluation, HotFunction, Problem, Program, Section, State, StateId
from maxcode.errors import MachineError
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import Refine
from maxcode.testing import Scripted, Table, toy_problem

SPEEDS = {"1": 2.0, "2": 1.5, "3": 3.0, "4": 4.0}
TABLE = Table(SPEEDS, confirmed=False)


class Profiles:
    """Confirms every challenger, and profiles by its text; ``asked``: what it profiled."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        return {
            state.id: replace(state.step.evaluation, timing=replace(state.step.evaluation.timing, confirmed=True))
            for state in challengers
            if state.step is not None and state.step.evaluation.timing is not None
        }

    async def with_profile(self, problem: Problem, program: Program, found: Evaluation) -> Evaluation:
        self.asked.append(program.text)
        return replace(found, hot=(HotFunction("toy.py", f"hot {program.text}", 1, 0.5),), outside=0.25)


class Fails(Profiles):
    """Raises in place of a profile, or gives one that no line can hold, or that cannot be read again."""

    def __init__(self, broken: Exception | HotFunction) -> None:
        super().__init__()
        self.broken = broken

    async def with_profile(self, problem: Problem, program: Program, found: Evaluation) -> Evaluation:
        self.asked.append(program.text)
        if isinstance(self.broken, Exception):
            raise self.broken
        return replace(found, hot=(self.broken,))


def searched(
    folder: Path, budget: int, referee: Profiles, say: Callable[[str], None] = lambda words: None
) -> tuple[Result, list[str]]:
    """The result, and by prompt what was hot in the best of the run."""
    seen: list[str] = []

    def observe(state: State, reached: Reached) -> tuple[Section, ...]:
        best = reached.best.step.evaluation if reached.best is not None and reached.best.step is not None else None
        seen.append(", ".join(one.name for one in best.hot) if best is not None else "none")
        return ()

    scripted = Scripted(write=lambda text, draw: str(int(text) + 1))
    run = Run(budget, record=Record(folder), say=say)
    with run.record:
        return optimize(toy_problem(), Method(scripted, Refine(9), observe), TABLE, run, referee), seen


def test_each_new_best_is_profiled_once_for_the_prompts_that_follow(tmp_path: Path) -> None:
    referee = Profiles()
    found, seen = searched(tmp_path, 4, referee)
    assert seen == ["none", "hot 1", "hot 1", "hot 3"]
    assert referee.asked == ["1", "3"], "4 is the last: no prompt would show its profile"
    assert found.best is not None and found.best.step is not None and not found.best.step.evaluation.hot
    again = Profiles()
    same, unseen = searched(tmp_path, 4, again)
    assert (again.asked, unseen) == ([], [])
    profiled = same.reached[1, 0].step
    assert profiled is not None and profiled.evaluation.outside == 0.25
    assert profiled.evaluation.hot == (HotFunction("toy.py", "hot 1", 1, 0.5),)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (RecursionError("too deep"), "RecursionError: too deep"),
        (OverflowError("cannot convert float infinity to integer"), "OverflowError"),
        (MachineError("the sandbox is gone"), "MachineError: the sandbox is gone"),
        (HotFunction("toy.py", "\ud800", 1, 0.5), "UnicodeEncodeError"),
        (HotFunction("toy.py", "f", 1, float("inf")), "ValidationError"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_whatever_goes_wrong_in_a_profile_the_batch_is_recorded(
    broken: Exception | HotFunction, words: str, tmp_path: Path
) -> None:
    referee, said = Fails(broken), list[str]()
    found, seen = searched(tmp_path, 4, referee, said.append)
    assert referee.asked == ["1", "3"] and len(seen) == 4
    assert found.best is not None and found.best.reward == 4.0
    with Record(tmp_path) as record:
        assert len(record.settled) == 4 and record.settled[1].evaluations[0].timing is not None
    unprofiled = [one for one in said if " has no profile: " in one]
    assert [one.partition(" has")[0] for one in unprofiled] == ["the best of batch 1", "the best of batch 3"]
    assert words in unprofiled[0]
    again = Fails(broken)
    assert searched(tmp_path, 4, again)[1] == [] and again.asked == []
