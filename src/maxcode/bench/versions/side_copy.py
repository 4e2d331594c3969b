"""Copies of folders for a race: each side has one of its own, so that no side finds what earlier runs left beside it.

In a git repository a copy has what a revision could have: tracked files as they lie there, and new ones that git does
not ignore.  A revision lacks what git ignores, and head would win by it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from maxcode.errors import InputError
from maxcode.evaluate.repo.compiled_python import CACHE
from maxcode.evaluate.repo.git import ignored_files, work_tree_files
from maxcode.sandbox.toolchain import cache_root

OF_GIT = (".git", ".hg", ".svn")


def copy_side(folder: Path, to: Path) -> tuple[str, ...]:
    """Copies what a side may have into an empty folder; what git ignores, and is left out.  InputError if a file cannot
    be read."""
    try:
        listed = work_tree_files(folder)
        if listed is None:
            _copy(folder, to, list(_everything(folder, (*OF_GIT, CACHE))))
            return ()
        _copy(folder, to, _existing(folder, listed))
    except OSError as error:
        raise InputError(f"cannot copy {folder} for the race: {error}; correct its rights, or the space") from error
    return tuple(ignored_files(folder))


def copy_again(folder: Path, to: Path) -> None:
    """Copies a side's own folder into an empty one.  InputError if there is no space."""
    try:
        _copy(folder, to, list(_everything(folder, OF_GIT)))
    except OSError as error:
        raise InputError(f"cannot copy {folder} for the race: {error}; correct its rights, or the space") from error


def _everything(folder: Path, left_out: tuple[str, ...]) -> Iterator[str]:
    """The paths below a folder, folders too; not the cache, where the copies are."""

    def failed(error: OSError) -> None:
        raise error

    own = cache_root().resolve()
    for place, folders, names in os.walk(folder, onerror=failed):
        folders[:] = [name for name in folders if name not in left_out and Path(place, name) != own]
        yield from (os.path.relpath(os.path.join(place, name), folder) for name in (*folders, *names)
                    if name not in left_out)  # fmt: skip


def _existing(folder: Path, paths: list[str]) -> list[str]:
    """Those that exist, and not through a link: git takes such a file for a deleted one."""
    parents = {path: PurePosixPath(path).parents for path in paths}
    links = {one for one in {one for above in parents.values() for one in above} if (folder / one).is_symlink()}
    return [path for path in paths if os.path.lexists(folder / path) and not links.intersection(parents[path])]


def _copy(folder: Path, to: Path, paths: list[str]) -> None:
    """Links come last, so that no file is written through one.  Times are kept, for make."""
    for path in sorted(paths, key=lambda path: (folder / path).is_symlink()):
        source, target = folder / path, to / path
        _make_folder(to, target.parent)
        if source.is_symlink():
            os.symlink(os.readlink(source), target)
        elif source.is_dir():
            _make_folder(to, target)  # also of a submodule, which a revision has without its files
        elif source.is_file():  # not a pipe, which nobody would fill
            shutil.copyfile(source, target)
            about = source.stat()
            target.chmod(0o755 if about.st_mode & stat.S_IXUSR else 0o644)
            os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def _make_folder(top: Path, folder: Path) -> None:
    """Makes a folder below ``top``, which the user of the sandbox can enter whatever the umask is."""
    for path in [*reversed(folder.relative_to(top).parents), folder.relative_to(top)]:
        if not (top / path).is_dir():
            (top / path).mkdir()
            (top / path).chmod(0o755)
