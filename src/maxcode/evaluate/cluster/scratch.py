"""A node's folder for the files of its problems, which goes with it: also where the node was killed, with the next."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import final

PREFIX = "maxcode-node-"
_HELD = "held"  # locked for as long as the node lives, by the kernel


@final
class Scratch:
    """A new folder in ``within`` (the machine's folder for temporary files), until ``close`` or the end of the process.

    What nodes of this user left there when they were killed is removed first.
    """

    def __init__(self, within: Path | None = None) -> None:
        within = within if within is not None else Path(tempfile.gettempdir())
        for left in within.glob(f"{PREFIX}*"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within))
        making = self.path / "making"
        self._lock = os.open(making, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        making.rename(self.path / _HELD)  # with the lock: who sees the name can tell whether it is held

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this user that no process holds; one whose lock is not there yet is somebody's."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        lock = os.open(folder / _HELD, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
