"""The paths of base in tables, by which a new file finds those that it may be taken for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final

from maxcode.evaluate.repo.packages import folders_of, inside_of, is_inside
from maxcode.evaluate.repo.shadows import PYTHON, READ, SCRIPTS, module_of, place_of

_OF_FOLDERS = (*SCRIPTS, ".rs", ".go")  # asked for by their folders: elsewhere a name means nothing


@final
@dataclass(frozen=True, slots=True)
class Known:
    """All paths of base, and these by name, by what scripts import, without the suffix, and by module.

    ``inside``: folders that only packages lead to.
    """

    paths: frozenset[str]
    folders: frozenset[str]
    inside: frozenset[str]
    by_name: Mapping[str, Sequence[str]]
    by_place: Mapping[str, Sequence[str]]
    by_stem: Mapping[str, Sequence[str]]
    by_module: Mapping[str, Sequence[str]]


def known_of(paths: frozenset[str], searched: Collection[str] = ()) -> Known:
    """The tables.  ``searched``: ends of the paths of folders in which Python looks for modules."""
    tables = [defaultdict[str, list[str]](list) for _ in range(4)]
    by_name, by_place, by_stem, by_module = tables
    for path in sorted(paths):
        pure = PurePosixPath(path)
        by_name[pure.name].append(path)
        if pure.suffix in SCRIPTS:
            by_place[str(place_of(pure))].append(path)
        if pure.suffix in READ:
            by_stem[str(pure.with_suffix(""))].append(path)
        if name := module_of(pure):
            by_module[name].append(path)
    return Known(paths, folders_of(paths), inside_of(paths, searched), *map(dict, tables))


def why_beside(path: str, known: Known, stays: Callable[[str], str]) -> str:
    """Why a new file may be found in the place of one that base has; empty if it cannot.  ``stays``: why a path of
    base must stay; empty if it may change."""
    pure = PurePosixPath(path)
    is_apart = pure.suffix in PYTHON and is_inside(pure, known.inside, known.folders)
    named = () if is_apart or pure.suffix in _OF_FOLDERS or pure.name == "__init__.py" else known.by_name.get(pure.name)
    if any(map(stays, named or ())):
        return "base has a file of this name that must stay"
    if pure.suffix in SCRIPTS and (twins := known.by_place.get(str(place_of(pure)))):
        return f"some tools would take it for {twins[0]}, and others would not"
    if any(map(stays, known.by_stem.get(str(pure.with_suffix("")), ()))):
        return "base has a source of this name, with another suffix, that must stay"
    if not (name := module_of(pure)):
        return ""
    if not is_apart and any(map(stays, known.by_module.get(name, ()))):
        return "base has a module of this name that must stay"
    top = "" if str(pure.parent) == "." else f"{pure.parent}/"
    below = (one for one in known.paths if one.endswith(".py") and one.startswith(top))
    if pure.name == "__init__.py" and any(map(stays, below)):
        return "below its folder is a file that must stay, which would be imported by another name"
    return ""


def why_in_the_way(path: str, paths: Collection[str], folders: Collection[str]) -> str:
    """The file that must be a folder, or the folder that must be a file, if this path is to be one; empty if none."""
    if path in folders:
        return next(one for one in paths if one.startswith(f"{path}/"))
    return next((str(one) for one in PurePosixPath(path).parents if str(one) in paths), "")
