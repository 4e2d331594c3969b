"""Races, playoffs and confirmations by the problem's goal: by a clock, or by counting instructions.

If the goal is ``instructions``, each side runs on each input under valgrind twice, to show that the count is stable.
Nothing is random, so the interval is [least, largest] of the ratios of counts.  A confirmation counts again and then
measures CPU time as well, because a count alone says nothing about seconds.  A large speed-up by count that does not
show in seconds is not accepted, because a program can detect that it is counted; this also hits an honest program that
waits for memory.

If the goal is a clock and the user asked for it, a tie is followed by one count of each side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from maxcode.core.stats import COUNT_MARGIN, RaceRule
from maxcode.core.types import Interval, RaceVerdict, Timing
from maxcode.core.types.measured import WAITING
from maxcode.evaluate.ladder import race as racing
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.instruction_count import BLIND, Uncounted, counted, speaks_to_valgrind
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Side, WrongOutput
from maxcode.evaluate.ladder.verify import is_accepted
from maxcode.evaluate.machine.pressure import stamps
from maxcode.sandbox.lanes import build_lane

COUNTS = 2
LARGE = 1.25  # from this ratio on, fewer instructions must show in seconds
REMEMBERED = 1 << 14  # timings; a training run evaluates millions of candidates
UNSTEADY = 0.01  # spread of counts that gives a warning
Found = TypeVar("Found")

_Count = dict[Side, dict[str, int]]  # by side and input


async def race(field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule) -> Timing:
    """The candidate against the original; an incumbent only ends a race by the clock early.

    WrongOutput as in ``race.race``.
    """
    if field.problem.goal == "instructions":
        return _timing([await _count(field, _pair(entries), timed) for _ in range(COUNTS)], timed)
    timing = await racing.race(field, entries, timed, rule)
    return await _tie_broken(field, _pair(entries), timed, timing)


async def playoff(field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule) -> bool:
    """True if the candidate replaces the incumbent."""
    if field.problem.goal != "instructions":
        verdict = await racing.playoff(field, entries, timed, rule)
        if verdict != "tie" or not field.problem.spec.tie_break:
            return verdict == "faster"
    try:
        found = await _count(field, {side: entries[side] for side in ("incumbent", "candidate")}, timed)
    except Uncounted:
        return False
    return _total(found, "incumbent") > (1 + COUNT_MARGIN) * _total(found, "candidate")


async def confirm(
    field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], rule: RaceRule
) -> Timing:
    """The candidate against the original once more, on all timed inputs."""
    if field.problem.goal != "instructions":
        timing = await racing.confirm(field, entries, timed, rule)
        return await _tie_broken(field, entries, timed, timing)
    found = _timing([await _count(field, entries, timed) for _ in range(COUNTS)], timed)
    by_clock = replace(field, problem=replace(field.problem, goal="cpu"))
    seconds = await racing.confirm(by_clock, entries, timed, rule)
    verdict = _believed(found, seconds)
    return replace(found, confirmed=True, seconds=seconds, verdict=verdict, significant=verdict == "fewer")


def unraced(admitted: Admitted, built: Built) -> Timing | None:
    """The timing of a candidate that compiles to the same program as the original, without a race.

    None for all others, and where a rate is wanted, which only a race gives."""
    if built.code != admitted.original.code or admitted.peak_gflops or admitted.memory is not None:
        return None
    return Timing(admitted.problem.goal, Interval(1.0, 1.0, 1.0, 1.0), significant=False, verdict="same_code", pairs=0)


def ruled(timing: Timing, admitted: Admitted, built: Built) -> Timing:
    """A race's timing; of a candidate that compiles to the same program as the original nothing is significant."""
    if built.code != admitted.original.code:
        return timing
    return replace(timing, significant=False, verdict="same_code")


def warnings_of(timing: Timing) -> tuple[str, ...]:
    """Warnings about a timing: what it does not measure, or what disturbed it."""
    found = list(stamps(timing.seconds or timing))
    if timing.verdict == "slower_by_wall":
        found.append(f"less CPU time ({timing.speedup}), but it takes longer: {timing.elapsed} by the wall clock")
    if timing.clock == "instructions":
        found += _count_warnings(timing)
    if timing.instructions is not None:
        one = timing.instructions
        word = {"fewer": "fewer", "more": "more", "tie": "as many"}[_verdict(one)]
        found.append(f"a tie by the clock; {word} instructions: {one.value:.4f}x, counted once ({BLIND})")
    if timing.uncounted:
        found.append(f"a tie by the clock; instructions could not be counted: {timing.uncounted}")
    return tuple(found)


