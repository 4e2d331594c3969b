"""Checks a winner of a program or a function again, for a certificate: everything is built and run again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.core.phases import in_stage
from maxcode.core.types import Action, Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.function.second_look import shape_of
from maxcode.evaluate.harness_protocol import CheckedWinner, Confirm, FreshRace, Verification, in_steps
from maxcode.evaluate.inputs.fresh import FreshInputs
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.one_by_one import OneByOne
from maxcode.evaluate.ladder.prepare import TIMED_FLOOR_S, Admitted, Input, choose_compared
from maxcode.evaluate.ladder.race import Pair, RaceInputs, RaceSide, Side, Track, WrongOutput, run_until, timing_alone
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.evaluate.ladder.sanitize import Sanitized, sanitized
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

_LONGER = "; give a test that takes longer, or say with `domain` of [tests] how large inputs can be"
_RENEWED = "every timed pass had newly drawn values, in arrays of the problem's own sizes"


@final
@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """A winner to be checked; ``fresh`` makes the fresh inputs on request and keeps them.  ``seconds``: the least CPU
    seconds of its verifications, by test."""

    sandbox: Sandbox
    builder: Builder
    admitted: Admitted
    winner: Program
    fresh: FreshInputs
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        return self.admitted.problem

    async def refusal(self) -> str:
        """Why the winner must not run; empty if it may."""
        action = Action(self.winner)
        refused = reject(self.problem, action) or not_permitted(self.problem, self.winner)
        if refused is not None:
            return "; ".join(refused.feedback.reasons)
        built = await self.builder.build(self.problem, self.winner, final=True)
        if built.artefact is None:
            return f"it does not build: {built.reason}"
        return "" if self.admitted.timed else self.admitted.notes[-1]

    async def _artefact(self) -> Blob:
        built = await self.builder.build(self.problem, self.winner, final=True)
        assert built.artefact is not None, built.reason  # it has been built before
        return built.artefact

    async def checked(self, runs: int, confirm: Confirm) -> CheckedWinner:
        """Verifications, then the confirmation by ``confirm``; the control is timed apart."""
        return await in_steps(self.verify_again, runs, lambda: confirm(self.seconds))

    @in_stage("ten verifications")
    async def verify_again(self, runs: int) -> Verification:
        """Run all tests and fresh inputs ``runs`` times: an output that varies may be right by luck."""
        artefact = await self._artefact()
        inputs = (*self.admitted.inputs, *(await self.fresh.made(self.admitted)).inputs)
        answers: dict[str, set[str]] = defaultdict(set)
        failures = []
        for run in range(1, runs + 1):
            async with build_lane():
                found = await verify(self.sandbox, self.problem, artefact, inputs)
            failures += [f"run {run}, {words}" for words in _failures(found)[:1]]
            for one in found.results:
                self.seconds[one.name] = min(one.seconds, self.seconds.get(one.name, one.seconds))
            for name, output in found.outputs.items():
                answers[name].add(hashlib.sha256(output).hexdigest())
        varying = tuple(sorted(name for name, seen in answers.items() if len(seen) > 1))
        return Verification(runs, len(failures), tuple(failures), varying)

    @in_stage("race on fresh inputs")
    async def race_fresh(self, pairs: int) -> FreshRace:
        """Race the winner against the original on fresh inputs."""
        if self.admitted.source.renews:
            return await self._one_by_one(pairs)
        if before := await self.fresh.raced_before(self.admitted):
            return await self._raced(before, pairs)
        answered = await self.fresh.answered(self.admitted)
        found = await self._raced_on(answered, pairs)
        if not found.failed:
            return found
        made = await self.fresh.made(self.admitted)
        unclean = {one.name for one in answered.inputs} - {one.name for one in made.inputs}
        return found if unclean.isdisjoint(found.inputs) else await self._raced_on(made, pairs)

    async def _raced_on(self, made: GeneratedInputs, pairs: int) -> FreshRace:
        chosen = choose_compared(made.inputs, self.admitted.timed)
        if not chosen and made.inputs:  # among four times as many one may be long enough
            made = await self.fresh.made(self.admitted, harsh=True)
            chosen = choose_compared(made.inputs, self.admitted.timed)
        if not chosen:
            why = "; ".join(made.notes) or "none could be made"
            short = f"none of {len(made.inputs)} takes the original {TIMED_FLOOR_S * 1e3:.0f} ms{_LONGER}"
            return FreshRace(why=short if made.inputs else why)
        return await self._raced(chosen, pairs)

    async def _raced(self, chosen: Sequence[Input], pairs: int) -> FreshRace:
        track = self._track(self._original(chosen), RaceSide(await self._artefact(), {}), chosen)
        try:
            held = await run_until(lambda seen: "tie" if len(seen) >= pairs else None, track)
        except WrongOutput as wrong:
            failed = f"{wrong.side}, on newly generated inputs: {wrong}"
            return FreshRace(inputs=(wrong.given,), failed=failed, by_original=wrong.side == "original")
        samples = tuple((pair.total("original"), pair.total("candidate")) for pair in held.pairs)
        return FreshRace(samples, tuple(given.name for given in chosen))

    async def _one_by_one(self, pairs: int) -> FreshRace:
        """A function on new inputs, as every timed pass has them; and where calls come several at a time, whether it is
        also faster when each must be over before the next one comes."""
        timed = self.admitted.timed
        alone = [one for given in timed if (one := self.admitted.source.one_by_one(given)) is not None]
        found = FreshRace(why=_RENEWED, needless=True)
        if not alone:
            return found
        sides = self._original(()), RaceSide(await self._artefact(), {})
        several, single = self._track(*sides, timed), self._track(*sides, alone)
        both = OneByOne(sum(_calls(one) for one in timed), pairs)
        try:
            async with timing_alone(several.clock):
                while not both.is_over():
                    both.add([await several.pair()], [await single.pair()])
        except WrongOutput as wrong:
            return FreshRace(failed=f"{wrong.side}, called one by one: {wrong}", by_original=wrong.side == "original")
        return replace(found, doubt=both.doubt())

    @in_stage("control")
    async def control(self, sittings: Sequence[int]) -> list[Pair]:
        """The original on both sides, as often as the winner was timed.  InputError if it fails."""
        original = self._original(self.admitted.inputs)
        track = self._track(original, original, self.admitted.timed)
        try:
            async with timing_alone(track.clock):
                return [await track.pair() for _ in range(sum(sittings))]
        except WrongOutput as wrong:
            raise InputError(f"the original does not give an accepted answer every time: {wrong}") from wrong

    @in_stage("sanitizers")
    async def sanitized(self) -> Sanitized:
        """The sanitizers, on inputs that are not held out."""
        chosen = [given for given in self.admitted.inputs if given.origin != "held_out"]
        async with build_lane():
            return await sanitized(self.sandbox, self.builder, self.problem, self.winner, chosen)

    def _original(self, inputs: Sequence[Input]) -> RaceSide:
        assert self.admitted.original.artefact is not None
        return RaceSide(self.admitted.original.artefact, {given.name: given.expected or b"" for given in inputs})

    def _track(self, original: RaceSide, candidate: RaceSide, timed: Sequence[Input]) -> Track:
        sides: dict[Side, RaceSide] = {"original": original, "candidate": candidate}
        problem = replace(self.problem, goal="cpu") if self.problem.goal == "instructions" else self.problem
        return Track(RaceInputs(self.sandbox, problem, self.admitted.source), sides, timed)


def _calls(given: Input) -> int:
    """The calls of a pass."""
    shape = shape_of(given)
    return shape.rounds * shape.spec.slots


def _failures(found: Verified) -> list[str]:
    return [
        f"test {one.name}: {one.outcome.value}{f' ({one.detail})' if one.detail else ''}"
        for one in found.results
        if one.outcome is not Outcome.CORRECT
    ]
