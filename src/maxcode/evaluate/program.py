"""The evaluator of the kinds ``program`` and ``function``, composed from the ladder's steps.

    reject -> build -> verify -> time

It plays two roles on one machine.  ``Evaluator``: what a candidate is worth finding out, for search and training
alike.  ``Referee``: at the end of a batch, who leads, on fresh pairs and fresh builds.  It owns its concurrency
(``lanes.py``) and caches builds and samples, never verdicts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import final

import anyio

from maxcode import techniques
from maxcode.errors import InputError
from maxcode.evaluate.build import Builder, Built
from maxcode.evaluate.function import Inputs, disagreement, forbidden, peak_gflops, spec_of
from maxcode.evaluate.lanes import build_lane
from maxcode.evaluate.prepare import (
    Admitted,
    Input,
    build_original,
    calls_of,
    choose_timed,
    generate,
    read_inputs,
    without,
)
from maxcode.evaluate.profile import hotspots
from maxcode.evaluate.racing import Entry, Field, Side, WrongOutput, confirm, playoff, race
from maxcode.evaluate.sandbox import Sandbox
from maxcode.evaluate.selftest import require_safe
from maxcode.evaluate.verify import Verified, verify
from maxcode.stats import RaceRule
from maxcode.types import Action, Evaluation, Feedback, Outcome, Problem, Program, State, StateId, Timing

SOURCE_AT_MOST = 1_000_000  # bytes
PLAYOFF_PAIRS = 15  # between two that are both faster than the original, a near tie is not worth more
LEAST_TESTS = 1
ROOF_MARGIN = 1.1  # the roof is measured too


@final
class ProgramEvaluator:
    """Evaluates candidates of the problems it has admitted.  One per process; share it between search and training.

    Trusts: the kernel, bubblewrap, the shim (pid 1 of every session) and this process.  Trusts nothing that was
    compiled from a candidate, nor anything it prints.
    """

    def __init__(self, sandbox: Sandbox, builder: Builder, rule: RaceRule = RaceRule()) -> None:  # noqa: B008
        self._sandbox = sandbox
        self._builder = builder
        self._rule = rule
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._admitted: dict[str, Admitted] = {}
        self._timings: dict[str, Timing] = {}
        self._confirmations: dict[str, Timing] = {}
        self._racing: dict[str, anyio.Lock] = {}
        self._admitting = anyio.Lock()

    @property
    def sandbox(self) -> str:
        """The sandbox's tier in words; part of every result."""
        return self._sandbox.describe()

    # ------------------------------------------------------------------------------------------------- admission

    async def admit(self, problem: Problem) -> Admitted:
        """Build, verify and profile the original; drop the tests that it fails itself.

        InputError when it does not build or too few tests are left.
        """
        original = await build_original(self._builder, problem)
        assert original.artefact is not None
        source = Inputs(self._sandbox, problem) if problem.spec.function is not None else None
        inputs = await self._inputs(problem, source)
        verified = await verify(self._sandbox, problem, original.artefact, inputs, every=True)
        kept = self._kept(problem, inputs, verified)
        names = {given.name for given in kept}
        dropped = tuple(f"{r.name} ({r.outcome.value})" for r in verified.results if r.name not in names)
        timed, warning = choose_timed(kept)
        slimmer = without(problem, frozenset(given.name for given in inputs) - names)
        baseline = await self._baseline(slimmer, original, kept, verified)
        notes = [f"dropped {len(dropped)} test(s) the original fails itself: {', '.join(dropped)}"] if dropped else []
        notes += [warning] if warning else []
        peak = await peak_gflops(self._sandbox, spec_of(problem)) if source is not None else 0.0
        admitted = Admitted(slimmer, kept, timed, original, baseline, dropped, tuple(notes), source, peak)
        for one in (problem, slimmer):
            self._admitted[_identity(one)] = admitted
        return admitted

    async def _inputs(self, problem: Problem, source: Inputs | None) -> list[Input]:
        if source is not None:
            return await calls_of(problem, source)
        generated = await generate(self._sandbox, problem)
        return read_inputs(problem) + [Input(name, blob, None, "generated") for name, blob in generated]

    def _kept(self, problem: Problem, inputs: Sequence[Input], verified: Verified) -> tuple[Input, ...]:
        kept = []
        for given, result in zip(inputs, verified.results, strict=True):
            if result.outcome is Outcome.CORRECT:
                expected = verified.outputs[given.name] if given.expected is None else given.expected
                if given.shape is not None and (trouble := disagreement(given.shape, expected, expected)) is not None:
                    raise InputError(
                        f"the original does not agree with itself ({trouble}): it gives NaN or infinity on these "
                        "inputs; write an inputs.c that avoids that"
                    )
                kept.append(replace(given, expected=expected, seconds=result.seconds))
        if len(kept) < LEAST_TESTS:
            first = next(r for r in verified.results if r.outcome is not Outcome.CORRECT)
            raise InputError(
                f"the original {problem.program.name} passes none of its {len(inputs)} tests (first: {first.name} "
                f"{first.outcome.value} {first.detail}); check that the tests belong to it, and the checker"
                f"{'' if self._sandbox.forks else _ALONE}"
            )
        return tuple(kept)

    async def _baseline(
        self, problem: Problem, original: Built, kept: tuple[Input, ...], verified: Verified
    ) -> Evaluation:
        passed = {given.name for given in kept}
        results = tuple(result for result in verified.results if result.name in passed)
        profile = await hotspots(self._sandbox, problem, original, kept)
        measures = {result.name: result.seconds for result in results}
        return Evaluation(Outcome.CORRECT, Feedback(cases=results), None, original.remarks, profile, measures)

    async def _of(self, problem: Problem) -> Admitted:
        """The admission of ``problem``, made on first sight (a stage of SQD shares its parent's)."""
        async with self._admitting:
            found = self._admitted.get(_identity(problem))
            return found if found is not None else await self.admit(problem)

    # ------------------------------------------------------------------------------------------------ evaluator

    async def evaluate(self, problem: Problem, action: Action, rival: Action | None = None) -> Evaluation:
        """The ladder: reject, build, verify, time.  The ratio is against the original, in the same session."""
        if (refused := reject(problem, action)) is not None:
            return refused
        assert action.program is not None
        admitted = await self._of(problem)
        async with build_lane():
            built = await self._builder.build(problem, action.program)
            if built.artefact is None:
                return _unbuilt(built)
            if (refused := not_permitted(problem, action.program)) is not None:
                return refused
            verified = await verify(self._sandbox, problem, built.artefact, admitted.inputs)
        found = _verified(built, verified)
        if found.outcome is not Outcome.CORRECT:
            return found
        if not admitted.timed:
            return replace(found, warnings=admitted.notes[-1:])
        found = await self._time(problem, admitted, found, (action.program, built, verified), rival)
        if found.timing is not None and found.timing.speedup.value > 0.9:  # only such states may be expanded
            async with build_lane():
                found = replace(found, profile=await hotspots(self._sandbox, problem, built, admitted.inputs))
        return found

    async def _time(
        self,
        problem: Problem,
        admitted: Admitted,
        found: Evaluation,
        candidate: tuple[Program, Built, Verified],
        rival: Action | None,
    ) -> Evaluation:
        program, built, verified = candidate
        assert built.artefact is not None
        key = f"{_identity(problem)} {built.artefact.sha256}"
        async with self._racing.setdefault(key, anyio.Lock()):  # a twin waits for this race in place of its own
            timing = self._timings.get(key)
            if timing is None:
                entries = self._sides(admitted, Entry(built.artefact, verified.outputs))
                rival_entry = await self._rival(problem, program, rival)
                beside: dict[Side, Entry] = {"rival": rival_entry} if rival_entry is not None else {}
                try:
                    timing = await self._race(admitted, entries, beside)
                except WrongOutput as wrong:
                    return _wrong_while_timed(found, wrong)
                if timing.verdict != "beaten":  # which is about that rival: without it the race would have gone on
                    self._timings[key] = timing
        return _timed(found, timing, admitted)

    async def _race(self, admitted: Admitted, entries: dict[Side, Entry], beside: dict[Side, Entry]) -> Timing:
        """The race; a rival that gives a wrong output is left out of it, and costs the candidate nothing."""
        run = partial(race, self._field(admitted), timed=admitted.raced, rule=self._rule)
        try:
            return await run(entries={**entries, **beside})
        except WrongOutput as wrong:
            if wrong.side != "rival":
                raise
            return await run(entries=entries)

    def _field(self, admitted: Admitted) -> Field:
        return Field(self._sandbox, admitted.problem, admitted.source)

    def _sides(self, admitted: Admitted, candidate: Entry) -> dict[Side, Entry]:
        assert admitted.original.artefact is not None
        outputs = {given.name: given.expected or b"" for given in admitted.inputs}
        return {"original": Entry(admitted.original.artefact, outputs), "candidate": candidate}

    async def _rival(self, problem: Problem, program: Program, rival: Action | None) -> Entry | None:
        if rival is None or rival.program is None or rival.program.digest == program.digest:
            return None
        built = await self._builder.build(problem, rival.program)
        return Entry(built.artefact, {}) if built.artefact is not None else None

    # -------------------------------------------------------------------------------------------------- referee

    async def settle(
        self, problem: Problem, contenders: Sequence[State], champion: State | None
    ) -> dict[StateId, Evaluation]:
        """Contenders in slot order against the leader on fresh pairs; the last one standing is confirmed.

        All builds here are made without precompiled headers, and everyone is verified anew on every test, the champion
        too.
        """
        admitted = await self._of(problem)
        found: dict[StateId, Evaluation] = {}
        leader: tuple[State, Entry] | None = None
        for state in (champion, *contenders) if champion is not None else contenders:
            fresh = await self._fresh(problem, admitted, state)
            if isinstance(fresh, Evaluation):
                found[state.id] = fresh
            elif leader is None or await self._wins(admitted, (state, fresh), leader, found):
                leader = (state, fresh)
        if leader is not None and leader[0] is not champion:
            found[leader[0].id] = await self._confirmed(problem, admitted, *leader)
        return found

    async def _fresh(self, problem: Problem, admitted: Admitted, state: State) -> Entry | Evaluation:
        """A final build, verified on every test; the evaluation that says so where it does not hold."""
        async with build_lane():
            built = await self._builder.build(problem, state.program, final=True)
            if built.artefact is None:
                return _unbuilt(built)
            verified = await verify(self._sandbox, problem, built.artefact, admitted.inputs)
        found = _verified(built, verified)
        return Entry(built.artefact, verified.outputs) if found.outcome is Outcome.CORRECT else found

    async def _wins(
        self,
        admitted: Admitted,
        candidate: tuple[State, Entry],
        leader: tuple[State, Entry],
        found: dict[StateId, Evaluation],
    ) -> bool:
        """Whether the candidate takes the lead; who gives a wrong output meanwhile loses it, and is noted in
        ``found``."""
        entries: dict[Side, Entry] = {"rival": leader[1], "candidate": candidate[1]}
        if admitted.source is not None:  # fresh inputs: only the original knows the right outputs
            entries = {**self._sides(admitted, candidate[1]), **entries}
        try:
            return await playoff(self._field(admitted), entries, admitted.raced, self._short)
        except WrongOutput as wrong:
            state = candidate[0] if wrong.side == "candidate" else leader[0]
            assert state.step is not None
            found[state.id] = _wrong_while_timed(state.step.evaluation, wrong)
            return wrong.side == "rival"

    async def _confirmed(self, problem: Problem, admitted: Admitted, state: State, entry: Entry) -> Evaluation:
        assert state.step is not None
        found = state.step.evaluation
        key = f"{_identity(problem)} {entry.artefact.sha256}"
        if key not in self._confirmations:  # once: a program proposed again and again must not get another chance
            sides = self._sides(admitted, entry)
            try:
                self._confirmations[key] = await confirm(self._field(admitted), sides, admitted.timed, self._rule)
            except WrongOutput as wrong:
                return _wrong_while_timed(found, wrong)
        return _timed(found, self._confirmations[key], admitted)


