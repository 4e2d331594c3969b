"""The inferred format of the inputs in words, for prompts.  Pure.

Bounds are rounded outwards to powers of ten: they give the scale of all inputs and no content of a held-out one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from maxcode.evaluate.inputs.format_model import FormatModel
from maxcode.evaluate.inputs.grammar import Count, Path, Repetition, Shape, Tail, TokenRow
from maxcode.evaluate.inputs.invariants import Span

_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def in_words(known: FormatModel) -> tuple[str, ...]:
    """One line for each part of the format; scalars have the names A, B, C in reading order."""
    return tuple(_Words(known).of(known.shape, (), ""))


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
                    yield f"{indent}a line: {scalars}{self._often(count, 'more') or 'any number of'} items"
                    yield f"{indent}  each item {self._bound((*here, 1), 0)}"
                case Repetition():
                    yield from self._block(node, here, indent)

    def _block(self, node: Repetition, here: Path, indent: str) -> Iterator[str]:
        often = self._often(node.count, "times") or "up to the end"
        if node.is_table and isinstance(row := node.body[0], TokenRow):
            bounds = "; ".join(self._bound((*here, 1), at) for at in range(row.width))
            yield f"{indent}{often} a line of {row.width} item{'s' * (row.width != 1)}: {bounds}"
            return
        yield f"{indent}{often}:"
        scope = list(self.scope)
        yield from self.of(node.body, here, indent + "  ")
        self.scope = scope

    def _scalars(self, width: int, path: Path) -> str:
        told = []
        for at in range(width):
            name = _NAMES[self.used % len(_NAMES)]
            self.used += 1
            self.scope.append(name)
            told.append(f"{name} ({self._bound(path, at)})")
        return " ".join(told)

    def _often(self, count: Count | None, word: str) -> str:
        if count is None:
            return ""
        name = self.scope[count.index] if count.index < len(self.scope) else "?"
        times = f"{name} {count.offset:+d}" if count.offset else name
        return f"{times} {word}"

    def _bound(self, path: Path, at: int) -> str:
        found = self.known.facts.get(("range", path, at))
        kinds = self.known.words("kind", path, at)
        if not isinstance(found, Span) or kinds - {"integer", "number"}:
            return "a word" if kinds else "anything"
        kind = "a number" if "number" in kinds else "an integer"
        return f"{kind} from {outwards(found.low, up=False)} to {outwards(found.high, up=True)}"


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
