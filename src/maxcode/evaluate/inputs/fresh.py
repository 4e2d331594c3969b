"""Inputs that nobody was shown: made by the user's generator from secret seeds, and from the given inputs.

What is made counts only where the original proves it: on it the original ends well twice with the same answer, uses no
more time, memory and output than the given inputs make it use, and shows the sanitizers nothing.  The sanitizers are
asked where a winner differs from the original, and for a certificate.  Inputs are made when a first winner asks for
them, and kept.  Feedback about them is one bit.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import final

from maxcode.core.ahead import computed
from maxcode.core.phases import in_stage
from maxcode.core.turns import Turns
from maxcode.core.types import Evaluation, Feedback, Outcome, Problem
from maxcode.errors import InputError
from maxcode.evaluate.inputs.format_model import Understood
from maxcode.evaluate.inputs.given import text_of, understood
from maxcode.evaluate.inputs.mutate import Draft, draft
from maxcode.evaluate.inputs.one_unlike import one_unlike
from maxcode.evaluate.inputs.proving import BEYOND, SECRET, SIZES, Candidate, GeneratedInputs, Prover, Terms, counted
from maxcode.evaluate.inputs.unusual import habit, stated, wider
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted, Input, generate, identity
from maxcode.evaluate.ladder.verify import verify
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

HARSHER = 4  # times as many inputs
FAILED = "an input nobody was shown failed"
MADE = (
    "maxcode made that input from the format of the given ones; if no such input can come, say which can: `generator` "
    "or `domain` under [tests] in problem.toml (docs/reference/problem.md)"
)
GIVEN_ONLY = "right only on inputs like the given ones"  # the beginning of the doubt about it
_STATE_IT = " that the original answers; where such inputs cannot come, say so with `domain` of [tests]"
AT_JUMPS = "not the original's answer where it jumps"  # the same
_JUMPS_STATED = " with multiples of 1/32 among them; where such values cannot come, say so with `domain` of [function]"
_ANEW = "a function's inputs are drawn anew for every pass"
_SECONDS, _HARSH_SECONDS = 0.6, 2.5  # of the original's CPU time on all made inputs; a sanitizer takes ten times that
_HABITS = 4  # one of so many drafts is sorted or holds few values
_WIDER, _WIDER_SECONDS = 9, 1.0  # drafts beyond all given inputs, and the original's CPU time on them
_SEED_BITS = 62
_SHOWN = 8  # numbers of an input


@final
class FreshInputs:
    """Makes them, per problem once; ``seed`` is drawn by the system unless a certificate names it, and with it those
    that were proven ``before``."""

    def __init__(
        self, sandbox: Sandbox, builder: Builder, seed: int | None = None, before: frozenset[str] = frozenset()
    ) -> None:
        self._sandbox = sandbox
        self._prover = Prover(sandbox, builder, before)
        self.seed = random.SystemRandom().getrandbits(_SEED_BITS) if seed is None else seed
        self._answered: dict[tuple[str, bool], GeneratedInputs] = {}
        self._made: dict[tuple[str, bool], GeneratedInputs] = {}
        self._clean: dict[str, tuple[Input, ...]] = {}
        self._making = Turns()

    async def made(self, admitted: Admitted, harsh: bool = False) -> GeneratedInputs:
        """The inputs for a problem; ``harsh``: others, several times as many."""
        found = await self.answered(admitted, harsh)
        key = (identity(admitted.problem), harsh)
        async with self._making.of(f"{key}"):
            if key not in self._made:
                self._made[key] = await self._sanitized(admitted, found) if found.unsanitized else found
            return self._made[key]

    async def answered(self, admitted: Admitted, harsh: bool = False) -> GeneratedInputs:
        """The same, those included on which the sanitizers may find something in the original.  To differ from it
        there proves nothing, and to agree with it there does; so they are looked at only where a winner differs."""
        key = (identity(admitted.problem), harsh)
        async with self._making.of(f"{key}"):
            if key not in self._answered:
                self._answered[key] = await self._make(admitted, harsh)
            return self._made.get(key, self._answered[key])

    @in_stage("fresh inputs")
    async def _sanitized(self, admitted: Admitted, found: GeneratedInputs) -> GeneratedInputs:
        return await self._prover.sanitized(admitted, found)

    async def raced_before(self, admitted: Admitted) -> tuple[Input, ...]:
        """The further inputs that a certificate names, as far as they can be timed here; empty if it names none.

        Whether an input is long enough may differ from one hour to the next, and a repetition races the same ones.
        """
        if not self._prover.before:
            return ()
        further = self._prover.before - {one.stdin.sha256 for one in (await self.made(admitted)).inputs}
        made = (await self.made(admitted, harsh=True)).inputs if further else ()
        return tuple(one for one in made if one.stdin.sha256 in further and one.seconds >= one.workload.floor_s / 2)

    async def failure(self, admitted: Admitted, artefact: Blob, harsh: bool = False) -> Evaluation | None:
        """The evaluation of a program that is not right on all of them, in a session of its own; None where it is."""
        wrong = await self._wrong_on(admitted, artefact, (await self.answered(admitted, harsh)).inputs)
        if not wrong:
            return None
        made = (await self.made(admitted, harsh)).inputs
        proves = not wrong.isdisjoint(one.name for one in made)
        if proves or await self._wrong_on(admitted, artefact, made):  # it was stopped after three wrong answers
            return Evaluation(Outcome.WRONG, Feedback((FAILED,)))
        return None

    async def _wrong_on(self, admitted: Admitted, artefact: Blob, inputs: Sequence[Input]) -> set[str]:
        """Names of inputs that it is wrong on, three at most."""
        if not inputs:
            return set()
        async with build_lane():
            found = await verify(self._sandbox, admitted.problem, artefact, inputs)
        return {one.name for one in found.results if one.outcome is not Outcome.CORRECT}

    async def given_kind_only(self, admitted: Admitted, artefact: Blob) -> str:
        """What is wrong with a program that differs from the original beyond all given inputs, in words; empty where
        it does not, or where no such input is known."""
        guessed = (await self.answered(admitted)).guessed
        if not guessed:
            return ""
        async with build_lane():
            found = await verify(self._sandbox, admitted.problem, artefact, guessed, every=True)
        wrong = [one for one in found.results if one.outcome is not Outcome.CORRECT]
        if wrong:  # only now it matters on which of them the original proves anything
            guessed = await self._clean_guessed(admitted, guessed)
            wrong = [one for one in wrong if one.name in {given.name for given in guessed}]
        if not wrong:
            return ""
        how = ", ".join(sorted({one.outcome.value for one in wrong}))
        if admitted.source.renews:
            return f"{AT_JUMPS}: {how} on {len(wrong)} of {len(guessed)} inputs ({wrong[0].detail}){_JUMPS_STATED}"
        names = {one.name for one in wrong}
        shortest = min((one.stdin for one in guessed if one.name in names), key=lambda stdin: stdin.size)
        words = (text_of(shortest) or "").split()
        shown = " ".join(words[:_SHOWN]) + (" ..." if len(words) > _SHOWN else "")
        return f"{GIVEN_ONLY}: {how} on {len(wrong)} of {len(guessed)} beyond them (one is '{shown}'){_STATE_IT}"

    async def _clean_guessed(self, admitted: Admitted, guessed: Sequence[Input]) -> tuple[Input, ...]:
        """Those that prove something; looked for once per problem."""
        key = identity(admitted.problem)
        if key not in self._clean:
            self._clean[key] = await self._prover.clean(admitted, guessed)
        return self._clean[key]

    @in_stage("fresh inputs")
    async def _make(self, admitted: Admitted, harsh: bool) -> GeneratedInputs:
        problem = admitted.problem
        wanted = problem.spec.made * (HARSHER if harsh else 1)
        if admitted.source.renews:
            return await self._further(admitted) if harsh else await self._at_jumps(admitted)
        if not wanted:
            return GeneratedInputs(notes=("tests.made is 0",))
        given = await understood(admitted)
        seed = f"{self.seed} {'harsh' if harsh else 'made'}"
        shared = wanted // 2 if given.shapes else wanted
        generated, notes = await self._generated(problem, seed, shared) if problem.spec.generator else ([], [])
        notes += [f"none made from the given inputs: {given.why}"] if given.why else []
        made = [*generated, *await _changed(given, seed, wanted - len(generated))]
        seconds = _HARSH_SECONDS if harsh else _SECONDS
        found = await self._prover.answered(admitted, made, Terms("extra" if harsh else "made", seconds, alike=True))
        found = replace(found, notes=(*notes, *found.notes))
        return await self._with_wider(admitted, given, found, harsh)

    async def _with_wider(
        self, admitted: Admitted, given: Understood, found: GeneratedInputs, harsh: bool
    ) -> GeneratedInputs:
        """The inputs with those that go beyond all given ones: they decide where the problem says that they can come,
        and are guessed where it does not."""
        limits = await computed(stated, given, admitted.problem.spec.domain)
        if harsh and not limits:
            return found
        turns = itertools.count(self.seed)

        def make(seed: str) -> Draft | None:
            return wider(given, limits, seed, next(turns))

        count = _WIDER * (HARSHER if harsh else 1)
        drafts = await computed(_drafts, make, f"{self.seed} {'harsh' if harsh else ''} wider", count)
        terms = Terms("further" if harsh else "beyond", _HARSH_SECONDS if harsh else _WIDER_SECONDS)
        drafts.sort(key=lambda one: len(one.text))  # a long one takes no time from the short ones
        if not limits:
            return replace(found, guessed=(await self._prover.answered(admitted, _candidates(drafts), terms)).inputs)
        more = await self._prover.answered(admitted, _candidates(drafts), terms)
        ways = (*found.ways, *more.ways)
        return GeneratedInputs((*found.inputs, *more.inputs), counted(ways), (*found.notes, *more.notes), ways=ways)

    async def _at_jumps(self, admitted: Admitted) -> GeneratedInputs:
        """None of a source that renews them, but for those where the original's answer may jump."""
        assert admitted.original.artefact is not None
        async with build_lane():
            guessed = await admitted.source.at_jumps(
                self._prover.builder, admitted.problem, admitted.original.artefact, "made"
            )
        return GeneratedInputs(notes=(_ANEW,), guessed=guessed)

    async def _further(self, admitted: Admitted) -> GeneratedInputs:
        """Inputs of a source that renews them which nobody was told of, with the original's outputs."""
        artefact = admitted.original.artefact
        assert artefact is not None
        asked = await admitted.source.further(admitted.problem, HARSHER)
        if not asked:
            return GeneratedInputs(
                notes=(f"{_ANEW}, and other sizes are drawn between `checked` ones, of which there are none",)
            )
        async with build_lane():
            found = await verify(self._sandbox, admitted.problem, artefact, asked, every=True)
        seconds = {one.name: one.seconds for one in found.results}  # else the limit would tell what is verified
        kept = [
            replace(one, expected=found.outputs[one.name], seconds=seconds[one.name])
            for one in asked
            if one.name in found.outputs
        ]
        known = [one for one in kept if one.workload.incomparable(one.expected or b"") is None]
        known = [admitted.source.looked_at_twice(one, artefact) for one in known]
        async with build_lane():
            beyond = await admitted.source.beyond(self._prover.builder, admitted.problem, artefact, "made")
        how = (f"{len(known)}: {SIZES}", f"{len(beyond)}: {BEYOND}")
        return GeneratedInputs((*known, *beyond), how)

    async def _generated(self, problem: Problem, seed: str, count: int) -> tuple[list[Candidate], list[str]]:
        drawn = random.Random(seed)
        seeds = [drawn.randrange(1_000, 1 << 31) for _ in range(count)]
        try:
            found = await generate(self._sandbox, problem, seeds)
        except InputError as error:
            return [], [f"the generator fails with other seeds: {error}"]
        return [Candidate(blob, SECRET) for _, blob in found], []


async def _changed(given: Understood, seed: str, count: int) -> list[Candidate]:
    """Inputs like the given ones, some sorted or of few values, some with one item unlike the others, which may be long
    and are last."""
    habits = await computed(_drafts, partial(habit, given), f"{seed} habit", count // _HABITS)
    odd = await computed(_drafts, partial(one_unlike, given), f"{seed} one", (count - len(habits)) // 2)
    alike = await computed(_drafts, partial(draft, given), seed, count - len(habits) - len(odd))
    return _candidates([*alike, *habits, *odd])


def _candidates(drafts: Sequence[Draft]) -> list[Candidate]:
    return [Candidate(Blob.of(one.text.encode()), ", ".join(one.how)) for one in drafts]


def _drafts(make: Callable[[str], Draft | None], seed: str, count: int) -> list[Draft]:
    """As many different ones as can be made, at most ``count``."""
    found: dict[str, Draft] = {}
    for number in range(2 * count):
        if len(found) < count and (one := make(f"{seed} {number}")) is not None:
            found.setdefault(one.text, one)
    return list(found.values())
