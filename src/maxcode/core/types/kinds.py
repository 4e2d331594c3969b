"""The kinds of problems, and what follows from a kind alone: one row of a table for each.

What a kind *does* is its harness (``evaluate/harness.py``); here is what other rooms must know of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

Kind = Literal["program", "function", "module"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """``entry``: what a program of this kind must define, empty where the problem names it.  ``has_tests``: whether it
    has tests and a checker; else the original alone knows what is right.  ``bars_libraries``: whether calling a library
    for the work is refused.  ``counts_work``: whether the problem says how much work there is, so that a rate is
    GFLOPS.  ``uncountable``: why instructions cannot be counted, empty where they can.  ``is_built_apart``: whether
    another machine can make the build that is timed.  ``is_replaceable``: whether a candidate can take the place of the
    original.  ``shows_operators``: whether a profile and the remarks are about operators and kernels, not lines."""

    entry: str
    has_tests: bool = False
    bars_libraries: bool = False
    counts_work: bool = False
    uncountable: str = ""
    is_built_apart: bool = True
    is_replaceable: bool = True
    shows_operators: bool = False


KINDS: Mapping[Kind, KindTraits] = {
    "program": KindTraits(entry="main", has_tests=True),
    "function": KindTraits(
        entry="",
        bars_libraries=True,
        counts_work=True,
        uncountable="a function cannot be counted apart from the driver that calls it",
    ),
    "module": KindTraits(entry="ModelNew", is_built_apart=False, is_replaceable=False, shows_operators=True),
}
