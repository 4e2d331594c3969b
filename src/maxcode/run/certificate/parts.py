"""The parts of a certificate that are made alike for every kind of problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.roles import Referee
from maxcode.core.stats import interval_of
from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program, Recheck, State, Step, Timing
from maxcode.errors import InputError
from maxcode.evaluate.ladder.race import Pair
from maxcode.run.certificate.claim import CONTROL_CONFIDENCE, Control

_UNTIMED = Evaluation(Outcome.CORRECT)


@final
@dataclass(frozen=True, slots=True)
class Confirmed:
    """What a confirmation came to: ``why`` says what kept it from a timing; ``harsher`` is there where it asked for a
    second verification."""

    timing: Timing | None
    why: str = ""
    harsher: Recheck | None = None


async def confirmation(referee: Referee, problem: Problem, winner: Program) -> Confirmed:
    """A confirmation like that of a winner in a run."""
    state = State(problem, State(problem), Step(Action(winner), _UNTIMED, 0.0), (1, 0))
    try:
        evaluation = (await referee.settle(problem, [state], None))[state.id]
    except InputError as error:  # the original itself gave a wrong answer
        return Confirmed(None, str(error))
    why = "; ".join(evaluation.feedback.reasons) or evaluation.outcome.value if evaluation.timing is None else ""
    return Confirmed(evaluation.timing, why, evaluation.harsher)


def control_of(pairs: Sequence[Pair], sittings: tuple[int, ...] = ()) -> Control:
    """What pairs of the original with itself say, made in as many sittings as the winner's."""
    samples = tuple((pair.total("original"), pair.total("candidate")) for pair in pairs)
    return Control(samples, interval_of([a / b for a, b in samples], sittings, CONTROL_CONFIDENCE))