def reject(problem: Problem, action: Action) -> Evaluation | None:
    """The first rung: what is refused before anything is run."""
    program = action.program
    if program is None:
        return Evaluation(
            Outcome.UNPARSED, Feedback((action.unread or "no program could be read from the completion",))
        )
    if program.files.keys() != problem.program.files.keys():
        wanted, got = sorted(problem.program.files), sorted(program.files)
        return Evaluation(Outcome.REJECTED, Feedback((f"the program must consist of {wanted}, not {got}",)))
    try:
        size = sum(len(text.encode()) for text in program.files.values())
    except UnicodeEncodeError as error:
        return Evaluation(Outcome.REJECTED, Feedback((f"not text: it holds {error.object[error.start]!r}",)))
    if size > SOURCE_AT_MOST:
        return Evaluation(Outcome.REJECTED, Feedback((f"{size} bytes of source; at most {SOURCE_AT_MOST}",)))
    library = forbidden(program) if problem.kind == "function" else None
    return Evaluation(Outcome.REJECTED, Feedback((library,))) if library is not None else None


def not_permitted(problem: Problem, program: Program) -> Evaluation | None:
    """The refusal of techniques that the problem does not permit; what the original uses is always permitted.

    Asked of programs that build: a text that does not could be taken for one that hides something.
    """
    if problem.permitted is None:
        return None
    own = {name for text in problem.program.files.values() for name in techniques.used(problem.language, text)}
    reasons = tuple(
        f"{path}, line {use.line}: `{use.what}` is {use.technique}, which is not permitted here"
        for path, text in program.files.items()
        for use in techniques.forbidden(problem.language, text, problem.permitted | own)
    )
    return Evaluation(Outcome.REJECTED, Feedback(reasons)) if reasons else None


