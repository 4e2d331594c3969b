"""Inputs that nobody was shown: made by the user's generator from secret seeds, and from the given inputs.

What is made counts only where the original proves it: on it the original ends well twice with the same answer, uses no
more time, memory and output than the given inputs make it use, and shows the sanitizers nothing.  They are made when a
first winner asks for them, and kept.  Feedback about them is one bit.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import anyio

from maxcode.core.ahead import computed
from maxcode.core.phases import in_stage
from maxcode.core.types import Evaluation, Feedback, Outcome, Problem
from maxcode.errors import InputError
from maxcode.evaluate.inputs.format_model import Understood
from maxcode.evaluate.inputs.given import text_of, understood
from maxcode.evaluate.inputs.mutate import Draft, draft
from maxcode.evaluate.inputs.one_unlike import one_unlike
from maxcode.evaluate.inputs.unusual import SIZES_BEYOND, VALUES_BEYOND, habit, stated, wider
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.indistinguishable import session_of
from maxcode.evaluate.ladder.prepare import Admitted, Input, generate, identity
from maxcode.evaluate.ladder.sanitize import Sanitizers, bench_for
from maxcode.evaluate.ladder.verify import is_accepted, job_for, verify
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Ran, Sandbox

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
_SECRET, _SIZES, _BEYOND = "generator, secret seed", "other sizes", "values beyond those drawn"  # ways of making them
_KINDS = {
    _SECRET: "from the generator with other seeds (same distribution)",
    _SIZES: "of other sizes (same distribution)",
    _BEYOND: "with values beyond those drawn",
    VALUES_BEYOND: "with values beyond the given ones, in their domain",
    SIZES_BEYOND: "of sizes beyond the given ones, in their domain",
}
_CHANGED = "changed from the given ones (same format, no larger)"
_SECONDS, _HARSH_SECONDS = (
    0.6,
    2.5,
)  # of the original's CPU time on all made inputs: a sanitizer takes ten times as long
_HABITS = 4  # one of so many drafts is sorted or holds few values
_WIDER, _WIDER_SECONDS = 9, 1.0  # drafts beyond all given inputs, and the original's CPU time on them
_LONGER, _MORE = 1.5, 1.25  # than on the given inputs, and then it is not one of their kind
_SLACK_S, _SLACK_KB, _SLACK_BYTES = 0.05, 4096, 4096
_SEED_BITS = 62
_SHOWN = 8  # numbers of an input


@final
@dataclass(frozen=True, slots=True)
class GeneratedInputs:
    """Inputs that the original has proven, with its answers; ``how``: one line on each way they were made, with a
    number; ``notes``: what could not be made or looked at, and why.  ``guessed``: inputs beyond all given ones that the
    original answers, where the problem does not say that they can come; no verdict depends on them, and the sanitizers
    look at the original on them only where a winner is wrong on one."""

    inputs: tuple[Input, ...] = ()
    how: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guessed: tuple[Input, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """What they vary, in words, with the number of each kind."""
        counts: Counter[str] = Counter()
        for line in self.how:
            number, _, way = line.partition(": ")
            counts[_KINDS.get(way, _CHANGED)] += int(number)
        return tuple(f"{number} {kind}" for kind, number in counts.items() if number)


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """An input that may be one; ``how`` it was made."""

    stdin: Blob
    how: str


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """On which inputs the original may be asked.

    ``seconds``: its CPU time on all of them; None: any.
    ``alike``: it may use no more time, memory and output than on the given inputs; else as much as its limits allow.
    """

    name: str
    seconds: float | None
    alike: bool = False


LARGER = Terms("larger", None)


@final
@dataclass(frozen=True, slots=True)
class Prover:
    """Asks the original what a made input is worth."""

    sandbox: Sandbox
    builder: Builder
    before: frozenset[str] = frozenset()  # SHA-256 of those proven before: a busier hour does not leave them out

    async def proven(self, admitted: Admitted, made: Sequence[Candidate], terms: Terms) -> GeneratedInputs:
        """Those of ``made`` that the original proves on these terms."""
        if not made:
            return GeneratedInputs()
        async with build_lane():
            kept = await self._answered(admitted, made, terms)
            notes = [f"{len(made) - len(kept)} more were left out"] if len(kept) < len(made) else []
            clean, unclean = await self._clean(admitted, [given for given, _ in kept])
        names = {given.name for given in clean}
        ways = [how for given, how in kept if given.name in names]
        how = tuple(f"{ways.count(way)}: {way}" for way in dict.fromkeys(ways))
        return GeneratedInputs(clean, how, (*notes, *unclean))

    async def answered(self, admitted: Admitted, made: Sequence[Candidate], terms: Terms) -> tuple[Input, ...]:
        """Those that the original answers on these terms; the sanitizers have not looked at it (``clean``)."""
        async with build_lane():
            return tuple(given for given, _ in await self._answered(admitted, made, terms)) if made else ()

    async def clean(self, admitted: Admitted, inputs: Sequence[Input]) -> tuple[Input, ...]:
        """Those on which the original shows the sanitizers nothing."""
        async with build_lane():
            return (await self._clean(admitted, inputs))[0]

    async def _clean(self, admitted: Admitted, inputs: Sequence[Input]) -> tuple[tuple[Input, ...], list[str]]:
        """The same, and what was left out or not looked at, in words."""
        bench = bench_for(self.sandbox, self.builder, admitted.problem, inputs)
        if not inputs:
            return (), []
        if not isinstance(bench, Sanitizers):
            why = f"not looked at by sanitizers: programs in {admitted.problem.language} are not compiled"
            return tuple(inputs), [why]
        clean, not_run = await bench.clean()
        kept = tuple(given for given in inputs if given.name in clean)
        return kept, _unclean(len(inputs), len(kept), not_run)

    async def _most(self, admitted: Admitted) -> Ran:
        """What the original uses at most on the given inputs, read off the slowest and the largest."""
        slowest = sorted(admitted.inputs, key=lambda one: -one.seconds)[:2]
        largest = sorted(admitted.inputs, key=lambda one: -one.stdin.size)[:2]
        runs = await self.runs(admitted, [*{one.name: one for one in (*slowest, *largest)}.values()])
        return replace(
            runs[0],
            cpu_s=max(*(one.seconds for one in admitted.inputs), *(ran.cpu_s for ran in runs)),
            max_rss_kb=max(ran.max_rss_kb for ran in runs),
            stdout=max((one.expected or b"" for one in admitted.inputs), key=len),
        )

    async def runs(self, admitted: Admitted, inputs: Sequence[Input]) -> list[Ran]:
        """The original on each of the inputs, in one session."""
        artefact = admitted.original.artefact
        assert artefact is not None
        blobs = [artefact, *(given.stdin for given in inputs)]
        async with session_of(self.sandbox, admitted.problem, blobs) as session:
            return [await session.run(job_for(admitted.problem, artefact, given)) for given in inputs]

    async def _answered(self, admitted: Admitted, made: Sequence[Candidate], terms: Terms) -> list[tuple[Input, str]]:
        """Those on which the original ends well twice, in two sessions, with answers that are the same or accepted."""
        most = await self._most(admitted) if terms.alike else None
        least = max(one.seconds for one in admitted.inputs) if terms.seconds is not None else 0.0
        asked = [Input(f"{terms.name}-{n}", one.stdin, None, "made", seconds=least) for n, one in enumerate(made, 1)]
        ran_first = await self.runs(admitted, asked)
        kept: list[Input] = []
        spent = 0.0
        for given, ran in zip(asked, ran_first, strict=True):
            known = given.stdin.sha256 in self.before
            fits = most is None or _is_alike(ran, most)
            first = terms.alike and not kept
            is_time = first or terms.seconds is None or spent + ran.cpu_s <= terms.seconds
            if ran.ok and (known or (fits and is_time)):
                spent += ran.cpu_s
                kept.append(replace(given, expected=ran.stdout, seconds=ran.cpu_s))
        again = await self.runs(admitted, kept)
        ways = {given.name: one.how for given, one in zip(asked, made, strict=True)}
        return [
            (given, ways[given.name])
            for given, ran in zip(kept, again, strict=True)
            if ran.ok and await is_accepted(self.sandbox, admitted.problem, given, ran.stdout)
        ]


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
        self._made: dict[tuple[str, bool], GeneratedInputs] = {}
        self._clean: dict[str, tuple[Input, ...]] = {}
        self._making = anyio.Lock()

    async def made(self, admitted: Admitted, harsh: bool = False) -> GeneratedInputs:
        """The inputs for a problem; ``harsh``: others, several times as many."""
        key = (identity(admitted.problem), harsh)
        async with self._making:
            if key not in self._made:
                self._made[key] = await self._make(admitted, harsh)
            return self._made[key]

    async def raced_before(self, admitted: Admitted) -> tuple[Input, ...]:
        """The further inputs that a certificate names, as far as they can be timed here; empty if it names none.

        Whether an input is long enough may differ from one hour to the next, and a repetition races the same ones.
        """
        further = self._prover.before - {one.stdin.sha256 for one in (await self.made(admitted)).inputs}
        made = (await self.made(admitted, harsh=True)).inputs if further else ()
        return tuple(one for one in made if one.stdin.sha256 in further and one.seconds >= one.workload.floor_s / 2)

    async def failure(self, admitted: Admitted, artefact: Blob, harsh: bool = False) -> Evaluation | None:
        """The evaluation of a program that is not right on all of them, in a session of its own; None where it is."""
        made = await self.made(admitted, harsh)
        if not made.inputs:
            return None
        async with build_lane():
            found = await verify(self._sandbox, admitted.problem, artefact, made.inputs)
        if found.outcome is Outcome.CORRECT:
            return None
        return Evaluation(Outcome.WRONG, Feedback((FAILED,)))

    async def given_kind_only(self, admitted: Admitted, artefact: Blob) -> str:
        """What is wrong with a program that differs from the original beyond all given inputs, in words; empty where
        it does not, or where no such input is known."""
        guessed = (await self.made(admitted)).guessed
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
        found = await self._prover.proven(admitted, made, Terms("extra" if harsh else "made", seconds, alike=True))
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
            return replace(found, guessed=await self._prover.answered(admitted, _candidates(drafts), terms))
        more = await self._prover.proven(admitted, _candidates(drafts), terms)
        return GeneratedInputs((*found.inputs, *more.inputs), (*found.how, *more.how), (*found.notes, *more.notes))

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
        how = (f"{len(known)}: {_SIZES}", f"{len(beyond)}: {_BEYOND}")
        return GeneratedInputs((*known, *beyond), how)

    async def _generated(self, problem: Problem, seed: str, count: int) -> tuple[list[Candidate], list[str]]:
        drawn = random.Random(seed)
        seeds = [drawn.randrange(1_000, 1 << 31) for _ in range(count)]
        try:
            found = await generate(self._sandbox, problem, seeds)
        except InputError as error:
            return [], [f"the generator fails with other seeds: {error}"]
        return [Candidate(blob, _SECRET) for _, blob in found], []


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


def _is_alike(ran: Ran, most: Ran) -> bool:
    """Whether the original used no more than it does on the given inputs."""
    return (
        ran.ok
        and ran.cpu_s <= _LONGER * most.cpu_s + _SLACK_S
        and ran.max_rss_kb <= _MORE * most.max_rss_kb + _SLACK_KB
        and len(ran.stdout) <= _MORE * len(most.stdout) + _SLACK_BYTES
    )


def _unclean(looked_at: int, clean: int, not_run: Sequence[str]) -> list[str]:
    if clean == looked_at:
        return []
    why = f" ({not_run[0]})" if not_run else ""
    return [f"{looked_at - clean} left out: a sanitizer's build of the original is not clean on them{why}"]
