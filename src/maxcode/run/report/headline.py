"""The result of a run in words: the headline, the sentence below it, and the progress of the run.

The words come from the record alone; a speed-up always has its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from maxcode.core.types import Interval, Outcome, Timing
from maxcode.core.wording import number_of
from maxcode.run.report.run_view import RunView, Slot

UNMEASURED = "not measurable"
CLOCKS = {"cpu": "CPU time", "wall": "wall-clock time", "instructions": "instructions"}


@final
@dataclass(frozen=True, slots=True)
class Headline:
    """``kind`` sets the colour; ``headline`` is short; ``sentence`` is complete."""

    kind: Literal["won", "none", "unmeasured", "empty"]
    headline: str
    sentence: str


def verdict(run: RunView) -> Headline:
    """The verdict on all final candidates."""
    timing = best_timing(run)
    if timing is not None and run.reached.best is not None and run.winner is not None:
        unit = " fewer instructions" if timing.clock == "instructions" else ""
        less = ", without its changes that do not pay," if run.winner.is_smaller else ""
        sentence = _won(f"{name(run.reached.best.id)}{less}", timing)
        if run.claim is not None and not run.claim.trusted:
            why = run.claim.refused or next(iter(run.claim.doubts), "its certificate does not hold")
            return Headline("won", f"{timing.speedup}{unit} NOT TRUSTED", f"{sentence} Do not trust it: {why}.")
        return Headline("won", f"{timing.speedup}{unit}", sentence)
    if why := _unmeasured(run):
        return Headline("unmeasured", "Not measurable", why)
    if not run.slots:
        return Headline("empty", "Nothing tried yet", "The record holds no candidate, so nothing is known yet.")
    return Headline("none", "No speed-up", f"Nothing was confirmed to be faster than the original. {_nearest(run)}")


def progress(run: RunView) -> str:
    """What is still open; empty if the run used its budget."""
    budget = run.budget
    if run.open_slots:
        launched = f"{len(run.slots) - run.open_slots} of {len(run.slots)} launched candidates are final"
        return f"This run is unfinished: {launched}. It was interrupted, or it is still running. {_RESUME}"
    if budget is not None and len(run.slots) < budget:
        return (
            f"{len(run.slots)} of {budget} candidates were tried: the run was stopped, a cap ended it (then the notes "
            f"say which), or its search ended. {_RESUME}"
        )
    return ""


_RESUME = "The same command resumes it."


def best_timing(run: RunView) -> Timing | None:
    """The timing of the best confirmed state; None if nothing was faster than the original."""
    return run.winner.evaluation.timing if run.winner is not None else None


def percent(interval: Interval) -> str:
    """The confidence of an interval, as ``95 %``."""
    return f"{interval.confidence * 100:.4g} %"


def name(at: tuple[int, int]) -> str:
    """A candidate's id as the page writes it, ``batch:slot``; the roots are the original."""
    return f"{at[0]}:{at[1]}" if at[0] else "original"


def anchor(at: tuple[int, int]) -> str:
    """The anchor of a candidate on the page."""
    return f"c{at[0]}-{at[1]}"


def standing(slot: Slot) -> str:
    """The status of its timing in a word or two; empty for a candidate that is not correct."""
    timing = slot.timing
    if timing is None:
        return "not timed" if slot.outcome is Outcome.CORRECT else ""
    if timing.significant:
        return "confirmed" if timing.confirmed else "significant"
    return (
        "refuted" if timing.confirmed and timing.verdict not in _OWN_WORDS else _WHY.get(timing.verdict, timing.verdict)
    )


_WHY = {
    "tie": "not significant",
    "same_code": "the same program",
    "slower": "slower",
    "dominated": "slower than the best",
    "more": "more instructions",
    "slower_by_wall": "slower by wall clock",
    "noisy": "noisy",
    "not_in_cpu_time": "no gain in CPU time",
}
_OWN_WORDS = (
    "slower_by_wall",
    "noisy",
    "not_in_cpu_time",
)  # not refuted: the gain does not count, for another reason


