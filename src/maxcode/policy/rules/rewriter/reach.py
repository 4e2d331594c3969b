"""The size of the search space: the programs that a few edits can reach."""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import normalise
from maxcode.policy.rules.rewriter.rules import edits
from maxcode.policy.rules.rewriter.runtime import applied

Reached = tuple[tuple[str, ...], str]


def reachable(text: str, language: str, steps: int = 3, cap: int = 1000) -> Iterator[Reached]:
    """The distinct programs that 1 to ``steps`` edits make of a program: (labels, text), fewest edits first.

    At most ``cap`` of them, in a fixed order; programs that differ only in layout count once.  Not all of them need to
    build, because only the compiler resolves types.
    """
    seen = {normalise(language, text)}
    level: list[Reached] = [((), text)]
    for _ in range(steps):
        following: list[Reached] = []
        for labels, program in level:
            for label, new in _neighbours(program, language):
                key = normalise(language, new)
                if key not in seen:
                    seen.add(key)
                    following.append(((*labels, label), new))
                    yield following[-1]
                    if len(seen) > cap:
                        return
        level = following


def _neighbours(text: str, language: str) -> Iterator[tuple[str, str]]:
    unit = Unit(language, text)
    for _, found in edits(unit):
        for edit in found:
            yield edit.label, applied(unit, edit)