def _identity(problem: Problem) -> str:
    """What an admission depends on: everything but the techniques permitted."""
    plain = replace(problem, permitted=None)
    return hashlib.sha256(repr((plain.program.digest, plain.language, plain.spec, plain.goal)).encode()).hexdigest()


def _unbuilt(built: Built) -> Evaluation:
    return Evaluation(Outcome.UNBUILT, Feedback((built.reason,), built.diagnostics), remarks=built.remarks)


def _verified(built: Built, verified: Verified) -> Evaluation:
    failed = [result for result in verified.results if result.outcome is not Outcome.CORRECT]
    reasons = tuple(
        f"test {result.name}: {result.detail or result.outcome.value}" if result.seen else "a held-out test failed"
        for result in failed
    )
    measures = {result.name: result.seconds for result in verified.results}
    feedback = Feedback(tuple(dict.fromkeys(reasons)), cases=verified.results)
    return Evaluation(verified.outcome, feedback, remarks=built.remarks, measures=measures)


def _wrong_while_timed(found: Evaluation, wrong: WrongOutput) -> Evaluation:
    if wrong.side == "original":
        raise InputError(
            f"the original does not give the same accepted output every time ({wrong}); make it deterministic, give a "
            "checker that accepts all right answers, or raise its limit where it ended by timeout"
        )
    feedback = replace(found.feedback, reasons=(*found.feedback.reasons, str(wrong)))
    return replace(found, outcome=Outcome.WRONG, feedback=feedback, timing=None)


