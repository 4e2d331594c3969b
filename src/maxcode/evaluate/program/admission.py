"""Admission: the original must build and pass tests, and the inputs to time are chosen.

The original is run, profiled and timed here before anything is proposed.  Tests that it fails are dropped and reported,
and inputs that are too short to time are enlarged (``inputs/amplify.py``).  The steps are in ``ladder/prepare.py``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import final

import anyio

from maxcode.code.languages import language
from maxcode.core.ahead import computed
from maxcode.core.phases import in_stage
from maxcode.core.types import Evaluation, Feedback, Outcome, Problem
from maxcode.errors import InputError
from maxcode.evaluate.inputs.given import understood
from maxcode.evaluate.inputs.unusual import stated
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.cures import cure_of_failure, unlike_itself
from maxcode.evaluate.ladder.instruction_count import require_counter
from maxcode.evaluate.ladder.interpreter import tongue_of
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.original_runs import plan, step
from maxcode.evaluate.ladder.prepare import (
    TIMED_AT_MOST,
    Admitted,
    Input,
    build_original,
    choose_timed,
    identity,
    why_unavailable,
    without,
)
from maxcode.evaluate.ladder.profile import hotspots
from maxcode.evaluate.ladder.unwritten import chosen, depends
from maxcode.evaluate.ladder.verify import Verified, is_accepted, verify
from maxcode.evaluate.program.kinds import PROGRAM_KINDS
from maxcode.evaluate.program.learned import Learned, is_lasting, parts, size_of
from maxcode.sandbox.sandbox import Sandbox

LEAST_TESTS = 1
_NONE_KEPT = KeptAdmissions()
_UNWRITTEN = (
    "the answer of the original {} depends on memory it never wrote; candidates are not refused for that here: set the "
    "memory before it is read"
)
_BARELY = 3  # times the least time that can be timed
_NEXT_SECOND_S = 1.1  # many programs draw their seed from a clock of whole seconds
_CHECK = "; check that the tests belong to it, and the checker"
_ALONE = (
    "; if it starts processes, which no program can in tier 2 of the sandbox, give it tier 1 "
    "(docs/reference/sandbox-tiers.md)"
)


def _runs_planned(problem: Problem, inputs: Sequence[Input]) -> int:
    """About how many runs of the original an admission makes: each test, each without an expected output again, one for
    the profile and one on filled memory."""
    tongue = language(problem.language)
    again = sum(one.expected is None and one.origin in ("seen", "held_out") for one in inputs)
    return len(inputs) + again + tongue.native + tongue.by_gcc


def _told_of_dropped(verified: Verified, kept: Collection[str], why: str) -> list[str]:
    """The note on the tests that the original fails, with what is wrong; none if it passes all."""
    dropped = [result for result in verified.results if result.name not in kept]
    if not dropped:
        return []
    told = ", ".join(
        f"{one.name} ({one.outcome.value}{f': {one.detail}' if one.outcome is Outcome.WRONG and one.detail else ''})"
        for one in dropped
    )
    return [f"dropped {len(dropped)} test(s) the original fails itself: {told}{why}"]


@final
class Admissions:
    """The problems that evaluators on one machine have admitted; evaluators with different options share them."""

    def __init__(
        self, sandbox: Sandbox, builder: Builder, seed: int, prompts: bool = True, kept: KeptAdmissions = _NONE_KEPT
    ) -> None:
        """``seed``: seed of the enlarged inputs; ``prompts``: find out what prompts tell of a problem; ``kept``: those
        of earlier commands."""
        self._sandbox = sandbox
        self._builder = builder
        self._seed = seed
        self._prompts = prompts
        self._earlier = kept
        self._admitted: dict[str, Admitted] = {}
        self._begun: dict[str, Admitted] = {}
        self._known: dict[str, anyio.Event] = {}
        self._admitting = anyio.Lock()

    async def begun(self, problem: Problem) -> Admitted:
        """What an admission that goes on knows of the inputs, as soon as the original has answered them."""
        await self._event(problem).wait()
        return self._begun[identity(problem)]

    def _event(self, problem: Problem) -> anyio.Event:
        return self._known.setdefault(identity(problem), anyio.Event())

    def _tell(self, problem: Problem, begun: Admitted) -> None:
        self._begun[identity(problem)] = begun
        self._event(problem).set()

    async def of(self, problem: Problem) -> Admitted:
        """The admission of ``problem``, made on first use (a stage of SQD shares its parent's)."""
        async with self._admitting:
            found = self._admitted.get(identity(problem))
            return found if found is not None else await self.admit(problem)

    @in_stage("admission")
    async def admit(self, problem: Problem) -> Admitted:
        """Build, verify and profile the original; drop the tests that it fails.  Or take what is kept of that.

        InputError if it does not build or too few tests are left.
        """
        if problem.goal == "instructions" or problem.spec.tie_break:
            require_counter()
        original = await build_original(self._builder, problem)
        admitted = await self._known_or_learned(problem, original)
        for one in (problem, admitted.problem):
            self._admitted[identity(one)] = admitted
        return admitted

    async def _known_or_learned(self, problem: Problem, original: Built) -> Admitted:
        """What an earlier command has kept, with a note on it; else what is learned now, which is kept."""
        assert original.artefact is not None
        began = time.monotonic()
        runtime = await self._sandbox.copy_of(tongue_of(problem).runtime)
        files = parts(problem, original.artefact, str(runtime))
        earlier = await self._earlier.earlier(self._sandbox, identity(problem), self._prompts, files, Learned)
        if (known := earlier.found) is not None:
            source = PROGRAM_KINDS[problem.kind].source(self._sandbox, problem)
            admitted = known.admitted(problem, original, source)
            self._tell(problem, admitted)
        else:
            admitted = await self._learned(problem, original)
            if is_lasting(admitted) and self._earlier.takes(size_of(admitted)):
                learned = await anyio.to_thread.run_sync(Learned.of, admitted, time.monotonic() - began)
                await earlier.keep(learned)
        return replace(admitted, notes=(*earlier.notes, *admitted.notes))

    async def _learned(self, problem: Problem, original: Built) -> Admitted:
        assert original.artefact is not None
        kind = PROGRAM_KINDS[problem.kind]
        source, inputs = await kind.inputs(self._sandbox, problem)
        plan(_runs_planned(problem, inputs))
        verified = await verify(self._sandbox, problem, original.artefact, inputs, every=True)
        cure = await self._cure(problem, original, inputs, verified)
        kept = self._kept(problem, inputs, verified, cure)
        names = {given.name for given in kept}
        dropped = tuple(f"{r.name} ({r.outcome.value})" for r in verified.results if r.name not in names)
        await self._agrees_with_itself(problem, original, inputs, kept)
        kept = tuple(source.looked_at_twice(given, original.artefact) for given in kept)
        slimmer = without(problem, frozenset(given.name for given in inputs) - names)
        notes = _told_of_dropped(verified, names, f"; {cure}" if cure else why_unavailable(problem))
        told = Evaluation(Outcome.CORRECT)
        self._tell(problem, Admitted(slimmer, kept, (), original, told, dropped, tuple(notes), source))
        kept = (*kept, *await source.beyond(self._builder, problem, original.artefact, "seen"))
        kept, timed, warning = await self._timed(problem, original, kept)
        baseline = await self._baseline(slimmer, original, kept, verified)
        unwritten = await depends(self._sandbox, slimmer, original.artefact, chosen(kept))
        notes += [_UNWRITTEN.format(problem.program.name)] if unwritten is not None else []
        notes += [warning] if warning else []  # the last, which says why nothing is timed
        roofs = await kind.roofs(self._sandbox, problem)
        admitted = Admitted(slimmer, kept, timed, original, baseline, dropped, tuple(notes), source, *roofs)
        admitted = replace(admitted, reads_unwritten=unwritten is not None)
        # A wrong domain is told before anything is proposed.
        if problem.spec.domain and problem.spec.made and not source.renews:
            await computed(stated, await understood(admitted), problem.spec.domain)
        if not timed:
            step("inputs are made larger")
            admitted = await kind.longer(self._sandbox, self._builder, admitted, self._seed)
        if self._prompts:
            step("what prompts tell of the inputs is read and measured")
            admitted = replace(admitted, facts=await kind.facts(self._sandbox, admitted))
        return admitted

    async def _timed(
        self, problem: Problem, original: Built, kept: tuple[Input, ...]
    ) -> tuple[tuple[Input, ...], tuple[Input, ...], str]:
        """All inputs, those to time, and a warning.  What one run calls barely long enough is run once more and the
        lesser counts: one hiccup makes any run long."""
        assert original.artefact is not None
        counted = problem.goal == "instructions"
        start_s = await PROGRAM_KINDS[problem.kind].start_s(self._sandbox, problem)

        def choice() -> tuple[tuple[Input, ...], str]:
            return choose_timed(tuple(given for given in kept if given.workload.is_timed), counted, start_s)

        def is_barely(one: Input) -> bool:
            return one.workload.is_timed and 1 <= one.seconds / one.workload.floor_s < _BARELY

        timed, warning = choice()
        if counted or not problem.traits.has_tests or not any(is_barely(one) for one in timed):
            return kept, timed, warning
        barely = sorted(filter(is_barely, kept), key=lambda one: -one.seconds)[: 2 * TIMED_AT_MOST]
        again = await verify(self._sandbox, problem, original.artefact, barely, every=True)
        least = {one.name: one.seconds for one in again.results if one.outcome is Outcome.CORRECT}
        kept = tuple(replace(one, seconds=min(one.seconds, least.get(one.name, one.seconds))) for one in kept)
        timed, warning = choice()
        return kept, timed, warning

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission with these inputs timed, in this order, as another node chose them.

        InputError if one is missing.
        """
        inputs = {given.name: given for given in admitted.inputs}
        if missing := [name for name in names if name not in inputs]:
            raise InputError(f"the inputs {missing} are timed on another node and do not exist here")
        chosen = replace(admitted, timed=tuple(inputs[name] for name in names))
        self._admitted = {key: chosen if known is admitted else known for key, known in self._admitted.items()}
        return chosen

    async def _cure(self, problem: Problem, original: Built, inputs: Sequence[Input], verified: Verified) -> str:
        """What the user can do about the tests that the original fails; empty if no cause is known."""
        found: list[str] = []
        wrong: list[Input] = []
        for given, result in zip(inputs, verified.results, strict=True):
            if result.outcome is Outcome.WRONG:
                wrong.append(given)
            elif result.outcome is not Outcome.CORRECT:
                found.append(cure_of_failure(result, problem.spec))
        if wrong and problem.traits.has_tests:
            found.append(await self._unsteady(problem, original, wrong[0]))
        return "; ".join(dict.fromkeys(filter(None, found)))

    async def _unsteady(self, problem: Problem, original: Built, given: Input) -> str:
        """Runs the original twice more on an input that it answers wrongly: its answers may be random."""
        assert original.artefact is not None
        outputs: list[bytes] = []
        for pause_s in (0.0, _NEXT_SECOND_S):
            await anyio.sleep(pause_s)
            again = await verify(self._sandbox, problem, original.artefact, [replace(given, expected=None)])
            outputs += again.outputs.values()
        return unlike_itself(*outputs) if len(outputs) == 2 else ""

    async def _agrees_with_itself(
        self, problem: Problem, original: Built, inputs: Sequence[Input], kept: Sequence[Input]
    ) -> None:
        """InputError if the original gives other answers to tests without an expected output when it is run again."""
        assert original.artefact is not None
        asked = {given.name for given in inputs if given.expected is None and given.origin in ("seen", "held_out")}
        again = [given for given in kept if given.name in asked and problem.traits.has_tests]
        if not again:
            return
        await anyio.sleep(_NEXT_SECOND_S)
        unknown = [replace(given, expected=None) for given in again]
        found = await verify(self._sandbox, problem, original.artefact, unknown, every=True)
        for given in again:
            output = found.outputs.get(given.name, b"")
            if not await is_accepted(self._sandbox, problem, given, output):
                why = unlike_itself(given.expected or b"", output)
                raise InputError(f"test {given.name} has no expected output, and the original has none to give: {why}")

    def _kept(self, problem: Problem, inputs: Sequence[Input], verified: Verified, cure: str) -> tuple[Input, ...]:
        kept = []
        for given, result in zip(inputs, verified.results, strict=True):
            if result.outcome is Outcome.CORRECT:
                expected = verified.outputs[given.name] if given.expected is None else given.expected
                if (trouble := given.workload.incomparable(expected)) is not None:
                    raise InputError(
                        f"the original does not agree with itself ({trouble}): it gives NaN or infinity on these "
                        "inputs; write an inputs.c that avoids that"
                    )
                kept.append(replace(given, expected=expected, seconds=result.seconds))
        if not inputs:
            raise InputError(f"{problem.id} has no tests; give at least {LEAST_TESTS}")
        if len(kept) < LEAST_TESTS:
            first = next(r for r in verified.results if r.outcome is not Outcome.CORRECT)
            raise InputError(
                f"the original {problem.program.name} passes none of its {len(inputs)} tests (first: {first.name} "
                f"{first.outcome.value} {first.detail})"
                f"{f'; {cure}' if cure else why_unavailable(problem) or _CHECK}"
                f"{'' if self._sandbox.forks else _ALONE}"
            )
        return tuple(kept)

    async def _baseline(
        self, problem: Problem, original: Built, kept: tuple[Input, ...], verified: Verified
    ) -> Evaluation:
        passed = {given.name for given in kept}
        results = tuple(result for result in verified.results if result.name in passed)
        profile = await hotspots(self._sandbox, problem, original, kept) if self._prompts else ()
        measures = {result.name: result.seconds for result in results}
        return Evaluation(
            Outcome.CORRECT,
            Feedback(cases=results),
            remarks=original.remarks,
            profile=profile,
            measures=measures,
            machine_code=original.machine_code,
        )
