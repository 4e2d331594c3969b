"""The kinds of problems: one row of a table for each, with the facts that depend on the kind alone.

``evaluate/harness.py`` evaluates each kind.  Other rooms use only this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

Kind = Literal["program", "function", "module", "repo", "python"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """The facts that depend on the kind of a problem.

    ``entry``: what a program must define; empty if the problem names it.
    ``has_tests``: whether it has tests and a checker; if not, the original is the only oracle.
    ``bars_libraries``: whether a candidate that calls a library for the work is rejected.
    ``counts_work``: whether the problem states the amount of work, so that the rate is given in GFLOPS.
    ``uncountable``: why instructions cannot be counted; empty if they can.
    ``is_built_apart``: whether another machine can make the build that is timed.
    ``is_called``: whether a driver calls it again and again, each call too short for a profile by line.
    ``is_replaceable``: whether a candidate can take the place of the original.
    ``is_patch``: whether a candidate is a patch of a repository, which may add files.
    ``shows_operators``: whether a profile and the remarks are about operators and kernels, not about lines.
    """

    entry: str
    has_tests: bool = False
    bars_libraries: bool = False
    counts_work: bool = False
    uncountable: str = ""
    is_built_apart: bool = True
    is_called: bool = False
    is_replaceable: bool = True
    is_patch: bool = False
    shows_operators: bool = False


KINDS: Mapping[Kind, KindTraits] = {
    "program": KindTraits(entry="main", has_tests=True),
    "function": KindTraits(
        entry="",
        bars_libraries=True,
        counts_work=True,
        is_called=True,
        uncountable="a function cannot be counted apart from the driver that calls it",
    ),
    "python": KindTraits(
        entry="",
        uncountable="a Python function cannot be counted apart from the interpreter that calls it",
        is_built_apart=False,
    ),
    "module": KindTraits(entry="ModelNew", is_built_apart=False, is_replaceable=False, shows_operators=True),
    "repo": KindTraits(
        entry="",
        is_built_apart=False,
        is_patch=True,
        uncountable="the commands of a repository are timed as whole processes",
    ),
}
WITH_TESTS: frozenset[str] = frozenset(kind for kind, traits in KINDS.items() if traits.has_tests)
