"""The answer of ``maxcode race``: typed values, lines of text, Markdown, and the fields of its JSON contract.

The keys of the JSON are a contract with scripts: no key is renamed or removed; a new key is added to the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, final

import msgspec

from maxcode.core.printable import printable
from maxcode.core.two_sided import Word
from maxcode.core.types import Clock, Interval

RaceWord = Literal["faster", "slower", "no change", "undecided", "not exercised", "wrong", "nothing differs"]
CHANGES = ("faster", "slower")
USUAL = 0.95  # the confidence of an interval that does not say its own
MOST_ROWS = 200  # of a Markdown table: comments have a limit


@final
@dataclass(frozen=True, slots=True)
class Exercise:
    """Of how many files differ between the sides, those that each side opened in a run of the command.

    ``why_not``: why that is not known, else empty.
    """

    changed: int
    base: tuple[str, ...]
    head: tuple[str, ...]
    why_not: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether a side opened a file that differs."""
        return bool(self.base or self.head)

    def __str__(self) -> str:
        if self.why_not:
            return f"unknown whether the change is used: {self.why_not}"
        names = sorted({*self.base, *self.head})
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if not names:
            return f"none of {self.changed} changed files was opened by the command"
        rest = self.changed - len(names)
        return f"used: the command opened {shown}" + (f"; {rest} more differ, which a build may use" if rest else "")


@final
@dataclass(frozen=True, slots=True)
class RaceRow:
    """One benchmark.  ``ratio``: base over head, above 1 = head is faster.  ``base``, ``head``: medians, in seconds or
    instructions (``metric``: in the units of the program)."""

    name: str
    verdict: Word
    ratio: Interval
    base: float
    head: float