def _timed(found: Evaluation, timing: Timing, admitted: Admitted) -> Evaluation:
    """The evaluation with its timing; rejected where that is beyond what the machine can do."""
    if timing.gflops is None:
        return replace(found, timing=timing, warnings=_waiting(timing))
    cores = 1 if timing.clock == "cpu" else os.cpu_count() or 1
    roof = cores * admitted.peak_gflops
    if timing.gflops.low > roof * ROOF_MARGIN:
        why = (
            f"{timing.gflops.value:.1f} GFLOPS is more than this machine can do ({roof:.1f}): not all work was done "
            "(or `flop` says more than is needed)"
        )
        return replace(found, outcome=Outcome.REJECTED, feedback=replace(found.feedback, reasons=(why,)), timing=None)
    return replace(found, timing=replace(timing, roofline=roof), warnings=_waiting(timing))


def _waiting(timing: Timing) -> tuple[str, ...]:
    if timing.verdict != "waits":
        return ()
    return (f"less CPU time ({timing.speedup}), but it takes longer: {timing.elapsed} by the wall clock",)


_ALONE = "; if it starts processes, which no program can in tier 2 of the sandbox, give it tier 1 (docs/measuring.md)"


async def open_evaluator(rule: RaceRule = RaceRule()) -> ProgramEvaluator:  # noqa: B008
    """An evaluator on this machine's sandbox; UnsafeError where none holds."""
    sandbox = await Sandbox.open()
    await require_safe(sandbox)
    return ProgramEvaluator(sandbox, Builder(sandbox, sandbox.cache), rule)
