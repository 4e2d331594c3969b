"""Whether a new file takes the name of what is installed: on this machine, in ``show``, by ``setup`` or by the build.

Base's files need not name it: what they import and include asks for more (``pytest`` for ``iniconfig``, ``stdio.h`` for
``bits/types.h``).
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from maxcode.core.types import Problem
from maxcode.evaluate.repo.shadows import PYTHON, Taken, ends_of, module_of, why_shadows
from maxcode.evaluate.repo.word_rules import SUFFIXES_OF_C
from maxcode.sandbox.jobs import Blob

_ROOTS = ("/usr", "/usr/local")
_PACKAGES = ("{}/lib/python3*/{}-packages", "{}/*/lib/python3*/{}-packages", "{}/local/lib/python3*/{}-packages")
_HEADERS = (
    *("include", "include/*-linux-gnu*", "include/c++/*", "include/c++/*/backward", "include/*-linux-gnu*/c++/*"),
    *("lib/gcc/*/*/include", "lib/gcc/*/*/include-fixed", "lib/llvm*/lib/clang/*/include"),
)


def in_place_of_others(new: Sequence[str], problem: Problem, taken: Taken, made: Collection[str]) -> Iterator[str]:
    """One line for each new file that commands may find in the place of another.  ``made``: by ``setup`` and build."""
    for path in new:
        if why := why_shadows(path, taken) or _why_installed(path, problem) or _why_made(path, made):
            yield f"{path} ({why}: another name is needed)"


def _why_installed(path: str, problem: Problem) -> str:
    """Why a new file may be found in the place of what commands see of this machine; empty if it cannot."""
    pure, show = PurePosixPath(path), problem.spec.repo_spec.show
    if name := module_of(pure):
        python = next((value for key, value in problem.spec.env if key == "PYTHONPATH"), "")
        folders = (*_packages(show), *(Path(one) for one in python.split(":") if one.startswith("/")))
        if any(name in _modules(folder) for folder in folders):
            return f"{name} is installed"
    if pure.suffix in ("", *SUFFIXES_OF_C):
        for end in ends_of(pure):
            if any(os.path.isfile(folder / end) for folder in _includes(show)):
                return f"{end} is the name of an installed header"
    return ""


def _why_made(path: str, made: Collection[str]) -> str:
    """The same for what ``setup`` and the build made."""
    pure = PurePosixPath(path)
    if name := module_of(pure):
        begins = tuple(f"{kind}-packages/{name}{end}" for kind in ("site", "dist") for end in ("/", "."))
        if any(begin in one for one in made for begin in begins):
            return f"{name} is installed by `setup`"
    if pure.suffix in SUFFIXES_OF_C and any(one.endswith(f"/{pure.name}") or one == pure.name for one in made):
        return f"`setup` or the build makes a file {pure.name}"
    return ""


def concerns(path: str) -> bool:
    """Whether it matters for a new file what else is there."""
    return PurePosixPath(path).suffix in (*PYTHON, *SUFFIXES_OF_C)


@lru_cache(maxsize=4)
def names_of(tree: Blob) -> frozenset[str]:
    """The names of all files of an archive that maxcode made."""
    with tarfile.open(tree.path, "r:") as packed:
        return frozenset(name.removeprefix("./") for name in packed.getnames())


@lru_cache(maxsize=16)
def _packages(show: tuple[str, ...]) -> tuple[Path, ...]:
    patterns = [
        pattern.format(root, kind) for root in (*_ROOTS, *show) for pattern in _PACKAGES for kind in ("site", "dist")
    ]
    return tuple(_found(patterns))


@lru_cache(maxsize=16)
def _includes(show: tuple[str, ...]) -> tuple[Path, ...]:
    own = [f"{root}/*/include" for root in show]
    return (*_found([f"{root}/{one}" for root in (*_ROOTS, *show) for one in _HEADERS] + own), *map(Path, show))


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