@final
@dataclass(frozen=True, slots=True)
class VersionsRaced:
    """The result of a race.  ``ratio`` and ``control``: base over head and base over itself, over all rows (geometric
    mean); None if nothing was timed.  ``doubt``: base differs from itself, or head leaves out a row that base has.
    ``elapsed``: the ratio by the wall clock.  ``protection``: the sandbox, or its absence.  ``same_output``: whether
    head printed what base prints in every run; None: not compared.  ``samples``: the values of each pair, by side and
    row.  ``read``: the format of the benchmark tool whose values these are, or empty."""

    verdict: RaceWord | str
    base: str
    head: str
    command: str
    goal: Clock
    margin: float
    slower_by: float
    alpha: float
    pairs: int
    protection: str
    exercise: Exercise | None = None
    pressure: float | None = None
    notes: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Mapping[str, float]], ...] = ()
    ratio: Interval | None = None
    control: Interval | None = None
    doubt: bool = False
    elapsed: Interval | None = None
    rows: tuple[RaceRow, ...] = ()
    same_output: bool | None = None
    read: str = ""

    @property
    def measured(self) -> str:
        """What the ratio compares, in words."""
        return measured_as(self.goal, self.read)

    @property
    def _is_time(self) -> bool:
        return self.goal != "instructions" and self.read != "metric"

    @property
    def _waits_matter(self) -> bool:
        """Whether the wall clock says something that the ratio does not, of the same work."""
        return self.goal == "cpu" and not self.read

    def as_json(self) -> str:
        """One JSON object in one line."""
        return msgspec.json.encode(self).decode()

    def sentence(self) -> str:
        """The verdict as a sentence."""
        flagged = {word: sum(row.verdict == word for row in self.rows) for word in (*CHANGES, "undecided")}
        said = self._said()
        if len(self.rows) > 1:
            told = [f"{count} {word}" for word, count in flagged.items() if count] or ["none faster or slower"]
            said += f"; of {len(self.rows)} benchmarks {', '.join(told)}"
        return said

    def _said(self) -> str:
        if self.verdict == "not exercised":
            return (
                "not exercised: neither side opened a file that differs, so both ran the same code; check that the "
                "command runs the files of its side (not an installed copy), or that the change is in what it runs"
            )
        if self.verdict == "nothing differs":
            return "nothing differs: both sides have the same files and the same command, so nothing was timed"
        if self.verdict == "wrong":
            return "wrong: head prints another output than base"
        change = f" ({self._percent(self.ratio)})" if self.ratio is not None else ""
        if self.verdict == "no change":
            return f"no change above {100 * self.margin:.3g} %{change}"
        if self.verdict == "undecided":
            return f"undecided after {self.pairs} pairs{change}"
        return f"head is {self.verdict}{change}"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"base       {self.base}"
        yield f"head       {self.head}"
        if self.command:
            yield f"command    {self.command}"
        if self.ratio is not None:
            yield f"ratio      {precise(self.ratio)} base over head, {self.measured}, {self.pairs} pairs"
        if self.control is not None:
            yield f"control    {precise(self.control)} base over itself"
        if self.elapsed is not None and self._waits_matter:
            yield f"wall time  {precise(self.elapsed)} base over head"
        if len(self.rows) > 1:
            width = max(len(row.name) for row in self.rows)
            yield from (f"  {row.name:<{width}}  {precise(row.ratio)}  {row.verdict}" for row in self.rows)
        if self.same_output is not None:
            yield f"output     {'the same in every run' if self.same_output else 'different'}"
        if self.exercise is not None:
            yield f"change     {self.exercise}"
        yield f"sandbox    {self.protection}"
        yield from (f"note       {note}" for note in self.notes)
        yield f"verdict    {self.sentence()}"

    def markdown(self) -> str:
        """The result for a job summary or a comment."""
        lines = [f"### maxcode race: {cell(self.sentence())}", ""]
        lines += [f"base `{code(self.base)}`, head `{code(self.head)}`, {self.measured}, {self.pairs} pairs.", ""]
        if self.rows:
            lines += [
                f"| benchmark | base | head | change{' of time' * self._is_time} | verdict |",
                "|---|---:|---:|---|---|",
            ]
            lines += [self._row(row) for row in self._shown()]
            rest = len(self.rows) - MOST_ROWS
            lines += ["", *([f"{rest} more rows are not shown.", ""] if rest > 0 else [])]
        if self.control is not None:
            lines.append(f"- control: base against itself {self._percent(self.control)}")
        if self.elapsed is not None and self._waits_matter:
            lines.append(f"- wall time: head against base {self._percent(self.elapsed)}")
        lines += [f"- change: {cell(str(self.exercise))}"] if self.exercise is not None else []
        lines += [f"- sandbox: {cell(self.protection)}", *(f"- {cell(note)}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def _percent(self, ratio: Interval) -> str:
        """How much more or less head takes, with the interval, in per cent."""
        value, low, high = (100 * (1 / one - 1) for one in (ratio.value, ratio.high, ratio.low))
        return f"{value:+.1f} %{' time' * self._is_time} [{low:+.1f}, {high:+.1f}]{_less_sure(ratio)}"

    def _shown(self) -> list[RaceRow]:
        """Changed rows first."""
        return sorted(self.rows, key=lambda row: (row.verdict not in CHANGES, row.verdict != "undecided"))[:MOST_ROWS]

    def _row(self, row: RaceRow) -> str:
        amounts = (self._amount(row.base), self._amount(row.head))
        return f"| {cell(row.name)} | {amounts[0]} | {amounts[1]} | {self._percent(row.ratio)} | {row.verdict} |"

    def _amount(self, value: float) -> str:
        if not self._is_time:
            return f"{value:.4g}"
        scale, unit = next((one for one in _SCALES if value >= one[0]), _SCALES[-1])
        return f"{value / scale:.4g} {unit}"


NAMES: Mapping[Clock, str] = {"cpu": "CPU time", "wall": "wall time", "instructions": "instructions"}
_GOES_BY_GOAL = "google"  # the only tool that says both times
_SPECIAL = re.compile(r"[&\\`*_\[\]<>|#@]")
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def measured_as(goal: Clock, read: str) -> str:
    """What is compared, in words.  ``read``: the format of a benchmark tool, or empty."""
    if not read:
        return NAMES[goal]
    what = NAMES[goal] if read == _GOES_BY_GOAL else "values" if read == "metric" else "time"
    return f"{what} as {read} says"


def precise(ratio: Interval) -> str:
    """The ratio with three decimals."""
    return f"{ratio.value:.3f}x [{ratio.low:.3f}, {ratio.high:.3f}]{_less_sure(ratio)}"


def _less_sure(ratio: Interval) -> str:
    """What to add to an interval of so few pairs that it is none of 95 %."""
    return f" (confidence {int(100 * ratio.confidence)} % only)" if ratio.confidence < USUAL else ""


def cell(text: str) -> str:
    """Text that stays in its cell, whatever a side calls its benchmarks."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(printable(text).split()))


def code(text: str) -> str:
    """Text inside backticks."""
    return " ".join(printable(text).split()).replace("`", "'").replace("|", "/")
