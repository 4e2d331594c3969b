"""What one record says of the best so far: against candidates, depth, tokens, seconds and dollars.

Recomputed, not read off: in a batch every candidate is raced, and only what may lead is confirmed, when the batch is
finished.  A run with a smaller budget would have ended with a smaller batch and confirmed the best of that one, so the
best after k candidates is not known from confirmations alone.  Here a candidate counts for the last word that the
record has on it: its confirmation where it had one, its refutation, else its race, where that called it faster; and
for no more than what the run had confirmed when its batch was over, nor than the run's own best in the end, so a lucky
race lifts no curve.  The curve ends at the figure of the table.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Literal, TypeAlias, final

from maxcode.core.types import Evaluation, Outcome, StateId, Timing, Usage
from maxcode.errors import RecordError
from maxcode.run.record import EVENTS, Batch, Evaluated, Proposed, Settled, Stopwatch, read_events

Axis = Literal["candidates", "depth", "tokens", "seconds", "dollars"]
AXES: tuple[Axis, ...] = ("candidates", "depth", "tokens", "seconds", "dollars")
SOONEST = 1e-9  # where a clock shows no time at all, something was found later than at the beginning
Steps: TypeAlias = tuple[tuple[float, float], ...]  # (x, best from x on), x ascending, from (0, 1) to the run's end


@final
@dataclass(frozen=True, slots=True)
class Trace:
    """One run's best so far along every axis; empty where the record does not know an axis: tokens where no model was
    asked, dollars where a price is not known."""

    candidates: Steps = ()
    depth: Steps = ()
    tokens: Steps = ()
    seconds: Steps = ()
    dollars: Steps = ()

    def along(self, axis: Axis) -> Steps:
        """The steps along an axis."""
        match axis:
            case "candidates":
                return self.candidates
            case "depth":
                return self.depth
            case "tokens":
                return self.tokens
            case "seconds":
                return self.seconds
            case "dollars":
                return self.dollars


def best_at(steps: Steps, x: float) -> float:
    """The best so far at ``x``; beyond its end a run keeps the answer it has."""
    return steps[max(0, bisect_right(steps, (x, math.inf)) - 1)][1]


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate as the record knows it in the end: ``depth`` below the original, ``value`` its speed-up (0: not
    correct, or not timed), ``worth`` what it counts for (1: no gain), ``settled`` the second at which its batch was
    over; ``by_pie``: whether PIE's own checker calls it correct, our word where that was not asked."""

    at: StateId
    depth: int
    correct: bool
    by_pie: bool
    faster: bool
    value: float
    worth: float
    settled: float
    usage: Usage


@final
@dataclass(slots=True)
class _Word:
    """The last word on a candidate."""

    correct: bool
    by_pie: bool
    faster: bool
    leads: bool
    value: float
    low: float

    @classmethod
    def of(cls, evaluation: Evaluation) -> _Word:
        timing = evaluation.timing
        correct = evaluation.outcome is Outcome.CORRECT
        by_pie = correct if evaluation.pie_correct is None else evaluation.pie_correct
        if timing is None or not correct:
            return cls(correct, by_pie, False, False, 0.0, 0.0)
        proved = timing.significant
        return cls(
            True, by_pie, is_faster(timing), proved and timing.confirmed, timing.speedup.value, timing.speedup.low
        )


def is_faster(timing: Timing | None) -> bool:
    """Whether a generation counts for Fast1: the race says faster than the original.

    A race that ended early because the best so far cannot be beaten has no such word; its interval must lie above 1.
    """
    if timing is None:
        return False
    return timing.significant or (timing.verdict == "dominated" and timing.speedup.low > 1)


