"""Evaluates one program against a problem, as a search evaluates a candidate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from maxcode.core.ahead import started
from maxcode.core.types import Action, Evaluation, Machine, Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.harness import compiled_without_gpu
from maxcode.evaluate.harness_protocol import RefusesEarly, SearchHarness, WorksAhead
from maxcode.evaluate.inputs.fresh import FAILED, MADE
from maxcode.evaluate.ladder.cures import cure_of_candidate
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.target import Target, where
from maxcode.problems import Loaded
from maxcode.run.admission import Say, Watch, notes_on, spending_told
from maxcode.run.candidate_result import CandidateResult, result_of
from maxcode.run.certificate import FreshInputTiming
from maxcode.run.certificate.unseen import PAIRS, timed_on
from maxcode.run.deadline import Deadline, TimeEnded
from maxcode.run.given_candidate import read_candidate, settled
from maxcode.run.interrupts import run_async
from maxcode.run.loaded import loaded_of
from maxcode.run.request import Request

if TYPE_CHECKING:
    from maxcode.evaluate.cluster import ClusterRequest


def evaluate_source(
    candidate: Path | None, request: Request, decides_slower: bool = False, say: Say = lambda words: None
) -> CandidateResult:
    """Measures one candidate against ``request.source``: builds, verifies, times, and confirms it if it is faster or
    slower.  ``decides_slower``: a tie is timed on fresh pairs too, which may prove it slower; ``say`` is told how far a
    long admission is.

    ``candidate`` is a file, or a folder of all files of the program.  Without a candidate it measures the suite's own
    faster version; raises InputError if there is none.
    """
    deadline, (loaded, _) = Deadline(request.total_seconds), loaded_of(request)
    program = _reference(loaded) if candidate is None else read_candidate(candidate, loaded.problem)
    return evaluate_loaded(program, loaded, request.measured_on, Judging(decides_slower, say, deadline))


@final
@dataclass(frozen=True, slots=True)
class Judging:
    """How a candidate is judged.

    ``decides_slower``  a tie is timed on fresh pairs too, which may prove it slower
    ``say``             is told how far a long admission is
    ``deadline``        when the judgement must have ended
    """

    decides_slower: bool = False
    say: Say = lambda words: None
    deadline: Deadline = field(default_factory=Deadline)


def evaluate_loaded(
    program: Program, loaded: Loaded, asked: ClusterRequest | None = None, how: Judging | None = None
) -> CandidateResult:
    """Measures one program against a loaded problem, on the cluster ``asked`` or here."""

    async def measure(target: Target) -> Measured:
        action = Action(program)
        if asked is None and (compiled := await compiled_without_gpu(loaded.problem, action)) is not None:
            return Measured(describe(compiled[0]), *compiled[1:])
        return await _opened(action, loaded.problem, target, how or Judging())

    with where(asked, single=True) as target:
        measured = run_async(measure, target)
    return measured.result(notes_on(loaded, measured.admitted, is_here=asked is None))


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """One evaluation.

    ``fresh``   the speed-up on newly generated inputs; None if no speed-up is confirmed
    ``undone``  why it was not timed on fresh pairs, if the time ended before; else empty
    """

    machine: Machine
    admitted: Admitted
    evaluation: Evaluation
    fresh: FreshInputTiming | None = None
    undone: str = ""

    def result(self, notes: Sequence[str]) -> CandidateResult:
        made = FAILED in self.evaluation.feedback.reasons and not self.admitted.problem.spec.generator
        more = (*((MADE,) if made else ()), *self._cures())
        found = result_of(self.evaluation, self.admitted, self.machine, (*notes, *more), self.fresh)
        return replace(found, why=self.undone) if self.undone else found

    def _cures(self) -> Iterator[str]:
        """What the user can do about a candidate that does not build."""
        cure = cure_of_candidate(self.evaluation.feedback.diagnostics, self.admitted.problem)
        if self.evaluation.outcome is Outcome.UNBUILT and cure:
            yield f"the candidate does not build, and the original does: {cure}"


async def _opened(action: Action, problem: Problem, target: Target, how: Judging) -> Measured:
    """The evaluation; if the candidate is faster or slower, the one on fresh pairs, and if faster, on other inputs."""
    harness = await target.open([problem])

    async def judged() -> Measured:
        found = await Watch(how.say, deadline=how.deadline).over(partial(harness.admit, problem))
        async with spending_told(how.say, "evaluation"):
            return await measured(harness, found, target.machine(harness), action, how)

    async def refused() -> None:
        if isinstance(harness, RefusesEarly) and (found := await harness.refused_early(problem, action)) is not None:
            early.append(found)
            admission.cancel()

    early: list[tuple[Admitted, Evaluation]] = []
    with anyio.CancelScope() as admission:
        async with started(refused), _helped(harness, problem, action):
            return await judged()
    return Measured(target.machine(harness), *early[0])


@asynccontextmanager
async def _helped(harness: SearchHarness, problem: Problem, action: Action) -> AsyncIterator[None]:
    """While this holds, a harness that can works ahead for the candidate."""
    if not isinstance(harness, WorksAhead):
        yield
        return
    async with started(partial(harness.work_ahead, problem, action, PAIRS)):
        yield


async def measured(
    harness: SearchHarness, found: Admitted, machine: Machine, action: Action, how: Judging | None = None
) -> Measured:
    """Evaluates one candidate of an admitted problem, and confirms it if it is faster or slower.

    InputError if the time ends before it is judged; if it ends later, the result says what was not done.
    """
    how, problem = how or Judging(), found.problem
    try:
        evaluation = await how.deadline.over(partial(harness.evaluate, problem, action))
    except TimeEnded as ended:
        raise InputError(f"{ended} before the candidate was judged: give more seconds") from ended
    try:
        evaluation = await how.deadline.over(partial(settled, harness, problem, action, evaluation, how.decides_slower))
    except TimeEnded as ended:
        tried = evaluation.timing.beyond if _is_faster(evaluation) and evaluation.timing is not None else None
        also = f" and called on most values beyond those drawn (on {sum(tried)} so far)" if tried is not None else ""
        undone = f"not confirmed: {ended} before it was timed again on fresh pairs{also}; give more seconds"
        return Measured(machine, found, evaluation, undone=undone)
    if not _is_faster(evaluation):
        return Measured(machine, found, evaluation)
    assert action.program is not None
    try:
        fresh = await how.deadline.over(partial(harness.race_fresh, problem, action.program, PAIRS))
    except TimeEnded as ended:
        late = f"not timed on newly generated inputs: {ended}; give more seconds"
        return Measured(machine, found, evaluation, FreshInputTiming(why=str(ended), doubt=late))
    if fresh.failed and not fresh.by_original:
        feedback = replace(evaluation.feedback, reasons=(fresh.failed,))
        return Measured(machine, found, replace(evaluation, outcome=Outcome.WRONG, feedback=feedback, timing=None))
    return Measured(machine, found, evaluation, timed_on(fresh))


def _is_faster(evaluation: Evaluation) -> bool:
    return evaluation.timing is not None and evaluation.timing.significant


def _reference(loaded: Loaded) -> Program:
    if loaded.reference is None:
        raise InputError(f"{loaded.problem.id} has no faster version of its own; give a file as CANDIDATE")
    return loaded.reference
