"""Compares what a benchmark prints with what base prints, leaving out what is not the same in base itself.

Left out are numbers that differ between the runs of base.  A measured time of few digits may be the same in all of
them by chance ("took 0.02 s"), and a faster candidate then prints another one.  So a number with a unit of time or
rate, and every number of a line that speaks of time, is left out too if it has less than five digits; memory and
counts of iterations in any case, but no other number of their lines.  All other words and numbers must be the same.

Where base prints more or less for another seed, its runs do not show which of its numbers differ.  There a number of
time is left out, whatever its digits, if in those runs one behind the same word was, after as many other numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

_NUMBER = r"[+-]?(?:0x[0-9a-fA-F]+|\d[\d_]*(?:[.,]\d+)*(?:[eE][+-]?\d+)?)"
_UNIT = r"(?:ns|us|µs|μs|ms|s|sec|secs|seconds?|minutes?|min|[a-z]?hz|[kmg]?i?b/s|[kmg]?ops|[a-z]+/s(?:ec)?)"
_SHARE = r"(?:%|x|h)"  # of time in some benchmarks; in others a result, such as how well something is packed
_WITH_UNIT = re.compile(rf"{_NUMBER}\s*(?:{_UNIT}|{_SHARE})(?![A-Za-z0-9_])", re.IGNORECASE)
_IS_SHARE = re.compile(rf"{_NUMBER}\s*{_SHARE}", re.IGNORECASE)
_SPEAKS_OF_TIME = re.compile(
    r"time|second|elapsed|\btook\b|\brate\b|speed|faster|slower|per sec|/s\b|(?<![a-z])[kmgt]?(?:fl)?ops|duration|"
    r"latency|throughput|\bavg\b|mean|median|stddev|\bcpu\b|usage|\breal\b|\buser\b|\bsys\b|iterations|\bms\b|"
    r"\bus\b|\bns\b|memory|\brss\b",
    re.IGNORECASE,
)
# The same in every run of base, and yet no result: a candidate may take less of it.
_AMOUNT = rf"(?<![\w.]){_NUMBER}(?:\s*(?:{_UNIT}|{_SHARE}|[kmg]?i?b|bytes))?"
_COUNTED = r"(?:memory|rss|allocs?|allocated|allocations|iterations)\b"
_MEASURED = re.compile(
    rf"{_AMOUNT}\s*{_COUNTED}(?:\s*[:=(]?\s*{_AMOUNT}\b)?|"  # of what follows, a colon at most is between
    rf"\b{_COUNTED}(?:\s+[a-z]+){{0,2}}\s*[:=(]?\s*{_AMOUNT}\b|"
    rf"(?<![\w.]){_NUMBER}\s*(?:[a-z]+/op|[kmg]?hz)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"{_NUMBER}(?!\w)|\w+|\S")
_IS_NUMBER = re.compile(_NUMBER)
_LEFT_OUT, _COUNT = "\0", "\1"
_HEX = re.compile(r"(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}")
_DIGITS = 6  # significant digits of a number that is likely a result, such as a sum
_LONGER, _MORE_BYTES, _MORE_IN_LINE = 2, 10_000, 1000  # a candidate's output, though its words are those of base
_BY_CHANCE = 5  # a time of so many digits is not the same in all runs of base


@final
@dataclass(frozen=True, slots=True)
class Expected:
    """What base prints.  ``parts``: its words and numbers, those that are left out marked; None if its runs differ in
    more than numbers.  ``raw``: the bytes, if every run must print the same.  ``size``, ``line``: the bytes of its
    longest output and of the longest line: what is much longer is not even read, which may take very long."""

    parts: tuple[str, ...] | None
    raw: bytes | None = None
    size: int = 0
    line: int = 0

    @property
    def has_results(self) -> bool:
        """Whether it holds what is likely a result: a long number or a hash that is the same in every run."""
        if self.raw is not None:
            return bool(self.raw.strip())
        return any(map(_is_result, self.parts or ()))

    @property
    def numbers(self) -> int:
        """How many words and numbers are compared."""
        return sum(part != _LEFT_OUT for part in self.parts or ())

    def of_other_input(self, output: bytes) -> Expected:
        """What is expected for another input, for which base printed this; the same places are left out, or if there
        are more or less, times behind the same words."""
        if self.raw is not None or self.parts is None:
            return Expected(self.parts, None if self.raw is None else output)
        given, sizes = _parts(output), _sizes([output])
        if len(given) != len(self.parts):
            return Expected(tuple(self._without_times(given, _parts(output, math.inf))), None, *sizes)
        kept = zip(self.parts, given, strict=True)
        return Expected(tuple(_LEFT_OUT if want == _LEFT_OUT else got for want, got in kept), None, *sizes)

    def _without_times(self, given: Sequence[str], without: Sequence[str]) -> Iterator[str]:
        """``given``, with those of ``without`` left out that stand at a place behind a word where one is left out here.

        One with a unit only has to stand behind such a word."""
        own = self.parts or ()
        places = {place for place, part in zip(_places(own), own, strict=True) if part == _LEFT_OUT}
        words = {word for word, _ in places}
        for place, part, other in zip(_places(given), given, without, strict=True):
            is_known = place in places or (place[0] in words and _WITH_UNIT.fullmatch(part))
            yield other if other == _LEFT_OUT and is_known else part

    def too_long(self, output: bytes) -> str:
        """Why an output is not even read, in words; empty if it is, or if its words are not compared."""
        if self.raw is not None or self.parts is None:
            return ""
        size, line = _sizes([output])
        if size <= _LONGER * self.size + _MORE_BYTES and line <= _LONGER * self.line + _MORE_IN_LINE:
            return ""
        return f"the benchmark prints {size} bytes, at most {line} in a line, base {self.size} and {self.line}"

    def difference(self, output: bytes) -> str:
        """How an output differs, in words; empty if it does not, or if base's own outputs differ."""
        if self.raw is not None:
            return "" if output == self.raw else _first(self.raw.decode(errors="replace"), output)
        if self.parts is None:
            return ""
        if why := self.too_long(output):
            return why
        given = _parts(output)
        if len(given) != len(self.parts):
            return f"the benchmark prints {len(given)} words and numbers, base {len(self.parts)}"
        for want, got in zip(self.parts, given, strict=True):
            if want != got and not (want == _LEFT_OUT and _may_differ(got)):
                return f"the benchmark prints '{_shown(got)}' where base prints '{_shown(want)}'"
        return ""


