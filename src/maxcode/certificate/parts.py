"""The parts of a certificate that are made alike for every kind of problem."""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.certificate.claim import CONTROL_CONFIDENCE, Control
from maxcode.errors import InputError
from maxcode.evaluate.racing import Pair
from maxcode.roles import Referee
from maxcode.stats import median_interval
from maxcode.types import Action, Evaluation, Outcome, Problem, Program, State, Step, Timing

_UNTIMED = Evaluation(Outcome.CORRECT)


async def confirmation(referee: Referee, problem: Problem, winner: Program) -> tuple[Timing | None, str]:
    """A confirmation like that of a winner in a run; (None, why) where it did not come to an end."""
    state = State(problem, State(problem), Step(Action(winner), _UNTIMED, 0.0), (1, 0))
    try:
        evaluation = (await referee.settle(problem, [state], None))[state.id]
    except InputError as error:  # the original itself gave a wrong answer
        return None, str(error)
    if evaluation.timing is None:
        return None, "; ".join(evaluation.feedback.reasons) or evaluation.outcome.value
    return evaluation.timing, ""


def control_of(pairs: Sequence[Pair]) -> Control:
    """What pairs of the original with itself say."""
    samples = tuple((pair.total("original"), pair.total("candidate")) for pair in pairs)
    return Control(samples, median_interval([a / b for a, b in samples], CONTROL_CONFIDENCE))
