"""What a suite is: names that stand where the path of a problem does, and how a name becomes a problem.

A suite is one file with one object that has the two methods of ``Suite``, and a row in ``suites.SUITES``.  Nothing is
downloaded: what is not here is an InputError that says where to get it and how to lay it out.  What can be listed
but not used is ``LeftOut``, with the reason: nothing is dropped in silence.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, final

from maxcode.core.types import Case, Program
from maxcode.errors import InputError


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """Which problem of which suite it is.  ``file`` is the suite's own name for it, ``id`` one for run folders,
    different for every problem of the suite; ``sha256`` is that of its text, ``facts`` what else is recorded."""

    suite: str
    file: str
    id: str
    sha256: str
    facts: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def words(self) -> str:
        told = "".join(f", {key} {value}" for key, value in self.facts.items())
        return f"{self.suite}: {self.file}{told}, SHA-256 {self.sha256}"

    def as_table(self) -> dict[str, str | int]:
        """The table ``[suite]`` of run.toml."""
        return {"suite": self.suite, "file": self.file, "sha256": self.sha256, **self.facts}


@final
@dataclass(frozen=True, slots=True)
class Given:
    """A problem as its suite has it.

    ``table`` holds keys of problem.toml, which the user's options win over; ``program`` is what to make faster and
    ``reference`` the suite's own faster version of it, where there is one: no policy ever sees that.  ``cases`` are its
    tests, ``texts`` files that the table names and that lie nowhere.
    """

    origin: Origin
    table: Mapping[str, Any]
    program: Program
    cases: tuple[Case, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    reference: Program | None = None
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A problem to load: a path or a name, with the keys of problem.toml that its entry in a suite.toml gives it.
    ``shapes`` as in ``problems.small_shapes``; ``tags`` are the user's own words, for `maxcode problems list`."""

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    shapes: str = ""
    tags: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class LeftOut:
    """A problem that a suite lists and that cannot be used: its name, where that is written, and why."""

    name: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.where}): {self.why}" if self.where else f"{self.name}: {self.why}"


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """What names stand for: the problems that can be loaded, in the order of the suite, and the others."""

    sources: tuple[Source, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def __add__(self, other: Listing) -> Listing:
        return Listing(self.sources + other.sources, self.left_out + other.left_out)


class Suite(Protocol):
    """A suite.  ``words`` is what follows the colon, e.g. ``1/19`` of ``kernelbench:1/19``.  Both methods raise
    InputError, with a cure, where the suite is not here or has nothing of that name."""

    def listing(self, words: str) -> Listing:
        """All problems that the words stand for; a problem's own name stands for itself."""
        ...

    def given(self, words: str) -> Given:
        """The one problem of that name."""
        ...


def folder_of(variable: str, title: str, how: str) -> Path:
    """The folder that an environment variable names; InputError with how to get the data where there is none."""
    said = os.environ.get(variable, "")
    place = Path(said)
    if not said or not place.is_dir():
        where = f"{variable} is {said}, which is no folder" if said else f"{variable} is not set"
        raise InputError(f"{title} is not here ({where}); {how}")
    return place


def sha256(text: str) -> str:
    """SHA-256 of a problem's text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
