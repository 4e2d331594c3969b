"""Whether a new file takes the name of what is installed: on this machine, in ``show``, by ``setup`` or by the build.

Base's files need not name it: what they import and include asks for more (``pytest`` for ``iniconfig``, ``stdio.h`` for
``bits/types.h``).
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from maxcode.code.languages import HEADERS
from maxcode.core.types import Problem
from maxcode.evaluate.repo.packages import is_inside
from maxcode.evaluate.repo.shadows import PYTHON, Taken, ends_of, module_of, why_shadows
from maxcode.evaluate.repo.started import PYTHON_PATHS
from maxcode.evaluate.repo.word_rules import SUFFIXES_OF_C
from maxcode.sandbox.jobs import Blob

_ROOTS = ("/usr", "/usr/local")
_PACKAGES = ("{}/lib/python3*/{}-packages", "{}/*/lib/python3*/{}-packages", "{}/local/lib/python3*/{}-packages")
_HEADERS = (
    *("include", "include/*-linux-gnu*", "include/c++/*", "include/c++/*/backward", "include/*-linux-gnu*/c++/*"),
    *("lib/gcc/*/*/include", "lib/gcc/*/*/include-fixed", "lib/llvm*/lib/clang/*/include"),
)


_INSTALLED = ("site-packages/", "dist-packages/")
_OF_HEADERS = (*HEADERS, ".inc", ".def", ".H")
_INCLUDED = ("include", "deps")  # folders that compilers look through
_BELOW = "include/*"  # of one library each, such as libxml2
_TARGET = re.compile(r"(?:--target|\s-t)[ =]([^\s;&|]+)")


def in_place_of_others(new: Sequence[str], problem: Problem, taken: Taken, made: Collection[str]) -> Iterator[str]:
    """One line for each new file that commands may find in the place of another.  ``made``: by ``setup`` and build."""
    modules, headers = _modules_made(problem, taken, made), [one for one in made if one.endswith(_OF_HEADERS)]
    for path in new:
        pure = PurePosixPath(path)
        name = "" if is_inside(pure, taken.inside, taken.folders) else module_of(pure)
        why = why_shadows(path, taken) or _why_installed(pure, name, problem)
        if not why and name in modules:
            why = f"{name} is installed by `setup` or the build"
        if why or (why := _why_made(pure, headers)):
            yield f"{path} ({why}: another name is needed)"


def _why_installed(pure: PurePosixPath, name: str, problem: Problem) -> str:
    """Why a new file may be found in the place of what commands see of this machine; empty if it cannot.  ``name``: by
    which Python may find it; empty if by none."""
    show = problem.spec.repo_spec.show
    if name:
        folders = (*_packages(show), *(Path(one) for one in _python_path(problem) if one.startswith("/")))
        if any(name in _modules(folder) for folder in folders):
            return f"{name} is installed"
    if pure.suffix in ("", *SUFFIXES_OF_C):
        for end in ends_of(pure):
            folders = _includes(show, _HEADERS) if "/" not in end else _includes(show, (*_HEADERS, _BELOW))
            if any(os.path.isfile(folder / end) for folder in folders):
                return f"{end} is the name of an installed header"
    return ""


def _why_made(pure: PurePosixPath, headers: Collection[str]) -> str:
    """The same for headers that ``setup`` and the build made, by what an include may name."""
    if not pure.name.endswith(_OF_HEADERS):
        return ""
    ends = tuple(f"/{end}" for end in ends_of(pure) if "/" in end)
    if any(f"/{one}".endswith((*ends, *(f"/{at}/{pure.name}" for at in _INCLUDED))) for one in headers):
        return f"`setup` or the build makes a header {pure.name}"
    return ""


def _modules_made(problem: Problem, taken: Taken, made: Collection[str]) -> frozenset[str]:
    """The modules that Python finds in what ``setup`` and the build made: where packages are installed, in folders of
    PYTHONPATH, and at the top."""
    setup = problem.spec.repo_spec.setup
    roots = {normpath(one.replace("{repo}", ".")) for one in (*_python_path(problem), *_TARGET.findall(setup), ".")}
    begins = tuple("" if one == "." else f"{one}/" for one in roots)
    found = set[str]()
    for one in made:
        for kind in _INSTALLED:
            found.add(one.partition(kind)[2].split("/")[0].split(".")[0])
        for begin in begins if one.endswith(PYTHON) else ():
            first = one.removeprefix(begin).split("/")[0]
            if one.startswith(begin) and begin + first not in taken.folders:
                found.add(first.split(".")[0])
    return frozenset(found - {""})


def _python_path(problem: Problem) -> list[str]:
    """The folders of PYTHONPATH, in the commands too."""
    given = [value for key, value in problem.spec.env if key == "PYTHONPATH"]
    spec = problem.spec.repo_spec
    for command in (spec.setup, spec.build, spec.tests, spec.benchmark):
        given += PYTHON_PATHS.findall(command)
    return [one for paths in given for one in paths.split(":") if one]


def concerns(path: str) -> bool:
    """Whether it matters for a new file what else is there."""
    return PurePosixPath(path).suffix in (*PYTHON, *SUFFIXES_OF_C)


def names_of(tree: Blob) -> frozenset[str]:
    """The names of all files of an archive that maxcode made."""
    if not (found := _names_in(tree.sha256)):
        with tarfile.open(tree.path, "r:") as packed:
            found.append(frozenset(name.removeprefix("./") for name in packed.getnames()))
    return found[0]


@lru_cache(maxsize=4)
def _names_in(sha256: str) -> list[frozenset[str]]:
    """Keeps the names in an archive, once they are known, and not the archive."""
    return []


@lru_cache(maxsize=16)
def _packages(show: tuple[str, ...]) -> tuple[Path, ...]:
    patterns = [
        pattern.format(root, kind) for root in (*_ROOTS, *show) for pattern in _PACKAGES for kind in ("site", "dist")
    ]
    return tuple(_found(patterns))


@lru_cache(maxsize=16)
def _includes(show: tuple[str, ...], kinds: tuple[str, ...]) -> tuple[Path, ...]:
    own = [f"{root}/*/include" for root in show]
    return (*_found([f"{root}/{one}" for root in (*_ROOTS, *show) for one in kinds] + own), *map(Path, show))


def _found(patterns: list[str]) -> Iterator[Path]:
    for pattern in patterns:
        if pattern.startswith("/"):
            yield from (one for one in Path("/").glob(pattern[1:]) if one.is_dir())


@lru_cache(maxsize=64)
def _modules(folder: Path) -> frozenset[str]:
    """What Python can import from a folder."""
    with suppress(OSError):
        return frozenset(name.split(".")[0] for name in os.listdir(folder))
    return frozenset()
