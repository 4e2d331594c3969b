"""Calls the sides of a Python function in turn: fresh arguments for every call, and results that are compared with the
original's; where the user gives an ``is_solution``, it decides (``checking.py``).

A pair is one round by every side on the same fresh arguments, in random order, or the mean of two if a round is short.
A round has some parts, each with its own arguments, which a side sees when its part
begins; between parts and rounds a process is stopped.  What is timed is from the word to the results: reading the
arguments, the calls, writing down the results.  What the arguments are afterwards is asked once the results were read;
what that takes beyond the original is charged.
A process whose calls do nothing gets the same arguments in a race (``handing.py``).
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import final

import anyio.to_thread

from maxcode.core.types import Clock, Program
from maxcode.errors import InputError
from maxcode.evaluate.ladder.race import Pair, Side
from maxcode.evaluate.python.checking import Checker, Given
from maxcode.evaluate.python.comparing import Comparison, is_raised
from maxcode.evaluate.python.fixed import Fixed
from maxcode.evaluate.python.handing import Handing, Idle
from maxcode.evaluate.python.making import Makers, share_of
from maxcode.evaluate.python.nodes import Node, Reader, gathered, parts_of
from maxcode.evaluate.python.sides import MOST_RESULT_BYTES, Layout, SideStarter, draw_seeds
from maxcode.evaluate.python.slipping import slipping
from maxcode.evaluate.rounds.round import (
    WRONG_OUTPUT,
    RoundFailed,
    RoundSeconds,
    answered,
    last_words,
    mean_of,
    pair_of,
    read_of,
    started,
)
from maxcode.sandbox.sandbox import Blob, Calls, Ran

MOST_TIMES, MORE_BYTES = 16, 64 << 20  # of the original's bytes a side may give, and so many more
LONG = 1000  # bytes
HELD_OUT = "a held-out call {}; no more is told of those"
SHARED_BIT = 2  # of a side's results, in the answer of a round


@final
@dataclass(slots=True)
class Seen:
    """What was seen of the original: ``different``: results of calls that were not all the same; ``raised``: calls that
    ended in an exception, of so many ``calls``; ``bytes``: the largest results of a part; ``check_s``: seconds that
    is_solution took for a part."""

    results: set[str]
    raised: int = 0
    calls: int = 0
    bytes: int = 0
    error: str = ""
    check_s: float = 0.0


@final
class PythonTrack:
    """Processes that are ready to be called.  The caller holds the timing lane."""

    def __init__(
        self, stage: SideStarter, layout: Layout, makers: Makers, sides: Mapping[Side, Calls], checker: Checker | None
    ) -> None:
        self._stage, self._layout = stage, layout
        self._makers, self._sides, self.checker = makers, dict(sides), checker
        self._order = random.SystemRandom()
        self.round_s: dict[Side, RoundSeconds] = {name: RoundSeconds() for name in sides}
        self._tolerance = stage.problem.spec.python_spec.tolerance
        self._own_arguments = stage.problem.spec.python_spec.own_arguments
        self.begun_s: Mapping[Side, float] = {}
        self.clock: Clock = stage.problem.goal
        self.seen = Seen(set())
        self._seeds: Sequence[int] = ()
        self.idle: Idle | None = None

    async def pair(self) -> Pair:
        """One round by every side, or the mean of two if they are short."""
        return mean_of([await self.round(timed=True) for _ in range(2 if self._layout.twice else 1)])

    async def round(self, calls: Sequence[int] = (), timed: bool = False) -> Pair:
        """One round by every side, in random order.  ``RoundFailed`` names the side that failed.

        ``calls``: numbers of recorded calls; none: fresh arguments from secret seeds.  ``timed``: its seconds count.
        """
        seeds = [] if calls else draw_seeds(self._layout.calls)
        inputs, self._seeds = await self._makers.make(calls or seeds), seeds
        names = list(self._sides)
        self._order.shuffle(names)
        with Blob.joined([inputs]) as blob:
            found = {name: answered(name, await self._called(name, blob)) for name in names}
            if self.idle is not None:
                limits = self._stage.round_limits(False, self._layout.slots)
                await self.idle.round(blob, limits, found, counts=bool(self.round_s[names[0]].untimed))
        if not self._own_arguments:
            self._check_shared(found)
        await self._check(inputs, found, timed)
        pair = pair_of(_charged(found), self.clock)
        for name in names:
            (self.round_s[name].timed if timed else self.round_s[name].untimed).append(pair.total(name))
        return pair

    def start_s(self, name: Side) -> float:
        """Seconds for the import, and of the first round beyond the least of the later ones."""
        return self.begun_s.get(name, 0.0) + self.round_s[name].first_s()

    async def _called(self, name: Side, inputs: Blob) -> Ran:
        limits = self._stage.round_limits(name == "candidate", self._layout.slots)
        return await self._sides[name].round(inputs, *limits)

    def _check_shared(self, found: Mapping[Side, Ran]) -> None:
        for name, ran in found.items():
            if name != "original" and ran.code & ~found["original"].code & SHARED_BIT:
                raise RoundFailed(name, "its result is the memory of an argument, and for the original it is not")

    # --------------------------------------------------------------------------------------------------- comparing

    async def _check(self, inputs: bytes, found: Mapping[Side, Ran], timed: bool) -> None:
        with read_of("original"):
            original = self._parts("original", found["original"])
            await anyio.to_thread.run_sync(self._see, original)
        most = MOST_TIMES * len(found["original"].stdout) + MORE_BYTES
        for name, ran in found.items():
            with read_of(name):
                if len(ran.stdout) > most:
                    raise RoundFailed(name, f"it gave {len(ran.stdout)} bytes, at most {most} may come in a round")
                given = self._parts(name, ran)
                if self.checker is not None:
                    await self.checker.ask(name, inputs, (original, given), timed)
                if ran.stdout == found["original"].stdout:
                    continue
                if why := await anyio.to_thread.run_sync(self._difference, original, given):
                    raise RoundFailed(name, why)

    def _parts(self, name: Side, ran: Ran) -> list[Given]:
        memory, found, batch = memoryview(ran.stdout), list[Given](), self._layout.batch
        for slot in range(self._layout.slots):
            own, rest = memory[: self._layout.capacity], memory[self._layout.capacity :]
            results, rest = gathered(rest)
            afterwards, memory = gathered(rest)
            if not results:
                most = MOST_RESULT_BYTES >> 20
                raise RoundFailed(name, f"it gave no results, or more than {most} MB of them; give smaller inputs")
            found.append(Given(own, results, afterwards, self._seeds[slot * batch : (slot + 1) * batch]))
        return found

    def _difference(self, original: Sequence[Given], other: Sequence[Given]) -> str:
        """How the results of a round differ from the original's, or its arguments afterwards; empty if they do not."""
        if self.checker is not None and (why := self._slips_by(original, other)):
            return why
        comparison, after = (Comparison(Reader(), Reader(), self._tolerance) for _ in range(2))
        for slot, (want, have) in enumerate(zip(original, other, strict=True)):
            why = self._results_differ(comparison, want, have) if self.checker is None else ""
            why = why or ("" if self._own_arguments else self._arguments_differ(after, want, have))
            if why:
                return f"call {slot * self._layout.batch + 1} of a round, or one soon after it: {why}"
        return ""

    def _results_differ(self, comparison: Comparison, want: Given, have: Given) -> str:
        comparison.wanted.open(want.results)
        comparison.given.open(have.results)
        for _ in range(self._layout.batch):
            one = comparison.wanted.node()
            if why := comparison.difference(one, comparison.given.node(), "the result"):
                return f"wrong result: {why}"
        return ""

    def _slips_by(self, original: Sequence[Given], other: Sequence[Given]) -> str:
        """Which result holds what ``is_solution`` may not see, and the original's does not: an iterator, which
        is empty when it is looked at twice, an object of an earlier result, which changes when that is changed, or
        numbers that no tolerance refuses.  Empty if none does."""
        readers = Reader(), Reader()
        for slot, results in enumerate(zip(original, other, strict=True)):
            for reader, one in zip(readers, results, strict=True):
                reader.open(one.results)
            for call in range(self._layout.batch):
                (want, letters), (have, given) = (reader.node_with_letters() for reader in readers)
                more = given - letters
                what = {"an iterator"} if "g" in more else slipping(have, want)
                if "W" in more and Fixed(readers[1]).changes_with_earlier(have):
                    what = {*what, "an object of an earlier result"}
                if what:
                    which = results[1].named(call, slot * self._layout.batch + call + 1)
                    return f"{which}: its result holds {' and '.join(sorted(what))}, and the original's does not"
        return ""

    def _arguments_differ(self, comparison: Comparison, want: Given, have: Given) -> str:
        wanted, given = comparison.wanted.open(want.afterwards), comparison.given.open(have.afterwards)
        for _ in range(self._layout.batch):
            if why := comparison.difference(wanted.node(), given.node(), "an argument after the call"):
                return f"it changes its arguments otherwise: {why}"
        return self._memory_differs(want, have)

    def _memory_differs(self, want: Given, have: Given) -> str:
        """The same of the memory itself, which the process cannot make look otherwise."""
        if want.memory == have.memory:
            return ""
        wanted, given = Reader().open(parts_of(want.memory)), Reader().open(parts_of(have.memory))
        comparison = Comparison(wanted, given, self._tolerance)
        if wanted.number() != given.number():
            return "it changes its arguments otherwise: the number of calls in memory"
        for _ in range(self._layout.batch):
            if why := comparison.difference(wanted.node(), given.node(), "an argument in memory"):
                return f"it changes its arguments otherwise: {why}"
        return ""

    def _see(self, original: Sequence[Given]) -> None:
        """Remember of the original's results what shows whether they can tell a right program from a wrong one."""
        self.seen.bytes = max(self.seen.bytes, *(sum(map(len, one.results)) for one in original))
        if self.seen.calls > 200:
            return
        reader = Reader()
        for one in original:
            reader.open(one.results)
            for _ in range(self._layout.batch):
                self._see_result(reader.node())

    def _see_result(self, result: Node) -> None:
        self.seen.calls += 1
        if is_raised(result):
            self.seen.raised += 1
            self.seen.error = f"{result[1]}: {result[2]}"
        if len(self.seen.results) < 2:
            self.seen.results.add(repr(_brief(result)))


