"""The inferred format of the inputs in words, and what the numbers at their beginning are, for prompts.  Pure.

Ranges are those of inputs that were seen, never limits.  Those of the scalars that an input begins with are rounded
outwards to two digits, because a tuner needs them; to powers of ten where an input is nothing but such scalars.  Of
what lists and tables hold no range is told, so none gives the content of a held-out input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.evaluate.inputs.format_model import FormatModel
from maxcode.evaluate.inputs.grammar import Count, Path, Repetition, Shape, Tail, TokenRow, integer, lines_of

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def in_words(known: FormatModel) -> tuple[str, ...]:
    """One line for each part of the format; scalars have the names A, B, C in reading order."""
    return tuple(_Words(known).of(known.shape, (), ""))


def header(shape: Shape, beginning: str) -> tuple[int, ...]:
    """The integers A, B, C on the lines of scalars that an input begins with, up to its first list or table; empty if
    the text has others there, or ends before."""
    found: list[int | None] = []
    lines = beginning.split("\n")
    for node, line in zip(shape, lines, strict=False):
        read = lines_of(line)
        tokens = read[0] if read is not None else []
        if isinstance(node, Repetition) or len(tokens) < node.width:
            break
        found += map(integer, tokens[: node.width])
        if isinstance(node, Tail):
            break
    whole = tuple(one for one in found if one is not None)
    return whole if len(whole) == len(found) else ()


def ranges(shape: Shape, headers: Sequence[Sequence[int]]) -> str:
    """What A, B, C are in inputs with these headers, in words; empty if one of them has no header, or another one."""
    if len({len(one) for one in headers}) != 1 or not headers[0] or len(headers[0]) > len(NAMES):
        return ""
    digits = 2 if any(isinstance(node, Repetition | Tail) for node in shape) else 0
    ends = ((min(one), max(one)) for one in zip(*headers, strict=True))
    spans = [(_outwards(low, False, digits), _outwards(high, True, digits)) for low, high in ends]
    told = [low if low == high else f"{low} to {high}" for low, high in spans]
    return ", ".join(f"{name} is {one}" for name, one in zip(NAMES, told, strict=False))


def _outwards(value: int, up: bool, digits: int) -> str:
    """A value with so many digits, away from the range; 0: as ``outwards``."""
    if not digits:
        return outwards(value, up)
    step = 10 ** max(0, len(str(abs(value))) - digits)
    return str(-(-value // step) * step if up else value // step * step)


@final
@dataclass(slots=True)
class _Words:
    known: FormatModel
    scope: list[str] = field(default_factory=list)
    used: int = 0

    def of(self, shape: Shape, path: Path, indent: str) -> Iterator[str]:
        for number, node in enumerate(shape):
            here = (*path, number)
            match node:
                case TokenRow(width):
                    yield f"{indent}a line: {self._scalars(width, (*here, 0))}"
                case Tail(width, count):
                    scalars = f"{self._scalars(width, (*here, 0))}, then " if width else ""
                    often = self._often(count, "more") or "any number of"
                    yield f"{indent}a line: {scalars}{often} items, each {self._kind((*here, 1), 0)}"
                case Repetition():
                    yield from self._block(node, here, indent)

    def _block(self, node: Repetition, here: Path, indent: str) -> Iterator[str]:
        often = self._often(node.count, "times") or "up to the end"
        if node.is_table and isinstance(row := node.body[0], TokenRow):
            kinds = ", ".join(self._kind((*here, 1), at) for at in range(row.width))
            yield f"{indent}{often} a line of {row.width} item{'s' * (row.width != 1)}: {kinds}"
            return
        yield f"{indent}{often}:"
        scope = list(self.scope)
        yield from self.of(node.body, here, indent + "  ")
        self.scope = scope

    def _scalars(self, width: int, path: Path) -> str:
        told = []
        for at in range(width):
            name = NAMES[self.used % len(NAMES)]
            self.used += 1
            self.scope.append(name)
            told.append(f"{name} ({self._kind(path, at)})")
        return " ".join(told)

    def _often(self, count: Count | None, word: str) -> str:
        if count is None:
            return ""
        name = self.scope[count.index] if count.index < len(self.scope) else "?"
        times = f"{name} {count.offset:+d}" if count.offset else name
        return f"{times} {word}"

    def _kind(self, path: Path, at: int) -> str:
        kinds = self.known.words("kind", path, at)
        if not kinds or kinds - {"integer", "number"}:
            return "a word" if kinds else "anything"
        return "a number" if "number" in kinds else "an integer"


def outwards(value: float, up: bool) -> str:
    """The next power of ten, away from the range; 0, 1 and -1 stay."""
    if value in (0, 1, -1):
        return f"{value:.0f}"
    grows = (value > 0) == up
    power = math.log10(abs(value))
    nearest = round(power)
    exponent = (
        nearest if math.isclose(power, nearest, abs_tol=1e-12) else math.ceil(power) if grows else math.floor(power)
    )
    sign = "-" if value < 0 else ""
    return f"{sign}{10**exponent}" if 0 <= exponent <= 6 else f"{sign}10^{exponent}"
