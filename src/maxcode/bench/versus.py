"""Compares two runs: which winner is faster, and is the difference more than noise?

Each run holds its winner's speed-up over the same original, measured in a different session.  Their quotient is the
speed-up of one winner over the other.  Its interval is that of the two medians, each at 97.5 % from the recorded pairs,
so together at 95 % or more (Bonferroni: nothing is assumed about their dependence).  Changes between sessions that
affect only one side of a pair, mainly the placement of code and other programs, are in neither interval.  So a
difference must also exceed a margin: ``SESSIONS``, or ``BUSY_SESSIONS`` if one of the two was timed on a busy machine.
Racing both in one session (``maxcode compare --measure``) needs no margin.  All of this requires that both ratios mean
the same: one original, one machine, the same flags, tests, clock and sandbox.

The margins come from runs that had found the same program.  53 pairs on one machine: their
speed-ups were 0.8 % apart in the median, at most 5 %.  22 pairs on another, which was busy in 21 of them: 5 % in the
median, at most 38 %; with a margin of 1 % 6 would be called different, with 5 % 3, with 10 % where it was busy none.
No margin bounds how often that happens.  Of 6 pairs whose problem had another digest 2 were called different, so those
are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from maxcode.core.stats import RaceRule, interval_of
from maxcode.core.types import Interval, Program, Timing
from maxcode.errors import InputError
from maxcode.evaluate.machine.machine import BUSY, BUSY_NOTE, BUSY_STAMP
from maxcode.run.report.run_view import read_run

EACH = 0.975
MARGIN = RaceRule().margin  # for counts of instructions, which do not change between sessions
SESSIONS = 0.05
BUSY_SESSIONS = 0.10

Word = Literal["first", "second", "not significant", "same program", "nothing faster"]


@final
@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run: its folder, its header, the original, and its winner; the last two are None if nothing was faster."""

    folder: str
    header: Mapping[str, Any]
    original: Program
    winner: Program | None
    timing: Timing | None

    @property
    def speedup(self) -> Interval:
        """The speed-up of its answer, which is the original if nothing was faster."""
        return self.timing.speedup if self.timing is not None else Interval(1.0, 1.0, 1.0, 1.0)


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two runs, and how to remove it."""

    what: str
    first: str
    second: str
    cure: str

    def __str__(self) -> str:
        return f"{self.what}: {self.first} | {self.second}"


@final
@dataclass(frozen=True, slots=True)
class Versus:
    """``ratio``: the first winner's speed-up over the second; ``word``: which is faster by more than the ``margin`` (a
    share), if any; ``busy``: whether one of the two was timed on a busy machine."""

    ratio: Interval
    word: Word
    margin: float
    busy: bool


def entrant(folder: Path) -> ComparedRun:
    """The run in ``folder``, finished or not; raises InputError if there is none."""
    run = read_run(folder)
    best = run.winner
    program, timing = (best.program, best.evaluation.timing) if best is not None else (None, None)
    return ComparedRun(str(folder), run.header, run.original, program, timing)


def versus(first: ComparedRun, second: ComparedRun) -> Versus:
    """The first run's winner against the second's, from the two records."""
    one, other = _interval(first), _interval(second)
    confidence = 1 - (1 - one.confidence) - (1 - other.confidence)
    value = first.speedup.value / second.speedup.value
    low, high = one.low / other.high, one.high / other.low
    ratio = Interval(value, min(low, value), max(high, value), max(0.0, round(confidence, 6)))
    busy = _was_busy(first) or _was_busy(second)
    clocks = {run.timing.clock for run in (first, second) if run.timing is not None}
    margin = MARGIN if clocks == {"instructions"} else BUSY_SESSIONS if busy else SESSIONS
    return Versus(ratio, _word(first, second, ratio, margin), margin, busy)


def _was_busy(run: ComparedRun) -> bool:
    pressure = run.timing.pressure if run.timing is not None else None
    notes = run.header.get("notes")
    told = isinstance(notes, list) and any(str(note).startswith((BUSY_NOTE, BUSY_STAMP)) for note in notes)
    return told or (pressure is not None and pressure >= BUSY)


def _word(first: ComparedRun, second: ComparedRun, ratio: Interval, margin: float) -> Word:
    if first.winner is None and second.winner is None:
        return "nothing faster"
    if first.winner is not None and second.winner is not None and first.winner.digest == second.winner.digest:
        return "same program"
    if ratio.confidence < 2 * EACH - 1:
        return "not significant"
    if ratio.low > 1 + margin:
        return "first"
    return "second" if ratio.high < 1 / (1 + margin) else "not significant"


def _interval(of: ComparedRun) -> Interval:
    """The interval at ``EACH`` from the pairs; a count of instructions has no pairs, and gives its range."""
    timing = of.timing
    if timing is None or timing.clock == "instructions" or not timing.samples:
        return of.speedup
    return interval_of([original / winner for original, winner in timing.samples], timing.sittings, EACH)


def same_original(first: ComparedRun, second: ComparedRun) -> None:
    """Raises InputError if the two runs have different originals: the quotient would then mean nothing."""
    if first.original.digest != second.original.digest:
        raise InputError(
            f"{first.folder} and {second.folder} made different originals faster ({_problem(first)}, "
            f"{_problem(second)}), so their speed-ups cannot be compared; compare runs of one problem"
        )


def _problem(of: ComparedRun) -> str:
    return str(of.header.get("problem", "which the run does not name"))


_REPEAT = "run one of them again with the options of the other"
_HERE = "race both on this machine with --measure"
_CURES = dict.fromkeys(("goal", "flags", "checker", "device", "constants"), _REPEAT)
_CURES |= dict.fromkeys(("version", "sandbox"), _HERE)
_MACHINE = ("node", "cpu", "cores", "kernel", "compilers")
_TESTS = ("seen", "held_out", "dropped")


def differences(first: ComparedRun, second: ComparedRun) -> tuple[Difference, ...]:
    """The differences that make the two ratios incomparable, the most important first."""
    return tuple(_differences(first.header, second.header))


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    settings = list(_settings(one, other))
    yield from settings
    if one.get("digest") != other.get("digest") and not any(found.cure == _REPEAT for found in settings):
        what = "problem (tests, statement, checker or limits; its digest)"
        yield Difference(what, _short(one), _short(other), "run one of them again on the tests of the other")
    yield from _grounds(one, other)


def beside_the_problem(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    """The same for two headers, without the problem's digest, which a bench stores itself."""
    yield from _settings(one, other)
    yield from _grounds(one, other)


def _settings(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    yield from (found for key, cure in _CURES.items() if (found := _unlike(key, one.get(key), other.get(key), cure)))


def _grounds(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    """Differences in the used tests and the machine."""
    tests, others = _table(one, "tests"), _table(other, "tests")
    for key in _TESTS:
        if found := _unlike(f"tests {key}", tests.get(key), others.get(key), "run one of them again on those tests"):
            yield found
    machine, elsewhere = _table(one, "machine"), _table(other, "machine")
    for key in _MACHINE:
        if found := _unlike(f"machine, {key}", machine.get(key), elsewhere.get(key), _HERE):
            yield found


def _unlike(what: str, one: object, other: object, cure: str) -> Difference | None:
    return Difference(what, _told(one), _told(other), cure) if one != other else None


def _told(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "none"
    return "not recorded" if value is None else str(value)


def _short(header: Mapping[str, Any]) -> str:
    return str(header.get("digest", "not recorded"))[:12]


def _table(header: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = header.get(key)
    return found if isinstance(found, dict) else {}