def _brief(part: object) -> object:
    """A node with long bytes as their hash, which tells as well whether two are the same."""
    if isinstance(part, bytes) and len(part) > LONG:
        return hash(part)
    return tuple(map(_brief, part)) if isinstance(part, (tuple, list)) else part


def _charged(found: Mapping[Side, Ran]) -> dict[Side, Ran]:
    """The rounds, each with what it took after its calls beyond the original, where it could work for the next ones.

    Nobody gains by taking less, because who replaces the driver could tell sooner what became of its arguments.  Such a
    program may work for as long as the original takes to tell, and no rule about time can find it, because it may fill
    just that.  To charge both in full would reward telling sooner even where there is nothing to work on."""
    least = found["original"].prepared_s
    more = {name: max(0.0, ran.prepared_s - least) for name, ran in found.items()}
    return {
        name: replace(ran, cpu_s=ran.cpu_s + more[name], wall_s=ran.wall_s + more[name]) for name, ran in found.items()
    }


@asynccontextmanager
async def open_track(
    stage: SideStarter, layout: Layout, sides: Mapping[Side, Program], handing: Handing | None = None
) -> AsyncIterator[PythonTrack]:
    """The maker, the checker if there is one, and all sides, each in its own sandbox, started and ready.

    ``handing``: where to count what handing over costs; then a process whose calls do nothing is started too.
    ``RoundFailed`` if a side does not get ready, InputError if the maker or the checker does not.
    """
    original = stage.problem.program
    calls = {name: stage.started("calls", program, layout) for name, program in sides.items()}
    async with AsyncExitStack() as stack:
        share = share_of(layout)
        making = stage.started("make", original, share)
        begun = await stack.enter_async_context(started(making, calls, stage.problem.goal, "inputs.py"))
        further = [stage.started("make", original, share) for _ in range(1, layout.makers)]
        makers = [begun.maker, *[await _ready(stack, one, "inputs.py") for one in further]]
        checker: Checker | None = None
        if stage.problem.spec.python_spec.check:
            calls_it = await _ready(stack, stage.started("check", original, layout), "the file of is_solution")
            checker = Checker(stage, layout, calls_it)
        track = PythonTrack(stage, layout, Makers(stage, layout, makers), begun.sides, checker)
        track.begun_s = begun.begun_s
        if handing is not None:
            track.idle = Idle(await _ready(stack, stage.started("idle", original, layout), "the original"), handing)
        yield track


