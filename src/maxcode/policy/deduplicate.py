"""Asks a policy for a proposal that is no duplicate: a policy that repeats itself is told so and asked again.

Programs that differ only in comments and layout are the same.  After ``AGAIN`` more answers a duplicate counts as a
step, which reuses the evaluation.  Only states reached before the batch are known here, so that the question for a slot
does not depend on the other slots; duplicates within a batch share their builds in the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from maxcode.code.source import writable
from maxcode.core.history import Reached
from maxcode.core.roles import Policy
from maxcode.core.stats import draw
from maxcode.core.types import Action, Evaluation, Observation, Program, Section, State
from maxcode.observe.feedback import brief_result
from maxcode.observe.part import change_line

AGAIN = 2


async def propose(
    policy: Policy, observation: Observation, reached: Reached, before_again: Callable[[], None] = lambda: None
) -> Action:
    """Ask ``policy``, and again if it returns a duplicate; the usage is that of all its answers.

    ``before_again`` may raise if no further question is permitted.
    """
    action = _writable(await policy.propose(observation))
    usage, tried = action.usage, dict[State, None]()
    for attempt in range(AGAIN):
        duplicate = reached.duplicate(action.program) if action.program is not None else None
        if duplicate is None:
            break
        before_again()
        tried[duplicate] = None
        sections, again = (*observation.sections, _told(tried)), draw(observation.draw, "again", attempt)
        action = _writable(await policy.propose(replace(observation, sections=sections, draw=again)))
        usage += action.usage
    return replace(action, usage=usage)


def _writable(action: Action) -> Action:
    drawn = tuple(replace(one, program=_cleaned(one.program)) for one in action.drawn)
    return replace(
        action,
        program=_cleaned(action.program),
        completion=writable(action.completion),
        unread=writable(action.unread),
        drawn=drawn,
    )


def _cleaned(program: Program | None) -> Program | None:
    if program is None:
        return None
    return Program({path: writable(text) for path, text in program.files.items()})


def duplicate_of(action: Action, parent: State, reached: Reached) -> State | None:
    """The state whose evaluation a proposal for ``parent`` may reuse: the same program with the same permitted
    techniques."""
    duplicate = reached.duplicate(action.program) if action.program is not None else None
    same = (
        duplicate is not None and duplicate.step is not None and duplicate.problem.permitted == parent.problem.permitted
    )
    return duplicate if same else None


def reused(duplicate: State) -> Evaluation:
    """The evaluation of a step that repeats ``duplicate``'s program.

    It is not confirmed: only the first one can be, so that no copy becomes the incumbent after the first is refuted.
    """
    assert duplicate.step is not None
    evaluation = duplicate.step.evaluation
    timing = replace(evaluation.timing, confirmed=False) if evaluation.timing is not None else None
    told = f"the same program as in batch {duplicate.id[0]}, slot {duplicate.id[1]}, whose evaluation is used again"
    warnings = (*(w for w in evaluation.warnings if "is used again" not in w), told)
    return replace(evaluation, timing=timing, warnings=warnings)


def _told(tried: Iterable[State]) -> Section:
    """What was answered to this very prompt: who answers may not know of it."""
    lines = [
        f"- {brief_result(one.step.evaluation)}: {change_line(one)}"
        if one.step is not None
        else "- the original program"
        for one in tried
    ]
    told = "This prompt was answered by what is known already, comments and layout apart; propose something else than:"
    return Section("Duplicate", "\n".join([told, *lines]))
