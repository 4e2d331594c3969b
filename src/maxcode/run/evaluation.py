"""Evaluates one program against a problem, as a search evaluates a candidate."""

from __future__ import annotations

from pathlib import Path

from maxcode.core.files import FileKind, read_text
from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.cluster import ClusterRequest
from maxcode.evaluate.harness import compiled_without_gpu
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.target import Target, where
from maxcode.problems import Loaded
from maxcode.run.admission import notes_on
from maxcode.run.candidate_result import CandidateResult, result_of
from maxcode.run.complete_request import loaded_of
from maxcode.run.interrupts import run_async
from maxcode.run.request import Request


def evaluate_source(candidate: Path | None, request: Request) -> CandidateResult:
    """Measures one candidate file against ``request.source``: builds, verifies, times, and confirms it if it is faster.

    Without a candidate it measures the suite's own faster version; raises InputError if there is none.
    """
    loaded, _ = loaded_of(request)
    program = _reference(loaded) if candidate is None else _candidate(candidate, loaded.problem)
    return evaluate_loaded(program, loaded, request.measured_on)


def evaluate_loaded(program: Program, loaded: Loaded, asked: ClusterRequest | None = None) -> CandidateResult:
    """Measures one program against a loaded problem, on the cluster ``asked`` or here."""

    async def measure(target: Target) -> tuple[Machine, Admitted, Evaluation]:
        action = Action(program)
        if asked is None and (compiled := await compiled_without_gpu(loaded.problem, action)) is not None:
            return describe(compiled[0]), *compiled[1:]
        return await _measured(action, loaded.problem, target)

    with where(asked) as target:
        machine, found, evaluation = run_async(measure, target)
    return result_of(evaluation, found, machine, notes_on(loaded, found, is_here=asked is None))


async def _measured(action: Action, problem: Problem, target: Target) -> tuple[Machine, Admitted, Evaluation]:
    """The evaluation; if the candidate is faster, the one on fresh pairs."""
    harness, found, machine = await target.prepare(problem)
    evaluation = await harness.evaluate(found.problem, action)
    if evaluation.timing is not None and evaluation.timing.significant:
        state = State(found.problem, State(found.problem), Step(action, evaluation, 0.0), (1, 0))
        evaluation = (await harness.settle(found.problem, [state], None))[state.id]
    return machine, found, evaluation


def _reference(loaded: Loaded) -> Program:
    if loaded.reference is None:
        raise InputError(f"{loaded.problem.id} has no faster version of its own; give a file as CANDIDATE")
    return loaded.reference


def _candidate(path: Path, problem: Problem) -> Program:
    return problem.program.with_text(read_text(path, FileKind("the candidate")))
