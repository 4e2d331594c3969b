"""What a suite is: a set of names that can replace the path of a problem, and how a name becomes a problem.

A suite is one file with one object that has the two methods of ``Suite``, and a row in ``suites.SUITES``.  Nothing is
downloaded: missing data is an InputError that says where to get it and where to put it.  An entry that can be listed
but not used is a ``LeftOut`` with the reason; nothing is dropped silently.
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
    """The place of a problem in its suite.

    ``file``    the suite's own name for it
    ``id``      for run folders; unique within the suite
    ``sha256``  of its text
    ``facts``   what else is recorded
    """

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
    """A problem as its suite defines it.

    ``table``      keys of problem.toml; the user's options replace them
    ``program``    the program to make faster
    ``reference``  the suite's own faster version, if it has one; no policy sees it
    ``cases``      its tests
    ``texts``      texts of files that the table names and that are not on disk
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
    """A problem to load: a path or a name, with the keys of problem.toml from its entry in a suite.toml.  ``shapes`` as
    in ``problems.small_shapes``; ``tags`` are the user's own words, for `maxcode problems list`."""

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    shapes: str = ""
    tags: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class LeftOut:
    """A problem that a suite lists but that cannot be used: its name, the place of its entry, and the reason."""

    name: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.where}): {self.why}" if self.where else f"{self.name}: {self.why}"


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """The problems behind some names: those that can be loaded, in the order of the suite, and the others."""

    sources: tuple[Source, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def __add__(self, other: Listing) -> Listing:
        return Listing(self.sources + other.sources, self.left_out + other.left_out)


class Suite(Protocol):
    """A suite.  ``words`` is the text after the colon, e.g. ``1/19`` of ``kernelbench:1/19``.  Both methods raise
    InputError, with a remedy, if the data of the suite is missing or has nothing of that name."""

    def listing(self, words: str) -> Listing:
        """All problems that the words name; the name of one problem gives that one."""
        ...

    def given(self, words: str) -> Given:
        """The one problem of that name."""
        ...


def folder_of(variable: str, title: str, how: str) -> Path:
    """The folder that an environment variable names; InputError with how to get the data if it does not exist."""
    said = os.environ.get(variable, "")
    place = Path(said)
    if not said or not place.is_dir():
        where = f"{variable} is {said}, which is not a folder" if said else f"{variable} is not set"
        raise InputError(f"{title} is not on this machine ({where}); {how}")
    return place


def sha256(text: str) -> str:
    """SHA-256 of a problem's text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
