"""Finds the headers of a C or C++ program: quoted includes beside each file, and any include in an include folder.

Headers are followed in turn.  What is not found is left to the compiler: most includes name headers of the system.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.code.languages import Language
from maxcode.core.files import FileKind, read_text
from maxcode.core.types import Program
from maxcode.errors import InputError

MOST_FILES = 1000
_HEADER = FileKind("the header")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class IncludeFolders:
    """The include folders of a program: their paths in the program -> their paths here, in the order of the search."""

    places: Mapping[str, Path]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.places)

    def host(self, base: Path, path: str) -> Path:
        """Where a file of the program is here."""
        for name, place in self.places.items():
            if name != "." and path.startswith(f"{name}/"):
                return place / path.removeprefix(f"{name}/")
        return base / path


def include_folders(base: Path, named: Sequence[str], given: Sequence[Path]) -> IncludeFolders:
    """``named``: in problem.toml, relative to ``base``.  ``given``: by a command line, anywhere; a folder outside
    ``base`` gets the last part of its path as its name.  InputError if there is no such folder."""
    places: dict[str, Path] = {}
    for word in named:
        if posixpath.isabs(word) or posixpath.normpath(word).startswith(".."):
            raise InputError(
                f"include: {word} is outside {base}; copy the folder there, or take it out of problem.toml and give "
                f"--include {word}"
            )
        places[posixpath.normpath(word)] = base / word
    for folder in given:
        name = os.path.relpath(folder.resolve(), base.resolve())
        places[name if not name.startswith("..") else _free(folder.resolve().name, base, places)] = folder
    for place in places.values():
        if not place.is_dir():
            raise InputError(f"the include folder {place} is no folder; correct its name")
    return IncludeFolders(places)


def with_headers(program: Program, tongue: Language, base: Path, folders: IncludeFolders) -> Program:
    """The program with every header that its files include and that is found, behind the files that it had.

    InputError for a header above ``base``, and for an included file that would be compiled by itself.
    """
    files = dict(program.files)
    waiting = list(files)
    while waiting:
        path = waiting.pop(0)
        for name, candidates in _included(path, files[path], folders):
            found = next((one for one in candidates if one in files or folders.host(base, one).is_file()), None)
            if found is None or found in files:
                continue
            if found.startswith(".."):
                raise InputError(
                    f"{base / path} includes {name}, which is outside {base}; give a problem.toml in a folder above "
                    f'both, with sources = ["{base.name}/{path}"]'
                )
            if found.endswith(tongue.suffixes):
                raise InputError(
                    f"{base / path} includes {name}, which would also be compiled by itself; give it another suffix "
                    "(such as .inc)"
                )
            files[found] = read_text(folders.host(base, found), _HEADER)
            waiting.append(found)
            if len(files) > MOST_FILES:
                raise InputError(f"{base / program.name} includes more than {MOST_FILES} files; give a smaller program")
    return Program(files)


def _included(path: str, text: str, folders: IncludeFolders) -> Iterator[tuple[str, list[str]]]:
    """Each include of a file: the name there, and the paths in the program to look for, in order."""
    for quoted, pointed in _INCLUDE.findall(text):
        name = quoted or pointed
        if posixpath.isabs(name):
            continue
        beside = [posixpath.normpath(posixpath.join(posixpath.dirname(path), name))] if quoted else []
        yield name, [*beside, *(posixpath.normpath(posixpath.join(folder, name)) for folder in folders.names)]


def _free(name: str, base: Path, taken: Mapping[str, Path]) -> str:
    number, found = 2, name
    while found in taken or (base / found).exists():
        number, found = number + 1, f"{name}-{number}"
    return found
