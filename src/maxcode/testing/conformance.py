"""Checks the contract of an evaluator: an evaluator that passes can replace any other.

Run it on your own evaluator before you use it in a search or a training.  Each check describes its violation in words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import final

import anyio
import msgspec

from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program, State, Step

_encode = msgspec.json.encode


@final
@dataclass(frozen=True, slots=True)
class Exam:
    """A problem and three known programs: one certainly ``faster`` than the original, one certainly ``slower``, and one
    ``wrong``."""

    problem: Problem
    faster: Program
    slower: Program
    wrong: Program


async def violations(evaluator: Evaluator, exam: Exam, referee: Referee | None = None) -> list[str]:
    """The violations of the contract by the evaluator (and the referee), in words; empty if there are none.

    Passes on every exception of the evaluator, which must raise none for a program of the exam.
    """
    checks: list[Callable[[Evaluator, Exam], Awaitable[str]]] = [
        _unparsed, _wrong, _original, _ahead, _against_the_original, _side_by_side, _after_a_cancelled_one, _recorded,
    ]  # fmt: skip
    found = [f"{check.__name__[1:]}: {why}" for check in checks if (why := await check(evaluator, exam))]
    if referee is not None and (why := await _refereed(evaluator, exam, referee)):
        found.append(f"refereed: {why}")
    return found


async def _unparsed(evaluator: Evaluator, exam: Exam) -> str:
    """A completion without a program gives an evaluation that holds the reason."""
    found = await evaluator.evaluate(exam.problem, Action(None, "no code", unread="there is no code"))
    if found.outcome is not Outcome.UNPARSED or found.timing is not None:
        return f"a completion without a program gave {found.outcome.value}"
    return "" if "there is no code" in " ".join(found.feedback.reasons) else "the reason was lost"


async def _wrong(evaluator: Evaluator, exam: Exam) -> str:
    """Only CORRECT programs are timed."""
    found = await evaluator.evaluate(exam.problem, Action(exam.wrong))
    if found.outcome is Outcome.CORRECT:
        return "a wrong program passed"
    return "" if found.timing is None else "a wrong program was timed"


async def _original(evaluator: Evaluator, exam: Exam) -> str:
    """The original is correct, and not faster than itself."""
    found = await evaluator.evaluate(exam.problem, Action(exam.problem.program))
    if found.outcome is not Outcome.CORRECT:
        return f"the original gave {found.outcome.value}: {'; '.join(found.feedback.reasons)}"
    if found.timing is None:
        return f"the original was not timed: {'; '.join(found.warnings)}"
    return "the original is faster than itself" if found.timing.significant else _interval(found)


async def _ahead(evaluator: Evaluator, exam: Exam) -> str:
    """A faster program is called faster, with an interval."""
    found = await evaluator.evaluate(exam.problem, Action(exam.faster))
    if found.timing is None or not found.timing.significant:
        return (
            f"the faster program was not called faster: {found.outcome.value}, {found.timing and found.timing.verdict}"
        )
    return _interval(found)


async def _against_the_original(evaluator: Evaluator, exam: Exam) -> str:
    """An incumbent can only end a race early: the ratio is still the one over the original."""
    found = await evaluator.evaluate(exam.problem, Action(exam.slower), Action(exam.faster))
    if found.outcome is not Outcome.CORRECT or found.timing is None:
        return f"a slower program with an incumbent gave {found.outcome.value}"
    return "a slower program was called faster" if found.timing.significant else _interval(found)


async def _side_by_side(evaluator: Evaluator, exam: Exam) -> str:
    """Concurrent evaluations give the same outcomes as separate ones."""
    programs = {"faster": exam.faster, "wrong": exam.wrong, "slower": exam.slower, "original": exam.problem.program}
    found: dict[str, Evaluation] = {}

    async def one(name: str) -> None:
        found[name] = await evaluator.evaluate(exam.problem, Action(programs[name]))

    async with anyio.create_task_group() as group:
        for name in programs:
            group.start_soon(one, name)
    correct = {name for name, one in found.items() if one.outcome is Outcome.CORRECT}
    return (
        ""
        if correct == programs.keys() - {"wrong"}
        else f"evaluated at once, only these are correct: {sorted(correct)}"
    )


async def _after_a_cancelled_one(evaluator: Evaluator, exam: Exam) -> str:
    """A cancelled evaluation does not affect the next one."""
    with anyio.move_on_after(0.05):
        await evaluator.evaluate(exam.problem, Action(exam.slower))
    with anyio.move_on_after(600) as patience:
        found = await evaluator.evaluate(exam.problem, Action(exam.wrong))
    if patience.cancelled_caught:
        return "after a cancelled evaluation there was no answer within 600 s"
    return "" if found.outcome is not Outcome.CORRECT else "after a cancelled evaluation a wrong program passed"


async def _recorded(evaluator: Evaluator, exam: Exam) -> str:
    """An evaluation does not change when it is written and read back."""
    found = await evaluator.evaluate(exam.problem, Action(exam.wrong))
    again = msgspec.json.decode(_encode(found), type=Evaluation)
    return "" if again == found else "an evaluation changes when it is written and read"


async def _refereed(evaluator: Evaluator, exam: Exam, referee: Referee) -> str:
    """Of a faster and a slower challenger the faster one is confirmed; there is no incumbent."""
    root = State(exam.problem)
    states = []
    for slot, program in enumerate((exam.slower, exam.faster)):
        action = Action(program)
        found = await evaluator.evaluate(exam.problem, action)
        states.append(State(exam.problem, root, Step(action, found, 0.0), (1, slot)))
    told = await referee.settle(exam.problem, states, None)
    timing = told[1, 1].timing if (1, 1) in told else None
    if timing is None or not timing.confirmed or not timing.significant:
        return f"the faster challenger was not confirmed: {sorted(told)}, {timing and timing.verdict}"
    return ""


def _interval(found: Evaluation) -> str:
    assert found.timing is not None
    ratio = found.timing.speedup
    return "" if 0 < ratio.low <= ratio.value <= ratio.high else f"{ratio} is not an interval"
