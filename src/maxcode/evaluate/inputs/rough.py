"""A timed input in rough figures, for prompts: how much it holds, never what.  Pure.

Counts have two digits, ends of ranges are powers of ten: a tuner needs no more, and no figure gives the content of a
held-out input.  Short inputs, and those that are nothing but a few scalars, are not described: their figures would be
their content.
"""

from __future__ import annotations

import re

from maxcode.evaluate.inputs.format_words import NAMES, header, outwards
from maxcode.evaluate.inputs.grammar import Repetition, Shape, Tail

_INTEGER = re.compile(rb"-?[0-9]{1,19}")
_HEAD_AT_MOST = 4096  # bytes of the lines that may hold a size
_WORDS_LEAST = 100


def in_figures(data: bytes, shape: Shape | None) -> str:
    """The scalars A, B that an input begins with, its words, lines and different words, and the range of its whole
    numbers; empty if it is short.  ``shape``: its format, whose scalars prompts name; None if they tell none."""
    words = data.split()
    if len(words) < _WORDS_LEAST:
        return ""
    different = set(words)
    scalars = _scalars(data, shape) if shape is not None else []
    held = f"about {_rough(len(words))} words on {_rough(data.count(10))} lines, {_rough(len(different))} different"
    return ", ".join([*scalars, held, *_range(different)])


def _scalars(data: bytes, shape: Shape) -> list[str]:
    if not any(isinstance(node, Repetition | Tail) for node in shape):
        return []
    found = header(shape, data[:_HEAD_AT_MOST].decode("ascii", "replace"))
    return [f"{name} = {_rough(value)}" for name, value in zip(NAMES, found, strict=False)]


def _range(words: set[bytes]) -> list[str]:
    """The range of all whole numbers; empty if most words are none."""
    numbers = [int(word) for word in words if _INTEGER.fullmatch(word)]
    if 2 * len(numbers) <= len(words):
        return []
    return [f"whole numbers from {outwards(min(numbers), up=False)} to {outwards(max(numbers), up=True)}"]


def _rough(value: int) -> str:
    return f"{int(float(f'{value:.2g}')):,}"
