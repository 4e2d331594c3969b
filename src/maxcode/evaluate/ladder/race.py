"""The rung *time*: original, incumbent and candidate in one sandbox session, in random order in every pass.

A pair is one pass over the timed inputs by each side; its ratio is the summed seconds of the original over those of the
candidate.  Short passes are made twice, and the mean counts.  Because the runs of a pass come in
random order, the sign of log(ratio) is a fair coin for equal programs; ``stats.decide`` bets on it.  Every output of a
timed run is checked.  If the goal is CPU time, the wall clock is measured as well: a program that lets something else
work while it sleeps is not faster.  If the goal is the wall clock, a confirmation is followed by pairs on one core, by
CPU time, which more threads cannot improve.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import fmean
from typing import Literal, Protocol, final

from maxcode.code.languages import language
from maxcode.core.phases import TIMING, activity
from maxcode.core.stats import RaceRule, decide, decide_sittings, interval_of, is_faster, is_settled, median_interval
from maxcode.core.types import Clock, Interval, Problem, RaceVerdict, Timing
from maxcode.core.types.measured import WAITING
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.function.start import Starts
from maxcode.evaluate.ladder.cures import stopped_by_run_limit
from maxcode.evaluate.ladder.indistinguishable import session_of
from maxcode.evaluate.ladder.prepare import COPIES, Input, InputSource
from maxcode.evaluate.ladder.verify import ended, is_accepted, job_for
from maxcode.evaluate.machine.pressure import is_too_busy, watched
from maxcode.sandbox.lanes import no_builds, timing_lane
from maxcode.sandbox.sandbox import Blob, Ran, Sandbox, Session

SHORT_PASS_S = 0.060
DRAWS = 3  # draws of inputs in a row on which the original gives NaN or infinity
TICK_S = 1e-6  # tick of the clock of an ended process

Side = Literal["original", "incumbent", "candidate", "control"]  # control: the original once more


@final
@dataclass(frozen=True, slots=True)
class RaceSide:
    """A side of a race: its artefact, its accepted outputs by test name, and ``Built.code``, empty if nobody asks."""

    artefact: Blob
    outputs: Mapping[str, bytes]
    code: str = ""


class WrongOutput(Exception):
    """A timed run gave a wrong output or failed.

    ``side``: which side; ``given``: the name of the input; ``late``: it ran out of time.
    """

    def __init__(self, side: Side, given: Input, how: str, late: bool = False) -> None:
        super().__init__(f"while being timed on {given.name if given.seen else 'a held-out test'}: {how}")
        self.side, self.given, self.late = side, given.name, late


class _Undefined(Exception):
    """The original itself gave NaN or infinity on the drawn inputs, so the other sides cannot be judged on them."""


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds by side and input of one pass, by the goal's clock.  ``elapsed``: wall seconds of the pass by side."""

    seconds: dict[Side, dict[str, float]]
    elapsed: dict[Side, float]

    def total(self, side: Side) -> float:
        return sum(self.seconds[side].values())

    def ratio(self, over: Side, under: Side) -> float:
        return self.total(over) / self.total(under)


End = Callable[[list[Pair]], RaceVerdict | None]


class Pairing(Protocol):
    """Makes pairs: a ``Track``, or the track of another harness."""

    @property
    def clock(self) -> Clock: ...

    async def pair(self) -> Pair: ...


@final
@dataclass(frozen=True, slots=True)
class RaceInputs:
    """What all races of a problem share.

    ``source``: if it renews the inputs, the original must take part, because the others are compared with its outputs.
    ``one_core``: every run has one core and is timed by CPU time, whatever the goal.
    """

    sandbox: Sandbox
    problem: Problem
    source: InputSource = COPIES
    one_core: bool = False

    @property
    def clock(self) -> Clock:
        """The clock that decides."""
        return "cpu" if self.one_core else self.problem.goal


