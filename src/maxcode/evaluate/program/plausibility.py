"""The last check of a winner after timing: is its speed possible, and is it right on other inputs.

A time below the lower bound of this machine -> rejected.  A speed-up above 10x, or suspicious code -> a re-check.
Findings of the sanitizers, and wrong answers on inputs beyond all given ones -> warnings that are doubts.  Rates above
the roofline were rejected before (``ladder/judge.with_timing``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import final

from maxcode.core.ahead import started
from maxcode.core.phases import in_stage
from maxcode.core.turns import Turns
from maxcode.core.types import Evaluation, Outcome, Program, Recheck, Timing
from maxcode.evaluate.inputs.fresh import FreshInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.sanitize import FINDING, NO_BUILD, PERMITTED, Sanitized, bench_for, compared
from maxcode.evaluate.ladder.unwritten import Found, Variants, chosen, refusal
from maxcode.evaluate.program.kinds import PROGRAM_KINDS
from maxcode.evaluate.program.lower_bound import LowerBound
from maxcode.evaluate.program.suspicion import far, impossible, unread, words_of
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

VETO = "it cannot be built with the checks that the original can be built with: "
_SANITIZED_AT_MOST, _SANITIZED_S = 8, 0.5  # inputs, and the original's CPU seconds on all of them
_DEFECTS_SHOWN = 3


@final
@dataclass(frozen=True, slots=True)
class Looks:
    """What further builds and runs of a program show: two builds that memory never written can tell apart, the
    sanitizers', and the program itself on inputs beyond all given ones (empty: nothing is wrong there)."""

    variants: Found
    defects: tuple[str, ...]
    narrow: str


Awaited = Callable[[], Awaitable[Looks]]


