"""The folders of base that only packages of Python lead to: no import by a name alone finds what is in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from posixpath import normpath

from maxcode.evaluate.repo.deciding import is_of_tests


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """All folders of paths, ``.`` too."""
    return frozenset(str(folder) for path in paths for folder in PurePosixPath(path).parents)


def inside_of(paths: Collection[str], searched: Iterable[str] = ()) -> frozenset[str]:
    """The folders that are packages or lie in one, without those in which Python looks for modules, and the top.

    ``searched``: the ends of paths of folders in which Python looks.
    """
    ends = tuple(f"/{normpath(one.replace('{repo}', '.')).strip('/')}" for one in searched if one)
    packages = {str(PurePosixPath(one).parent) for one in paths if PurePosixPath(one).name == "__init__.py"}
    closed = {one for one in folders_of(paths) if one == "." or f"/{one}".endswith(ends)}
    closed |= {_looked_in_by_pytest(PurePosixPath(one), packages) for one in paths if one.endswith(".py")}
    return frozenset(one for one in folders_of(paths) - closed if _is_inside(PurePosixPath(one), packages, closed))


def _looked_in_by_pytest(path: PurePosixPath, packages: Collection[str]) -> str:
    """The next folder around a test that is no package, which pytest puts before all others; ``.`` for other files."""
    around = (str(one) for one in path.parents if str(one) not in packages) if is_of_tests(path.name) else ()
    return next(iter(around), ".")


def _is_inside(folder: PurePosixPath, packages: Collection[str], closed: Collection[str]) -> bool:
    for one in (folder, *folder.parents):
        if str(one) in closed or str(one) in packages:
            return str(one) not in closed
    return False


def is_inside(pure: PurePosixPath, inside: Collection[str], folders: Collection[str]) -> bool:
    """Whether a new file is inside: the next folder around it that base has decides."""
    return next((str(one) for one in pure.parents if str(one) in folders), ".") in inside
