"""What a program is started with: arguments, variables of its environment, and data files, the same in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from maxcode.core.files import FileKind, read_file
from maxcode.core.types import KINDS, Case, DataFile
from maxcode.errors import InputError
from maxcode.problems.description import Description

MOST_BYTES = 256 << 20  # of all data files: every session of the sandbox holds a copy
_DATA = FileKind("the data file", at_most=MOST_BYTES)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = frozenset({"PATH", "HOME", "TMPDIR", "PWD", "LC_ALL", "PADDING", "FILL", "GLIBC_TUNABLES"})
_MOST_WORDS, _MOST_VARIABLES, _MOST_CHARACTERS = 400, 64, 32_000


def named_files(words: Iterable[str]) -> dict[str, Path]:
    """The data files of a command line: name for the program -> whole path here.

    A word is a path, or NAME=PATH.  A relative path below the current folder is its own name; of any other path it is
    the last part.  InputError if two have the same name.
    """
    found: dict[str, Path] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not equals:
            path = word
            parts = PurePosixPath(word)
            name = parts.name if parts.is_absolute() or ".." in parts.parts else str(parts)
        if name in found:
            raise InputError(
                f"--file {word}: there are two files with the name {name}; name one as --file OTHER={path}"
            )
        found[name] = Path(path).absolute()
    return found


def data_files(
    found: Description, base: Path, given: Mapping[str, Path], cases: Iterable[Case]
) -> tuple[DataFile, ...]:
    """Checks what the runs of a problem are started with, and reads its data files.

    ``given``: data files of the command line (``named_files``), which replace those with the same name.
    InputError if the kind of the problem has none, or for what cannot be used.
    """
    if not KINDS[found.kind].has_tests and (found.args or found.env or found.files or given):
        raise InputError(
            f"a {found.kind} is called, not started: it has no arguments, variables and data files (args, env, files; "
            "--args, --env, --file); leave them out"
        )
    _check_words(found.args)
    _check_variables(found.env)
    paths = {**{name: _inside(base, name) for name in found.files}, **given}
    _check_names(paths)
    files = tuple(_read(name, paths[name]) for name in sorted(paths))
    _check_hidden(paths, cases)
    if (size := sum(len(one.content) for one in files)) > MOST_BYTES:
        raise InputError(f"the data files have {size} bytes, and at most {MOST_BYTES} are read; give smaller files")
    return files


def _check_words(args: tuple[str, ...]) -> None:
    for word in args:
        if "\0" in word or word == "{artefact}":
            raise InputError(f"args: {word!r} cannot be an argument; leave it out")
    if len(args) > _MOST_WORDS or sum(map(len, args)) > _MOST_CHARACTERS:
        raise InputError(
            f"args: {len(args)} arguments of {sum(map(len, args))} characters are too many; at most {_MOST_WORDS} with "
            f"{_MOST_CHARACTERS} characters can be given, or a data file"
        )


def _check_variables(env: Mapping[str, str]) -> None:
    for name, value in env.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise InputError(
                f"env: {name!r} cannot be a variable; give NAME=VALUE with a NAME of letters, digits and _"
            )
        if name in _OURS or name.startswith("LD_"):
            raise InputError(f"env: the sandbox sets {name} itself, the same for every program; leave it out")
    if len(env) > _MOST_VARIABLES or sum(map(len, env.values())) > _MOST_CHARACTERS:
        raise InputError(f"env: at most {_MOST_VARIABLES} variables of {_MOST_CHARACTERS} characters; give fewer")


def _inside(base: Path, name: str) -> Path:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise InputError(
            f"files: {name} is outside {base}; put a copy into the folder, or give it as --file {parts.name}={name}"
        )
    return base / name


def _check_names(paths: Mapping[str, Path]) -> None:
    for name, path in paths.items():
        parts = PurePosixPath(name)
        is_below = parts.parts and not parts.is_absolute() and ".." not in parts.parts and str(parts) == name
        if not (is_below and name.isprintable()):
            raise InputError(
                f"the data file {path} has the name {name!r} for the program, which is no path below its folder; "
                "give --file NAME=PATH"
            )
        if above := [str(one) for one in parts.parents if str(one) in paths]:
            raise InputError(f"the data files {above[0]} and {name}: one is the folder of the other; rename one")


def _read(name: str, path: Path) -> DataFile:
    content = read_file(path, _DATA)
    return DataFile(name, hashlib.sha256(content).hexdigest(), content)


def _check_hidden(paths: Mapping[str, Path], cases: Iterable[Case]) -> None:
    """Refuses a test as a data file: a program could look the answer up."""
    tests = {Path(file).resolve(): case for case in cases for file in (case.stdin, case.expected) if file is not None}
    for name, path in paths.items():
        if (case := tests.get(path.resolve())) is not None:
            raise InputError(f"the data file {name} is a part of test {case.name}; give a file that is no test")
