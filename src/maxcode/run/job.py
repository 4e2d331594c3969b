"""One job from files to files; ``optimize_source`` names its stages in order.

The run folder holds the record (``run.toml``, ``events.jsonl``, and ``calls.jsonl`` if a language model is called),
``original/``, ``best/``, ``best.diff``, ``certificate.json``, ``report.html`` and ``result.json``, each written once.
The same command resumes a run that was killed at any point.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

from maxcode.core.budget import MANY
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Compiler
from maxcode.core.types import Outcome, Problem, Program, Usage
from maxcode.errors import Interrupted, Unanswered
from maxcode.evaluate.cluster import Report
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.target import Target, where
from maxcode.llm.journal import Journal
from maxcode.problems import load
from maxcode.run.admission import Admission
from maxcode.run.asking import keep_request, why_ended
from maxcode.run.candidate_result import CandidateResult, nothing_won, result_of
from maxcode.run.certificate import DIFF, FILE, Certificate, FreshInputTiming, certified, kept_options
from maxcode.run.certificate.doubts import united
from maxcode.run.complete_request import CompleteRequest, completed
from maxcode.run.deadline import Deadline, TimeEnded
from maxcode.run.given_candidate import GIVEN_FILE, DecidingEvaluator
from maxcode.run.hottest import admit_hottest
from maxcode.run.interrupts import run_async
from maxcode.run.method_parts import MethodParts, method_of, method_parts, scene_of
from maxcode.run.names import ASK
from maxcode.run.optimize import Run, optimize
from maxcode.run.proposal import Proposal, write_branch, write_proposal
from maxcode.run.record import EVENTS, Line, Opened, Record, read_events
from maxcode.run.report import NAME as REPORT
from maxcode.run.request import Request
from maxcode.run.request_checks import asks_model, refuse_unmeasurable
from maxcode.run.result import RunResult, paid
from maxcode.run.run_folder import open_folder, remove_best, write_best, write_result
from maxcode.run.smaller_patch import SmallerPatch, not_measured, smaller_patch
from maxcode.run.times import ADMISSION, CERTIFICATE, CONFIRMATION, SEARCH, Times
from maxcode.run.winning import change_lines, counted_steps, left_lines, notes_on_candidates, refusals
from maxcode.sandbox.lanes import counting
from maxcode.search.onward import ENDED

_RECORDED = "all finished parts are recorded"
SLOTS_PER_CALL = 2  # slots at the same time: while some are evaluated, others call the model


def optimize_source(
    request: Request,
    watch: Callable[[Line], None] = lambda line: None,
    admitted: Callable[[Admitted], None] = lambda found: None,
    say: Callable[[str], None] = lambda words: None,
    on: Target | None = None,
    spending: Callable[[Callable[[], Usage]], None] = lambda spent: None,
) -> RunResult:
    """Searches for a faster version of ``request.source`` and writes the result to the run folder.

    ``watch``     is called with every recorded part, those of a resumed run first, which have their time
    ``admitted``  is called with the admission
    ``say``       is called with the current activity before and after the search, and with events of nodes
    ``spending``  is called once with a function that gives the cost of all model calls so far, resumes included
    ``on``        the open place that measures candidates; None: the place that the request names is opened

    Raises InputError for bad input, before anything is written; NoRuleError and UnmeasurableError (both InputError) if
    the run could prove nothing, unless ``request.anyway``.
    """
    times, deadline, job = Times(), Deadline(request.total_seconds), completed(request)
    with (
        _stopped_in(times),
        counting(times.others),
        method_parts(job.request) as parts,
        _target(job, say, on) as target,
    ):
        say("admitting: building and checking the original")
        job, admission = admit_hottest(job, target, say, deadline)
        own = (note for note in job.loaded.notes if note not in admission.admitted.notes)
        admitted(replace(admission.admitted, notes=(*own, *admission.admitted.notes)))
        refuse_unmeasurable(job.request, admission.admitted)
        began_with = open_folder(job, admission)
        if job.request.policy == ASK:
            keep_request(job.request, admission.admitted.problem)
        times.turn_to(SEARCH)
        if not job.request.policy.startswith(GIVEN_FILE):
            deadline.keep_for(admission.admitted, times.split().get(ADMISSION, 0.0), job.request.certificate)
        search = _Search(job, admission, parts, began_with, times, deadline)
        spending(lambda: parts.journal.spent)
        try:
            found = search.run(watch, say)
        except Unanswered as waits:
            raise Unanswered(f"{waits}: maxcode ask {shlex.quote(str(job.folder))}") from waits
        slots = target.used()
    return search.finished(found, slots, say)


@contextmanager
def _stopped_in(times: Times) -> Iterator[None]:
    """Ctrl-C in a part that does not listen to it ends the block with Interrupted, as in the search."""
    try:
        yield
    except KeyboardInterrupt as pressed:
        raise Interrupted(f"stopped in the {times.part}; {_RECORDED}") from pressed


async def _winner(
    job: CompleteRequest, admission: Admission, found: Result, say: Callable[[str], None], deadline: Deadline
) -> SmallerPatch | None:
    """The best program, without what does not pay if it is a patch of the search; None if nothing was faster.  A
    command that does not measure that keeps what an earlier one left out."""
    if found.best is None:
        return None
    problem, whole, late = admission.admitted.problem, found.best.program, ""
    if job.request.policy.startswith(GIVEN_FILE) or not problem.traits.is_patch:
        return SmallerPatch(whole)
    if not found.stopped:
        try:
            return await deadline.over(partial(smaller_patch, admission.harness, problem, whole, job.folder, say))
        except TimeEnded as ended:
            late = f"what does not pay is not left out of the patch: {ended}"
    return not_measured(job.folder, problem.program, whole, late)


def _proposed(job: CompleteRequest, result: RunResult, certificate: Certificate | None, found: Result) -> RunResult:
    """The result, written; of a confirmed patch of a repository with PR.md, and the branch if one is requested."""
    write_result(result)  # before what may fail
    best, problem = found.best, job.loaded.problem
    if best is None or best.step is None or not problem.traits.is_patch or not result.confirmed:
        return result
    told = tuple(state.step.action.completion for state in counted_steps(best) if state.step is not None)
    proposal = Proposal(problem, result, certificate, told, job.request.policy)
    result = replace(result, proposal=write_proposal(proposal, job.folder), branch=job.request.branch)
    if result.branch:
        write_branch(proposal, result.branch)
    write_result(result)
    return result


def _target(job: CompleteRequest, say: Callable[[str], None], on: Target | None) -> AbstractContextManager[Target]:
    """The place that measures candidates; it is open inside the block."""
    return where(job.request.measured_on, job.folder, say, goes_on=job.goes_on) if on is None else nullcontext(on)


def _show_recorded(folder: Path, watch: Callable[[Line], None]) -> None:
    """Passes the recorded parts of a resumed run to ``watch``, and that it goes on."""
    if (folder / EVENTS).exists():
        for line in (*read_events(folder), Opened()):
            watch(line)


@final
@dataclass(frozen=True, slots=True)
class _Search:
    """One search in its run folder.  ``shape``: the budget with which the run started; ``times`` and
    ``deadline``: of this command."""

    job: CompleteRequest
    admission: Admission
    parts: MethodParts
    shape: int
    times: Times
    deadline: Deadline

    def run(self, watch: Callable[[Line], None], say: Callable[[str], None]) -> Result:
        """Starts the search, or continues the recorded one."""
        request, admission, journal = self.job.request, self.admission, self.parts.journal
        _show_recorded(self.job.folder, watch)
        with Record(self.job.folder) as record:
            if asks_model(request):
                journal.keep_in(self.job.folder)
                journal.has_used(action.completion for action in record.actions.values())
            run = Run(
                request.budget,
                request.seed,
                concurrency=SLOTS_PER_CALL * request.models.concurrency,
                machine=admission.machine,
                times=self.times,
                record=record,
                watch=watch,
                say=say,
                caps=request.caps,
                deadline=self.deadline,
                spent=lambda: journal.spent,
                drawn=journal.drawn,
            )
            harness = admission.harness
            evaluator = DecidingEvaluator(harness) if request.policy.startswith(GIVEN_FILE) else harness
            return optimize(admission.admitted.problem, self._method(), evaluator, run, referee=harness)

    def finished(self, found: Result, slots: Report | None, say: Callable[[str], None]) -> RunResult:
        """The result, written to the run folder, after what comes behind the search: a smaller patch, a certificate."""
        job, times = self.job, self.times
        if found.stopped and _is_certifiable(job, found):
            raise Interrupted(f"stopped before the certificate of the winner; {_RECORDED}")
        with _stopped_in(times), counting(times.others):
            times.turn_to(CONFIRMATION)
            winner = run_async(_winner, job, self.admission, found, say, self.deadline)
            _write_winner(job.folder, self.admission.admitted.problem, winner)
            times.turn_to(CERTIFICATE)
            certificate = _certify(job, found, say, self.deadline)
        return _proposed(job, self.result(found, winner, certificate, slots), certificate, found)

    def _method(self) -> Method:
        request, harness = self.job.request, self.admission.harness
        scene = replace(scene_of(request, self.admission, self.parts), shape=self.shape)
        return method_of(request, self.parts, scene, harness if isinstance(harness, Compiler) else None)

    def result(
        self, found: Result, winner: SmallerPatch | None, certificate: Certificate | None, slots: Report | None
    ) -> RunResult:
        """The result of the run with its notes."""
        folder = self.job.folder
        is_given = self.job.request.policy.startswith(GIVEN_FILE)
        notes = [*self._notes(found), *(winner.notes() if winner is not None else ())]
        measured = _measured(self.admission, found, notes, is_given)
        if winner is not None and winner.evaluation is not None:
            fresh = FreshInputTiming(why="no certificate was made")
            measured = result_of(winner.evaluation, self.admission.admitted, self.admission.machine, notes, fresh)
        late = self._late(found, certificate)
        best = _unconfirmed(_checked(measured, certificate, late), found)
        return RunResult(
            measured=best,
            candidates=found.reached.candidates,
            outcomes=_outcomes(found),
            unchanged=_unchanged(found),
            best=_best_file(self.job, self.admission, found),
            best_program=_best_program(self.admission, found) if winner is None else winner.program,
            folder=folder,
            report=folder / REPORT,
            spent=paid(found.spent),
            times=self.times.split(),
            stopped=found.stopped,
            ended=why_ended(self.job.request, found.ended),
            certificate=folder / FILE if certificate is not None else None,
            cluster=slots,
            notes=(*best.notes, *(late or _certificate_notes(self.job, found, certificate))),
            change=() if is_given else change_lines(found.best),
            refused=() if is_given else refusals(found),
            left=() if is_given else left_lines(found, self.admission.admitted, self.job.request),
        )

    def _late(self, found: Result, certificate: Certificate | None) -> tuple[str, ...]:
        """The doubt about a winner whose certificate was not made because the time of the command ended."""
        is_wanted = _is_certifiable(self.job, found) and _is_measured_here(self.job.request)
        if certificate is not None or not is_wanted:
            return ()
        return (
            f"not certified: {self.deadline.words} before the winner was built, verified and timed again from its "
            "file; repeat the command with more seconds",
        )

    def _notes(self, found: Result) -> list[str]:
        return [*self.admission.notes, *_closing_notes(found, self.parts.journal, self.job.request)]


def _closing_notes(found: Result, journal: Journal, request: Request) -> Iterator[str]:
    """Notes on the end of the search and on its models."""
    if ended := why_ended(request, found.ended):
        what = "ended before its budget of candidates" if request.budget < MANY else "its budget is used"
        yield f"{what}: {ended}"
    yield from [found.undone] if found.undone else ()
    yield from notes_on_candidates(found)
    if journal.failures:
        yield f"{journal.failures} model calls failed after all retries (see calls.jsonl)"
    if journal.replay is not None:
        yield f"no model was asked: the answers are those recorded in {journal.replay}"
    if journal.loosely:
        yield f"{journal.loosely} replayed answers answered prompts that differed in some characters"
    if journal.elsewhere:
        yield f"{journal.elsewhere} replayed answers are to other candidates, which the recorded run expanded"


def _measured(admission: Admission, found: Result, notes: Sequence[str], is_given: bool) -> CandidateResult:
    """The result of the best program; if nothing was faster, of the original, or of the only candidate."""
    best = found.best
    if best is None and is_given:
        best = next((state for state in found.reached if state.step is not None), None)
    if best is None or best.step is None:
        tried = found.reached.candidates > 0 or found.ended == ENDED
        return nothing_won(admission.admitted, admission.machine, notes, tried)
    fresh = FreshInputTiming(why="no certificate was made")
    return result_of(best.step.evaluation, admission.admitted, admission.machine, notes, fresh)


def _checked(best: CandidateResult, certificate: Certificate | None, late: tuple[str, ...]) -> CandidateResult:
    """The result of a winner with the doubts of its certificate too, and its speed-up on newly generated inputs."""
    if not (best.speedup is not None and best.speedup.confirmed):
        return best
    if certificate is None:
        return replace(best, doubts=(*late, *best.doubts))
    doubts = certificate.doubts if certificate.holds else certificate.notes
    return replace(best, doubts=united(doubts, best.doubts), fresh_inputs=certificate.unseen)


def _unconfirmed(best: CandidateResult, found: Result) -> CandidateResult:
    """The result, with the reason if nothing was confirmed because the time of the command ended."""
    is_open = found.undone and best.speedup is not None and not best.speedup.confirmed
    return replace(best, why=found.undone) if is_open else best


def _outcomes(found: Result) -> dict[str, int]:
    """The number of candidates by outcome."""
    return dict(Counter(state.outcome.value for state in found.reached if state.step is not None))


def _unchanged(found: Result) -> int:
    """The number of correct candidates that are the original, comments and layout apart."""
    correct = (state for state in found.reached if state.step is not None and state.outcome is Outcome.CORRECT)
    originals = (found.reached.duplicate(state.program) for state in correct)
    return sum(one is not None and one.step is None for one in originals)


def _best_program(admission: Admission, found: Result) -> Program:
    return admission.admitted.problem.program if found.best is None else found.best.program


def _best_file(job: CompleteRequest, admission: Admission, found: Result) -> Path:
    name = _best_program(admission, found).name
    if found.best is not None:
        is_patch = admission.admitted.problem.traits.is_patch
        return job.folder / DIFF if is_patch else job.folder / "best" / name
    source = job.request.source
    return source / name if source.is_dir() else source


def _write_winner(folder: Path, problem: Problem, winner: SmallerPatch | None) -> None:
    if winner is None:
        remove_best(folder, problem.program, problem.traits.is_patch)
    else:
        write_best(folder, problem.program, winner.program, problem.traits.is_patch)


def _is_certifiable(job: CompleteRequest, found: Result) -> bool:
    """Whether there is a confirmed winner and a certificate is requested."""
    best = found.best
    if not job.request.certificate or best is None or best.step is None:
        return False
    timing = best.step.evaluation.timing
    return timing is not None and timing.confirmed


def _is_measured_here(request: Request) -> bool:
    return request.measured_on is None or request.measured_on.is_here


def _certify(job: CompleteRequest, found: Result, say: Callable[[str], None], deadline: Deadline) -> Certificate | None:
    """The certificate of the winner in best/; None if there is no winner, no certificate is requested, or the time of
    the command ended before it was made."""
    if not _is_certifiable(job, found) or not _is_measured_here(job.request):
        return None
    claim, options = _claim(job)
    try:
        work = partial(certified, job.folder, claim, options, job.request.seed, say)
        made: Certificate = run_async(deadline.over, work)
    except TimeEnded:
        return None
    return made


def _claim(job: CompleteRequest) -> tuple[Problem, Mapping[str, Any]]:
    """The problem of a certificate, whose goal is always seconds.  If the run's goal is instructions, the problem is
    loaded again with CPU time, because counting limits the build flags."""
    problem, request = job.loaded.problem, job.request
    kept = _options(job)
    if problem.goal != "instructions":
        return problem, kept
    options = {**request.overrides, "goal": "cpu"}
    return load(request.source, request.tests, options).problem, {**kept, "goal": "cpu"}


def _options(job: CompleteRequest) -> dict[str, Any]:
    """The options of a certificate, without paths, which run.toml names.  For a source file its folders of headers are
    in ``original/``, and the flags of a compilation database are told."""
    recipe, source = job.loaded.recipe, job.request.source
    kept = kept_options(job.request.overrides)
    if job.loaded.problem.spec.repo is not None:
        return {**kept, "base": job.loaded.problem.spec.repo.commit}
    if recipe is None or source.is_dir() or source.suffix == ".toml":
        return kept
    include = {"include": list(recipe.include)} if recipe.include else {}
    return {**kept, **({"flags": list(recipe.flags)} if recipe.is_told else {}), **include}


def _certificate_notes(job: CompleteRequest, found: Result, certificate: Certificate | None) -> tuple[str, ...]:
    if certificate is not None:
        return certificate.notes
    return (_UNCERTIFIED,) if _is_certifiable(job, found) else ()


_UNCERTIFIED = "no certificate: it needs the machine that measured the run; run `maxcode evaluate` with best/ there"
