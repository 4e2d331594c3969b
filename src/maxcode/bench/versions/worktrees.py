"""A scratch folder of one race, with its git worktrees; both are removed at the end, and after a kill by the next race.

The folder holds a file that its process has locked.  The kernel drops the lock when the process ends, however it ends,
so a folder whose file can be locked is left over.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final

from maxcode.errors import InputError, MachineError
from maxcode.evaluate.repo.git import export, git, last_line
from maxcode.sandbox.toolchain import cache_root

_LOCK, _REPOSITORY = "lock", "repository"


@final
class Scratch:
    """The scratch folder of one race."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, name: str) -> Path:
        """A new empty folder; all names of a race are equally long, because the length of a path can change times."""
        path = self.folder / name
        path.mkdir(mode=0o755)
        return path

    def worktree(self, repository: Path, commit: str, name: str) -> Path:
        """The files of a commit, byte for byte.  InputError with the words of git if it cannot make the worktree."""
        path = self.folder / name
        (self.folder / _REPOSITORY).write_text(str(repository))
        add = ("worktree", "add", "--force", "--detach", "--no-checkout", str(path), commit)
        for folder, words in ((repository, add), (path, ("read-tree", commit))):
            told = git(folder, *words)
            if told.returncode:
                raise InputError(f"git cannot check out {commit[:12]}: {last_line(told.stderr)}")
        export(repository, commit, path)
        path.chmod(0o755)
        return path


@contextmanager
def scratch() -> Iterator[Scratch]:
    """A scratch folder for the block; what killed races left behind is removed first."""
    top = cache_root() / "races"
    top.mkdir(mode=0o711, exist_ok=True)
    top.chmod(0o711)  # copies of private files can be read by the user of the sandbox, and by nobody who lists
    turn = _lock_file(top / _LOCK)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)  # so that nobody sweeps a folder that is not locked yet
        sweep(top)
        folder = top / secrets.token_hex(6)
        folder.mkdir(mode=0o755)
        lock = _lock_file(folder / _LOCK)
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        os.close(turn)
    try:
        yield Scratch(folder)
    finally:
        _remove(folder)
        os.close(lock)
        if folder.exists():
            raise MachineError(f"cannot remove the scratch folder {folder}; remove it by hand")


def _lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def sweep(top: Path) -> None:
    """Removes the folders of races whose process has ended."""
    for folder in top.iterdir():
        with suppress(OSError):  # it is in use, or no folder
            try:
                lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)  # not made: its own process may be removing it
            except FileNotFoundError:  # killed before it locked it, since nobody makes a folder during a sweep
                _remove(folder)
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Removes the worktrees from their repository, and the folder, whatever permissions a build gave its files."""
    subprocess.run(["chmod", "-R", "u+rwX", "--", str(folder)], capture_output=True, check=False)
    with suppress(OSError):
        repository = Path((folder / _REPOSITORY).read_text())
        for path in sorted(folder.iterdir()):
            if (path / ".git").is_file():
                git(repository, "worktree", "remove", "--force", "--force", str(path))
    shutil.rmtree(folder, ignore_errors=True)
