"""What the pairs of a race say so far: words for head and its rows, whether the control holds, and what is open."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.result import CHANGES, RaceRow, measured_as
from maxcode.bench.versions.version_side import Name
from maxcode.core.stats import geometric_mean
from maxcode.core.two_sided import TwoSidedRule, Word, interval_at_any_time, judge, judge_rows
from maxcode.core.types import Interval
from maxcode.core.types.measured import WAITING
from maxcode.errors import InputError
from maxcode.evaluate.machine.pressure import WALL_AT_MOST

TOO_SHORT_S = 0.02  # of which starting a process is a noticeable part
_MOST_TIMES = 100  # as many pairs: with more, a larger workload is the better advice


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """``verdict`` of the whole, ``words`` of the rows, ``suspect``: the rows in which base differs from itself."""

    verdict: Word
    words: Mapping[str, Word]
    suspect: Sequence[str]
    notes: Sequence[str]


@final
@dataclass(slots=True)
class PairsSoFar:
    """``values``: those of each pair, by side and row.  ``walls``: wall seconds.  ``spent_s``: of all pairs."""

    asked: RaceAsked
    rule: TwoSidedRule
    values: list[dict[Name, dict[str, float]]] = field(default_factory=list)
    walls: list[dict[Name, float]] = field(default_factory=list)
    spent_s: float = 0.0

    def ratios(self, name: Name) -> dict[str, list[float]]:
        """base / this side of the rows that every run has."""
        names = set.intersection(*(set(rows) for pair in self.values for rows in pair.values()))
        order = [row for row in self.values[0]["base"] if row in names]
        return {row: [pair["base"][row] / pair[name][row] for pair in self.values] for row in order}

    def overall(self, name: Name) -> list[float]:
        """The geometric mean over the rows, one value for each pair."""
        columns = list(self.ratios(name).values())
        if not columns:
            raise InputError("no benchmark has a result in every run of both sides; check the command")
        return [geometric_mean(list(pair)) for pair in zip(*columns, strict=True)]

    @property
    def elapsed(self) -> Interval:
        """The ratio by the wall clock."""
        return interval_at_any_time([walls["base"] / walls["head"] for walls in self.walls])

    @property
    def is_decided(self) -> bool:
        """Whether every word is known, and the control holds."""
        if len(self.values) < self.rule.least:
            return False
        if self._suspect():
            return False  # more pairs may show that this was chance; if not, the race ends undecided
        words = {*self._words().values(), judge(self.overall("head"), self.rule)}
        return "undecided" not in words

    def _words(self) -> dict[str, Word]:
        rows = self.ratios("head")
        if len(rows) == 1:
            return {name: judge(ratios, self.rule) for name, ratios in rows.items()}
        return judge_rows(rows, self.rule)

    def _suspect(self) -> list[str]:
        """The rows in which base differs from itself."""
        rows = self.ratios("control")
        rule = replace(self.rule, slower_guard=self.rule.guard)
        words = judge_rows(rows, rule) if len(rows) > 1 else {name: judge(one, rule) for name, one in rows.items()}
        return [name for name, word in words.items() if word in CHANGES]

    def judged(self) -> Judgement:
        """The words, with what keeps them from being others."""
        suspect, words = self._suspect(), self._words()
        overall = judge(self.overall("head"), self.rule)
        if suspect:
            note = f"base against itself differs in {', '.join(suspect[:5])}: no verdict can be trusted here"
            return Judgement("undecided", dict.fromkeys(words, "undecided"), suspect, [note])
        if overall == "faster" and self._waits():
            note = (
                f"faster by {measured_as(self.asked.goal, self.asked.tool)}, but it takes longer by the wall clock "
                f"({self.elapsed}): no gain"
            )
            return Judgement("undecided", dict.fromkeys(words, "undecided"), suspect, [note])
        return Judgement(overall, words, suspect, self._open(overall, words))

    def _waits(self) -> bool:
        """Whether head is proved to take longer by the wall clock.  With ``--read`` that is no time of the rows: a
        process with one more benchmark takes longer."""
        return self.asked.goal != "wall" and not self.asked.read and self.elapsed.high < WAITING

    # ------------------------------------------------------------------------------------------------ what is left open

    def _open(self, overall: Word, words: Mapping[str, Word]) -> list[str]:
        """Why some words are open, and how they are likely to be decided."""
        rows = [name for name, word in words.items() if word == "undecided" and len(words) > 1]
        if overall != "undecided" and not rows:
            return []
        ratios = [self.overall("head")] if overall == "undecided" else [self.ratios("head")[name] for name in rows]
        intervals = [interval_at_any_time(one) for one in ratios]
        between = [one for one in intervals if self._is_between(one)]
        told = [self._about_rows(len(rows), len(words))] if rows else []
        if 2 * len(between) > len(intervals):
            return [*told, self._no_number(between[0])]
        what = "it" if overall == "undecided" else "most of them"
        return [*told, f"to decide {what}, {self._cure(intervals, len(words) if rows else 1)}"]

    def _about_rows(self, undecided: int, rows: int) -> str:
        least, done = self.rule.least_among(rows), len(self.values)
        needed = f"; to call one of {rows} faster or slower takes at least {least} pairs" if done < least else ""
        return f"{undecided} of {rows} benchmarks are undecided{needed}"

    def _is_between(self, ratio: Interval) -> bool:
        """Whether head takes more by what is a change, and by less than what the user calls slower."""
        rule = self.rule
        return rule.slower_guard > rule.margin and 1 / (1 + rule.slower_guard) <= ratio.value <= 1 / (1 + rule.margin)

    def _no_number(self, ratio: Interval) -> str:
        margin, slower_by = (f"{100 * share:.3g}%" for share in (self.rule.margin, self.rule.slower_guard))
        return (
            f"no number of pairs decides this: head takes {100 * (1 / ratio.value - 1):.1f} % more, which is above "
            f"--margin {margin} and not above slower:{slower_by}; give --margin {slower_by}"
        )

    def _cure(self, intervals: Sequence[Interval], rows: int) -> str:
        """The options with which an undecided race is likely to end: an interval shrinks with the root of the pairs."""
        done = len(self.values)
        times = statistics.median(times_for(one, self.rule.margin) for one in intervals)
        if times > _MOST_TIMES:
            return f"more pairs will hardly do: give the command more work, or a larger --margin{self._or_count()}"
        wanted = max(math.ceil(times * done), 2 * self.asked.pairs if done >= self.asked.pairs else 0)
        wanted = max(wanted, self.rule.least_among(rows))
        options = f"--pairs {wanted}"
        if (seconds := math.ceil(1.25 * self.spent_s * wanted / done)) > self.asked.seconds:
            options += f" --max-seconds {seconds}"
        return f"race again with {options}{self._or_count()}"

    def _or_count(self) -> str:
        """The other way where the clock is too noisy."""
        is_open = not self.asked.read and self.asked.goal != "instructions"
        return ", or with --goal instructions, which noise does not change and which sees no caches" if is_open else ""

    # --------------------------------------------------------------------------------------------------------- remarks

    def remarks(self, pressure: float | None) -> list[str]:
        """What a reader must know of the runs."""
        found = []
        one_s = statistics.median(walls["base"] for walls in self.walls)
        if not self.asked.read and self.asked.goal != "instructions" and one_s < TOO_SHORT_S:
            found.append(
                f"a run takes {1000 * one_s:.0f} ms, and starting a process is a part of that: give the command more "
                "work, or a change looks smaller than it is"
            )
        if pressure is not None and pressure > WALL_AT_MOST and self.asked.goal == "wall":
            found.append(f"other programs used the cores (CPU pressure {pressure:.0f} %): wall time needs more pairs")
        if left_out := self.left_out():
            found.append(
                f"head lacks results of {', '.join(left_out[:5])}, which base has in every run: a doubt, because what "
                "head leaves out is not judged; make the same benchmarks run on both sides"
            )
        if missing := sorted(self._missing() - {*left_out}):
            found.append(f"not judged, since not every run has a result: {', '.join(missing[:5])}")
        return found

    def _missing(self) -> set[str]:
        every = {name for pair in self.values for rows in pair.values() for name in rows}
        return every - set(self.ratios("head"))

    def left_out(self) -> list[str]:
        """The rows that each run of base has and some run of head has not."""
        of_base: tuple[Name, ...] = ("base", "control")
        always = set.intersection(*(set(pair[name]) for pair in self.values for name in of_base))
        return sorted(self._missing() & always)

    def row(self, name: str, word: Word) -> RaceRow:
        """One benchmark with its medians."""
        sides: tuple[Name, ...] = ("base", "head")
        base, head = (statistics.median(pair[side][name] for pair in self.values) for side in sides)
        return RaceRow(name, word, interval_at_any_time(self.ratios("head")[name]), base, head)


def times_for(ratio: Interval, margin: float) -> float:
    """How many times as many pairs make an interval so narrow that it fits into the margin; at least twice as many."""
    if ratio.low <= 0 or ratio.high == math.inf:
        return math.inf
    return max(2.0, (math.log(ratio.high / ratio.low) / 2 / math.log1p(margin)) ** 2)