@final
@dataclass(slots=True)
class _Reading:
    """A record while it is read: nothing of programs is kept."""

    parents: dict[int, tuple[StateId, ...]] = field(default_factory=dict)  # by batch, by slot
    words: dict[StateId, _Word] = field(default_factory=dict)
    usage: dict[StateId, Usage] = field(default_factory=dict)
    settled: dict[int, tuple[float, float]] = field(default_factory=dict)  # batch -> its end in seconds, the best then
    leader: StateId | None = None

    def settle(self, line: Settled, seconds: float) -> None:
        """A batch is over: the referee's words take the place of the races', and the leader follows from them."""
        anew = {(line.batch, slot): evaluation for slot, evaluation in line.evaluations.items()}
        anew |= dict([line.champion] if line.champion is not None else [])
        self.words |= {at: _Word.of(evaluation) for at, evaluation in anew.items()}
        mine = [(line.batch, slot) for slot in range(len(self.parents.get(line.batch, ())))]
        known = [self.leader] if self.leader is not None else []
        refuted = line.champion is not None
        self.leader = self._best(sorted(self.words) if refuted else [*known, *mine])
        best = 1.0 if self.leader is None else max(1.0, self.words[self.leader].value)
        self.settled[line.batch] = (seconds, best)

    def _best(self, ids: Iterable[StateId]) -> StateId | None:
        leading = [at for at in ids if at in self.words and self.words[at].leads]
        return max(leading, key=lambda at: self.words[at].low, default=None)


def tried_in(folder: Path) -> tuple[Tried, ...]:
    """The candidates of all settled batches, in (batch, slot) order; RecordError where the record cannot be read."""
    reading, watch = _Reading(), Stopwatch()
    try:
        for line in read_events(folder):
            watch.see(line)
            match line:
                case Batch():
                    reading.parents[line.batch] = line.parents
                case Proposed():
                    reading.usage[line.at] = line.action.usage
                case Evaluated():
                    reading.words[line.at] = _Word.of(line.evaluation)
                case Settled():
                    reading.settle(line, watch.seconds)
    except OSError as error:
        raise RecordError(f"cannot read {folder / EVENTS} ({error}); move {folder} away to run it again") from error
    return tuple(_tried(reading))


def _tried(reading: _Reading) -> Iterator[Tried]:
    final = 1.0 if reading.leader is None else max(1.0, reading.words[reading.leader].value)
    depths: dict[StateId, int] = {}
    for at in sorted(reading.words):
        depths[at] = 1 + depths.get(reading.parents[at[0]][at[1]], 0)
        if at[0] not in reading.settled:
            continue
        word, (seconds, then) = reading.words[at], reading.settled[at[0]]
        worth = max(1.0, min(word.value, then, final)) if word.faster else 1.0
        usage = reading.usage.get(at, Usage())
        yield Tried(at, depths[at], word.correct, word.by_pie, word.faster, word.value, worth, seconds, usage)


def are_exchangeable(tried: Sequence[Tried]) -> bool:
    """Whether the order of the candidates says nothing: one batch, all of it drawn from the original."""
    return all(one.at[0] == 1 and one.depth == 1 for one in tried)


def trace_of(tried: Sequence[Tried], tokens: int, dollars: float | None, seconds: float) -> Trace:
    """The steps of a run that spent so much in all, its critics included.

    What a record does not lay at one candidate's door (critiques, answers to nothing) is spread evenly over all.
    """
    ends = range(1, len(tried) + 1)
    spent = _cumulated([float(one.usage.tokens) for one in tried], float(tokens))
    paid = [one.usage.dollars for one in tried]
    known = [price for price in paid if price is not None]
    money = _cumulated(known, dollars) if dollars is not None and len(known) == len(paid) else []
    return Trace(
        candidates=_steps(tried, map(float, ends)),
        depth=_steps(sorted(tried, key=lambda one: one.depth), sorted(float(one.depth) for one in tried)),
        tokens=_steps(tried, spent) if tokens else (),
        seconds=_steps(tried, (min(one.settled, seconds) for one in tried), seconds),
        dollars=_steps(tried, money) if dollars and money else (),
    )


def _cumulated(costs: Sequence[float], total: float) -> list[float]:
    rest = max(0.0, total - sum(costs)) / max(1, len(costs))
    return list(accumulate(cost + rest for cost in costs))


def _steps(tried: Sequence[Tried], places: Iterable[float], end: float = 0.0) -> Steps:
    """The jumps of the best so far, each at the largest x of its candidates, and the end."""
    found, best, last = {0.0: 1.0}, 1.0, 0.0
    for one, last in zip(tried, places, strict=True):
        if one.worth > best:
            best = found[last or SOONEST] = one.worth
    found[max(last, end) or SOONEST] = best
    return tuple(found.items())


def powers_of_two(most: int) -> list[int]:
    """1, 2, 4, 8, ... below ``most``, and ``most`` itself; none for 0."""
    return [*(2**n for n in range(most.bit_length()) if 2**n < most), *([most] if most else [])]
