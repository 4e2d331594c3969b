"""What a side does in rounds that are not timed is told, and a round that is timed always counts."""

from __future__ import annotations

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Outcome
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.evaluate.rounds.round import HIDDEN, RoundSeconds, hidden
from maxcode.sandbox.sandbox import Sandbox
from tests.support.python_help import problem_of

SLOW = "def total(n):\n    found = 0\n    for i in range(n):\n        found += i * i % 7\n    return found\n"
INPUTS = "def inputs(seed, size):\n    return (20_000 + seed % 997,)\n"
PREPARES = f"""import json

with open("/src/meta.json") as file:
    META = json.load(file)
calls = 0
{
    SLOW.replace(
        "    found = 0",
        '''    global calls
    calls += 1
    if calls == META["slots"] * META["batch"] + 1:
        sum(range(30_000_000))
    found = 0''',
    )
}"""


def test_work_in_later_untimed_rounds_is_told_and_that_in_the_first_one_elsewhere() -> None:
    usual, steady = [0.01] * 12, RoundSeconds([0.02, 0.011, 0.01], [0.01] * 12)
    assert not hidden(steady, steady)
    assert not hidden(steady, RoundSeconds([0.9, 0.01, 0.01], usual))
    assert RoundSeconds([0.9, 0.01, 0.01], usual).first_s() == pytest.approx(0.89)
    assert not hidden(RoundSeconds([0.02, 0.5, 0.01], usual), RoundSeconds([0.02, 0.9, 0.01], usual))
    (told,) = hidden(steady, RoundSeconds([0.02, 0.01, 0.9], usual))
    assert told.startswith(HIDDEN) and "0.89 s more" in told


@pytest.mark.sandbox
def test_a_function_that_prepares_in_its_second_round_is_told_of(sandbox: Sandbox) -> None:
    evaluator = RoundsEvaluator(sandbox, PythonStages(sandbox), RaceRule(most=3))
    problem = problem_of(SLOW, INPUTS)

    async def run() -> tuple[str, ...]:
        await evaluator.admit(problem)
        found = await evaluator.evaluate(problem, Action(problem.program.with_text(PREPARES)))
        assert found.outcome is Outcome.CORRECT, found.feedback
        return found.warnings

    assert [one for one in anyio.run(run) if one.startswith(HIDDEN)]