def expected_of(runs: Sequence[bytes], same: bool) -> Expected:
    """What is the same in all runs of base.  ``same``: the bytes are."""
    if same:
        return Expected(_parts(runs[0]), runs[0])
    lists, sizes = [_parts(one) for one in runs], _sizes(runs)
    if len({len(one) for one in lists}) != 1:
        return Expected(None)
    merged: list[str] = []
    for column in zip(*lists, strict=True):
        if len(set(column)) == 1:
            merged.append(column[0])
        elif all(map(_may_differ, column)):
            merged.append(_LEFT_OUT)
        else:
            return Expected(None)
    return Expected(tuple(merged), None, *sizes)


def _sizes(outputs: Sequence[bytes]) -> tuple[int, int]:
    """The bytes of the longest output, and of the longest line, without spaces in a row."""
    return max(map(len, outputs)), max((len(line) for one in outputs for line in _lines(one)), default=0)


def _lines(output: bytes) -> list[str]:
    """The lines with single spaces: runs of them say nothing, and a pattern may look at each again and again."""
    return [" ".join(line.split()) for line in output.decode(errors="replace").splitlines()]


def _parts(output: bytes, by_chance: float = _BY_CHANCE) -> tuple[str, ...]:
    """Words and numbers; times of less than ``by_chance`` digits are left out."""
    found: list[str] = []
    for line in _lines(output):
        speaks, rest = _SPEAKS_OF_TIME.search(line), _MEASURED.sub(_COUNT, line)
        with_unit = iter(_WITH_UNIT.findall(rest))
        for word in _TOKEN.findall(_WITH_UNIT.sub(_LEFT_OUT, rest)):
            part = "".join(next(with_unit, _LEFT_OUT).split()) if word == _LEFT_OUT else word
            is_time = word == _LEFT_OUT and not _IS_SHARE.fullmatch(part)
            is_near_time = speaks and _may_differ(part) and not _HEX.fullmatch(part)
            is_short = (is_time or is_near_time) and _digits(part) < by_chance
            found.append(_LEFT_OUT if part == _COUNT or is_short else part)
    return tuple(found)


def _places(parts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """For each part the last word before it, empty if there is none, and how many numbers are between them."""
    word, numbers = "", 0
    for part in parts:
        yield word, numbers
        if part[:1].isalpha():
            word, numbers = part, 0
        else:
            numbers += _may_differ(part)


def _may_differ(part: str) -> bool:
    """Whether it is a number, with its unit or without one, or was one."""
    return part == _LEFT_OUT or bool(_IS_NUMBER.fullmatch(part) or _WITH_UNIT.fullmatch(part))


def _digits(part: str) -> int:
    """The significant digits of the number that a part begins with; zeros at the end of a whole number are none."""
    number = _IS_NUMBER.match(part)
    mantissa = re.split("[eE]", number[0])[0] if number else ""
    shown = re.sub(r"\D", "", mantissa).lstrip("0")
    return len(shown if "." in mantissa else shown.rstrip("0"))


def _is_result(part: str) -> bool:
    if _IS_NUMBER.fullmatch(part):
        return len(re.sub(r"[^\d]|^0+", "", part)) >= _DIGITS
    return _HEX.fullmatch(part) is not None


def _shown(part: str) -> str:
    return "a number" if part == _LEFT_OUT else part[:60]


def _first(want: str, output: bytes) -> str:
    got = output.decode(errors="replace")
    for number, (one, other) in enumerate(zip(want.splitlines(), got.splitlines(), strict=False), 1):
        if one != other:
            return f"line {number} of the benchmark's output is '{other[:60]}', and base prints '{one[:60]}'"
    return f"the benchmark prints {len(output)} bytes, base {len(want.encode())}"
