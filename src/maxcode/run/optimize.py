"""The search loop; read this file first.

    select -> propose -> evaluate -> critique -> (value) -> settle -> select -> ...

Each ``select`` starts one batch (``batch.py``).  The search is a pure function of the reached states, so a resume runs
the same loop with the recorded parts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import count
from operator import attrgetter

import anyio

from maxcode.core.history import Reached, Result
from maxcode.core.method import Method
from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Problem, Spent, State
from maxcode.errors import InputError, Interrupted, RecordError
from maxcode.run.active_run import Job, Run
from maxcode.run.batch import challengers, expand, explain, settle, settle_up
from maxcode.run.interrupts import on_interrupt, outside_loop
from maxcode.run.record import Batch
from maxcode.run.times import CONFIRMATION
from maxcode.sandbox.lanes import counting
from maxcode.search.onward import ENDED, onward

__all__ = ["Method", "Run", "optimize"]

PATIENCE_S = 2.0  # a measurement that ends within it is recorded after Ctrl-C; a longer one is made again
_STOPPING = (
    f"stopping: measurements end within {PATIENCE_S:.0f} s, and answers of models under way are waited for; Ctrl-C "
    "again stops now"
)


def optimize(
    problem: Problem, method: Method, evaluator: Evaluator, run: Run, referee: Referee | None = None
) -> Result:
    """Searches for the fastest version of an admitted ``problem``; returns at the end of the budget or of the search.

    Works inside a running event loop too (notebooks).  The first Ctrl-C starts nothing new, records the running slots
    that end within ``PATIENCE_S`` seconds and the answers of models under way, and raises ``Interrupted``; the second
    stops at once.  Raises ``BoundaryError`` if something outside
    the program failed; the run can then be resumed.
    """
    job = Job(problem, method, evaluator, run, referee)
    return outside_loop(partial(anyio.run, _interruptible, job))


async def _interruptible(job: Job) -> Result:
    """Runs ``_search``; the first Ctrl-C asks the slots to stop, and soon ends their measurements; the second cancels
    all, answers of models included, which may be paid for."""

    def interrupted() -> None:
        if job.stopping:
            scope.cancel()
        else:
            job.run.say(_STOPPING)
            asyncio.get_running_loop().call_later(PATIENCE_S, job.hurry)
        job.stopping = True

    with anyio.CancelScope() as scope, on_interrupt(interrupted), counting(job.run.times.others):
        return await _search(job)
    raise Interrupted("stopped at once; all finished parts are recorded")


async def _search(job: Job) -> Result:
    reached = Reached(State(job.problem, gamma=job.method.gamma))
    for batch in count(1):
        parents = _plan(job, batch, reached)
        if not parents:
            break
        if not await _is_final(job, batch, parents, reached):
            break
    spent = Spent(reached.candidates, job.run.record.seconds, job.spent())
    return Result(job.problem, reached, spent, job.run.machine, job.ended, job.stopping, job.undone)


async def _is_final(job: Job, batch: int, parents: list[State], reached: Reached) -> bool:
    """Makes one batch; False if the time of the command ended in it.  Then it stays open, for a resume."""
    measured: list[State] = []
    with job.run.deadline.scope():
        parents = await explain(job, batch, parents, reached)
        asked = reached.requests(parents)
        expanded = await expand(job, batch, parents, asked, reached)
        measured = expanded.states
        with job.run.times.spent_on(CONFIRMATION):
            reached.extend(await settle(job, batch, expanded, reached))
        reached.passed(parents, expanded.passed)
        reached.dropped(parents, asked, expanded.dropped)
        return True
    job.ended, job.undone = job.run.deadline.words, _undone(job, batch, challengers(measured, reached))
    reached.extend(measured)
    return False


def _undone(job: Job, batch: int, waiting: Sequence[State]) -> str:
    """What an open batch lacks; ``waiting``: its states that no fresh pairs have confirmed."""
    timings = [state.step.evaluation.timing for state in waiting if state.step is not None]
    raced = max((one.speedup for one in timings if one is not None), key=attrgetter("low"), default=None)
    again = "repeat the command with more seconds"
    if raced is None:
        return f"batch {batch} is not finished: {job.run.deadline.words}; {again}"
    return (
        f"not confirmed: {job.run.deadline.words} before the fastest of batch {batch}, {raced} in its race, was timed "
        f"again on fresh pairs; {again}"
    )


def _plan(job: Job, batch: int, reached: Reached) -> list[State]:
    """The states to expand: those recorded, else those selected, limited to the rest of the budget."""
    record = job.run.record
    wanted = job.method.search.select(reached)
    selected = onward(wanted, reached)
    if (recorded := record.batches.get(batch)) is not None:
        return _as_recorded(recorded, selected, job.run)
    chosen = selected[: max(0, job.run.budget - record.planned)]
    if not chosen:
        job.ended = ENDED if wanted and not selected else job.ended
        return []
    if job.stopping:
        raise Interrupted(f"stopped before batch {batch}; all finished parts are recorded")
    settle_up(job, batch, reached)
    if (why := job.refusal()) is not None:
        job.ended = why + _stopped(job, batch - 1)
        return []
    job.append(Batch(batch=batch, parents=tuple(state.id for state in chosen)))
    return chosen


def _stopped(job: Job, batch: int) -> str:
    """Words on the candidates of a batch whose evaluation was stopped because the seconds were spent."""
    settled = job.run.record.settled.get(batch)
    count = 0 if settled is None else sum((batch, slot) in job.run.record.launched for slot in settled.dropped)
    if not count:
        return ""
    who = "a candidate was stopped before it was" if count == 1 else f"{count} candidates were stopped before they were"
    return f"; {who} measured; repeat the command with a larger cap to go on"


def _as_recorded(recorded: Batch, selected: list[State], run: Run) -> list[State]:
    chosen = selected[: len(recorded.parents)]
    if tuple(state.id for state in chosen) != recorded.parents:
        if run.record.planned > run.budget:
            raise InputError(
                f"the run has started {run.record.planned} candidates already, more than --budget {run.budget}; give "
                "at least that many to resume, or another --out"
            )
        raise RecordError(
            f"batch {recorded.batch} of the record is from another search (it expanded {recorded.parents}); "
            "choose another --out, or repeat the first command"
        )
    return chosen