def _won(which: str, timing: Timing) -> str:
    found = timing.speedup
    if timing.clock == "instructions":
        return _fewer(which, timing)
    return (
        f"Candidate {which} is {found.value:.2f}x as fast as the original in {CLOCKS[timing.clock]}, "
        f"{percent(found)} interval {found.low:.2f} to {found.high:.2f}{_passes(timing)}: "
        f"confirmed on {number_of(timing.pairs, 'pair')} of runs made after it was selected."
        f"{_rate(timing)}{_bandwidth(timing)}{_single(timing)}{_compiled(timing)}"
        f"{_pressure(timing)}"
    )


def _passes(timing: Timing) -> str:
    """The seconds of a pass before and after."""
    found = timing.median_seconds
    return f" ({found[0]:.3g} s before, {found[1]:.3g} s after)" if found is not None else ""


def _fewer(which: str, timing: Timing) -> str:
    found, seconds = timing.speedup, timing.seconds
    counts = (
        f"The original executes {found.value:.4f} times the instructions of candidate {which} "
        f"({found.low:.4f} to {found.high:.4f}, the least and the largest of {timing.pairs} counts a side). A count "
        "ignores cache misses, parallel execution and vector width, so it does not say how many seconds are saved."
    )
    if seconds is None:
        return counts
    sure = "which is significant" if seconds.significant else "which is not proved faster"
    by_time = f"{seconds.speedup} ({percent(seconds.speedup)} interval, {number_of(seconds.pairs, 'pair')})"
    return f"{counts} By CPU time, measured in addition, the candidate is {by_time} as fast, {sure}."


def _pressure(timing: Timing) -> str:
    if timing.pressure is None or timing.pressure <= _STAMPED[timing.clock]:
        return ""
    return f" The machine was busy: a task waited for a processor {timing.pressure:.0f} % of the time."


_STAMPED = {"cpu": 50.0, "wall": 10.0, "instructions": 100.0}


def _single(timing: Timing) -> str:
    found = timing.single
    if found is None:
        return ""
    return f" On one core it is {found.value:.2f}x [{found.low:.2f}, {found.high:.2f}] as fast, by CPU time."


def _compiled(timing: Timing) -> str:
    found = timing.over_compiled
    if found is None:
        return ""
    return (
        f" Against torch.compile of the reference it is {found.value:.2f}x [{found.low:.2f}, {found.high:.2f}] as fast."
    )


def _rate(timing: Timing) -> str:
    found = timing.gflops
    if found is None:
        return ""
    return (
        f" It does {found.value:.1f} GFLOPS [{found.low:.1f}, {found.high:.1f}], "
        f"{found.value / timing.roofline:.0%} of this machine's roofline of {timing.roofline:.0f}."
    )


def _bandwidth(timing: Timing) -> str:
    found = timing.gbytes
    if found is None or not timing.memory_roof:
        return ""
    return (
        f" It moves {found.value:.1f} GB/s [{found.low:.1f}, {found.high:.1f}], {found.value / timing.memory_roof:.0%} "
        f"of this machine's {timing.memory_roof:.0f}."
    )


def _unmeasured(run: RunView) -> str:
    """Why nothing could be timed; empty if something was timed, or if nothing was correct."""
    if any(slot.timing is not None for slot in run.slots):
        return ""
    said = [note for slot in run.slots if slot.evaluation is not None for note in slot.evaluation.warnings]
    said += run.notes
    return next((f"{note[:1].upper()}{note[1:]}" for note in said if UNMEASURED in note.lower()), "")


def _nearest(run: RunView) -> str:
    correct = sum(1 for slot in run.slots if slot.outcome is Outcome.CORRECT)
    told = f"{correct} of {number_of(len(run.slots), 'candidate')} were correct"
    timed = [(slot.timing.speedup, slot.at) for slot in run.slots if slot.timing is not None]
    if not timed:
        return f"{told}."
    top, at = max(timed, key=lambda entry: entry[0].value)
    return f"{told}; the fastest of them, {name(at)}, measured {top} ({percent(top)} interval)."
