"""The last look at a winner, once it is timed: can it be, is it right on other inputs, does it only seem right.

below the process floor -> rejected; more than 10x, or suspicious code -> a harsher verification; sanitizers -> told
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.evaluate.build import Builder
from maxcode.evaluate.floor import process_floor
from maxcode.evaluate.judging import identity
from maxcode.evaluate.lanes import build_lane
from maxcode.evaluate.prepare import Admitted, Input
from maxcode.evaluate.sandbox import Blob, Sandbox
from maxcode.evaluate.sanitize import Sanitized, bench_for, compared
from maxcode.evaluate.suspicion import far, impossible, unread, words_of
from maxcode.evaluate.unseen import Unseen
from maxcode.types import Evaluation, Outcome, Program, Timing

_SANITIZED_AT_MOST, _SANITIZED_S = 8, 0.5  # inputs, and the original's CPU seconds on all of them
_TOLD_AT_MOST = 3


@final
@dataclass(frozen=True, slots=True)
class Examiner:
    """Looks at winners; keeps what the sanitizers say of the original."""

    sandbox: Sandbox
    builder: Builder
    unseen: Unseen
    originals: dict[str, Sanitized] = field(default_factory=dict)

    async def examined(self, admitted: Admitted, program: Program, artefact: Blob, found: Evaluation) -> Evaluation:
        """The evaluation of a confirmed winner after the look: rejected, wrong, or with what must be said beside it."""
        if found.timing is None or not found.timing.significant:
            return found
        reasons = words_of(admitted.problem, program)
        if admitted.problem.spec.function is None:
            floor = await process_floor(self.sandbox)
            if why := impossible(found.timing, floor, admitted.timed):
                return _fallen(found, Outcome.REJECTED, why)
            reasons = (*far(found.timing), *unread(found.timing, floor, admitted.timed), *reasons)
        told: tuple[str, ...] = ()
        if reasons:
            failure = await self.unseen.failure(admitted, artefact, harsh=True)
            if failure is not None:
                return _fallen(found, failure.outcome, *failure.feedback.reasons)
            told = await self._looked_at_again(admitted, reasons, found.timing)
        defects = await self.defects(admitted, program)
        return replace(found, warnings=(*found.warnings, *told, *defects))

    async def _looked_at_again(self, admitted: Admitted, reasons: Sequence[str], timing: Timing) -> tuple[str, ...]:
        """What is said of a suspicious winner that has passed."""
        made = await self.unseen.made(admitted, harsh=True)
        if made.inputs or admitted.problem.spec.function is not None:
            return ()
        why = "; ".join(made.notes) or "none that the original can answer"
        return (f"{'; '.join(reasons)}: look at its diff, because no further inputs could be made ({why})",)

    async def defects(self, admitted: Admitted, program: Program) -> tuple[str, ...]:
        """What the sanitizers find in the program and not in the original, in words."""
        bench = bench_for(self.sandbox, self.builder, admitted.problem, _cheap(admitted.inputs))
        if isinstance(bench, Sanitized):
            return ()
        key = identity(admitted.problem)
        async with build_lane():
            if key not in self.originals:
                self.originals[key] = await bench.look(admitted.problem.program)
            found = await compared(bench, program, self.originals[key])
        new = [defect for defect in found.defects if not defect.in_original]
        return tuple(f"a sanitizer found {defect}" for defect in new[:_TOLD_AT_MOST])


def _fallen(found: Evaluation, outcome: Outcome, *reasons: str) -> Evaluation:
    feedback = replace(found.feedback, reasons=(*found.feedback.reasons, *reasons))
    return replace(found, outcome=outcome, feedback=feedback, timing=None)


def _cheap(inputs: Sequence[Input]) -> list[Input]:
    """Inputs that are no secret and take the original little time, at least one where there is any."""
    chosen: list[Input] = []
    for one in sorted((one for one in inputs if one.origin != "held_out"), key=lambda one: one.seconds):
        spent = sum(other.seconds for other in chosen) + one.seconds
        if not chosen or (len(chosen) < _SANITIZED_AT_MOST and spent <= _SANITIZED_S):
            chosen.append(one)
    return chosen