def remember(known: dict[str, Found], key: str, found: Found, most: int = REMEMBERED) -> None:
    """Keeps what was found under a key; the oldest go if there are more than ``most``."""
    known[key] = found
    while len(known) > most:
        del known[next(iter(known))]


def _count_warnings(timing: Timing) -> list[str]:
    known = {"tie": "no difference of more than 0.1 %; ", "more": "more instructions than the original; "}
    found = [f"{known.get(timing.verdict, '')}instructions were counted, not seconds: {BLIND}"]
    if timing.speedup.high > (1 + UNSTEADY) * timing.speedup.low:
        found.append(f"the counts differ from run to run, by {timing.speedup.high / timing.speedup.low - 1:.1%}")
    seconds = timing.seconds
    if seconds is not None and seconds.waits:
        found.append(f"fewer instructions ({timing.speedup}), but it takes longer: {seconds.elapsed} by the wall clock")
    elif seconds is not None and timing.verdict == "not_in_cpu_time":
        found.append(
            f"fewer instructions ({timing.speedup}), which its CPU time does not show ({seconds.speedup}): it waits "
            "for memory, or it does less only while it is counted"
        )
    elif seconds is not None and not seconds.significant:
        found.append(f"fewer instructions, not proved faster: {seconds.speedup} by CPU time")
    return found


def _believed(found: Timing, seconds: Timing) -> RaceVerdict:
    """The verdict on counts, given the seconds."""
    contradicted = seconds.speedup.high < WAITING or seconds.waits
    unseen = found.speedup.low >= LARGE and not seconds.significant
    return "not_in_cpu_time" if found.verdict == "fewer" and (contradicted or unseen) else found.verdict


async def _tie_broken(
    field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input], timing: Timing
) -> Timing:
    if timing.verdict != "tie" or not field.problem.spec.tie_break:
        return timing
    try:
        found = await _count(field, entries, timed)
    except Uncounted as trouble:
        return replace(timing, uncounted=str(trouble))
    ratio = _total(found, "original") / _total(found, "candidate")
    return replace(timing, instructions=Interval(ratio, ratio, ratio, 1.0))


async def _count(field: RaceInputs, entries: Mapping[Side, RaceSide], timed: Sequence[Input]) -> _Count:
    """One run of each side on each input.

    A run without a count, or with a wrong output, is a WrongOutput if counting is the goal, and Uncounted if it only
    breaks a tie.  Contenders without the original beside them were counted beside it before.
    """
    found: _Count = {}
    asks = "original" not in entries or speaks_to_valgrind(entries["original"].artefact)
    async with build_lane():
        for side, entry in entries.items():
            if not asks and speaks_to_valgrind(entry.artefact):
                raise _failed(field, side, timed[0], "it speaks to valgrind, which the original does not")
            found[side] = {given.name: await _one(field, side, entry, given) for given in timed}
    return found


async def _one(field: RaceInputs, side: Side, entry: RaceSide, given: Input) -> int:
    try:
        run = await counted(field.sandbox, field.problem, entry.artefact, given, side)
        known = run.output == entry.outputs.get(given.name)
        if not known and not await is_accepted(field.sandbox, field.problem, given, run.output):
            raise Uncounted("gave a wrong output under valgrind")
    except Uncounted as trouble:
        raise _failed(field, side, given, str(trouble)) from trouble
    return run.instructions


def _failed(field: RaceInputs, side: Side, given: Input, why: str) -> Exception:
    return WrongOutput(side, given, why) if field.problem.goal == "instructions" else Uncounted(f"{side}: {why}")


def _timing(counts: Sequence[_Count], timed: Sequence[Input]) -> Timing:
    samples = tuple((float(_total(one, "original")), float(_total(one, "candidate"))) for one in counts)
    ratios = [a / b for a, _ in samples for _, b in samples]
    middle = sum(a for a, _ in samples) / sum(b for _, b in samples)
    ratio = Interval(middle, min(ratios), max(ratios), 1.0)
    verdict = _verdict(ratio)
    first = counts[0]
    return Timing(
        clock="instructions",
        speedup=ratio,
        significant=verdict == "fewer",
        verdict=verdict,
        pairs=len(counts),
        inputs=tuple(given.name for given in timed),
        samples=samples,
        per_input={given.name: first["original"][given.name] / first["candidate"][given.name] for given in timed},
    )


def _verdict(ratio: Interval) -> RaceVerdict:
    if ratio.low > 1 + COUNT_MARGIN:
        return "fewer"
    return "more" if ratio.high < 1 / (1 + COUNT_MARGIN) else "tie"


def _total(count: _Count, side: Side) -> int:
    return sum(count[side].values())


def _pair(entries: Mapping[Side, RaceSide]) -> dict[Side, RaceSide]:
    return {side: entry for side, entry in entries.items() if side != "incumbent"}
