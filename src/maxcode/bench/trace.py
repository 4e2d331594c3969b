"""The best so far of one record: against candidates, depth, tokens, seconds and dollars.

It is recomputed, not read: in a batch every candidate is raced, and only challengers are confirmed, at the end of the
batch.  A run with a smaller budget would have ended with a smaller batch and confirmed the best of that one, so
confirmations alone do not give the best after k candidates.  Here a candidate counts by the last statement of the
record: its confirmation or refutation if it has one, else its race, if that called it faster.  It counts for no more
than the confirmed best of the run at the end of its batch, and no more than the run's final best, so one lucky race
does not lift the curve.  The curve ends at the figure of the table.
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
SOONEST = 1e-9  # used if a clock shows no time: a result comes later than the start
Steps: TypeAlias = tuple[tuple[float, float], ...]  # (x, best from x on), x ascending, from (0, 1) to the run's end


@final
@dataclass(frozen=True, slots=True)
class Trace:
    """One run's best so far along every axis.  It is empty if the record does not know the axis: tokens if no model was
    called, dollars if a price is not known."""

    candidates: Steps = ()
    depth: Steps = ()
    tokens: Steps = ()
    seconds: Steps = ()
    dollars: Steps = ()

    def along(self, axis: Axis) -> Steps:
        """The steps along an axis."""
        steps: Steps = getattr(self, axis)
        return steps


def best_at(steps: Steps, x: float) -> float:
    """The best so far at ``x``; after its end a run keeps its last value."""
    return steps[max(0, bisect_right(steps, (x, math.inf)) - 1)][1]


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate at the end of the record.

    ``depth``    below the original
    ``worth``    the speed-up that it counts for; 1: no gain
    ``settled``  the second at which its batch ended
    """

    at: StateId
    depth: int
    word: LastWord
    worth: float
    settled: float
    usage: Usage


@final
@dataclass(slots=True)
class LastWord:
    """The last evaluation of a candidate.

    ``value``    its speed-up; 0: not correct, or not timed
    ``by_kernelbench``  whether KernelBench's own rule calls it correct; our outcome if that was not asked
    ``by_pie``   whether PIE's own checker calls it correct; our outcome if that checker did not run
    """

    correct: bool
    by_pie: bool
    by_kernelbench: bool
    faster: bool
    leads: bool
    value: float
    low: float

    @classmethod
    def of(cls, evaluation: Evaluation) -> LastWord:
        timing = evaluation.timing
        correct = evaluation.outcome is Outcome.CORRECT
        by_pie = correct if evaluation.pie_correct is None else evaluation.pie_correct
        official = correct if evaluation.kernelbench_correct is None else evaluation.kernelbench_correct
        if timing is None or not correct:
            return cls(correct, by_pie, official, False, False, 0.0, 0.0)
        proved = timing.significant
        return cls(
            True,
            by_pie,
            official,
            is_faster(timing),
            proved and timing.confirmed,
            timing.speedup.value,
            timing.speedup.low,
        )


def is_faster(timing: Timing | None) -> bool:
    """Whether a candidate counts for Fast1: the race says faster than the original.

    A race that ended early because it cannot beat the best so far does not say so; its interval must be above 1.
    """
    if timing is None:
        return False
    return timing.significant or (timing.verdict == "dominated" and timing.speedup.low > 1)


@final
@dataclass(slots=True)
class _Reading:
    """A record during reading; it keeps no program."""

    parents: dict[int, tuple[StateId, ...]] = field(default_factory=dict)  # by batch, by slot
    words: dict[StateId, LastWord] = field(default_factory=dict)
    usage: dict[StateId, Usage] = field(default_factory=dict)
    settled: dict[int, tuple[float, float]] = field(default_factory=dict)  # batch -> its end in seconds, the best then
    leader: StateId | None = None

    def settle(self, line: Settled, seconds: float) -> None:
        """Ends a batch: the referee's evaluations replace those of the races, and the best of the run follows."""
        anew = {(line.batch, slot): evaluation for slot, evaluation in line.evaluations.items()}
        anew |= dict([line.champion] if line.champion is not None else [])
        self.words |= {at: LastWord.of(evaluation) for at, evaluation in anew.items()}
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
    """The candidates of all final batches, in (batch, slot) order; raises RecordError if the record is unreadable."""
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
                    reading.words[line.at] = LastWord.of(line.evaluation)
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
        yield Tried(at, depths[at], word, worth, seconds, reading.usage.get(at, Usage()))


def are_exchangeable(tried: Sequence[Tried]) -> bool:
    """Whether the order of the candidates means nothing: one batch, all sampled from the original."""
    return all(one.at[0] == 1 and one.depth == 1 for one in tried)


def trace_of(tried: Sequence[Tried], tokens: int, dollars: float | None, seconds: float) -> Trace:
    """The steps of a run with these total costs, those of its critics included.

    Costs that the record does not assign to one candidate (critiques, unread answers) are spread evenly over all.
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
    """The increases of the best so far, each at the largest x of its candidates, and the end."""
    found, best, last = {0.0: 1.0}, 1.0, 0.0
    for one, last in zip(tried, places, strict=True):
        if one.worth > best:
            best = found[last or SOONEST] = one.worth
    found[max(last, end) or SOONEST] = best
    return tuple(found.items())


def powers_of_two(most: int) -> list[int]:
    """1, 2, 4, 8, ... below ``most``, and ``most``; empty for 0."""
    return [*(2**n for n in range(most.bit_length()) if 2**n < most), *([most] if most else [])]