@final
@dataclass(frozen=True, slots=True)
class Examiner:
    """Checks winners; caches the sanitizers' findings in the original, and the lower bounds of a pass."""

    sandbox: Sandbox
    builder: Builder
    unseen: FreshInputs
    originals: dict[str, Sanitized] = field(default_factory=dict)
    bounds: dict[str, LowerBound] = field(default_factory=dict)
    bounding: Turns = field(default_factory=Turns)
    originals_unwritten: dict[str, Found] = field(default_factory=dict)

    @in_stage("looks")
    async def looks(self, admitted: Admitted, program: Program, artefact: Blob, raced: Timing | None = None) -> Looks:
        """What a possible winner shows in these checks, beside one another; they need no confirmed timing.

        ``raced``: the timing that made it one; if it asks for a re-check, the inputs of the re-check are made too.
        """
        variants = Variants(self.sandbox, self.builder, self.originals_unwritten)
        is_harsh = raced is not None and bool((*far(raced), *words_of(admitted.problem, program)))
        async with (
            started(partial(self.unseen.answered, admitted, harsh=True), now=is_harsh) as harsher,
            started(partial(self.defects, admitted, program)) as defects,
            started(partial(self.unseen.given_kind_only, admitted, artefact)) as narrow,
            started(partial(self.lower_bound, admitted)) as bound,
        ):
            own = await variants.of(admitted.problem, program, chosen(admitted.inputs))
            found = Looks(own, await defects(), await narrow())
            await bound()
            if is_harsh:
                await harsher()
            return found

    async def examined(
        self, admitted: Admitted, program: Program, artefact: Blob, found: Evaluation, looks: Awaited | None = None
    ) -> Evaluation:
        """The evaluation of a confirmed winner after the check: rejected, wrong, or with warnings.

        ``looks``: waits for the result of ``looks``, if it was started before.
        """
        if found.timing is None or not found.timing.significant:
            return found
        reasons = (*far(found.timing), *words_of(admitted.problem, program))
        bound = await self.lower_bound(admitted)
        reasons = (*reasons, *unread(found.timing, bound.reading_s))
        if why := impossible(found.timing, bound.least_s, bound.of):
            return failed_with(found, Outcome.REJECTED, why)
        if reasons:
            found = await self._rechecked(admitted, reasons, artefact, found)
        if found.outcome is not Outcome.CORRECT:
            return found
        seen = await looks() if looks is not None else await self.looks(admitted, program, artefact)
        found = await self._in_variants(admitted, seen.variants, found)
        if found.outcome is not Outcome.CORRECT:
            return found
        return replace(found, warnings=(*found.warnings, *seen.defects, *([seen.narrow] if seen.narrow else ())))

    async def _in_variants(self, admitted: Admitted, own: Found, found: Evaluation) -> Evaluation:
        """The evaluation of a winner after two builds of it that only memory never written can tell apart."""
        if own.given is None and not own.not_run:
            return found
        variants = Variants(self.sandbox, self.builder, self.originals_unwritten)
        original = await variants.of_original(admitted.problem, chosen(admitted.inputs))
        if own.not_run:
            veto = VETO if NO_BUILD in own.not_run and not original.not_run else ""
            return replace(found, warnings=(*found.warnings, f"{veto}{own.not_run}"))
        assert own.given is not None
        if original.given is None and not admitted.reads_unwritten:
            return failed_with(found, Outcome.WRONG, refusal(own.given))
        return replace(found, warnings=(*found.warnings, f"{refusal(own.given)}, as the original's does"))

    @in_stage("lower bound")
    async def lower_bound(self, admitted: Admitted) -> LowerBound:
        """The least time of a pass over the timed inputs; measured once per problem."""
        key = identity(admitted.problem)
        async with self.bounding.of(key):
            if key not in self.bounds:
                self.bounds[key] = await PROGRAM_KINDS[admitted.problem.kind].lower_bound(self.sandbox, admitted)
        return self.bounds[key]

    @in_stage("re-check")
    async def _rechecked(
        self, admitted: Admitted, reasons: tuple[str, ...], artefact: Blob, found: Evaluation
    ) -> Evaluation:
        """The evaluation of a suspicious winner after its re-check."""
        failure = await self.unseen.failure(admitted, artefact, harsh=True)
        made = await self.unseen.answered(admitted, harsh=True)
        why = "" if made.inputs else "; ".join(made.notes) or "none that the original can answer"
        harsher = Recheck(reasons, len(made.inputs), failure is None and bool(made.inputs), why, made.kinds)
        found = replace(found, harsher=harsher)
        if failure is not None:
            return failed_with(found, failure.outcome, *failure.feedback.reasons)
        if made.inputs:
            return found
        warning = f"{'; '.join(reasons)}: look at its diff, because no further inputs could be made ({why})"
        return replace(found, warnings=(*found.warnings, warning))

    @in_stage("sanitizers")
    async def defects(self, admitted: Admitted, program: Program) -> tuple[str, ...]:
        """The sanitizers' findings in the program that the original does not have, as text; or why they say nothing."""
        bench = bench_for(self.sandbox, self.builder, admitted.problem, _cheap(admitted.inputs))
        if isinstance(bench, Sanitized):
            return ()
        key = identity(admitted.problem)
        async with build_lane():
            found = await bench.look(program)
            if (found.defects or found.is_unbuilt) and key not in self.originals:
                self.originals[key] = await bench.look(admitted.problem.program)
        if found.defects:  # else nothing that the original shows can matter
            found = compared(bench, found, self.originals[key])
        if not found.inputs:
            veto = VETO if found.is_unbuilt and self.originals[key].inputs else ""
            return (f"{veto}the sanitizers did not look at it: {found.not_run[-1]}",)
        new = [defect for defect in found.defects if not defect.in_original]
        shown = sorted(new, key=lambda one: one.is_permitted)[:_DEFECTS_SHOWN]
        return tuple(f"{f'{PERMITTED}:' if one.is_permitted else FINDING} {one}" for one in shown)


def failed_with(found: Evaluation, outcome: Outcome, *reasons: str) -> Evaluation:
    """The evaluation with this outcome for these reasons, in addition to its own."""
    feedback = replace(found.feedback, reasons=(*found.feedback.reasons, *reasons))
    return replace(found, outcome=outcome, feedback=feedback, timing=None)


def _cheap(inputs: Sequence[Input]) -> list[Input]:
    """Inputs that are not held out and take the original little time; at least one if there is any."""
    chosen: list[Input] = []
    for one in sorted((one for one in inputs if one.origin != "held_out"), key=lambda one: one.seconds):
        spent = sum(other.seconds for other in chosen) + one.seconds
        if not chosen or (len(chosen) < _SANITIZED_AT_MOST and spent <= _SANITIZED_S):
            chosen.append(one)
    return chosen
