"""The rung *verify*: every test in random order, outputs compared.  No verdict depends on time here."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.code.languages import Language
from maxcode.core.phases import VERIFICATION, during
from maxcode.core.types import CaseResult, Outcome, Problem
from maxcode.evaluate.ladder.checker import pie_accepts
from maxcode.evaluate.ladder.cures import stopped_by_run_limit
from maxcode.evaluate.ladder.indistinguishable import Sessions, in_parts
from maxcode.evaluate.ladder.interpreter import tongue_of
from maxcode.evaluate.ladder.original_runs import original_run
from maxcode.evaluate.ladder.prepare import Input, command_files
from maxcode.sandbox.jobs import TAMPERED
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox

SLOWER_AT_MOST = 10.0  # a candidate that is slower than the original by more than this factor is stopped
ENOUGH_FAILURES = 3
PADDING_KEPT = 1 << 16  # bytes


@final
@dataclass(frozen=True, slots=True)
class Verified:
    """The result of every test, and the accepted outputs by test name, without those padded to a huge size."""

    results: tuple[CaseResult, ...]
    outputs: dict[str, bytes]

    @property
    def outcome(self) -> Outcome:
        """The lowest outcome of any test; CORRECT if all passed."""
        return min((result.outcome for result in self.results), default=Outcome.WRONG)


def job_for(problem: Problem, artefact: Blob, given: Input, profile: bool = False) -> Job:
    """One run of an artefact on one input, within the problem's limits and a multiple of the original's time."""
    limits, work, tongue = problem.spec.limits, given.workload, tongue_of(problem)
    cpu_s = min(limits.run_s, SLOWER_AT_MOST * given.seconds + 1.0) if given.seconds else limits.run_s
    return Job(
        argv=(*tongue.command(problem.program.name, limits.memory_mb), *problem.spec.args),
        artefact=artefact,
        stdin=given.stdin,
        cpu_s=cpu_s,
        wall_s=3 * cpu_s + 2,
        memory_mb=limits.memory_mb + work.memory_mb + tongue.own_mb,
        output_mb=work.output_mb(limits),
        processes=limits.processes + own_threads(tongue),
        profile=profile,
        called=work.called,
        paired=tongue.paired,
        variables=(*tongue.variables, *(f"{name}={value}" for name, value in problem.spec.env)),
    )


def own_threads(tongue: Language) -> int:
    """The number of threads that the runtime of a language may start by itself here; some have one for each core."""
    return tongue.own_threads + (os.cpu_count() or 1) if tongue.own_threads else 0


@during(VERIFICATION)
async def verify(
    sandbox: Sandbox, problem: Problem, artefact: Blob, inputs: Sequence[Input], every: bool = False
) -> Verified:
    """Run ``artefact`` on the inputs and compare.  It stops after three failures, and the detail of a held-out test is
    left out, unless ``every``: so the original is run, whose failures the user is told.

    If PIE's checker is asked as well, only what both checkers refuse counts as a failure, because its verdict on every
    test is needed.  A test without an expected output (generated, on the original) passes if the run ends well.
    """
    found: dict[str, CaseResult] = {}
    outputs: dict[str, bytes] = {}
    failures = 0
    parts = in_parts(inputs)
    async with Sessions(sandbox, problem, artefact, parts) as sessions:
        for part, given in parts:
            job = job_for(problem, artefact, given)
            with original_run(given.name):
                ran = await sessions.run(part, given, job)
            outcome, detail = await _judge(sandbox, problem, given, (ran, job))
            if outcome is Outcome.CORRECT and problem.spec.checker.kind == "command" and given.expected is not None:
                outcome, detail = await _ask_command(sandbox, problem, given, ran.stdout)
            if outcome is Outcome.CORRECT and len(ran.stdout) <= _remembered(given):
                outputs[given.name] = ran.stdout
            pie = _pie_verdict(problem, given, ran)
            failures += outcome is not Outcome.CORRECT and not pie
            shown = detail if given.seen or every else ""
            found[given.name] = CaseResult(given.name, outcome, ran.cpu_s, given.seen, shown, pie)
            if failures >= ENOUGH_FAILURES and not every:
                break
    return Verified(tuple(found[given.name] for given in inputs if given.name in found), outputs)


def _remembered(given: Input) -> float:
    """The largest output worth keeping for later comparison; white space can make any output huge."""
    return math.inf if given.expected is None else 2 * len(given.expected) + PADDING_KEPT


def _pie_verdict(problem: Problem, given: Input, ran: Ran) -> bool | None:
    """The verdict of PIE's checker, if it is asked; a run that failed is wrong for it."""
    if problem.spec.checker_beside != "pie" or given.expected is None:
        return None
    return ran.ok and pie_accepts(given.expected, ran.stdout)


