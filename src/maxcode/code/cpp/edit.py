"""What a rule is, and what it offers: an edit of one site with one choice of parameters.

An edit is known by its *label*, such as ``const_ref(values of total)`` or ``unroll(j#1 in main, factor=4)``: names and
counts, never offsets, so that it can be found again after other edits, and read back from the notes of earlier steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, final

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch

Value = int | str


class Snippet(NamedTuple):
    """A piece of the runtime that an edit needs, with the constants it sets: ``reader``, {"reader_buffer": 65536}."""

    name: str
    constants: tuple[tuple[str, int], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Change:
    """What an edit does to the text.  ``includes``: headers such as ``vector`` that must be there afterwards."""

    patches: tuple[Patch, ...]
    snippets: tuple[Snippet, ...] = ()
    includes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Edit:
    """One instance of a rule.

    ``site`` says where in names that outlive other edits ("" for the whole program); ``params`` are integers where
    they only tune, words where they choose what is done.  ``lines`` are the first and last line (1-based) of each
    piece of text concerned; ``what`` completes the sentence "this edit ...".
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
        """The label without integers that only tune: edits of one kind build and fail together."""
        return kind_of(self.label)

    @property
    def line(self) -> int:
        """The first line concerned, 1 for edits of the whole program."""
        return min((first for first, _ in self.lines), default=1)


def label(rule: str, site: str, params: Iterable[tuple[str, Value]]) -> str:
    """The written form of an instance."""
    inside = [site] if site else []
    return f"{rule}({', '.join(inside + [f'{name}={value}' for name, value in params])})"


def kind_of(written: str) -> str:
    """The kind of a label: itself without integers that only tune."""
    return re.sub(r"(?:, |(?<=\())\w+=\d+(?=[,)])", "", written)


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of rewrite.

    ``find`` lists the edits it can make on a program; its docstring says what it does and when it may.  ``prior`` is
    its weight before anything was tried, from measurements on real programs; ``topics`` are the subjects of a
    diagnosis that speak for it; ``friends`` are rules that pay together with it; ``exact`` is false where the last
    digits of floating-point results may change.
    """

    name: str
    find: Callable[[Unit], Iterable[Edit]]
    prior: float
    topics: tuple[str, ...]
    languages: tuple[str, ...] = ("cpp",)
    exact: bool = True
    friends: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring of ``find``, on one line."""
        return " ".join((self.find.__doc__ or "").split("\n\n")[0].split())