@final
class Track:
    """Runs the sides of a race in turn.  The caller holds the timing lane.

    Every pass has its own session, in which a side sees an input once.  In a longer session a program could leave
    itself a note in what the namespace counts (process numbers, the time that process 1 has used) and skip the work
    later.
    """

    def __init__(self, field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input]) -> None:
        self._field = field
        self._sandbox, self._problem = field.sandbox, field.problem
        self._entries = entries
        self._timed = timed
        self._order = random.SystemRandom()
        self._starts = Starts()
        self._tongue = language(field.problem.language)

    @property
    def clock(self) -> Clock:
        """The clock that decides."""
        return self._field.clock

    async def ahead(self) -> None:
        """Makes what its first passes need, which may be beside other timing."""
        await self._field.source.ahead(self._timed)

    async def pair(self) -> Pair:
        """One pass by every side, the mean of two if they are short.  WrongOutput if a run fails or is wrong."""
        passes = [await self._defined_pass()]
        if sum(given.seconds for given in self._timed) < SHORT_PASS_S:
            passes.append(await self._defined_pass())
        names = [given.name for given in self._timed]
        clock = attrgetter("cpu_s" if self._field.clock == "cpu" else "wall_s")
        sides = tuple(self._entries)
        return Pair(
            {side: {name: mean_s(clock(one[side, name]) for one in passes) for name in names} for side in sides},
            {side: fmean(sum(one[side, name].wall_s for name in names) for one in passes) for side in sides},
        )

    async def _defined_pass(self) -> dict[tuple[Side, str], Ran]:
        """A pass on inputs for which the original gives numbers."""
        for _ in range(DRAWS):
            with suppress(_Undefined):
                return await self._pass()
        names = ", ".join(given.name for given in self._timed)
        raise InputError(
            f"the original gives NaN or infinity at {names}, {DRAWS} times in a row; write an inputs.c that avoids that"
        )

    async def _pass(self) -> dict[tuple[Side, str], Ran]:
        with ExitStack() as own:
            timed = [await self._field.source.for_pass(given, own) for given in self._timed]
            runs = [(side, given) for side in self._entries for given in timed]
            self._order.shuffle(runs)
            fresh = {side: own.enter_context(entry.artefact.copy()) for side, entry in self._entries.items()}
            blobs = [*fresh.values(), *(given.stdin for given in timed)]
            async with session_of(self._sandbox, self._problem, blobs) as session:
                found = {(side, given.name): await self._run(session, side, fresh[side], given) for side, given in runs}
            first = sorted(found, key=lambda key: key[0] != "original")  # whose start the others are compared with
            found = {key: await self._charged(*key, found[key]) for key in first}
            for given in timed:
                await self._check(given, {side: found[side, given.name].stdout for side in self._entries})
        return found

    async def _run(self, session: Session, side: Side, artefact: Blob, given: Input) -> Ran:
        job = job_for(self._problem, artefact, given)
        ran = await session.run(replace(job, one_core=self._field.one_core))
        if not ran.ok:
            is_late = ran.ending == "timeout"
            limit = stopped_by_run_limit(self._problem.spec.limits, job.cpu_s) if is_late else ""
            raise WrongOutput(side, given, f"{ended(given, ran, side)}{limit}", is_late)
        if min(ran.cpu_s, ran.wall_s) <= 0 and given.workload.called:
            raise WrongOutput(side, given, "its calls used no time")
        if min(ran.cpu_s, ran.wall_s) <= 0:
            raise MachineError(f"the clocks read {ran.cpu_s} and {ran.wall_s} s; this machine cannot time programs")
        return ran

    async def _charged(self, side: Side, name: str, ran: Ran) -> Ran:
        """A run of calls with the work that its side does before the first of them."""
        given = next(one for one in self._timed if one.name == name)
        if (least_s := await self._field.source.ready_s(given)) is None:
            return ran
        late_s = self._starts.late_s(side, name, ran.ready_s, least_s)
        return replace(ran, cpu_s=ran.cpu_s + late_s, wall_s=ran.wall_s + late_s)

    async def _check(self, given: Input, outputs: Mapping[Side, bytes]) -> None:
        is_new = given.expected is None
        if is_new:
            given = replace(given, expected=outputs["original"])
            given = self._field.source.looked_at_twice(given, self._entries["original"].artefact)
            outputs = {side: output for side, output in outputs.items() if side != "original"}
        for side, output in outputs.items():
            known = not is_new and output == self._entries[side].outputs.get(given.name)
            if known or await is_accepted(self._sandbox, self._problem, given, output):
                continue
            if is_new and not await self._is_defined(given):
                raise _Undefined
            raise WrongOutput(side, given, "gave a wrong output")

    async def _is_defined(self, given: Input) -> bool:
        """True if the original's own outputs can be compared: NaN and infinity cannot."""
        return await is_accepted(self._sandbox, self._problem, given, given.expected or b"")