def ended(given: Input, ran: Ran, side: str = "candidate") -> str:
    """How a failed run ended; of a candidate's on a held-out test without the status, which could carry that test out,
    a byte a candidate."""
    is_told = side == "original" or given.seen or given.workload.called
    return f"ended by {ran.ending}{f' {ran.code}' if is_told else ''}"


async def _judge(sandbox: Sandbox, problem: Problem, given: Input, held: tuple[Ran, Job]) -> tuple[Outcome, str]:
    ran, job = held
    if ran.ending == "timeout":
        known = given.seconds > 0  # else it is the original, which is told of the limit with its cure
        limit = stopped_by_run_limit(problem.spec.limits, job.cpu_s) if known else ""
        return Outcome.TIMEOUT, f"stopped after {ran.cpu_s:.2f} s of CPU, {ran.wall_s:.2f} s of wall time{limit}"
    if ran.ending == "output":
        return Outcome.CRASHED, f"wrote more than {job.output_mb} MB"
    if ran.ending == "tampered":
        return Outcome.WRONG, TAMPERED
    if ran.ending == "signal":
        return Outcome.CRASHED, f"killed by {_signal_name(ran.code)}{_last_words(ran)}"
    if ran.code != 0:
        return Outcome.CRASHED, f"exit status {ran.code}{_last_words(ran)}"
    if problem.spec.checker.kind == "command" or given.expected is None:
        return Outcome.CORRECT, ""
    wrong = await _difference(sandbox, problem, given, ran.stdout)
    return (Outcome.CORRECT, "") if wrong is None else (Outcome.WRONG, wrong)


async def is_accepted(sandbox: Sandbox, problem: Problem, given: Input, output: bytes) -> bool:
    """True if an output of a *timed* run is right."""
    if problem.spec.checker.kind == "command":
        return (await _ask_command(sandbox, problem, given, output))[0] is Outcome.CORRECT
    return given.expected is not None and await _difference(sandbox, problem, given, output) is None


async def _difference(sandbox: Sandbox, problem: Problem, given: Input, output: bytes) -> str | None:
    """How an output differs from the expected one, in words; a second look only where the first finds nothing."""
    assert given.expected is not None
    wrong = await given.workload.difference(problem.spec.checker, given.expected, output)
    if wrong is not None or given.second_look is None:
        return wrong
    return await given.second_look.difference(sandbox, problem, given, output)


async def _ask_command(sandbox: Sandbox, problem: Problem, given: Input, output: bytes) -> tuple[Outcome, str]:
    """Run the user's checker in its own session: ``command INPUT EXPECTED OUTPUT``."""
    files = command_files(problem.spec.folder, problem.spec.checker.command)
    words = tuple(f"/src/{word}" if word in files else word for word in problem.spec.checker.command)
    texts = {"input": given.stdin.read(), "expected": given.expected or b"", "output": output}
    async with sandbox.session([], Mounts({**files, **texts})) as session:
        argv = (*words, "/src/input", "/src/expected", "/src/output")
        ran = await session.run(Job(argv=argv, cpu_s=30, wall_s=92, memory_mb=1024, output_mb=16, processes=8))
    if ran.ok:
        return Outcome.CORRECT, ""
    said = (ran.stdout or ran.stderr).decode(errors="replace").strip()[:200]
    return Outcome.WRONG, f"the checker refused it: {said or f'{ran.ending} {ran.code}'}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(ran: Ran) -> str:
    lines = ran.stderr.decode(errors="replace").strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""
