"""One batch of the search loop: propose, evaluate and critique in every slot, then confirm the best challengers.

Slots run concurrently, so model calls, builds and timings overlap.  Every part is recorded as soon as it exists; a
recorded part is never made again.  If the machine or the provider fails in one slot, the other slots still finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import anyio

from maxcode.core.ahead import cancel_after, started
from maxcode.core.history import Reached, leads, lower_end
from maxcode.core.printable import printable
from maxcode.core.roles import BranchCritic, Critic
from maxcode.core.stats import draw
from maxcode.core.types import (
    Action,
    Evaluation,
    Observation,
    Outcome,
    State,
    StateId,
    Step,
    Timing,
)
from maxcode.errors import BoundaryError, Interrupted, MaxcodeError, Unanswered
from maxcode.evaluate.harness_protocol import ProfilesBest
from maxcode.observe import branch_lines
from maxcode.policy.deduplicate import duplicate_of, propose, reused
from maxcode.run.active_run import Dropped, Job, Stopped
from maxcode.run.record import Critiqued, Evaluated, Launched, Proposed, Settled, readable_again

AHEAD = 1.01  # the smallest gain over the incumbent for which a confirmation is worth its cost
_SAID = 300  # characters


@final
@dataclass(frozen=True, slots=True)
class Expanded:
    """The result of a batch: its states in slot order, the slots that were not launched or not measured because of a
    cap or not launched because the critic saw no further gain, and those in which the policy saw none."""

    states: list[State]
    dropped: tuple[int, ...] = ()
    passed: tuple[int, ...] = ()


async def expand(job: Job, batch: int, parents: Sequence[State], asked: Sequence[int], reached: Reached) -> Expanded:
    """Runs every open slot.  ``asked``: by slot, the number of the request for its state.

    If slots fail, the error of the first failed slot, which names the boundary, is raised after all others have
    finished.  Raises Interrupted if slots stay open because the user asked to stop, Unanswered if they wait for an
    answer from outside.
    """
    settled = job.run.record.settled.get(batch)
    done: dict[int, State] = {}
    failed: dict[int, Exception] = {}
    unanswered: set[int] = set()
    dropped = set(settled.dropped if settled is not None else ())
    passed: set[int] = set()
    places = anyio.CapacityLimiter(job.run.concurrency)

    async def one(slot: int) -> None:
        async with places:
            try:
                state = await _slot(job, (batch, slot), parents[slot], asked[slot], reached)
                if state is None:
                    passed.add(slot)
                else:
                    done[slot] = state
            except Dropped:
                dropped.add(slot)
            except Stopped:
                pass
            except Unanswered:
                unanswered.add(slot)
            except Exception as error:
                failed[slot] = error

    slots = [slot for slot in range(len(parents)) if slot not in dropped]
    settle_up(job, batch, reached)
    if slots and not job.tracker.known:
        await one(slots.pop(0))
        settle_up(job, batch, reached)
    if job.tracker.known or not failed:  # else the other slots would start before the cost of one is known
        async with anyio.create_task_group() as group:
            for slot in slots:
                group.start_soon(one, slot)
    if failed:
        raise _named(batch, failed)
    if unanswered and not job.stopping:
        raise Unanswered(f"{len(unanswered)} of {len(parents)} prompts of batch {batch} wait for an answer")
    if len(done) + len(dropped) + len(passed) < len(parents):
        raise Interrupted(f"stopped in batch {batch}; all finished parts are recorded")
    return Expanded([done[slot] for slot in sorted(done)], tuple(sorted(dropped)), tuple(sorted(passed)))


def settle_up(job: Job, batch: int, reached: Reached) -> None:
    """Adds the cost of the batch to the tracker; a resumed batch counts too."""
    record = job.run.record
    recorded = record.batches.get(batch)
    slots = [(batch, slot) for slot in range(len(recorded.parents))] if recorded is not None else []
    answered = sum(at in record.actions for at in slots)
    waiting = sum(at in record.launched and at not in record.actions for at in slots)
    job.tracker.settle_up(reached.candidates + answered, waiting)


async def _slot(job: Job, at: StateId, parent: State, asked: int, reached: Reached) -> State | None:
    """propose -> evaluate -> critique; recorded parts are read from the record.  None: no further gain is seen."""
    record, method = job.run.record, job.method
    if (action := record.actions.get(at)) is None:
        _launch(job, at, parent, reached)
        sections = method.observe(parent, reached)
        observation = Observation(sections, parent, _drawn(job, parent, asked))
        action = await propose(method.policy, observation, reached, partial(_stop_here, job))
        job.append(Proposed(at=at, action=action))
    if action.no_gain:
        return None
    if (evaluation := record.evaluations.get(at)) is None:
        _stop_here(job)
        duplicate = duplicate_of(action, parent, reached)
        evaluation = reused(duplicate) if duplicate is not None else await _evaluated(job, parent, action, reached)
        job.append(Evaluated(at=at, evaluation=evaluation))
    step = Step(action, evaluation, method.reward(evaluation))
    if method.critiques == "all":  # else `explain` asks, also where the record has the answer: a resume knows no more
        step = await _critiqued(job, at, parent, step, reached)
    return State(parent.problem, parent, step, at, parent.gamma)


async def _critiqued(job: Job, at: StateId, parent: State, step: Step, reached: Reached) -> Step:
    """The step with its critique: the recorded one, or a new one."""
    if job.method.critic is None:
        return step
    if (critique := job.run.record.critiques.get(at)) is None:
        _stop_here(job)
        critique = await _critique(job.method.critic, parent, step, reached)
        job.append(Critiqued(at=at, critique=critique))
    return replace(step, critique=critique)


async def explain(job: Job, batch: int, parents: Sequence[State], reached: Reached) -> list[State]:
    """The states to expand, with their critiques if these are asked for only now.

    The error of the first that failed, which names the boundary, is raised after all others have an answer.
    """
    if job.method.critic is None or job.method.critiques == "all":
        return list(parents)
    failed: dict[int, Exception] = {}
    places = anyio.CapacityLimiter(job.run.concurrency)

    async def one(slot: int, state: State) -> None:
        assert state.parent is not None
        assert state.step is not None
        async with places:
            try:
                step = await _critiqued(job, state.id, state.parent, state.step, reached)
            except Stopped:
                return
            except Exception as error:
                failed[slot] = error
                return
        reached.replace(replace(reached[state.id], step=step))

    silent = [state for state in dict.fromkeys(parents) if state.step is not None and not state.step.critique]
    async with anyio.create_task_group() as group:
        for slot, state in enumerate(silent):
            group.start_soon(one, slot, state)
    if failed:
        raise _named(batch, failed)
    if job.stopping:
        raise Interrupted(f"stopped before batch {batch}; all finished parts are recorded")
    return [replace(state, step=reached[state.id].step) for state in parents]  # each with what its stage permits


async def _critique(critic: Critic, parent: State, step: Step, reached: Reached) -> str:
    previous = parent.made_by  # a step without a program changed nothing
    if isinstance(critic, BranchCritic):
        return await critic.critique_beside(parent.problem, step, previous, branch_lines(parent, reached))
    return await critic.critique(parent.problem, step, previous)


async def _evaluated(job: Job, parent: State, action: Action, reached: Reached) -> Evaluation:
    """The evaluation; raises Dropped if the seconds of the run are spent before it has ended, Stopped if the user asked
    to stop and it does not end soon."""
    best = reached.best
    incumbent = best.step.action if best is not None and best.step is not None else None
    with job.measurement() as scope:
        async with started(partial(cancel_after, lambda: job.seconds_left, scope)):
            return await job.evaluator.evaluate(parent.problem, action, incumbent)
    raise Stopped if job.is_hurried else Dropped


def draw_of(seed: int, at: StateId, asked: int) -> int:
    """The draw of the observation: a 64-bit hash of the run's seed, the state's id, and its earlier expansions."""
    return draw(seed, at, asked)


def _drawn(job: Job, parent: State, asked: int) -> int:
    batch, own = parent.id
    recorded = job.run.record.batches.get(batch)
    others = range(len(recorded.parents)) if recorded is not None else ()
    slots = (own, *(slot for slot in others if slot != own))
    return job.run.drawn([draw_of(job.run.seed, (batch, slot), asked) for slot in slots])


async def settle(job: Job, batch: int, expanded: Expanded, reached: Reached) -> list[State]:
    """Computes values, asks the referee for the best of the run, and writes the line that makes the batch final."""
    settled = job.run.record.settled.get(batch)
    states = expanded.states
    if settled is None:
        foreseen = await job.method.value.estimate(states) if job.method.value and states else []
        anew = await _with_profile(job, states, reached, await _ask_referee(job, states, reached))
        refuted = next(((at, evaluation) for at, evaluation in anew.items() if at[0] != batch), None)
        by_slot = {at[1]: evaluation for at, evaluation in anew.items() if at[0] == batch}
        settled = Settled(
            batch=batch, values=tuple(foreseen), evaluations=by_slot, champion=refuted, dropped=expanded.dropped
        )
        job.append(settled)
    if settled.champion is not None:
        at, evaluation = settled.champion
        reached.replace(_judged_anew(job, reached[at], evaluation))
    values: Sequence[float | None] = settled.values or [None] * len(states)
    return [_final(job, state, value, settled) for state, value in zip(states, values, strict=True)]


async def _ask_referee(job: Job, states: Sequence[State], reached: Reached) -> dict[StateId, Evaluation]:
    contenders = challengers(states, reached)
    if job.referee is None or not contenders:
        return {}
    job.run.say(f"confirming the best of batch {states[0].id[0]} on fresh pairs")
    try:
        with job.measurement():
            return await job.referee.settle(job.problem, contenders, reached.best)
    except MaxcodeError:
        raise
    except Exception as error:
        raise _broken(f"the referee of batch {states[0].id[0]}", error) from error
    raise Interrupted(
        f"stopped while the best of batch {states[0].id[0]} was confirmed; all finished parts are recorded"
    )


async def _with_profile(
    job: Job, states: Sequence[State], reached: Reached, anew: dict[StateId, Evaluation]
) -> dict[StateId, Evaluation]:
    """The referee's evaluations; that of a new best with its profile, if later prompts can show one.

    Without where the time of the search ends first, or where profiling fails, which is said: the best was paid for,
    and a profile decides nothing.  At a resume it would fail again, because the program may have caused it."""
    judged = (_judged_anew(job, state, anew[state.id]) for state in states if state.id in anew)
    best = max((state for state in judged if leads(state, reached.best)), key=lower_end, default=None)
    is_last = job.run.record.planned >= job.run.budget or job.stopping or job.refusal() is not None
    if best is None or is_last or not isinstance(job.referee, ProfilesBest):
        return anew
    job.run.say(f"profiling the best of batch {best.id[0]}")
    try:
        with job.measurement() as scope:
            async with started(partial(cancel_after, lambda: job.seconds_left, scope)):
                found = await job.referee.with_profile(job.problem, best.program, anew[best.id])
                return {**anew, best.id: readable_again(found)}
    except Exception as error:
        why = f"the best of batch {best.id[0]} has no profile: {type(error).__name__}: {error}"
        job.run.say(printable(why[:_SAID]))
    return anew


def _final(job: Job, state: State, value: float | None, settled: Settled) -> State:
    assert state.step is not None
    state = replace(state, step=replace(state.step, value=value))
    anew = settled.evaluations.get(state.id[1])
    return state if anew is None else _judged_anew(job, state, anew)


def _judged_anew(job: Job, state: State, evaluation: Evaluation) -> State:
    assert state.step is not None
    return replace(state, step=replace(state.step, evaluation=evaluation, reward=job.method.reward(evaluation)))


def challengers(states: Sequence[State], reached: Reached) -> list[State]:
    """The states that may become the best: not confirmed, ahead of the incumbent of their race, and with an interval
    that reaches the best lower end.  A duplicate is left out, because its first evaluation was considered already."""
    timed = {state: timing for state in states if (timing := _challenging(state)) is not None}
    bar = max((timing.speedup.low for timing in timed.values()), default=0.0)
    bar = max(bar, lower_end(reached.best)) if reached.best is not None else bar
    return [
        state for state, timing in timed.items() if timing.speedup.high >= bar and not _is_repetition(state, reached)
    ]


def _is_repetition(state: State, reached: Reached) -> bool:
    """Whether an earlier batch evaluated the same program, so that its evaluation is used again."""
    assert state.step is not None
    assert state.parent is not None
    return duplicate_of(state.step.action, state.parent, reached) is not None


def _challenging(state: State) -> Timing | None:
    timing = state.step.evaluation.timing if state.step else None
    if state.outcome is not Outcome.CORRECT or timing is None or not timing.significant or timing.confirmed:
        return None
    is_ahead = timing.over_rival is None or timing.over_rival.value > AHEAD
    return timing if is_ahead else None


def _launch(job: Job, at: StateId, parent: State, reached: Reached) -> None:
    """Counts a slot as launched, or raises if it may not be launched now, or if the critic, asked after the state was
    selected, sees no further gain.

    A slot that was launched before an interruption is launched again even without budget: it may be paid for already.
    """
    _stop_here(job)
    if at in job.run.record.launched:
        return
    if reached.is_closed(parent) or job.refusal() is not None:
        raise Dropped
    job.tracker.launched += 1
    job.append(Launched(at=at))


def _stop_here(job: Job) -> None:
    if job.stopping:
        raise Stopped


def _named(batch: int, failed: dict[int, Exception]) -> MaxcodeError:
    """The error of the first failed slot, with its boundary; all other parts of the batch are recorded."""
    slot, error = min(failed.items())
    if isinstance(error, MaxcodeError):
        error.add_note(f"batch {batch}, slot {slot}; the other slots are recorded; repeat the command to resume")
        return error
    broken = _broken(f"batch {batch}, slot {slot}", error)
    broken.__cause__ = error
    return broken


def _broken(where: str, error: Exception) -> BoundaryError:
    what = f"{where} failed: {type(error).__name__}: {error}"
    return BoundaryError(f"{what}; finished parts are recorded; repeat the command to resume")