async def _ready(stack: AsyncExitStack, starting: AbstractAsyncContextManager[Calls], what: str) -> Calls:
    """A process of the user's, started and ready.  InputError if it does not get there."""
    calls = await stack.enter_async_context(starting)
    ready = await calls.ready()
    if ready.ending != "answered":
        raise InputError(f"{what} does not run: {last_words(ready)}")
    return calls


@final
@dataclass(frozen=True, slots=True)
class RecordedPairs:
    """Pairs on recorded calls, which are the same in every pair: so each has processes of its own, and a call is made
    once in each.  ``warm``: calls that are made before, untimed; ``timed``: those that are held out, of which a failed
    candidate is told nothing: its next version could hold the answers."""

    stage: SideStarter
    layout: Layout
    sides: Mapping[Side, Program]
    warm: Sequence[int]
    timed: Sequence[int]
    handing: Handing | None = None

    @property
    def clock(self) -> Clock:
        return self.stage.problem.goal

    async def pair(self) -> Pair:
        return (await self.once())[0]

    async def once(self) -> tuple[Pair, PythonTrack]:
        """A pair, and the track that made it, which is over."""
        async with open_track(self.stage, self.layout, self.sides, self.handing) as track:
            await track.round(self.warm)
            try:
                return await track.round(self.timed, timed=True), track
            except RoundFailed as failed:
                if self.sides[failed.side].digest == self.stage.problem.program.digest:
                    raise
                raise _untold(failed) from None


def _untold(failed: RoundFailed) -> RoundFailed:
    """The failure on a held-out call without its words, status and time, each of which could carry the call out."""
    if failed.ran is None:
        return RoundFailed(failed.side, HELD_OUT.format("is wrong"))
    is_late = failed.ran.ending == "timeout"
    status = failed.ran.code if failed.ran.code == WRONG_OUTPUT else 1
    ran = replace(failed.ran, code=status, stdout=b"", stderr=b"", cpu_s=0.0, wall_s=0.0)
    return RoundFailed(failed.side, HELD_OUT.format("takes too long" if is_late else "does not end well"), ran)
