"""Makes a certificate: a new evaluator builds, verifies and times everything again from the winner's files."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from maxcode.code.source import paths_of
from maxcode.core.ahead import started
from maxcode.core.phases import in_stage
from maxcode.core.roles import Referee
from maxcode.core.stats import interval_of
from maxcode.core.types import (
    Action,
    Evaluation,
    Feedback,
    Outcome,
    Problem,
    Program,
    Recheck,
    State,
    Step,
    Timing,
    Trust,
)
from maxcode.errors import InputError
from maxcode.evaluate.harness import open_harness
from maxcode.evaluate.harness_protocol import FreshRace, Harness, HarnessTerms, WinnerCheck
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.ladder.sanitize import FINDING
from maxcode.evaluate.machine.machine import describe
from maxcode.problems.patches import patched
from maxcode.run.certificate.claim import (
    CONTROL_CONFIDENCE,
    FILE,
    RUNS_LEAST,
    Certificate,
    CertifiedInputs,
    Control,
    Tested,
    concluded,
    origins,
    read,
    read_bytes,
    sha256,
    subject_of,
    write,
)
from maxcode.run.certificate.doubts import findings_of
from maxcode.run.certificate.unseen import PAIRS, timed_on

Say = Callable[[str], None]
DIFF = "best.diff"  # of a run folder: what the winner changes
_FURTHER = "among further ones, and raced, because no other takes long enough to time"


async def certified(
    folder: Path, problem: Problem, options: Mapping[str, Any], seed: int, say: Say = lambda words: None
) -> Certificate:
    """The certificate of ``folder/best``: the existing one if it is for the same files, else a new one, which is
    written to ``folder``.  ``problem`` is as loaded, before its admission.  A patch is what ``best.diff`` names: others
    may have left files in best/, such as those of a build."""
    told = folder / DIFF
    names = set(paths_of(read_bytes(told).decode(errors="replace"))) if told.is_file() else None
    winner = winner_in(folder / "best", problem, names)
    try:
        found = read(folder / FILE)
        if found.subject == subject_of(problem, winner) and found.options == dict(options):
            return found
    except InputError:  # there is none, or it cannot be used: make a new one
        pass
    made = await certify(problem, winner, options, seed, say)
    write(made, folder)
    return made


def winner_in(folder: Path, problem: Problem, names: Collection[str] | None = None) -> Program:
    """The program in a folder with the file names of the original, of a patch some of them and new ones, if ``names``
    are given only these; raises InputError if a file cannot be read."""
    if problem.traits.is_patch:
        return patched(folder, problem, names)
    try:
        return Program({path: read_bytes(folder / path).decode() for path in problem.program.files})
    except UnicodeDecodeError as error:
        raise InputError(f"a file in {folder} is not UTF-8 (byte {error.start}); save it as UTF-8") from error


@in_stage("certificate")
async def certify(
    problem: Problem,
    winner: Program,
    options: Mapping[str, Any],
    seed: int | None = None,
    say: Say = lambda words: None,
) -> Certificate:
    """Admits, builds, verifies ten times, times, controls and sanitizes in a new evaluator; no earlier result is used.

    Raises InputError if the problem cannot be admitted.  Every behaviour of the winner gives a certificate.
    """
    work = await opened(problem, winner, say)
    return await measured(work, work.certificate(options, seed), say)


@final
@dataclass(frozen=True, slots=True)
class AdmittedWinner:
    """An admitted problem, its winner, and the parts that measure them."""

    harness: Harness
    loaded: Problem
    admitted: Admitted
    winner: Program
    started: float

    @property
    def problem(self) -> Problem:
        return self.admitted.problem

    def certificate(self, options: Mapping[str, Any], seed: int | None) -> Certificate:
        """The fields that are known before the winner runs."""
        admitted, machine = self.admitted, describe(self.harness.sandbox)
        known = self.harness.provenance(admitted, machine)
        timed = {given.name for given in admitted.timed}
        tests = tuple(_tested(one, one.name in timed) for one in known.inputs)
        return Certificate(
            subject=subject_of(self.loaded, self.winner),
            options=dict(options),
            tests=tests,
            origins=origins(tests),
            dropped=tuple(name.rpartition(" (")[0] for name in admitted.dropped),
            compiler=known.compiler,
            machine=machine,
            sandbox=machine.sandbox,
            seeds={"run": () if seed is None else (seed,), **known.seeds},
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=0.0,
            version=version("maxcode"),
        )


async def opened(problem: Problem, winner: Program, say: Say, claimed: Certificate | None = None) -> AdmittedWinner:
    """A new harness that has admitted ``problem``; the winner has not run.  ``claimed``: the certificate whose newly
    generated inputs are generated again from their seed, as far as there is time here."""
    say("certificate: building and verifying again, in a new session")
    started = time.monotonic()
    seed, before = (None, frozenset[str]()) if claimed is None else _made_from(claimed)
    harness = await open_harness(problem, HarnessTerms(seed, before, beside_compiled=False, single=True, keeps=False))
    return AdmittedWinner(harness, problem, await harness.admit(problem), winner, started)


def _made_from(claimed: Certificate) -> tuple[int | None, frozenset[str]]:
    """The seed of the newly generated inputs, and their names."""
    seed = next(iter(claimed.seeds.get("made", ())), None)
    return seed, frozenset(one.input for one in claimed.made_inputs.inputs)


async def measured(work: AdmittedWinner, found: Certificate, say: Say) -> Certificate:
    """The certificate with all measurements and conclusions."""
    check = await work.harness.check(work.problem, work.winner)
    refused = await check.refusal()
    if not refused:
        made = await work.harness.made(work.problem)
        inputs = CertifiedInputs(tuple(_tested(one, False) for one in made.inputs), made.how, made.notes)
        found, refused = await _verified_and_timed(work, check, replace(found, made_inputs=inputs), say)
    if found.timing is not None:
        say("certificate: timing the winner on newly generated inputs")
        fresh = await check.race_fresh(PAIRS)
        known = await _with_raced(work, found.made_inputs, fresh)
        found = replace(found, made_inputs=known)
        found, refused = (found, fresh.failed) if fresh.failed else (replace(found, unseen=timed_on(fresh)), "")
    if found.timing is not None and not refused:
        async with started(check.sanitized, now=work.problem.goal != "wall") as sanitized:
            if found.control is None:
                say(f"certificate: sanitizers, and timing the original against itself, {found.timing.pairs} pairs")
                control, refused = await _control(check, found.timing)
                found = replace(found, control=control)
            found = replace(found, sanitized=await sanitized())
    return concluded(replace(found, refused=refused, seconds=round(time.monotonic() - work.started, 1)))


async def _verified_and_timed(
    work: AdmittedWinner, check: WinnerCheck, found: Certificate, say: Say
) -> tuple[Certificate, str]:
    """The certificate with its verification, and with its timing or why there is none; with its control if that comes
    from the same sessions."""
    say("certificate: verifying the winner")

    async def confirm(seconds: Mapping[str, float]) -> Evaluation:
        say("certificate: timing the winner")
        return await _confirmed(work.harness, work.problem, work.winner, seconds)

    try:
        checked = await check.checked(RUNS_LEAST, confirm)
    except InputError as error:  # the original failed
        return found, str(error)
    found = replace(found, verification=checked.verification)
    if checked.evaluation is None:
        return found, ""
    timed = _claimed(checked.evaluation)
    found = _with(found, timed)
    if timed.timing is not None and checked.control is not None:
        found = replace(found, control=_controlled(checked.control, timed.timing))
    return found, timed.why


async def _with_raced(work: AdmittedWinner, known: CertifiedInputs, fresh: FreshRace) -> CertifiedInputs:
    """With those raced that come from the further ones, which are made where none of the known is long enough."""
    missing = set(fresh.inputs) - {one.name for one in known.inputs}
    if not missing:
        return known
    further = await work.harness.made(work.problem, harsh=True)
    raced = tuple(_tested(one, False) for one in further.inputs if one.name in missing)
    return replace(known, inputs=(*known.inputs, *raced), how=(*known.how, f"{len(raced)}: {_FURTHER}"))


@final
@dataclass(frozen=True, slots=True)
class Confirmed:
    """The result of a confirmation.  ``why``: the reason why there is no timing; ``harsher``: the re-check, if one was
    triggered; ``given_only``: the doubts that it found, such as inputs on which alone it is right."""

    timing: Timing | None
    why: str = ""
    harsher: Recheck | None = None
    given_only: tuple[str, ...] = ()
    trust: Trust | None = None


def _with(found: Certificate, timed: Confirmed) -> Certificate:
    return replace(found, timing=timed.timing, harsher=timed.harsher, given_only=timed.given_only, trust=timed.trust)


async def _confirmed(referee: Referee, problem: Problem, winner: Program, seconds: Mapping[str, float]) -> Evaluation:
    """Confirms the winner as a run does; ``seconds``: of its verification, by test."""
    verified = Evaluation(Outcome.CORRECT, measures=dict(seconds))
    state = State(problem, State(problem), Step(Action(winner), verified, 0.0), (1, 0))
    try:
        return (await referee.settle(problem, [state], None))[state.id]
    except InputError as error:  # the original itself gave a wrong answer
        return Evaluation(Outcome.CORRECT, Feedback((str(error),)))


def _claimed(evaluation: Evaluation) -> Confirmed:
    """What a confirmation claims."""
    why = "; ".join(evaluation.feedback.reasons) or evaluation.outcome.value if evaluation.timing is None else ""
    given_only = tuple(words for words in findings_of(evaluation) if not words.startswith(FINDING))  # `sanitized`
    return Confirmed(evaluation.timing, why, evaluation.harsher, given_only, evaluation.trust)


async def _control(check: WinnerCheck, timing: Timing) -> tuple[Control | None, str]:
    """Times the original on both sides, in as many sessions as the winner; (None, why) if that failed."""
    try:
        pairs = await check.control(timing.sittings or (timing.pairs,))
    except InputError as error:
        return None, str(error)
    return _controlled(pairs, timing), ""


def _controlled(pairs: Sequence[Pair], timing: Timing) -> Control:
    """The original against itself, in sessions like the winner's."""
    samples = tuple((pair.total("original"), pair.total("candidate")) for pair in pairs)
    return Control(samples, interval_of([a / b for a, b in samples], timing.sittings, CONTROL_CONFIDENCE))


def _tested(one: Input, timed: bool) -> Tested:
    return Tested(one.name, one.origin, one.stdin.sha256, sha256(one.expected or b""), timed)
