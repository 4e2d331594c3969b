"""The order of a module's rounds: inputs that are made ahead, and when values beyond those drawn are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Outcome, Problem, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.function.habits import HABITS
from maxcode.evaluate.module.contract import plans
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.sides import REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import ModuleTrack, open_track
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from tests.support.module_help import problem_of, reference

GALLERY = Path(__file__).parent / "gallery_modules"
RELU = reference("return torch.relu(x)")
FAILING = RELU.replace("return [torch.randn(8, 65)]", "return [torch.randn(8, 65), 1 / 0][:1]")


async def on_track(sandbox: Sandbox, work: Callable[[ModuleTrack], object]) -> object:
    side = ModuleSide(RELU, REFERENCE)
    stage = await SideStarter(sandbox, find_runtime(), problem_of(RELU), 1, 5).described(side)
    async with open_track(stage, plans(stage.contract, 2), side, {"original": side}) as track:
        return await work(track)  # type: ignore[misc]


def test_no_inputs_come_twice_and_those_asked_for_come(sandbox: Sandbox) -> None:
    negative = tuple("n" for _ in range(2))

    async def work(track: ModuleTrack) -> list[bytes]:
        drawn = [call.inputs for _ in range(3) for call in await track.calls_seen()]
        drawn += [call.inputs for call in await track.calls_seen(then=negative)]
        beyond = [call.inputs for call in await track.calls_seen(negative)]
        assert len(beyond) == 2 and all(max(memoryview(one).cast("f")) <= 0 for one in beyond)
        surprise = [call.inputs for call in await track.calls_seen(negative)]  # others were made ahead, and stay
        assert len(surprise) == 2 and all(max(memoryview(one).cast("f")) <= 0 for one in surprise)
        drawn += [call.inputs for _ in range(2) for call in await track.calls_seen()]
        assert all(max(memoryview(one).cast("f")) > 0 for one in drawn)
        return [*drawn, *beyond, *surprise]

    found = anyio.run(on_track, sandbox, work)
    assert isinstance(found, list) and len(found) == 16
    assert len(set(found)) == 16


def test_inputs_that_cannot_be_made_ahead_are_told_of(sandbox: Sandbox) -> None:
    async def run() -> None:
        side = ModuleSide(RELU, REFERENCE)
        stage = await SideStarter(sandbox, find_runtime(), problem_of(RELU), 1, 5).described(side)
        failing = ModuleSide(FAILING, REFERENCE)
        async with open_track(stage, plans(stage.contract, 2), failing, {"original": side}) as track:
            await track.round()

    with pytest.raises(InputError, match="get_inputs of the reference failed"):
        anyio.run(run)


def slow_and_fast() -> tuple[Problem, Problem]:
    """A problem whose candidate does less work, and one whose candidate does the same; few calls make a round."""
    problem = load(GALLERY / "reference.py").problem
    assert "rows = 96\n" in problem.program.text
    problem = replace(problem, program=problem.program.with_text(problem.program.text.replace("= 96", "= 768")))
    more = "x + 0 * torch.exp(x)" + 3 * ".cumsum(0).cumsum(1)"
    slow = problem.program.text.replace("torch.relu(self.layer(x))", f"torch.relu(self.layer({more}))")
    return replace(problem, program=problem.program.with_text(slow)), problem


@pytest.mark.parametrize("is_faster", [pytest.param(True, marks=pytest.mark.slow), False])
def test_calls_beyond_the_drawn_values_are_made_once_where_a_confirmation_follows(
    sandbox: Sandbox, is_faster: bool
) -> None:
    rule = RaceRule(evident=RaceRule().gross)
    evaluator = ModuleEvaluator(sandbox, rule, beside_compiled=False, prompts=False)
    slow, same = slow_and_fast()
    problem = slow if is_faster else same
    text = same.program.text.replace("class Model", "class ModelNew")
    if not is_faster:  # it does more work in truth: equal ones may be called faster by chance
        text = text.replace("self.layer(x)", "self.layer(torch.maximum(x, torch.minimum(x, x)))")
    action = Action(problem.program.with_text(text))

    async def run() -> tuple[Evaluation, Evaluation | None]:
        await evaluator.admit(problem)
        found = await evaluator.evaluate(problem, action)
        if not is_faster:
            return found, None
        state = State(problem, State(problem), Step(action, found, 1.0), (1, 0))
        return found, (await evaluator.settle(problem, [state], None))[state.id]

    found, confirmed = anyio.run(run)
    assert found.outcome is Outcome.CORRECT and found.timing is not None and found.timing.beyond is not None
    if not is_faster:
        assert not found.timing.significant
        assert sum(found.timing.beyond) >= len(HABITS)
        return
    assert found.timing.verdict == "faster" and found.timing.pairs == 2
    assert sum(found.timing.beyond) < len(HABITS), "one round at the end, perhaps some between the pairs"
    assert confirmed is not None and confirmed.timing is not None and confirmed.timing.beyond is not None
    assert sum(confirmed.timing.beyond) >= len(HABITS)


@pytest.mark.parametrize(
    "name", ["narrow_after_the_checks", pytest.param("right_between_0_and_1", marks=pytest.mark.slow)]
)
def test_a_narrow_candidate_is_refused_where_a_confirmation_follows_too(sandbox: Sandbox, name: str) -> None:
    """The original does needless work, so that the candidate is evidently faster."""
    rule = RaceRule(evident=RaceRule().gross)
    evaluator = ModuleEvaluator(sandbox, rule, beside_compiled=False, prompts=False)
    text = (GALLERY / f"{name}.py").read_text()
    named = next(line.split()[-1] for line in text.splitlines() if line.startswith("# AGAINST"))
    problem = load(GALLERY / "originals" / f"{named}.py").problem
    needless = "def forward(self, x):\n        x = x + 0 * torch.sin(x)" + 20 * ".sin()"
    slow = problem.program.text.replace("def forward(self, x):", needless)
    assert slow != problem.program.text
    problem = replace(problem, program=problem.program.with_text(slow))
    action = Action(problem.program.with_text(text))

    async def run() -> tuple[Evaluation, Evaluation]:
        await evaluator.admit(problem)
        found = await evaluator.evaluate(problem, action)
        state = State(problem, State(problem), Step(action, found, 1.0), (1, 0))
        return found, (await evaluator.settle(problem, [state], None))[state.id]

    found, confirmed = anyio.run(run)
    assert found.outcome is Outcome.WRONG or (found.timing is not None and found.timing.verdict == "faster")
    assert confirmed.outcome is Outcome.WRONG