async def race(field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule) -> Timing:
    """The anytime-valid race of the candidate against the original; an incumbent can only end it early ("dominated").

    A tie with the incumbent does not end the race, because the candidate may still be confirmed as faster than the
    original.
    """
    held = await _held(end_of_race(rule, "incumbent" in entries), Track(field, entries, timed))
    return timing_of(field.problem, held, timed)


def end_of_race(rule: RaceRule, has_incumbent: bool) -> End:
    """The rule that ends a race against the original, with its verdict.  Where the clocks contradict each other two
    pairs are not enough: a burst of other work would then refuse a candidate."""

    def end(pairs: list[Pair]) -> RaceVerdict | None:
        is_short = rule.evident is not None and len(pairs) < rule.least and _elapsed(pairs).high < WAITING
        verdict = decide(_ratios(pairs, "original"), replace(rule, evident=None) if is_short else rule)
        if verdict is None and has_incumbent and decide(_ratios(pairs, "incumbent"), rule) == "slower":
            return "dominated"
        return verdict

    return end


async def playoff(
    field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule
) -> RaceVerdict:
    """The verdict of the candidate against the incumbent on fresh pairs."""
    return (await _held(end_of_playoff(rule), Track(field, entries, timed))).verdict


def end_of_playoff(rule: RaceRule) -> End:
    """The rule that ends a race against the incumbent, with its verdict."""
    return lambda pairs: decide(_ratios(pairs, "incumbent"), rule)


async def confirm(
    field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule
) -> Timing:
    """Fresh pairs against the original until the interval is as narrow as the rule asks, or the rule allows no more.

    Significant only if the fresh pairs alone win the race again and the interval lies above 1.  If the goal is the wall
    clock, the speed-up on one core is measured as well.
    """
    held = await _held(end_of_confirmation(rule), Track(field, entries, timed))
    single = await on_one_core(field, entries, timed, rule) if field.clock == "wall" else None
    return replace(timing_of(field.problem, held, timed), confirmed=True, single=single)


def end_of_confirmation(rule: RaceRule) -> End:
    """The rule that ends a confirmation, with its verdict."""

    def end(pairs: list[Pair]) -> RaceVerdict | None:
        ratios = _ratios(pairs, "original")
        if not is_settled(ratios, rule):
            return None
        if is_faster(ratios, rule):
            return "faster"
        return "tie" if median_interval(ratios).high > 1 else "slower"

    return end


async def on_one_core(
    field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule
) -> Interval | None:
    """The speed-up on one core, by CPU time, over the least number of pairs of a confirmation.

    None if a run does not end in time there, for example threads that wait for one another without sleeping.
    """

    def end(pairs: list[Pair]) -> RaceVerdict | None:
        return "tie" if len(pairs) >= rule.confirm_least else None

    try:
        held = await run_until(end, Track(replace(field, one_core=True), entries, timed))
    except WrongOutput as wrong:
        if wrong.late:
            return None
        raise
    return median_interval(_ratios(held.pairs, "original"))


