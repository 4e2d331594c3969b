"""Rules and their edits: an edit changes one site, with one choice of parameters.

The *label* of an edit identifies it, such as ``const_ref(values of total)`` or ``unroll(j#1 in main, factor=4)``.  It
contains names and counts, never offsets, so that the edit can be found again after other edits, and read back from the
notes of earlier steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

from tree_sitter import Node

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch

Value = int | str


class Snippet(NamedTuple):
    """A piece of the runtime that an edit needs, with its constants: ``reader``, {"reader_buffer": 65536}."""

    name: str
    constants: tuple[tuple[str, int], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Change:
    """The changes of an edit to the text.  ``includes``: headers such as ``vector`` that the result needs."""

    patches: tuple[Patch, ...]
    snippets: tuple[Snippet, ...] = ()
    includes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Edit:
    """One instance of a rule.

    ``site``: the place, in names that other edits do not change ("" for the whole program).
    ``params``: integers tune the edit; words choose a variant.
    ``what``: completes the sentence "this edit ...".
    ``lines``: the first and last line (1-based) of each piece of text concerned.
    """

    rule: str
    site: str
    params: tuple[tuple[str, Value], ...]
    what: str
    lines: tuple[tuple[int, int], ...]
    change: Change

    @property
    def label(self) -> str:
        """``rule(site, name=value, ...)``: the identity of the edit."""
        return label(self.rule, self.site, self.params)

    @property
    def kind(self) -> str:
        """The label without the integers that tune it: edits of one kind build or fail alike."""
        return kind_of(self.label)

    @property
    def line(self) -> int:
        """The first line concerned; 1 for edits of the whole program."""
        return min((first for first, _ in self.lines), default=1)


def label(rule: str, site: str, params: Iterable[tuple[str, Value]]) -> str:
    """The label of an edit."""
    inside = [site] if site else []
    return f"{rule}({', '.join(inside + [f'{name}={value}' for name, value in params])})"


def kind_of(written: str) -> str:
    """The kind of a label: the label without the integers that tune it."""
    return re.sub(r"(?:, |(?<=\())\w+=\d+(?=[,)])", "", written)


Spots = dict[str, list[tuple[Node, tuple[Patch, ...]]]]  # site -> its spots, each with what changes there


def edits_by_site(
    unit: Unit, rule: str, what: str, found: Spots, snippets: tuple[Snippet, ...] = (), includes: tuple[str, ...] = ()
) -> Iterator[Edit]:
    """One edit without parameters for each site: the changes at all of its spots."""
    for site, spots in found.items():
        change = Change(tuple(patch for _, patches in spots for patch in patches), snippets, includes)
        yield Edit(rule, site, (), what, unit.lines_of(*(node for node, _ in spots)), change)


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """One transformation of programs.

    ``find``: lists the edits that the rule can make on a program; its docstring says what the rule does and when.
    ``prior``: its weight before any trial, from measurements on real programs.
    ``topics``: the subjects of a diagnosis that suggest it.
    ``exact``: false if the last digits of floating-point results may change.
    ``friends``: rules that give a larger speed-up together with it.
    ``usual``: false if it is used only on request: it changes how a program ends, or needs a
    package that most environments do not have.
    """

    name: str
    find: Callable[[Unit], Iterable[Edit]]
    prior: float
    topics: tuple[str, ...]
    languages: tuple[str, ...] = ("cpp",)
    exact: bool = True
    friends: tuple[str, ...] = ()
    usual: bool = True

    def edits(self, unit: Unit) -> list[Edit]:
        """The edits on a program; none where it is nested too deep to read."""
        try:
            return list(self.find(unit))
        except (RecursionError, MemoryError):  # the latter of Python's parser
            return []

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring of ``find``, on one line."""
        return " ".join((self.find.__doc__ or "").split("\n\n")[0].split())
