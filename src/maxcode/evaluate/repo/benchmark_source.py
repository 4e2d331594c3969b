"""The source of the benchmark, for prompts: the files of the revision that its command names, or that its program is
built from, cut to a bound."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath

from maxcode.code.languages import LANGUAGES
from maxcode.core.types import RepoSpec
from maxcode.evaluate.repo.git import Tracked, contents

_FILES_AT_MOST = 3
_CHARACTERS = 8_000  # of one file
_RULES_AT_MOST = 40  # files of CMake that are read
_SUFFIXES = tuple(suffix for row in LANGUAGES.values() for suffix in row.suffixes)
_AND = re.compile(r"&&|\|\||[;&|\n]")
_CMAKE = "CMakeLists.txt"


def source_of(spec: RepoSpec, files: Mapping[str, Tracked]) -> tuple[tuple[str, str], ...]:
    """(path, text) of the files that the command of the benchmark names, or that a program which it starts is built
    from, or named after."""
    plain = [path for path, one in files.items() if one.is_file]
    rules = [path for path in plain if path.rpartition("/")[2] == _CMAKE][:_RULES_AT_MOST]
    made = dict(zip(rules, _texts(spec, files, rules), strict=True)) if "cmake" in spec.build else {}
    paths = sources_named(spec.benchmark, plain, spec.build, made)[:_FILES_AT_MOST]
    return tuple((path, _cut(text)) for path, text in zip(paths, _texts(spec, files, paths), strict=True))


def _texts(spec: RepoSpec, files: Mapping[str, Tracked], paths: list[str]) -> list[str]:
    found = contents(Path(spec.folder), [files[path].blob for path in paths]) if paths else []
    return [data.decode(errors="replace") for data in found]


def sources_named(
    command: str, paths: Collection[str], build: str = "", rules: Mapping[str, str] | None = None
) -> list[str]:
    """The paths of a revision that the words of a command name; of a program that is built, the sources that the build
    or the ``rules`` of CMake (by their paths) name, or else the one source file of its name."""
    found: dict[str, None] = {}
    for words in _commands(command):
        found |= dict.fromkeys(_of_tools(words, paths))
        for word in words:
            path = str(PurePosixPath(word))
            named = [path] if path in paths else _built(path, paths, build, rules or {}) if "/" in word else []
            found |= dict.fromkeys(named)
    return list(found)


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a line for the shell."""
    for part in _AND.split(text):
        try:
            yield shlex.split(part)
        except ValueError:
            yield part.split()


def _built(program: str, paths: Collection[str], build: str, rules: Mapping[str, str]) -> list[str]:
    """What a program is built from, as far as it is told."""
    name = PurePosixPath(program).name
    for words in _commands(build):
        sources = _of_go(words, paths) if words[:2] == ["go", "build"] else _given(words, paths)
        if _out(words, sources) == name and sources:
            return sources
    by_rule = [one for path, text in rules.items() for one in _of_cmake(name, path, text) if one in paths]
    return by_rule or _of_cargo(name, paths) or _named_like(name, paths)


def _out(words: list[str], sources: list[str]) -> str:
    """The name of the program that a command builds: after ``-o``, or of Go the folder's."""
    after = next((after for word, after in pairwise(words) if word == "-o"), "")
    folder = PurePosixPath(sources[0]).parent.name if sources else ""
    return folder if not after or after.endswith("/") else PurePosixPath(after).name


def _given(words: list[str], paths: Collection[str]) -> list[str]:
    """The source that a compiler is given, if it is one."""
    named = [path for word in words if (path := str(PurePosixPath(word))) in paths and path.endswith(_SUFFIXES)]
    return named if len(named) == 1 and "-o" in words else []


def _of_tools(words: list[str], paths: Collection[str]) -> list[str]:
    """What ``go run``, ``cargo run`` and ``cargo bench`` start."""
    if words[:2] == ["go", "run"]:
        return _of_go(words, paths)
    named = [after for word, after in pairwise(words) if word in ("--bin", "--bench", "--example")]
    is_cargo = bool(words) and words[0] == "cargo"
    return [path for name in named for path in _of_cargo(name, paths)] if is_cargo else []


def _of_go(words: list[str], paths: Collection[str]) -> list[str]:
    """The files of the package that ``go build`` or ``go run`` is given, ``main.go`` first."""
    last = str(PurePosixPath(next((word for word in reversed(words) if word.startswith(".")), words[-1])))
    if last in paths:
        return [last]
    inside = [path for path in paths if str(PurePosixPath(path).parent) == last and path.endswith(".go")]
    own = [path for path in inside if not path.endswith("_test.go")]
    return sorted(own, key=lambda path: not path.endswith("/main.go"))


def _of_cargo(name: str, paths: Collection[str]) -> list[str]:
    ends = (f"src/bin/{name}.rs", f"src/bin/{name}/main.rs", f"benches/{name}.rs", f"examples/{name}.rs")
    found = [path for end in ends for path in paths if f"/{path}".endswith(f"/{end}")]
    return found if len(found) == 1 else []


def _of_cmake(name: str, path: str, text: str) -> list[str]:
    """The sources of ``add_executable(name ...)`` in a file of rules."""
    rule = re.search(rf"\badd_executable\s*\(\s*{re.escape(name)}\s([^)]*)\)", text, re.IGNORECASE)
    named = [word.strip('"') for word in rule[1].split()] if rule else []
    folder = posixpath.dirname(path)
    return [posixpath.normpath(posixpath.join(folder, word)) for word in named if word.endswith(_SUFFIXES)]


def _named_like(name: str, paths: Collection[str]) -> list[str]:
    """The one source file with the name of a program; none if there are several."""
    alike = [path for path in paths if PurePosixPath(path).stem == name and path.endswith(_SUFFIXES)]
    return alike if len(alike) == 1 else []


def _cut(text: str) -> str:
    if len(text) <= _CHARACTERS:
        return text
    kept = text[:_CHARACTERS].rpartition("\n")[0]
    return f"{kept}\n[... {text.count(chr(10)) - kept.count(chr(10))} more lines]\n"
