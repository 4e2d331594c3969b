"""``suite.toml``: a suite of the user's own, which mixes others.

    [[problems]]
    source = "pie:test"              # a name, a path, or folder:PATH; relative to this file
    only = ["p02*"]                  # only problems that a pattern matches; also: skip
    sample = 100                     # a random sample of these, by `seed` (0)
    limit = 20                       # the first so many of these
    tags = ["paper"]                 # your own words
    flags = ["-O2"]                  # as in problem.toml; also: goal, checker, limits, module, tie_break, shared_cores
    shapes = "small"                 # of PyTorch problems

A pattern matches the text after the colon (``test/p02587/*``), or the path.  The sample depends only on ``seed`` and
the names, so new rows in a file change it only where they are selected themselves.  An unknown key is refused with the
nearest spelling.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, final

from maxcode.core.files import read_toml
from maxcode.core.toml_tables import converted, known_keys
from maxcode.errors import InputError
from maxcode.problems.description import describe
from maxcode.problems.suite import Listing, Source

KEY = "problems"
OPTIONS = frozenset({"flags", "goal", "checker", "limits", "module", "tie_break", "shared_cores"})


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """An entry without its keys of problem.toml.  0 = no limit, no sample."""

    source: str
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    sample: int = 0
    seed: int = 0
    limit: int = 0
    tags: tuple[str, ...] = ()
    shapes: str = ""


def is_mixture(source: Path) -> bool:
    """Whether ``source`` is a suite.toml: a TOML file of any name with entries ``[[problems]]``."""
    if source.suffix != ".toml" or not source.is_file():
        return False
    found = read_toml(source).get(KEY)
    return isinstance(found, list) and all(isinstance(one, dict) for one in found)


def mixture(path: Path, listing: Callable[[Path], Listing]) -> Listing:
    """The problems of all entries in order; ``listing`` resolves a path or a name.  InputError with the entry for what
    cannot be used."""
    table = read_toml(path)
    known_keys(table, [KEY], str(path))
    found = Listing()
    for number, entry in enumerate(table[KEY], start=1):
        found += _entry(entry, path, f"entry {number} of {path}", listing)
    if not found.sources and not found.left_out:
        raise InputError(f"{path} names no problems; add an entry [[{KEY}]] with a source")
    return found


def _entry(entry: Mapping[str, Any], path: Path, where: str, listing: Callable[[Path], Listing]) -> Listing:
    chosen = _chosen(entry, where)
    options = {key: entry[key] for key in entry if key in OPTIONS}
    describe({"source": "any", "kind": "module" if "module" in options else "program", **options}, where)
    source = _beside(chosen.source, path)
    if is_mixture(source):
        raise InputError(f"{where}: {source} is a suite.toml too, and cannot be part of another; copy its entries")
    listed = listing(source)
    _refuse_idle(listed, chosen, where)
    wanted = [one for one in listed.sources if _wanted(str(one.path), chosen)]
    sources = _sampled(wanted, chosen, where)
    shapes = chosen.shapes if chosen.shapes in ("", "small") else str(path.parent / chosen.shapes)
    more = [replace(one, options={**one.options, **options}, shapes=shapes, tags=chosen.tags) for one in sources]
    return Listing(tuple(more), tuple(one for one in listed.left_out if _wanted(one.name, chosen)))


def _chosen(entry: Mapping[str, Any], where: str) -> Chosen:
    names = [one.name for one in fields(Chosen)]
    known_keys(entry, [*names, *OPTIONS], where)
    if not entry.get("source"):
        raise InputError(f'{where} has no source; write source = "pie:test", a folder, or a file')
    chosen = converted({key: entry[key] for key in entry if key in names}, Chosen, where)
    for key, value in (("sample", chosen.sample), ("limit", chosen.limit)):
        if value < 0 or (key in entry and value == 0):
            raise InputError(f"{where}: {key} is {value}; give 1 or more, or leave it out")
    return chosen


def _beside(source: str, path: Path) -> Path:
    """The source with its path resolved: paths in a suite.toml are relative to it."""
    name, colon, words = source.partition(":")
    if name == "folder" and colon:
        return Path(f"folder:{path.parent / words}")
    return Path(source) if colon else path.parent / source


def _refuse_idle(listed: Listing, chosen: Chosen, where: str) -> None:
    """Refuse a pattern that matches nothing: it is probably a typing error."""
    names = [_name(str(one.path)) for one in listed.sources] + [_name(one.name) for one in listed.left_out]
    for key, patterns in (("only", chosen.only), ("skip", chosen.skip)):
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                known = ", ".join(names[:3])
                raise InputError(
                    f"{where}: {key}: no problem of {chosen.source} matches '{pattern}'; it has {known}, ..."
                )


def _wanted(path: str, chosen: Chosen) -> bool:
    name = _name(path)
    kept = not chosen.only or any(fnmatchcase(name, pattern) for pattern in chosen.only)
    return kept and not any(fnmatchcase(name, pattern) for pattern in chosen.skip)


def _name(path: str) -> str:
    """The text that patterns are compared with."""
    return path.partition(":")[2] or path


def _sampled(sources: Sequence[Source], chosen: Chosen, where: str) -> Sequence[Source]:
    """The sampled problems in their own order, cut to the limit."""
    if chosen.sample > len(sources):
        raise InputError(
            f"{where}: sample is {chosen.sample}, and there are {len(sources)} problems to draw from; lower it, or "
            "leave it out"
        )
    if chosen.sample:
        ranked = sorted(sources, key=lambda one: hashlib.sha256(f"{chosen.seed} {one.path}".encode()).digest())
        drawn = {one.path for one in ranked[: chosen.sample]}
        sources = [one for one in sources if one.path in drawn]
    return sources[: chosen.limit] if chosen.limit else sources
