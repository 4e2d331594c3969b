"""The source of the benchmark, for prompts: the files of the revision that its command names, cut to a bound."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from maxcode.code.languages import LANGUAGES
from maxcode.evaluate.repo.git import Tracked, contents

_FILES_AT_MOST = 3
_CHARACTERS = 8_000  # of one file
_SUFFIXES = tuple(suffix for row in LANGUAGES.values() for suffix in row.suffixes)


def source_of(command: str, top: Path, files: Mapping[str, Tracked]) -> tuple[tuple[str, str], ...]:
    """(path, text) of the files that a command names, or that a program which it starts is named after."""
    paths = sources_named(command, [path for path, one in files.items() if one.is_file])[:_FILES_AT_MOST]
    texts = contents(top, [files[path].blob for path in paths]) if paths else []
    return tuple((path, _cut(data.decode(errors="replace"))) for path, data in zip(paths, texts, strict=True))


def sources_named(command: str, paths: Collection[str]) -> list[str]:
    """The paths of a revision that the words of a command name; of a program that is built, the one source file of its
    name."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    found: dict[str, None] = {}
    for word in words:
        path = str(PurePosixPath(word))
        alike = [path] if path in paths else _named_like(path, paths) if "/" in word else []
        found.update(dict.fromkeys(alike))
    return list(found)


def _named_like(program: str, paths: Collection[str]) -> list[str]:
    """The one source file with the name of a program; none if there are several."""
    name = PurePosixPath(program).name
    alike = [path for path in paths if PurePosixPath(path).stem == name and path.endswith(_SUFFIXES)]
    return alike if len(alike) == 1 else []


def _cut(text: str) -> str:
    if len(text) <= _CHARACTERS:
        return text
    kept = text[:_CHARACTERS].rpartition("\n")[0]
    return f"{kept}\n[... {text.count(chr(10)) - kept.count(chr(10))} more lines]\n"
