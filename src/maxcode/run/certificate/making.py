"""Making a certificate: a new evaluator, everything built, verified and timed again from the winner's files."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, final

from maxcode.core.stats import median_interval
from maxcode.core.types import Action, Outcome, Problem, Program, Timing
from maxcode.errors import InputError
from maxcode.evaluate.harness import open_modules
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.judge import not_permitted, reject
from maxcode.evaluate.ladder.prepare import TIMED_FLOOR_S, Admitted, Input, choose_compared
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Side, Track, WrongOutput, run_until
from maxcode.evaluate.ladder.sanitize import Sanitized, sanitized
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.program.evaluator import ProgramEvaluator, open_evaluator
from maxcode.run.certificate.claim import (
    FILE,
    RUNS_LEAST,
    Certificate,
    CertifiedInputs,
    Control,
    Tested,
    Verification,
    concluded,
    origins,
    read,
    read_bytes,
    sha256,
    subject_of,
    write,
)
from maxcode.run.certificate.modules import module_work
from maxcode.run.certificate.parts import Confirmed, confirmation, control_of
from maxcode.run.certificate.unseen import PAIRS, FreshInputTiming
from maxcode.run.interrupts import run_async
from maxcode.sandbox.lanes import build_lane, timing_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

Say = Callable[[str], None]


def certified(
    folder: Path, problem: Problem, options: Mapping[str, Any], seed: int, say: Say = lambda words: None
) -> Certificate:
    """The certificate of ``folder/best``: the one that is there where it is about these very files, else a new one,
    written beside them.  ``problem`` is as loaded, before its admission."""
    winner = winner_in(folder / "best", problem)
    try:
        found = read(folder / FILE)
        if found.subject == subject_of(problem, winner) and found.options == dict(options):
            return found
    except InputError:  # none yet, or one that cannot be used: it is made again
        pass
    made = run_async(certify, problem, winner, options, seed, say)
    write(made, folder)
    return made


def winner_in(folder: Path, problem: Problem) -> Program:
    """The program in a folder that holds the same files as the original; InputError where one cannot be read."""
    try:
        return Program({path: read_bytes(folder / path).decode() for path in problem.program.files})
    except UnicodeDecodeError as error:
        raise InputError(f"a file in {folder} is not UTF-8 (byte {error.start}); it is not what a run wrote") from error


async def certify(
    problem: Problem,
    winner: Program,
    options: Mapping[str, Any],
    seed: int | None = None,
    say: Say = lambda words: None,
) -> Certificate:
    """Admit, build, verify ten times, time, control and sanitize in a new evaluator; nothing is taken from before.

    InputError where the problem cannot be admitted.  Whatever the winner does is an answer.
    """
    work = await opened(problem, winner, say)
    return await measured(work, work.certificate(options, seed), say)


class WinnerCheck(Protocol):
    """An admitted problem and its winner, with what measures them; the parts of a certificate, in the order in which
    they are made."""

    @property
    def started(self) -> float: ...

    def certificate(self, options: Mapping[str, Any], seed: int | None) -> Certificate: ...

    async def refusal(self) -> str: ...

    async def made_inputs(self) -> CertifiedInputs: ...

    async def verified(self) -> Verification: ...

    async def timed(self) -> Confirmed: ...

    async def unseen(self) -> FreshInputTiming | str: ...

    async def control(self, timing: Timing) -> tuple[Control | None, str]: ...

    async def sanitized(self) -> Sanitized: ...


async def opened(problem: Problem, winner: Program, say: Say, claimed: Certificate | None = None) -> WinnerCheck:
    """A new evaluator that has admitted ``problem``; nothing of the winner has been run.  ``claimed``: the certificate
    whose inputs that nobody was shown are made again, from their seed, and others that have time here."""
    say("certificate: building and verifying again, in a new session")
    started = time.monotonic()
    if problem.kind == "module":
        return await module_work(await open_modules(beside_compiled=False), problem, winner)
    evaluator = await open_evaluator() if claimed is None else await open_evaluator(*_made_from(claimed))
    return ProgramCheck(*evaluator.bench, evaluator, problem, await evaluator.admit(problem), winner, started)


def _made_from(claimed: Certificate) -> tuple[int | None, frozenset[str]]:
    """The seed of the inputs that nobody was shown, and which they were."""
    seed = next(iter(claimed.seeds.get("made", ())), None)
    return seed, frozenset(one.input for one in claimed.made_inputs.inputs)


async def measured(work: WinnerCheck, found: Certificate, say: Say) -> Certificate:
    """The certificate with everything measured, and the conclusions."""
    refused = await work.refusal()
    if not refused:
        found = replace(found, made_inputs=await work.made_inputs())
        checked = await work.verified()
        found = replace(found, verification=checked)
        if not checked.failed:
            say("certificate: timing the winner")
            timed = await work.timed()
            found, refused = replace(found, timing=timed.timing, harsher=timed.harsher), timed.why
    if found.timing is not None:
        say("certificate: timing the winner on newly generated inputs")
        unseen = await work.unseen()
        found, refused = (
            (replace(found, unseen=unseen), "") if isinstance(unseen, FreshInputTiming) else (found, unseen)
        )
    if found.timing is not None and not refused:
        say(f"certificate: timing the original against itself, {found.timing.pairs} pairs")
        control, refused = await work.control(found.timing)
        say("certificate: sanitizers")
        found = replace(found, control=control, sanitized=await work.sanitized())
    return concluded(replace(found, refused=refused, seconds=round(time.monotonic() - work.started, 1)))


@final
@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """A program or a function."""

    sandbox: Sandbox
    builder: Builder
    evaluator: ProgramEvaluator
    loaded: Problem
    admitted: Admitted
    winner: Program
    started: float

    @property
    def problem(self) -> Problem:
        return self.admitted.problem

    def certificate(self, options: Mapping[str, Any], seed: int | None) -> Certificate:
        """All that is known before anything of the winner was run."""
        admitted, machine = self.admitted, describe(self.sandbox.describe())
        timed = {given.name for given in admitted.timed}
        tests = tuple(_tested(one, one.name in timed) for one in admitted.inputs)
        return Certificate(
            subject=subject_of(self.loaded, self.winner),
            options=dict(options),
            tests=tests,
            origins=origins(tests),
            dropped=tuple(name.rpartition(" (")[0] for name in admitted.dropped),
            compiler=machine.compilers.get(self.problem.language, ""),
            machine=machine,
            sandbox=machine.sandbox,
            seeds={
                "run": () if seed is None else (seed,),
                "generator": tuple(range(1, self.problem.spec.generated + 1)),
                "made": (self.evaluator.seed,),
            },
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=0.0,
            version=version("maxcode"),
        )

    async def refusal(self) -> str:
        """What keeps the winner from being run; empty where nothing does."""
        action = Action(self.winner)
        refused = reject(self.problem, action) or not_permitted(self.problem, self.winner)
        if refused is not None:
            return "; ".join(refused.feedback.reasons)
        built = await self.builder.build(self.problem, self.winner, final=True)
        if built.artefact is None:
            return f"it does not build: {built.reason}"
        return "" if self.admitted.timed else self.admitted.notes[-1]

    async def artefact(self) -> Blob:
        built = await self.builder.build(self.problem, self.winner, final=True)
        assert built.artefact is not None, built.reason  # it has been built before
        return built.artefact

    async def made_inputs(self) -> CertifiedInputs:
        """What nobody was shown."""
        made = await self.evaluator.made(self.problem)
        return CertifiedInputs(tuple(_tested(one, False) for one in made.inputs), made.how, made.notes)

    async def verified(self) -> Verification:
        """All tests again and again, with inputs nobody saw: an answer that changes from run to run is luck."""
        artefact = await self.artefact()
        inputs = (*self.admitted.inputs, *(await self.evaluator.made(self.problem)).inputs)
        answers: dict[str, set[str]] = defaultdict(set)
        failures = []
        for run in range(1, RUNS_LEAST + 1):
            async with build_lane():
                found = await verify(self.sandbox, self.problem, artefact, inputs)
            failures += [f"run {run}, {words}" for words in _failures(found)[:1]]
            for name, output in found.outputs.items():
                answers[name].add(sha256(output))
        varying = tuple(sorted(name for name, seen in answers.items() if len(seen) > 1))
        return Verification(RUNS_LEAST, len(failures), tuple(failures), varying)

    async def timed(self) -> Confirmed:
        return await confirmation(self.evaluator, self.problem, self.winner)

    async def unseen(self) -> FreshInputTiming | str:
        """The winner against the original where nobody was shown the inputs; the reason where it fails there."""
        made = await self.evaluator.made(self.problem)
        chosen = choose_compared(made.inputs, self.admitted.timed)
        if not chosen:
            why = "; ".join(made.notes) or "none could be made"
            short = f"none of {len(made.inputs)} takes the original {TIMED_FLOOR_S * 1e3:.0f} ms"
            return FreshInputTiming(why=short if made.inputs else why)
        try:
            held = await run_until(lambda pairs: "tie" if len(pairs) >= PAIRS else None, await self._track(chosen))
        except WrongOutput as wrong:
            return f"{wrong.side}, on newly generated inputs: {wrong}"
        samples = tuple((pair.total("original"), pair.total("candidate")) for pair in held.pairs)
        ratios = median_interval([a / b for a, b in samples])
        return FreshInputTiming(ratios, samples, tuple(given.name for given in chosen))

    async def _track(self, chosen: Sequence[Input]) -> Track:
        """The original and the winner on these inputs."""
        assert self.admitted.original.artefact is not None
        outputs = {given.name: given.expected or b"" for given in chosen}
        sides: dict[Side, RaceSide] = {
            "original": RaceSide(self.admitted.original.artefact, outputs),
            "candidate": RaceSide(await self.artefact(), {}),
        }
        return Track(RaceInputs(self.sandbox, self.problem, self.admitted.source), sides, chosen)

    async def control(self, timing: Timing) -> tuple[Control | None, str]:
        """The original on both sides, as often as the winner was timed; (None, why) where it did not come to an end."""
        assert self.admitted.original.artefact is not None
        outputs = {given.name: given.expected or b"" for given in self.admitted.inputs}
        same = RaceSide(self.admitted.original.artefact, outputs)
        field = RaceInputs(self.sandbox, self.problem, self.admitted.source)
        track = Track(field, {"original": same, "candidate": same}, self.admitted.timed)
        try:
            async with timing_lane():
                found = [await track.pair() for _ in range(timing.pairs)]
        except WrongOutput as wrong:
            return None, f"the original does not give an accepted answer every time: {wrong}"
        return control_of(found), ""

    async def sanitized(self) -> Sanitized:
        """The sanitizers, on inputs that are no secret."""
        chosen = [given for given in self.admitted.inputs if given.origin != "held_out"]
        async with build_lane():
            return await sanitized(self.sandbox, self.builder, self.problem, self.winner, chosen)


def _tested(one: Input, timed: bool) -> Tested:
    return Tested(one.name, one.origin, one.stdin.sha256, sha256(one.expected or b""), timed)


def _failures(found: Verified) -> list[str]:
    return [
        f"test {one.name}: {one.outcome.value}{f' ({one.detail})' if one.detail else ''}"
        for one in found.results
        if one.outcome is not Outcome.CORRECT
    ]