@final
@dataclass(frozen=True, slots=True)
class RaceResult:
    """A finished race: its pairs, its verdict, and the CPU pressure meanwhile.  ``sittings``: pairs in each session."""

    pairs: list[Pair]
    verdict: RaceVerdict
    pressure: float | None
    sittings: tuple[int, ...] = ()


@asynccontextmanager
async def timing_alone(clock: Clock) -> AsyncIterator[None]:
    """The timing lane; by the wall clock, without builds beside it."""
    async with timing_lane(), AsyncExitStack() as stack:
        if clock == "wall":
            await stack.enter_async_context(no_builds())
        stack.enter_context(activity(TIMING))
        yield


async def _held(end: End, track: Track) -> RaceResult:
    """The same; what the first passes need is made before the lane is taken: beside a timed pass it would slow it."""
    await track.ahead()
    return await run_until(end, track)


async def run_until(end: End, track: Pairing) -> RaceResult:
    """Makes pairs, in the timing lane, until ``end`` returns a verdict on them."""
    pairs: list[Pair] = []
    async with timing_alone(track.clock):
        pressure = watched()
        while True:
            pairs.append(await track.pair())
            if (verdict := end(pairs)) is not None:
                return RaceResult(pairs, verdict, pressure())


def together(held: Sequence[RaceResult], rule: RaceRule) -> RaceResult | None:
    """Several sessions, each with new processes, as one confirmation; None if more sessions are needed."""
    pairs = [pair for one in held for pair in one.pairs]
    sizes = tuple(len(one.pairs) for one in held)
    verdict = decide_sittings(_ratios(pairs, "original"), sizes, rule)
    if verdict is None:
        return None
    known = [one.pressure for one in held if one.pressure is not None]
    return RaceResult(pairs, verdict, max(known, default=None), sizes)


def mean_s(seconds: Iterable[float]) -> float:
    """The mean of these times, at least a tick of the clock; the least would favour a program whose time varies."""
    return max(TICK_S, fmean(seconds))


def _ratios(pairs: Sequence[Pair], over: Side) -> list[float]:
    return [pair.ratio(over, "candidate") for pair in pairs]


def _elapsed(pairs: Sequence[Pair], sittings: Sequence[int] = ()) -> Interval:
    """The speed-up by the wall clock."""
    return interval_of([pair.elapsed["original"] / pair.elapsed["candidate"] for pair in pairs], sittings)


def timing_of(problem: Problem, held: RaceResult, timed: Sequence[Input]) -> Timing:
    """The timing of the candidate from a race."""
    pairs, verdict = held.pairs, held.verdict
    elapsed = _elapsed(pairs, held.sittings)
    if verdict == "faster" and elapsed.high < WAITING:
        verdict = "slower_by_wall"
    if verdict == "faster" and is_too_busy(problem, held.pressure):
        verdict = "noisy"
    return Timing(
        clock=problem.goal,
        speedup=interval_of(_ratios(pairs, "original"), held.sittings),
        significant=verdict == "faster",
        verdict=verdict,
        pairs=len(pairs),
        inputs=tuple(given.name for given in timed),
        samples=tuple((pair.total("original"), pair.total("candidate")) for pair in pairs),
        per_input={given.name: _median_on(pairs, given.name) for given in timed},
        over_rival=median_interval(_ratios(pairs, "incumbent")) if "incumbent" in pairs[0].seconds else None,
        elapsed=elapsed,
        gflops=_rate(pairs, [given.workload.flop for given in timed]),
        gbytes=_rate(pairs, [given.workload.moved for given in timed]),
        pressure=held.pressure,
        sittings=held.sittings,
    )


def _rate(pairs: Sequence[Pair], work: Sequence[int]) -> Interval | None:
    """1e9 units of work per second over all calls of a pass; None if the problem does not say how much work it is."""
    total = sum(work)
    return median_interval([total / pair.total("candidate") / 1e9 for pair in pairs]) if total else None


def _median_on(pairs: Sequence[Pair], name: str) -> float:
    return median_interval([p.seconds["original"][name] / p.seconds["candidate"][name] for p in pairs]).value
