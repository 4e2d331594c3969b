"""How a C or C++ program of one or several files is built: its headers, include folders and flags, and which file is
edited.  One compiler command builds it (``evaluate/ladder/build.py``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.code.languages import Language
from maxcode.core.types import Program
from maxcode.errors import InputError, unknown
from maxcode.problems.compile_commands import Taken, nearby, taken
from maxcode.problems.description import DESCRIPTION, Description
from maxcode.problems.given_paths import GivenPaths
from maxcode.problems.headers import include_folders, with_headers


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """How a program is built.

    ``program``  with all its headers; the file that rules edit comes first
    ``include``  the folders of the program in which the compiler looks for headers
    ``is_chosen``  whether the description names the file to edit
    ``is_told``  whether a compilation database gave the flags
    """

    program: Program
    flags: tuple[str, ...]
    include: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_told: bool = False
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Place:
    """The folder of a program's files, and the paths of the command line."""

    base: Path
    given: GivenPaths


def recipe_of(found: Description, place: Place | None, program: Program, tongue: Language) -> Recipe:
    """The recipe of a described program; ``place`` is None if a suite gives the program as text.

    InputError if the description asks for what the program cannot have, or names what is not there.
    """
    flags = tongue.default_flags if found.flags is None else found.flags
    if place is None or found.kind != "program" or not tongue.by_gcc:
        given = place.given if place is not None else GivenPaths()
        if found.edit or found.include or found.compile_commands or given.include or given.compile_commands:
            raise InputError(
                "edit, include and compile_commands (--include, --compile-commands) are for C and C++ programs in "
                "files; leave them out"
            )
        return Recipe(program, flags, notes=tuple(_without_level(flags)) if "{out}" in tongue.build else ())
    known = _database(found, place, program, tongue)
    folders = include_folders(
        place.base, found.include, (*place.given.include, *(known.folders if known is not None else ()))
    )
    whole = _edited_first(with_headers(program, tongue, place.base, folders), found.edit, tongue)
    notes = (f"of its files {found.edit} is edited",) if found.edit else ()
    notes = (*notes, *_left_out(place.base, program, known))
    if known is None or found.flags is not None:
        notes = (*notes, *_without_level(flags))
        return Recipe(whole, flags, folders.names, notes, is_chosen=bool(found.edit))
    return Recipe(whole, known.flags, folders.names, (*notes, known.note), is_told=True, is_chosen=bool(found.edit))


def _left_out(base: Path, program: Program, known: Taken | None) -> Iterator[str]:
    """A note on the sources that a compilation database builds into the same program, and that it has not."""
    here = [(base / path).resolve() for path in program.files]  # the first one decides language and flags
    together = known.together if known is not None else ()
    if missing := [path for path in together if path not in here]:
        folder = Path(os.path.commonpath([path.parent for path in (*here, *missing)]))
        sources = ", ".join(f'"{path.relative_to(folder)}"' for path in (*here, *sorted(missing)))
        yield (
            f"its build has {len(missing)} more source{'s' * (len(missing) > 1)}, such as {missing[0]}: if it does not "
            f"link, give the folder of all sources, {folder}, with a {DESCRIPTION} that has sources = [{sources}]"
        )


def _without_level(flags: Sequence[str]) -> Iterator[str]:
    """A note if the flags that replace the defaults name no level of optimisation: it is easily forgotten."""
    if not any(flag.startswith("-O") for flag in flags):
        yield (
            f"the flags ({' '.join(flags) or 'none'}) replace the defaults and name no level of optimisation, so "
            "original and candidates are built without any; add -O3 if your program is built with it"
        )


def _database(found: Description, place: Place, program: Program, tongue: Language) -> Taken | None:
    """What a compilation database says: the one that is given, else one beside the source if no flags are given."""
    source = place.base / program.name
    path = place.given.compile_commands or (place.base / found.compile_commands if found.compile_commands else None)
    if path is None:
        near = nearby(place.base) if found.flags is None else ()
        return next((result for one in near if (result := taken(one, source, tongue)) is not None), None)
    if (result := taken(path, source, tongue)) is None:
        raise InputError(f"{path} has no entry for {source}; give --flags and --include instead")
    return result


def _edited_first(program: Program, edit: str, tongue: Language) -> Program:
    if not edit:
        return program
    sources = [path for path in program.files if path.endswith(tongue.suffixes)]
    if edit not in sources:
        raise unknown("source to edit:", edit, sources)
    return Program({edit: program.files[edit], **program.files})
