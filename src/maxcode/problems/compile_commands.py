"""Takes flags and include folders from a ``compile_commands.json``, which CMake and other build systems write.

Only what a problem may have is taken: flags that read or write files are left out, and named.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import msgspec

from maxcode.code.languages import Language
from maxcode.core.confined import is_outside
from maxcode.core.files import FileKind, read_file
from maxcode.errors import InputError

NAME = "compile_commands.json"
_FILE = FileKind("the compilation database")
_PLACES = ("", "build", "out", "build*")  # below the folder of the source, and below those above it
_ABOVE = 3  # folders, where nothing says which is the project's
_TARGET = re.compile(r"-o *(\S+\.dir/)")  # where CMake puts what belongs to one program or library
_WITH_VALUE = ("-o", "-I", "-isystem", "-iquote", "-include", "-D", "-U", "-MF", "-MT", "-MQ", "-x", "-Xclang", "-arch")
_FOLDERS = ("-isystem", "-iquote", "-I")
_SILENT = re.compile(r"-c|-o.*|-M.*|-x.*")  # what is done with the result, not what it is


class _Entry(msgspec.Struct):
    directory: str
    file: str
    command: str = ""
    arguments: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """``flags`` to build with, ``folders`` of headers, and a note that says what was taken and what was left out.
    ``together``: the sources from which CMake builds the same program, this one too; empty if it says none."""

    flags: tuple[str, ...]
    folders: tuple[Path, ...]
    note: str
    together: tuple[Path, ...] = ()


def nearby(base: Path) -> Iterator[Path]:
    """The files in a folder and its build folders, then in those above it up to the root of the repository; without a
    repository in two of them at most."""
    above = [base.absolute(), *base.absolute().parents]
    root = next((folder for folder in above if (folder / ".git").exists()), above[:_ABOVE][-1])
    for folder in (base, *above[1 : above.index(root) + 1]):
        found = (path for place in _PLACES for path in sorted(folder.glob(f"{place}/{NAME}" if place else NAME)))
        yield from dict.fromkeys(path for path in found if path.is_file() and not is_outside(path))


def taken(path: Path, source: Path, tongue: Language) -> Taken | None:
    """What the file says about ``source``; None if it has no entry for it.  InputError if it cannot be read."""
    try:
        entries = msgspec.json.decode(read_file(path, _FILE), type=list[_Entry])
    except msgspec.MsgspecError as error:
        raise InputError(f"cannot read {path}: {error}; make it again, or give --flags and --include") from error
    wanted = source.resolve()
    entry = next((one for one in entries if Path(one.directory, one.file).resolve() == wanted), None)
    return None if entry is None else replace(_read(path, entry, tongue), together=_together(entry, entries))


def _together(entry: _Entry, entries: Sequence[_Entry]) -> tuple[Path, ...]:
    """The sources whose results CMake puts into the same folder."""
    folder = _target(entry)
    found = [one for one in entries if folder and _target(one) == folder]
    return tuple(dict.fromkeys(Path(one.directory, one.file).resolve() for one in found))


def _target(entry: _Entry) -> str:
    found = _TARGET.search(entry.command or " ".join(entry.arguments))
    return str(Path(entry.directory, found[1])) if found else ""


def _read(path: Path, entry: _Entry, tongue: Language) -> Taken:
    flags: list[str] = []
    folders: list[Path] = []
    left: list[str] = []
    for word in _words(entry.arguments or shlex.split(entry.command)):
        if folder := next((word.removeprefix(one) for one in _FOLDERS if word.startswith(one)), ""):
            folders.append(Path(entry.directory, folder))
        elif any(re.fullmatch(allowed, word) for allowed in tongue.allowed_flags):
            flags.append(word)
        elif not _SILENT.fullmatch(word):
            left.append(word)
    ours = tuple(dict.fromkeys(one for one in folders if one.is_dir() and not one.resolve().is_relative_to("/usr")))
    note = f"flags from {path}: {' '.join(flags) or 'none'}"
    if not any(flag.startswith("-O") for flag in flags):
        flags += [flag for flag in tongue.default_flags if flag.startswith("-O")]
        note += f", and {flags[-1]}, because it names no level of optimisation"
    note += f"; include folders: {', '.join(map(str, ours))}" if ours else ""
    note += f"; left out: {' '.join(dict.fromkeys(left))}" if left else ""
    return Taken(tuple(flags), ours, note)


def _words(words: Sequence[str]) -> Iterator[str]:
    """The options of a command, each as one word; its compiler and its files are left out."""
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            yield f"{word}{next(rest, '')}"
        elif word.startswith("-"):
            yield word
