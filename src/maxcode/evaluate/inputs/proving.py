"""Proves made inputs: asks the original what they are worth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import final

from maxcode.evaluate.inputs.unusual import SIZES_BEYOND, VALUES_BEYOND
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.indistinguishable import session_of
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.sanitize import Sanitizers, bench_for
from maxcode.evaluate.ladder.verify import is_accepted, job_for
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Ran, Sandbox

SECRET, SIZES, BEYOND = "generator, secret seed", "other sizes", "values beyond those drawn"  # ways of making them
_KINDS = {
    SECRET: "from the generator with other seeds (same distribution)",
    SIZES: "of other sizes (same distribution)",
    BEYOND: "with values beyond those drawn",
    VALUES_BEYOND: "with values beyond the given ones, in their domain",
    SIZES_BEYOND: "of sizes beyond the given ones, in their domain",
}
_CHANGED = "changed from the given ones (same format, no larger)"
_LONGER, _MORE = 1.5, 1.25  # than on the given inputs, and then it is not one of their kind
Run = Callable[[Input], Awaitable[Ran]]
_LEAST_TRIED = 4  # that are left out, however long they take
_SLACK_S, _SLACK_KB, _SLACK_BYTES = 0.05, 4096, 4096


@final
@dataclass(frozen=True, slots=True)
class GeneratedInputs:
    """Inputs that the original has proven, with its answers; ``how``: one line on each way they were made, with a
    number; ``notes``: what could not be made or looked at, and why.  ``guessed``: inputs beyond all given ones that the
    original answers, where the problem does not say that they can come; no verdict depends on them, and the sanitizers
    look at the original on them only where a winner is wrong on one.  ``ways``: how each input was made, as long as
    the sanitizers have not looked at the original on it (``unsanitized``)."""

    inputs: tuple[Input, ...] = ()
    how: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guessed: tuple[Input, ...] = ()
    ways: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.ways and len(self.ways) != len(self.inputs):
            raise ValueError(f"{len(self.inputs)} inputs were made in {len(self.ways)} ways; name one for each")

    @property
    def unsanitized(self) -> bool:
        """Whether the sanitizers have yet to look at the original on these inputs."""
        return bool(self.ways)

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
        return await self.sanitized(admitted, await self.answered(admitted, made, terms))

    async def answered(self, admitted: Admitted, made: Sequence[Candidate], terms: Terms) -> GeneratedInputs:
        """Those that the original answers on these terms; the sanitizers have not looked at it."""
        if not made:
            return GeneratedInputs()
        async with build_lane():
            kept = await self._answered(admitted, made, terms)
        notes = (f"{len(made) - len(kept)} more were left out",) if len(kept) < len(made) else ()
        ways = tuple(way for _, way in kept)
        return GeneratedInputs(tuple(given for given, _ in kept), counted(ways), notes, ways=ways)

    async def sanitized(self, admitted: Admitted, found: GeneratedInputs) -> GeneratedInputs:
        """Without those on which the original shows the sanitizers something; all of them, if that was done."""
        if not found.unsanitized:
            return found
        async with build_lane():
            clean, unclean = await self._clean(admitted, found.inputs)
        names = {given.name for given in clean}
        ways = tuple(way for given, way in zip(found.inputs, found.ways, strict=True) if given.name in names)
        return replace(found, inputs=clean, how=counted(ways), notes=(*found.notes, *unclean), ways=())

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
        async with self._runner(admitted, inputs) as run:
            return [await run(given) for given in inputs]

    @asynccontextmanager
    async def _runner(self, admitted: Admitted, inputs: Sequence[Input]) -> AsyncIterator[Run]:
        """Runs the original on any of these inputs."""
        artefact = admitted.original.artefact
        assert artefact is not None
        blobs = [artefact, *(given.stdin for given in inputs)]
        async with session_of(self.sandbox, admitted.problem, blobs) as session:
            yield lambda given: session.run(job_for(admitted.problem, artefact, given))

    async def _answered(self, admitted: Admitted, made: Sequence[Candidate], terms: Terms) -> list[tuple[Input, str]]:
        """Those on which the original ends well twice, in two sessions, with answers that are the same or accepted.  No
        more are tried when those that are not kept have taken all the seconds too."""
        most = await self._most(admitted) if terms.alike else None
        least = max(one.seconds for one in admitted.inputs) if terms.seconds is not None else 0.0
        asked = [Input(f"{terms.name}-{n}", one.stdin, None, "made", seconds=least) for n, one in enumerate(made, 1)]
        seconds = math.inf if terms.seconds is None else terms.seconds
        kept: list[Input] = []
        spent = lost = 0.0
        async with self._runner(admitted, asked) as run:
            for given in asked:
                known, first = given.stdin.sha256 in self.before, terms.alike and not kept
                if lost > seconds and not (known or first):
                    continue
                ran = await run(given)
                fits = most is None or _is_alike(ran, most)
                if ran.ok and (known or (fits and (first or spent + ran.cpu_s <= seconds))):
                    spent += ran.cpu_s
                    kept.append(replace(given, expected=ran.stdout, seconds=ran.cpu_s))
                else:
                    lost += min(ran.cpu_s, seconds / _LEAST_TRIED)
        again = await self.runs(admitted, kept)
        ways = {given.name: one.how for given, one in zip(asked, made, strict=True)}
        return [
            (given, ways[given.name])
            for given, ran in zip(kept, again, strict=True)
            if ran.ok and await is_accepted(self.sandbox, admitted.problem, given, ran.stdout)
        ]


def counted(ways: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{ways.count(way)}: {way}" for way in dict.fromkeys(ways))


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
