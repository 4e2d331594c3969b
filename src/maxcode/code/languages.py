"""The table of languages: how a program is built and started, and which grammar parses it.

To add a language, add a row (docs/how-to/extend.md).  Inside the sandbox the sources are in ``/src``, a build writes
``/tmp/out``, and an artefact is started through a file descriptor, so ``{artefact}`` is not a stable path.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import final

from maxcode.errors import InputError, unknown


@final
@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    ``build``: the arguments of the compiler; {flags}, {sources}, {out} and {libraries} are replaced.  Without {out} it
    only checks, and the artefact is the source itself (a zip archive if there are several files).
    ``run``: the arguments that start the {artefact}.
    ``tools``: programs that must be on the PATH.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    tools: tuple[str, ...]
    build: tuple[str, ...]
    run: tuple[str, ...]
    default_flags: tuple[str, ...] = ()
    allowed_flags: tuple[str, ...] = ()  # regular expressions, whole flag
    bare: bool = False  # whether an artefact needs only the compiler's runtime libraries, and no file of the host
    sealed: bool = False  # whether an artefact needs Python's interpreter and library, and no other file of the host
    precompiles: bool = False  # whether the headers at the beginning of the original may be precompiled


_GCC_FLAGS = (
    r"-O[0-3sg]|-Ofast",
    r"-std=[a-z0-9+]+",
    r"-m[a-z0-9=.,-]+",
    r"-f(?!plugin|sanitize|profile|dump|opt-info|save|diagnostics|file-prefix|syntax)[a-z0-9=-]+",
    r"-g[0-3]?|-w|-W(?!l,|a,|p,|rapper)[a-z0-9=+-]*|-pthread|-static|-pipe|-s",
    r"-D[A-Za-z_]\w*(=[\w.+-]*)?|-U[A-Za-z_]\w*",
    r"-l(m|pthread|gomp|stdc\+\+|atomic|rt|quadmath)",
)

_PYTHON_CHECK = "import sys; [compile(open(path).read(), path, 'exec') for path in sys.argv[1:]]"

LANGUAGES = {
    row.name: row
    for row in (
        Language(
            name="cpp", suffixes=(".cpp", ".cc", ".cxx", ".C"), grammar="cpp", tools=("g++",),
            build=("g++", "{flags}", "{sources}", "-o", "{out}", "{libraries}"), run=("{artefact}",),
            default_flags=("-std=c++17", "-O3"), allowed_flags=_GCC_FLAGS, bare=True, precompiles=True,
        ),
        Language(
            name="c", suffixes=(".c",), grammar="c", tools=("gcc",),
            build=("gcc", "{flags}", "{sources}", "-o", "{out}", "{libraries}", "-lm"), run=("{artefact}",),
            default_flags=("-std=gnu17", "-O3"), allowed_flags=_GCC_FLAGS, bare=True,
        ),
        Language(
            name="python", suffixes=(".py",), grammar="python", tools=("/usr/bin/python3",),
            build=("/usr/bin/python3", "-I", "-c", _PYTHON_CHECK, "{sources}"),
            run=("/usr/bin/python3", "-I", "{artefact}"), sealed=True,
        ),
    )
}  # fmt: skip


def language(name: str) -> Language:
    """The row called ``name``; InputError with the nearest spelling if there is none."""
    if name not in LANGUAGES:
        raise unknown("language", name, LANGUAGES)
    return LANGUAGES[name]


def language_of(path: str) -> Language:
    """The language of a file, by its suffix; InputError if no language has that suffix."""
    suffix = PurePath(path).suffix
    for row in LANGUAGES.values():
        if suffix in row.suffixes:
            return row
    known = ", ".join(s for row in LANGUAGES.values() for s in row.suffixes)
    raise InputError(
        f"cannot tell the language of '{path}': its suffix is none of {known}; "
        "rename it, or set `language` in problem.toml"
    )
