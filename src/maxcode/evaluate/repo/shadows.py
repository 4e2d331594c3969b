"""Finds new files that take the place of what base takes from elsewhere: a module, a header, a package of Java.

Python, a compiler or a bundler that looks through the repository's folders first would give the tests, or the
benchmark, what a candidate wrote in the place of a library.  So would a second file by the name of one that base has:
where two commands look through folders in another order, the tests may get the one, and the benchmark the other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath
from typing import final

from maxcode.core.types import Program, RepoSpec
from maxcode.evaluate.repo.comments import spelled_out, without_comments
from maxcode.evaluate.repo.gaps import squeezed, with_gaps
from maxcode.evaluate.repo.packages import folders_of, inside_of, is_inside
from maxcode.evaluate.repo.word_rules import SUFFIXES_OF_C

PYTHON = (".py", ".pyx", ".pxd", ".so", ".pyd", ".pyc")
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
JVM = (".java", ".kt", ".scala", ".groovy")
READ = (*SUFFIXES_OF_C, *PYTHON[:3], *SCRIPTS, *JVM)
_DOTTED = r"[A-Za-z_][\w.]*"
_ONE = rf"[ \t]*{_DOTTED}(?:[ \t]+as[ \t]+\w+)?[ \t]*"
_IMPORTED = re.compile(
    rf"(?:^|[;:])[ \t]*(?:from[ \t]+({_DOTTED})[ \t]+c?import\b|c?import[ \t]({_ONE}(?:,(?:[ \t]*\\\n)?{_ONE})*))"
    rf"|\b(?:import_module|__import__|importorskip|find_spec)\([ \t\n]*['\"]({_DOTTED})",
    re.MULTILINE,
)
_PLUGINS = re.compile(r"^pytest_plugins\b.{0,2000}?(?=\n\S|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(rf"['\"]({_DOTTED})['\"]")
_INCLUDED = re.compile(
    r"(?:#|%:|\?\?=)[ \t]*(?:include(?:_next)?|import|embed)[ \t]*[<\"]([^<>\"\n]{1,500})[>\"]"
    r"|\b__has_include(?:_next)?[ \t]*\([ \t]*[<\"]([^<>\"\n]{1,500})"
)
_REQUIRED = re.compile(
    r"(?:\b(?:require|import|resolve|\w*[mM]ock|requireActual|importActual)[ \t]*\([ \t\n]*|\b(?:from|import)[ \t]*)"
    r"['\"`]((?:@[\w.-]+/)?[\w.-]{1,200}+(?!:))"  # ``node:assert`` is never a file
)
_OF_NODE = (
    "assert async_hooks buffer child_process cluster console constants crypto dgram dns domain events fs http http2 "
    "https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder "
    "timers tls tty url util v8 vm wasi worker_threads zlib"
)
_PACKAGE = re.compile(rf"(?:^|\*/|;)[ \t]*package[ \t]+(?:object[ \t]+)?({_DOTTED})", re.MULTILINE)
_DECLARED = with_gaps(r"\bpackage\s+(?:object\s+)?`?([A-Za-z_$][\w.$]*+)")
_PUTS = re.compile(_DECLARED + with_gaps(r"\s*(?=[.;])"))  # of Java; behind others no sign is needed
# Where a clause begins: on a line of its own, or behind a sign that no prose and no text has there, or an annotation.
_OTHER_PUTS = re.compile(
    rf"(?:^|(?<=[^\w \t*/\"'`.,\-])|(?<=\*/)|@[\w.:$]++(?=[ \t]))[ \t]*+(?:{_DECLARED})", re.MULTILINE
)


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """The names by which files of base, or its commands, ask for what a new file must not give them.

    ``modules``: of Python; ``headers``: as they are included; ``scripts``: packages of JavaScript; ``packages``: of
    Java and its like, those that base has; ``folders``: all of base; ``inside``: those that only packages of Python
    lead to; ``started``: ends of the paths of what scripts of base start.
    """

    modules: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    started: tuple[str, ...] = ()


def taken_of(
    staying: Mapping[str, str],
    editable: Mapping[str, str],
    known: Collection[str],
    named: Iterable[str],
    searched: Collection[str] = (),
) -> Taken:
    """What files that must stay ask for, and what those to edit ask for where base does not hold it.

    ``known``: all paths of base; ``named``: modules that its commands name; ``searched``: ends of the paths of folders
    in which Python looks for modules.
    """
    paths, folders = [PurePosixPath(path) for path in known], folders_of(known)
    held = {path.name.split(".")[0] for path in paths} | {PurePosixPath(one).name for one in folders}
    ends = {end for path in paths for end in ends_of(path)}
    first, second = _asked(staying), _asked(editable)
    both = {**staying, **editable}
    return Taken(
        frozenset({*first["modules"], *(second["modules"] - held), *named}),
        frozenset(first["headers"] | (second["headers"] - ends)),
        frozenset((first["scripts"] | (second["scripts"] - held)) - set(_OF_NODE.split())),
        frozenset(name for path, text in both.items() for name in _packages(path, text)),
        folders,
        inside_of(known, {*searched, *_looked_in(paths, first["modules"], inside_of(known))}),
    )


def _looked_in(paths: Iterable[PurePosixPath], asked: Collection[str], inside: Collection[str]) -> set[str]:
    """Packages in which what must stay finds a module by its name alone, so that Python looks there."""
    places: dict[str, set[str]] = {}
    for path in paths:
        if (name := module_of(path)) in asked and name not in sys.stdlib_module_names:
            at = path.parent.parent if path.stem == "__init__" else path.parent
            places.setdefault(name, set()).add(str(at))
    return {at for found in places.values() if found <= set(inside) for at in found}


def _asked(texts: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"modules": set(), "headers": set(), "scripts": set()}
    for path, text in texts.items():
        suffix = PurePosixPath(path).suffix
        if suffix in PYTHON:
            found["modules"].update(_imports(text))
        elif suffix in SCRIPTS:
            found["scripts"].update(_REQUIRED.findall(text))
        elif suffix not in JVM:
            found["headers"].update(_includes(text))
    return found


def _imports(text: str) -> Iterator[str]:
    """The first parts of the names of modules; also of what a docstring has in a line like an import."""
    for one, several, called in _IMPORTED.findall(text):
        for name in (one, called, *several.replace("\\\n", "").split(",")):
            if name.strip():
                yield name.split()[0].split(".")[0]
    for plugins in _PLUGINS.findall(text):
        yield from (name.split(".")[0] for name in _QUOTED.findall(plugins))


def _includes(text: str) -> Iterator[str]:
    for found in _INCLUDED.findall(text):
        parts = normpath((found[0] or found[1]).strip().lstrip("/")).split("/")
        yield "/".join(part for part in parts if part != "..")


def _packages(path: str, text: str) -> list[str]:
    suffix = PurePosixPath(path).suffix
    return _joined(text, _PACKAGE, suffix) if suffix in JVM else []


def _joined(code: str, clause: re.Pattern[str], suffix: str) -> list[str]:
    """The packages that clauses name; in Scala one that begins a line right behind such a one is inside it."""
    found, end = list[str](), -1
    for one in clause.finditer(code):
        begins_line = one.start() in (0, code.rfind("\n", 0, one.start(1)) + 1)
        if suffix == ".scala" and begins_line and end >= 0 and not code[end : one.start()].strip(" \t\n;{"):
            found.append(f"{found[-1]}.{one[1]}")
        else:
            found.append(one[1])
        end = one.end() if begins_line else -1
    return found


def ends_of(path: PurePosixPath) -> Iterator[str]:
    """A path, and all its ends that begin with the name of a folder or are its own name."""
    for at in range(len(path.parts)):
        yield "/".join(path.parts[at:])


WHY_STARTED = "a script of base starts it, and `edit` does not name it in full"


def is_started(path: str, spec: RepoSpec, taken: Taken) -> bool:
    """Whether a script of base starts a file that ``edit`` matches by a pattern alone."""
    return f"/{path}".endswith(taken.started) and path not in spec.edit


def module_of(pure: PurePosixPath) -> str:
    """The name by which Python imports a file, its folder's if the file makes that a package; empty for others."""
    if pure.suffix not in PYTHON:
        return ""
    name = pure.name.split(".")[0]
    return pure.parent.name if name == "__init__" else name


def why_shadows(path: str, taken: Taken) -> str:
    """Why a new file may be found in the place of what base's files ask for; empty if it cannot."""
    pure = PurePosixPath(path)
    if pure.suffix in PYTHON and not is_inside(pure, taken.inside, taken.folders):
        new = {one.name for one in pure.parents if str(one) not in taken.folders}  # packages without `__init__.py`
        if names := sorted((new | {module_of(pure)}) & taken.modules):
            return f"files of base import {names[0]}, or a command names it"
    if end := next((end for end in ends_of(pure) if end in taken.headers), ""):
        return f"files of base include {end}"
    if pure.suffix in SCRIPTS and (name := next((one for one in ends_of(place_of(pure)) if one in taken.scripts), "")):
        return f"files of base import {name}"
    return ""


def place_of(pure: PurePosixPath) -> PurePosixPath:
    """What scripts import to get a file: its path without its suffix, of an ``index`` its folder."""
    return pure.parent if pure.stem == "index" else pure.with_suffix("")


def strange_packages(base: Program, candidate: Program, taken: Taken) -> tuple[str, ...]:
    """Packages of Java and its like in which a patch puts classes, and base has none, nor any in one around it."""
    found = []
    for path, text in candidate.files.items():
        before = base.files.get(path, "")
        if text == before or PurePosixPath(path).suffix not in JVM:
            continue
        for name in dict.fromkeys(_declared(path, text)):
            is_below = any(name == one or name.startswith(f"{one}.") for one in taken.packages)
            if not is_below and name not in _declared(path, before):
                found.append(f"it puts classes into the package {name}, which base does not have: {path}")
    return tuple(found)


def _declared(path: str, text: str) -> list[str]:
    """The packages that a source may declare, also where comments stand in between."""
    code = squeezed(spelled_out(without_comments(text, "script")))
    suffix = PurePosixPath(path).suffix
    return _PUTS.findall(code) if suffix == ".java" else _joined(code, _OTHER_PUTS, suffix)
